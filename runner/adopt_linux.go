package runner

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

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

// deserted reports that an attempt whose supervisor has ended has certainly left nothing
// behind: whoever survived its ancestors would be our child now, or below one that is.
func (l *Local) deserted(a *attempt) bool {
	return l.adopting && a.ended != nil && len(l.orphans()) == 0 && !a.locked() && !a.cgroup.populated()
}

// tree returns the processes of a, for them to be ended.
func (l *Local) tree(a *attempt) tree {
	if !l.adopting || a.ended == nil {
		return tree{group: a.group(), cgroup: a.cgroup, find: a.find}
	}
	find := func(seen func(process)) []process {
		found, strays := a.find(seen), l.strays(a, seen)
		if len(strays) == 0 {
			return found
		}
		member := make(map[int]bool)
		for _, p := range strays {
			member[p.pid] = true
		}
		all := slices.Collect(processes)
		return append(append(found, strays...), closure(all, member)...)
	}
	quick := func(seen func(process)) []process { return l.strays(a, seen) }
	return tree{group: a.group(), cgroup: a.cgroup, find: find, quick: quick}
}

// strays returns the orphans that a has left behind: those that carry its marker, and those
// that no other living attempt is old enough to have started. The first process of a
// container gets the orphans of all others too, and only the marker counts.
func (l *Local) strays(a *attempt, seen func(process)) []process {
	orphans := l.orphans()
	l.mu.Lock()
	defer l.mu.Unlock()
	var strays []process
	for _, p := range orphans {
		mine := p.start >= int64(a.uptime/tick) && os.Getpid() != 1
		for _, other := range l.live {
			mine = mine && (other == a || p.start < int64(other.uptime/tick))
		}
		if mine || p.marked(a.marker()) {
			strays = append(strays, p)
			seen(p)
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
	path := procPath(self, "task/"+strconv.Itoa(self)+"/children")
	var buf [2 << 10]byte
	data, err := readSmall(path, buf[:])
	if len(data) == len(buf) {
		data, err = os.ReadFile(path)
	}
	if err == nil {
		return pidsIn(data)
	}
	var pids []int
	for p := range processes { // a kernel without such lists
		if p.parent == self {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
