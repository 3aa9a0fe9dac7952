package session

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// recommend asks the optimizer for its choice. The asker is idle by now, so that
// the loop may use what it owns. Without an answer there is no recommendation:
// the study has ended well all the same.
func (l *loop) recommend() (r *study.Recommended) {
	rec, ok := l.opt.(optimizer.Recommender)
	if !ok || l.state.Incumbent() == nil || l.state.Config.Several() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			l.opts.Log.Error("the optimizer panicked while it recommended a trial", "panic", fmt.Sprint(p))
			r = nil
		}
	}()
	q := newQuestion(l.state, l.told)
	l.told = q.told
	for _, o := range q.tell {
		if err := l.opt.Tell(o); err != nil {
			l.opts.Log.Error("the optimizer could not be told", "trial", o.Trial, "error", err)
			return nil
		}
	}
	a, err := rec.Recommend(l.life)
	if err != nil {
		l.opts.Log.Warn("the optimizer recommends no trial", "error", err)
		return nil
	}
	if t := l.state.Trials[a.Trial-1]; !t.Succeeded() || !l.state.Feasible(t) {
		return nil // it had only a part of the resource, or broke a limit
	}
	return &study.Recommended{Trial: a.Trial, Mean: l.state.Config.Objective().Direction.Maximized(a.Mean), SD: a.SD}
}
