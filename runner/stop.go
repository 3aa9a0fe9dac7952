package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// leftoverGrace bounds the time that leftovers of a finished command have between
	// SIGTERM and SIGKILL; a shorter Job.Grace counts.
	leftoverGrace = time.Second
	// killPatience is how long SIGKILL may take; a process that hangs in the kernel (a
	// dead network disk) can live longer than any patience.
	killPatience = 10 * time.Second
)

// stop ends every process of the attempt: SIGTERM, grace, SIGKILL. The reason is recorded
// first, so that whoever finds the attempt ended also knows that it was made to end.
func (a *attempt) stop(reason stopReason) {
	a.reason = reason
	_ = appendEntry(a.record, entry{Stop: string(reason)})
	if reason != stopKill {
		terminate(a.group(), a.find)
		if a.drained(a.job.Grace, a.find) {
			return
		}
	}
	a.killed = true
	killAll(a.group(), a.find)
}

// group returns the process group of the supervisor if it cannot be anyone else's: as long
// as the supervisor is our child, dead or alive, its number is taken. Else 0.
func (a *attempt) group() int {
	if a.ended == nil {
		return 0
	}
	return a.pid
}

// drained waits until no process of the attempt is left, or grace has passed or Kill is
// closed, and reports which.
func (a *attempt) drained(grace time.Duration, find func() []process) bool {
	deadline := time.Now().Add(grace)
	var known []process
	for pause := time.Millisecond; ; pause = min(2*pause, lookMax/2) {
		if known = living(known); len(known) == 0 {
			if known = find(); len(known) == 0 {
				return true
			}
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		timer := time.NewTimer(min(pause, left))
		select {
		case <-a.job.Kill:
			timer.Stop()
			return false
		case <-timer.C:
		}
		_, _ = a.trimLogs()
	}
}

// terminate sends one SIGTERM to each process of group and to each that find finds: a
// program may take a second one for impatience. SIGCONT lets stopped ones act on it.
func terminate(group int, find func() []process) {
	if group > 0 {
		_ = unix.Kill(-group, unix.SIGTERM)
		_ = unix.Kill(-group, unix.SIGCONT)
	}
	for _, p := range find() {
		if group == 0 || p.group != group {
			p.signal(unix.SIGTERM)
			p.signal(unix.SIGCONT)
		}
	}
}

// killAll ends every process of group and every one that find finds, and those that these
// start meanwhile: all are stopped, until no moving one is found, before the first one is
// killed, since killing makes room for what a fork bomb starts next. It returns those that
// are still there when its patience ends.
func killAll(group int, find func() []process) []process {
	deadline := time.Now().Add(killPatience)
	for pause := time.Millisecond; ; pause = min(2*pause, lookMax) {
		if group > 0 {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
		found := freeze(find, deadline)
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
		for _, p := range found {
			p.signal(unix.SIGKILL)
		}
		time.Sleep(pause)
	}
}

// freeze stops what find finds until it finds nothing new, and returns it.
func freeze(find func() []process, deadline time.Time) []process {
	stopped := make(map[process]bool)
	for {
		found := find()
		news := false
		for _, p := range found {
			if id := p.identity(); !stopped[id] {
				stopped[id], news = true, true
				p.signal(unix.SIGSTOP)
			}
		}
		if !news || time.Now().After(deadline) {
			return found
		}
	}
}

func living(known []process) []process {
	alive := known[:0]
	for _, p := range known {
		if p.alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// sweep ends what a command has left behind, and says what that was.
func (l *Local) sweep(a *attempt) []Process {
	find := l.leftovers(a)
	if find == nil {
		return nil
	}
	found := find()
	if len(found) == 0 {
		return nil
	}
	swept := make([]Process, len(found))
	for i, p := range found {
		swept[i] = Process{PID: p.pid, Command: p.command()}
	}
	terminate(a.group(), find)
	if !a.drained(min(a.job.Grace, leftoverGrace), find) {
		for _, p := range killAll(a.group(), find) {
			for i := range swept {
				swept[i].Alive = swept[i].Alive || swept[i].PID == p.pid
			}
		}
	}
	l.reapOrphans()
	return swept
}
