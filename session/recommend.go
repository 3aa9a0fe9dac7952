package session

import (
	"context"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// recommend completes the end of a study by the optimizer's choice, and by its doubts about
// what holds the limits. Without an answer there is neither: the study has ended well all the
// same.
func (l *loop) recommend(end *study.Closed) {
	rec, ok := l.study.opt.(optimizer.Recommender)
	if !ok || l.asking || l.study.state.Incumbent() == nil || l.study.state.Config.Several() {
		return
	}
	a, err := l.askForBest(rec)
	if err != nil {
		l.study.opts.Log.Warn("the optimizer recommends no trial", "error", err)
		return
	}
	end.Doubtful = a.Doubtful
	if best := l.study.state.BestAt(end); a.Holds != nil {
		p := a.Holds[best.Number]
		end.Holds = &p
	}
	if t := l.study.state.Trials[a.Trial-1]; !t.Succeeded() || !l.study.state.Feasible(t) || slices.Contains(a.Doubtful, t.Number) {
		return // it had only a part of the resource, or broke a limit
	}
	end.Recommended = &study.Recommended{Trial: a.Trial, Mean: l.study.state.Config.Objective().Direction.Maximized(a.Mean), SD: a.SD}
}

// askForBest has the optimizer recommend a trial. A stop is heeded meanwhile.
func (l *loop) askForBest(rec optimizer.Recommender) (best optimizer.Recommendation, err error) {
	type answer struct {
		best optimizer.Recommendation
		err  error
	}
	ctx, cancel := context.WithCancel(l.life)
	defer cancel()
	q := newQuestion(l.study.state, l.study.told)
	opt, answered := l.study.opt, make(chan answer, 1)
	l.study.told = q.told
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = panicked("the optimizer", p)
			}
			answered <- a
		}()
		if a.err = tell(opt, q.tell); a.err == nil {
			a.best, a.err = rec.Recommend(ctx)
		}
	}()
	defer func() { l.study.doubt(err) }()
	for l.stop < StopRunning {
		select {
		case a := <-answered:
			return a.best, a.err
		case step, open := <-l.steps:
			l.heed(step, open)
		case <-l.interrupted:
			l.interrupted = nil
			l.stopAt(StopRunning)
		}
	}
	return best, errStopped
}
