package session

import (
	"slices"
	"time"

	"github.com/lbotune/lbotune/study"
)

// askPatience is how long the end of a trial waits for the next proposal: less than a fit takes.
const askPatience = time.Millisecond

// commit has the study take in what this turn has decided.
//
// A sync is the dearest part of a short trial. So when a trial has ended, the next one is asked for
// before its end is written, and if the answer comes at once both are written together. The
// optimizer then knows a result a moment before the disk does; nobody else does, and if the disk
// never gets it, what the optimizer knew is lost with the process.
func (l *loop) commit() error {
	var updates []study.Update
	for len(l.events) > 0 {
		decided := l.events
		l.events = nil
		applied, err := l.study.apply(decided)
		if err != nil {
			return err
		}
		first := len(updates) == 0
		updates = append(updates, applied...)
		if first && slices.ContainsFunc(decided, isFinished) {
			l.askAndWait()
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := l.study.write(updates); err != nil {
		return unsaved(err, updates)
	}
	for _, u := range updates {
		f, ok := u.Record.Event.(study.Finished)
		if !ok {
			continue
		}
		st := l.study.state
		if readsAlong(&st.Config) && burst(st.Trials[f.Trial-1]) {
			l.warn("burst", "all readings came at the end of the trial, too late to stop it early; have the program flush its output after each line", "trial", f.Trial)
		}
		n := len(st.Order)
		seldom := n%max(st.Config.Run.SlotCount(), 16) == 0
		if seldom || n <= 64 {
			for about, text := range st.Mistakes {
				l.warn(about, text)
			}
		}
		if seldom {
			if text := st.Idle(); text != "" {
				l.warn("idle", text)
			}
		}
	}
	return nil
}

func isFinished(e study.Event) bool {
	_, ok := e.(study.Finished)
	return ok
}

// askAndWait asks for the next trial, if one is wanted, and waits a moment for the answer.
func (l *loop) askAndWait() {
	if !l.wantsTrial() || l.study.state.Ending(l.study.elapsed()) != nil {
		return
	}
	if _, ok := l.study.state.Unasked(false); ok {
		return
	}
	l.ask()
	late := time.After(askPatience)
	for l.asking {
		select {
		case happen := <-l.inbox:
			happen()
		case <-late:
			return
		}
	}
}

const (
	burstSteps   = 3   // of the course, at least
	burstSeconds = 2   // that the trial took, at least
	burstShare   = 0.9 // of its time, after which the first of them was read
)

// burst reports whether all that the trial said of its course came at its end, as it does
// from a program that does not flush its output: too late to stop it early.
func burst(t *study.Trial) bool {
	took := t.Took.Seconds()
	return len(t.Measurements) >= burstSteps && took >= burstSeconds && t.Measurements[0].Seconds >= burstShare*took
}
