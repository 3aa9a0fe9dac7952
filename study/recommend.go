package study

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer"
)

// Recommended is the trial that the optimizer would choose at a study's end.
// Under noise the best value is often only the luckiest. Mean and SD are in the
// objective's units, as the program prints them.
type Recommended struct {
	Trial int     `json:"trial"`
	Mean  float64 `json:"mean"`         // expected value without the noise
	SD    float64 `json:"sd,omitempty"` // standard deviation of that expectation
}

// recommend asks the optimizer for its choice. The asker is idle by now, so that
// the loop may use what it owns. Without an answer there is no recommendation:
// the study has ended well all the same.
func (l *loop) recommend() (r *Recommended) {
	rec, ok := l.opt.(optimizer.Recommender)
	if !ok || l.state.best == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			l.opts.Log.Error("the optimizer panicked while it recommended a trial", "panic", fmt.Sprint(p))
			r = nil
		}
	}()
	q := l.state.question(l.told)
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
	if !l.state.Trials[a.Trial-1].Succeeded() {
		return nil // it had only a part of the resource
	}
	return &Recommended{Trial: a.Trial, Mean: l.state.worth(a.Mean), SD: a.SD}
}
