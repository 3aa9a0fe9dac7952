package runner

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/lists"
)

const (
	// leftoverPatience is the time that leftovers of a finished command have to end by themselves.
	leftoverPatience = time.Second
	// leftoverGrace bounds the time that they have after a SIGTERM; a shorter Job.Grace counts.
	leftoverGrace = time.Second
	// killPatience is how long SIGKILL may take: what hangs in the kernel can outlive any patience.
	killPatience = 30 * time.Second
	// vainLooks is how often one looks for who holds the lock: what forks all the time is soon seen, and
	// what lives in another name space of process ids never.
	vainLooks = 20
)

// stop ends every process of the attempt: SIGTERM, grace, SIGKILL. The reason is recorded first.
func (l *Local) stop(a *attempt, reason stopReason) {
	a.reason = reason
	_ = appendEntry(a.record, entry{Stop: string(reason)})
	grace := a.job.Grace
	if reason == stopFlood { // it fills the disk meanwhile
		grace = min(grace, leftoverGrace)
	}
	t := l.treeOf(a)
	if reason != stopKill {
		a.awaitCommand(t)
		if a.terminate(t, grace) {
			return
		}
	}
	a.killed = true
	for _, p := range a.kill(t) {
		a.immortal = append(a.immortal, Process{PID: p.pid, Command: p.command(), Alive: true})
	}
}

// awaitCommand waits a little until a fresh attempt runs its command: its supervisor survives signals,
// and what it starts after one would know nothing of it.
func (a *attempt) awaitCommand(t *tree) {
	for pause := time.Millisecond; a.group() > 0 && a.age() < commandPatience && !isClosed(a.job.Kill); pause = min(2*pause, lookMin) {
		found := t.look(ignore)
		supervisor := process{pid: a.pid}.command() // not before: it may have been in its exec
		if len(found) == 0 || slices.ContainsFunc(found, func(p process) bool { return p.pid != a.pid && p.command() != supervisor }) {
			return
		}
		time.Sleep(pause)
	}
}

// group returns the supervisor's process group, whose number is taken while it is our child; else 0.
func (a *attempt) group() int {
	if a.ended == nil {
		return 0
	}
	return a.pid
}

// awaitEmpty waits until nothing of t is left, or grace has passed or Kill is closed, and reports which.
func (a *attempt) awaitEmpty(t *tree, grace time.Duration) bool {
	deadline := time.Now().Add(grace)
	for pause := time.Millisecond; ; pause = min(2*pause, lookMax/2) {
		if a.empty(t) {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		select {
		case <-a.job.Kill:
			return false
		case <-time.After(min(pause, left)):
		}
		_, _ = a.trimLogs()
	}
}

// empty reports whether nothing of t is left, by a look and by the lock and the control group, from
// which what forks and exits all the time cannot hide.
func (a *attempt) empty(t *tree) bool {
	return len(t.alive()) == 0 && len(t.look(ignore)) == 0 && !a.locked() && !a.cgroup.populated()
}

// tree is a set of processes that are to end.
type tree struct {
	find  func(seen func(process)) []process // finds those that live, and tells seen of each as soon as it has it
	known []process                          // those found so far, also if nothing ties them to it any more
	first *Process                           // the first that was found, which may be gone
}

func (l *Local) treeOf(a *attempt) *tree {
	return &tree{find: func(seen func(process)) []process { return a.find(l.strays(a), seen) }}
}

func ignore(process) {}

func (t *tree) alive() []process {
	t.known = slices.DeleteFunc(t.known, func(p process) bool { return !p.alive() })
	return t.known
}

// look looks for processes and returns all that live, or did when they were found.
func (t *tree) look(seen func(process)) []process {
	known := make(map[process]bool)
	for _, p := range t.alive() {
		known[p.identity()] = true
	}
	for _, p := range t.find(seen) {
		if id := p.identity(); !known[id] {
			known[id] = true
			t.known = append(t.known, p)
			if t.first == nil {
				t.first = &describe([]process{p})[0]
			}
		}
	}
	return t.known
}

// terminate sends one SIGTERM to each process, which may take a second one for impatience, and SIGCONT. It
// reports whether nothing is left within grace.
func (a *attempt) terminate(t *tree, grace time.Duration) bool {
	found, group := t.look(ignore), a.group()
	if group > 0 {
		_ = unix.Kill(-group, unix.SIGTERM)
		_ = unix.Kill(-group, unix.SIGCONT)
	}
	for _, p := range found {
		if group == 0 || !p.in(group) { // asked now: it may have left meanwhile
			p.signal(unix.SIGTERM)
			p.signal(unix.SIGCONT)
		}
	}
	return a.awaitEmpty(t, grace)
}

// kill ends every process, and those that these start meanwhile, until it finds none, several times if
// one hides that holds the lock. Each is killed as soon as it is seen: beside a fork bomb a whole look
// takes long. kill returns those that are still there when its patience ends.
func (a *attempt) kill(t *tree) []process {
	deadline := time.Now().Add(killPatience)
	kill := func(p process) { p.signal(unix.SIGKILL) }
	vain := 0 // looks in a row
	for pause := time.Millisecond; ; pause = min(2*pause, lookMax) {
		a.cgroup.kill()
		if group := a.group(); group > 0 {
			_ = unix.Kill(-group, unix.SIGKILL)
		} else if p, lives := a.supervisor(); lives { // first: it would write down the end of its command as any other
			t.look(ignore) // whom nothing but descent ties to it
			kill(p)
		}
		for _, p := range t.alive() {
			kill(p)
		}
		found := t.look(kill)
		if vain++; len(found) > 0 {
			vain = 0
		}
		if vain > 0 && !a.locked() || vain == vainLooks || time.Now().After(deadline) {
			return found
		}
		if vain > 0 {
			a.chase(pause, kill)
		} else {
			time.Sleep(pause)
		}
	}
}

// sweep ends what a command has left behind, which may do so itself if the command did, and names it.
func (l *Local) sweep(a *attempt, ended time.Time) []Process {
	if len(a.immortal) > 0 {
		return a.immortal
	}
	// Whoever survived its ancestors would be our child now, or below one that is.
	if l.adopting && a.ended != nil && len(l.orphans()) == 0 && !a.locked() && !a.cgroup.populated() {
		return nil
	}
	t := l.treeOf(a)
	if a.empty(t) {
		return nil
	}
	swept := describe(t.known)
	if a.reason == "" {
		if a.awaitEmpty(t, min(leftoverPatience-time.Since(ended), leftoverPatience)) {
			return nil
		}
		a.settle(ended)
		if found := t.look(ignore); len(found) > 0 {
			swept = describe(found)
		}
	}
	if !a.terminate(t, min(a.job.Grace, leftoverGrace)) {
		for _, p := range a.kill(t) {
			for i := range swept {
				swept[i].Alive = swept[i].Alive || swept[i].PID == p.pid
			}
		}
	}
	l.orphans() // which reaps the dead ones
	switch {
	case len(swept) > 0:
	case t.first != nil:
		swept = []Process{*t.first}
	default: // the control group or the lock told of somebody
		swept = []Process{{Command: unseen}}
	}
	return swept
}

// unseen stands for leftovers that fork and exit faster than anybody can look.
const unseen = "processes that came and went too fast to be seen"

func describe(ps []process) []Process {
	return lists.Map(ps, func(p process) Process { return Process{PID: p.pid, Command: p.command()} })
}
