package runner

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// findPatience is how long find looks for a holder of the lock that forks and exits all the time.
const findPatience = 200 * time.Millisecond

// find returns the living processes of the attempt, the supervisor included: those in its session, with
// its marker in the environment, with its lock, in its control group, among the strays, or descended from
// one of these. All but the last kind are also told to seen at once.
func (a *attempt) find(strays []process, seen func(process)) []process {
	for deadline := time.Now().Add(findPatience); ; {
		var lock *fileID
		if a.locked() {
			if id, err := identify(a.record); err == nil {
				lock = &id
			}
		}
		found := a.scan(lock, strays, seen)
		if len(found) > 0 || lock == nil || time.Now().After(deadline) {
			return found
		}
	}
}

// scan looks at every process once; lock is the record if some of them hold it. Nothing
// is forked meanwhile: between its fork and its exec the supervisor of another attempt
// has copies of all our descriptors, among them perhaps this attempt's lock.
func (a *attempt) scan(lock *fileID, strays []process, seen func(process)) []process {
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
	for _, p := range strays {
		member[p.pid] = p.alive()
	}
	for p := range processes {
		all = append(all, p)
		if p.pid == self || p.start < oldest || p.zombie {
			continue
		}
		inSession := a.group() != 0 && p.session == a.pid
		if member[p.pid] || inSession || p.marked(marker) || lock != nil && p.holds(locked) {
			member[p.pid] = true
			seen(p)
		}
	}
	// Whoever began another comes before it, so that a shell does not go on when its command has ended.
	slices.SortFunc(all, func(a, b process) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pid, b.pid)) })
	return closure(all, member)
}

// chase tells seen, for some time, of processes of the attempt among the latest of the machine: who is gone
// before one look at all has ended.
func (a *attempt) chase(long time.Duration, seen func(process)) {
	if self := (process{pid: os.Getpid()}); latest() <= 0 || self.marked(a.marker()) {
		time.Sleep(long) // nobody says which are the latest, or we are of the attempt
		return
	}
	for deadline := time.Now().Add(long); time.Now().Before(deadline); {
		last := latest()
		for pid := last; pid > last-4; pid-- {
			if p, ok := readProcess(pid); ok && !p.zombie && p.marked(a.marker()) {
				seen(p)
			}
		}
	}
}

// bereft reports whether the attempt, whose record's copy we have, runs on although its directory is
// gone: moved to another file system, or restored from a backup. Nobody else will take it up then.
func (a *attempt) bereft(rec record) bool {
	removed := func(st *unix.Stat_t) bool {
		return st.Nlink == 0 && fileIDOf(st) == fileID{rec.Device, rec.Inode}
	}
	return slices.ContainsFunc(a.find(nil, ignore), func(p process) bool { return p.holds(removed) })
}

// supervisor returns the supervisor of a, no child of ours, and whether it lives.
func (a *attempt) supervisor() (p process, lives bool) {
	p, ok := readProcess(a.pid)
	return p, ok && !p.zombie && p.marked(a.marker())
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
	return slices.DeleteFunc(slices.Clone(all), func(p process) bool { return !member[p.pid] || p.zombie })
}

// adopt makes us the parent of orphans, once.
func (l *Local) adopt() {
	if l.Adopt {
		l.adopted.Do(func() { l.adopting = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil })
	}
}

// strays returns the orphans that a has left behind: those that carry its marker, and those
// that no other living attempt is old enough to have started, and no hook. The first process of
// a container gets the orphans of all others too, and only the marker counts.
func (l *Local) strays(a *attempt) []process {
	if a.ended == nil {
		return nil
	}
	orphans := l.orphans()
	l.mu.Lock()
	defer l.mu.Unlock()
	var strays []process
	for _, p := range orphans {
		mine := p.start >= int64(a.uptime/tick) && os.Getpid() != 1
		for _, other := range l.live {
			mine = mine && (other == a || p.start < int64(other.uptime/tick))
		}
		if mine && !p.hooked() || p.marked(a.marker()) {
			strays = append(strays, p)
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

// children returns our children that our main thread started or adopted; orphans go to the main thread.
func children() []int {
	self := os.Getpid()
	if data, err := os.ReadFile(procPath(self, "task/"+strconv.Itoa(self)+"/children")); err == nil {
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
