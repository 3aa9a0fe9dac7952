package session

import (
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// recommend completes the end of a study by the optimizer's choice, and by its doubts about
// what holds the limits. The asker is idle by now, so that the loop may use what it owns.
// Without an answer there is neither: the study has ended well all the same.
func (l *loop) recommend(end *study.Closed) {
	rec, ok := l.opt.(optimizer.Recommender)
	if !ok || l.state.Incumbent() == nil || l.state.Config.Several() {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			l.opts.Log.Error("the optimizer panicked while it recommended a trial", "panic", fmt.Sprint(p))
			end.Recommended, end.Doubtful, end.Holds = nil, nil, nil
		}
	}()
	q := newQuestion(l.state, l.told)
	l.told = q.told
	for _, o := range q.tell {
		if err := l.opt.Tell(o); err != nil {
			l.opts.Log.Error("the optimizer could not be told", "trial", o.Trial, "error", err)
			return
		}
	}
	a, err := rec.Recommend(l.life)
	if err != nil {
		l.opts.Log.Warn("the optimizer recommends no trial", "error", err)
		return
	}
	end.Doubtful = a.Doubtful
	if best := l.state.BestAt(end); a.Holds != nil {
		p := a.Holds[best.Number]
		end.Holds = &p
	}
	if t := l.state.Trials[a.Trial-1]; !t.Succeeded() || !l.state.Feasible(t) || slices.Contains(a.Doubtful, t.Number) {
		return // it had only a part of the resource, or broke a limit
	}
	end.Recommended = &study.Recommended{Trial: a.Trial, Mean: l.state.Config.Objective().Direction.Maximized(a.Mean), SD: a.SD}
}
