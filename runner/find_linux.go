package runner

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// scans is how often find looks while the lock says that it has overlooked someone: a
// process that forks and exits all the time is not always where one looks.
const scans = 5

// find returns the living processes of the attempt, the supervisor included. A process
// belongs to it if it is in the supervisor's session, carries the attempt's marker in its
// environment, holds the attempt's lock, or descends from one that does.
func (a *attempt) find() []process {
	for range scans {
		lock := ""
		if a.locked() {
			lock, _ = os.Readlink("/proc/self/fd/" + strconv.Itoa(a.record))
		}
		if found := a.scan(lock); len(found) > 0 || lock == "" {
			return found
		}
	}
	return nil
}

// scan looks at every process once; lock is the file that some of them hold, if any.
func (a *attempt) scan(lock string) []process {
	all := processes()
	oldest := int64(a.uptime / tick)
	self := os.Getpid()
	member := make(map[int]bool)
	for _, p := range all {
		if p.pid == self || p.start < oldest {
			continue
		}
		member[p.pid] = a.group() != 0 && p.session == a.pid ||
			p.marked(a.job.ID) || lock != "" && p.holds(lock)
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

// adopt makes us the parent of orphans, once.
func (l *Local) adopt() {
	if !l.Adopt {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.adopting {
		l.adopting = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
	}
}

// leftovers returns a function that finds what the ended attempt has left behind, or nil
// if that is certainly nothing.
func (l *Local) leftovers(a *attempt) func() []process {
	if !l.adopting || a.ended == nil {
		return a.find
	}
	// Whoever survived its ancestors is our child now, or below one that is.
	if len(l.orphans()) == 0 {
		return nil
	}
	return func() []process {
		found := a.find()
		strays := l.strays(a)
		if len(strays) == 0 {
			return found
		}
		for _, p := range found {
			strays[p.pid] = true
		}
		return closure(processes(), strays)
	}
}

// strays returns the orphans that nothing ties to an attempt any more, if no living attempt
// but a is old enough to have started them.
func (l *Local) strays(a *attempt) map[int]bool {
	orphans := l.orphans()
	l.mu.Lock()
	defer l.mu.Unlock()
	strays := make(map[int]bool)
	for _, p := range orphans {
		mine := p.start >= int64(a.uptime/tick)
		for _, other := range l.live {
			mine = mine && (other == a || p.start < int64(other.uptime/tick))
		}
		if mine {
			strays[p.pid] = true
		}
	}
	return strays
}

// orphans returns the living processes that we have adopted, and reaps the dead ones.
func (l *Local) orphans() []process {
	if !l.adopting {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	session, _ := unix.Getsid(0)
	var orphans []process
	for _, pid := range children() {
		if l.live[pid] != nil {
			continue
		}
		p, ok := readProcess(pid)
		switch {
		case !ok || p.session == session: // gone, or started by another part of this program
		case p.zombie:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		default:
			orphans = append(orphans, p)
		}
	}
	return orphans
}

func (l *Local) reapOrphans() { l.orphans() }

// children returns the process ids of our children that our main thread started or
// adopted; orphans go to the main thread.
func children() []int {
	self := os.Getpid()
	data, err := os.ReadFile(procPath(self, "task/"+strconv.Itoa(self)+"/children"))
	var pids []int
	if err == nil {
		for word := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	for _, p := range processes() { // a kernel without such lists
		if p.parent == self {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
