package session_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// What becomes the best after the end is confirmed by the next run, however the study has ended: a trial
// that was awaited meanwhile, and one that is brought back. What does not become one of the best opens
// nothing.
func TestConfirmsWhatIsBestAfterTheEnd(t *testing.T) {
	goal := 15.0
	for name, c := range map[string]struct {
		end    study.Ending
		budget study.Budget
	}{
		"patience": {study.EndPatience, study.Budget{Trials: 90, Patience: 2}},
		"goal":     {study.Ending("goal"), study.Budget{Trials: 90, Goal: &goal}},
		"time":     {study.Ending("time"), study.Budget{Trials: 90, Time: study.Duration(20 * time.Second)}},
	} {
		for what, told := range map[string]float64{"the best": 0, "the worst": 99} {
			for _, how := range []string{"told", "told to the same process", "included", "included in the same process"} {
				t.Run(name+"/"+what+"/"+how, func(t *testing.T) {
					if name != "goal" {
						effort.Thorough(t, "one way to end is enough while one works")
					}
					confirmAfterTheEnd(t, c.end, c.budget, told, how)
				})
			}
		}
	}
}

func confirmAfterTheEnd(t *testing.T, end study.Ending, budget study.Budget, told float64, how string) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget, cfg.Run.Confirm, cfg.Run.Workers = budget, 2, 1
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/4/1") {
				return ending{stdout: "loss=10\n", takes: 6 * time.Second}
			}
			return ending{stdout: "loss=20\n", takes: 6 * time.Second}
		}}
		s := open(t, dir, &cfg, f)
		_, err := s.Ask(t.Context())
		late := func() error { return s.Tell(1, study.Metrics{"loss": told}) }
		if how != "told" && how != "told to the same process" {
			err = errors.Join(err, late(), byHand(s, study.ActionExclude, 1, ""))
			late = func() error { return byHand(s, study.ActionInclude, 1, "") }
		}
		if err = errors.Join(err, s.Run(t.Context(), nil)); err != nil || s.State().Closed.Why != end || len(s.State().Confirmations()) != 3 {
			t.Fatalf("%v, closed %+v", err, s.State().Closed)
		}
		first := len(s.State().Trials)
		if how == "told" || how == "included" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir, &cfg, f)
		}
		if err := late(); err != nil {
			t.Fatal(err)
		}
		if opened := !s.State().Ended(); opened != (told == 0) {
			t.Errorf("the study goes on: %v", opened)
		}
		if how == "told" || how == "included" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir, &cfg, f)
		}
		for range 2 { // the second run has nothing to do
			if err := s.Run(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		st := s.State()
		want := 0
		if told == 0 {
			want = 2
		}
		if n := len(st.Trials[0].Confirms); n != want || !st.Ended() || end != study.EndPatience && len(st.Trials) != first {
			t.Errorf("run again %d times, want %d; %d trials, closed %+v", n, want, len(st.Trials), st.Closed)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
