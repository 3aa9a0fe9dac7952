package runner

import (
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
		var lock *fileID
		if a.locked() {
			if id, err := identify(a.record); err == nil {
				lock = &id
			}
		}
		found := a.scan(lock, seen)
		if len(found) > 0 || lock == nil || time.Now().After(deadline) {
			return found
		}
	}
}

// scan looks at every process once; lock is the record if some of them hold it. Nothing
// is forked meanwhile: between its fork and its exec the supervisor of another attempt
// has copies of all our descriptors, among them perhaps this attempt's lock.
func (a *attempt) scan(lock *fileID, seen func(process)) []process {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var all []process
	oldest := int64(a.uptime / tick)
	locked := func(st *unix.Stat_t) bool { return fileIDOf(st) == *lock }
	self, marker := os.Getpid(), a.marker()
	member := make(map[int]bool)
	for _, pid := range a.cgroup.pids() {
		member[pid] = true
	}
	for p := range processes {
		all = append(all, p)
		if p.pid == self || p.start < oldest || p.zombie {
			continue
		}
		if member[p.pid] || a.group() != 0 && p.session == a.pid || p.marked(marker) || lock != nil && p.holds(locked) {
			member[p.pid] = true
			seen(p)
		}
	}
	return closure(all, member)
}

// bereft reports whether the attempt, of which we have a copy of the record, runs on although
// its own directory has been removed: moved to another file system, or restored from a
// backup. Nobody else will take it up then.
func (a *attempt) bereft(rec record) bool {
	removed := func(st *unix.Stat_t) bool {
		return st.Nlink == 0 && fileIDOf(st) == fileID{rec.Device, rec.Inode}
	}
	return slices.ContainsFunc(a.find(ignore), func(p process) bool { return p.holds(removed) })
}

// supervising reports whether the supervisor of a, no child of ours, lives.
func (a *attempt) supervising() bool {
	p, ok := readProcess(a.pid)
	return ok && !p.zombie && p.marked(a.marker())
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
