package session_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A trial that succeeds after the guard has stopped the study takes the guard's reason away, and the
// study goes on.
func TestGuardIsRefuted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Run.Workers = 2
		st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			switch id := strings.Split(job.ID, "/"); id[1] {
			case "1":
				return ending{stdout: "loss=1\n", takes: time.Minute}
			case "2", "3", "4", "5", "6":
				return ending{exit: runner.Exit{Code: 1}, takes: time.Second}
			}
			return parabola(job)
		}})
		if err != nil || st.Closed == nil || st.Closed.Why != study.EndTrials || len(st.Order) != c.Budget.Trials {
			t.Errorf("%d trials, closed %+v, %v", len(st.Order), st.Closed, err)
		}
		if at := slices.Index(st.Order, 1); at != 5 {
			t.Errorf("trial 1 was the %dth to end", at+1)
		}
	})
}

// So does one that is better than the best after patience has ended.
func TestPatienceIsRefuted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Run.Workers, c.Budget.Patience = 2, 4
		st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			n, _ := strconv.Atoi(strings.Split(job.ID, "/")[1])
			if n == 2 {
				return ending{stdout: "loss=0\n", takes: time.Minute}
			}
			return ending{stdout: "loss=1\n", takes: time.Second + time.Duration(n*n)*time.Millisecond} // no two end at once
		}})
		if err != nil || st.Closed.Detail != "no better trial in 5" || len(st.Order) != 11 || st.Best().Number != 2 {
			t.Errorf("after %d trials: %+v, %v", len(st.Order), st.Closed, err)
		}
	})
}

// hesitant is an optimizer that answers its second question only at the end of its context.
type hesitant struct {
	optimizer.Optimizer
	asked *int
}

func (o hesitant) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	if *o.asked++; *o.asked == 2 {
		<-ctx.Done()
		return optimizer.Proposal{}, ctx.Err()
	}
	return o.Optimizer.Ask(ctx, q)
}

// A study whose end has cut short what the optimizer was asked goes on where it is given more time.
func TestMoreTimeAfterAQuestionWasCutShort(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Run.Workers, c.Budget = 2, study.Budget{Trials: 6, Time: study.Duration(time.Minute)}
		asked := 0
		s, err := session.Open(&c, session.Options{Dir: dir, Optimizer: func(space *spaces.Space, seed uint64, o optimizer.Settings, e ...optimizer.Earlier) (optimizer.Optimizer, error) {
			fake, err := newFakeOptimizer(space, seed, o, e...)
			return hesitant{fake, &asked}, err
		}, Launcher: &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n", takes: 2 * time.Minute} }}})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(90*time.Second, func() {
			if _, err := inbox.Leave(layout.Of(dir), study.Request{Action: study.ActionAdjust, Time: study.Duration(time.Hour)}); err != nil {
				t.Error(err)
			}
		})
		if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil || len(s.State().Order) != 6 {
			t.Errorf("%d trials, %v", len(s.State().Order), err)
		}
	})
}

// A study whose trials are handed out ends for what the model leaves to gain, too.
func TestTryEndsForItsRegret(t *testing.T) {
	c := smooth(80)
	c.Budget.RegretShare, c.Seed = 0.05, 3
	s, err := session.Open(&c, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Try(t.Context(), func(trial study.Trial) (study.Metrics, error) {
		v, _ := trial.Values().Get(c.Params[0].Name)
		x, _ := v.Number()
		return study.Metrics{c.Objective().Name: (x - 0.3) * (x - 0.3)}, nil
	})
	if end := s.State().Closed; errors.Join(err, s.Close()) != nil || end == nil || end.Why != "regret" || len(s.State().Order) >= 80 {
		t.Errorf("after %d trials: %+v, %v", len(s.State().Order), end, err)
	}
}
