package runner

import (
	"os"
	"strconv"
	"time"
)

// findPatience is how long find looks while the lock says that it has overlooked someone: a
// process that forks and exits all the time is not always where one looks.
const findPatience = 200 * time.Millisecond

// find returns the living processes of the attempt, the supervisor included. A process
// belongs to it if it is in the supervisor's session, carries the attempt's marker in its
// environment, holds the attempt's lock, is in its control group, or descends from one that
// does. All but the last kind are also told to seen at once.
func (a *attempt) find(seen func(process)) []process {
	for deadline := time.Now().Add(findPatience); ; {
		lock := ""
		if a.locked() {
			lock, _ = os.Readlink("/proc/self/fd/" + strconv.Itoa(a.record))
		}
		found := a.scan(lock, seen)
		if len(found) > 0 || lock == "" || time.Now().After(deadline) {
			return found
		}
	}
}

// scan looks at every process once; lock is the file that some of them hold, if any.
func (a *attempt) scan(lock string, seen func(process)) []process {
	var all []process
	oldest := int64(a.uptime / tick)
	self := os.Getpid()
	member := make(map[int]bool)
	for _, pid := range a.cgroup.pids() {
		member[pid] = true
	}
	for p := range processes {
		all = append(all, p)
		if p.pid == self || p.start < oldest || p.zombie {
			continue
		}
		if member[p.pid] || a.group() != 0 && p.session == a.pid || p.marked(a.job.ID) || lock != "" && p.holds(lock) {
			member[p.pid] = true
			seen(p)
		}
	}
	return closure(all, member)
}

// supervising reports whether the supervisor of a, no child of ours, lives.
func (a *attempt) supervising() bool {
	p, ok := readProcess(a.pid)
	return ok && !p.zombie && p.marked(a.job.ID)
}

// closure returns the living members of all, and their descendants.
func closure(all []process, member map[int]bool) []process {
	self := os.Getpid()
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !member[p.pid] && member[p.parent] && p.pid != self {
				member[p.pid], grown = true, true
			}
		}
	}
	var found []process
	for _, p := range all {
		if member[p.pid] && !p.zombie {
			found = append(found, p)
		}
	}
	return found
}
