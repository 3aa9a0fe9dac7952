package session_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// The best trials are repeated with seeds of their own when the study ends, and
// the one with the best mean wins, not the luckiest.
func TestConfirm(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Workers, c.Run.Confirm, c.Budget.Trials = 2, 4, 5
		c.Command.Argv = []string{"x", "{x}", "{n}", "{seed}"}
		// Trial 2 was lucky once; trials 4 and 5 differ by less than their noise.
		first := map[string]string{"1": "9", "2": "1", "3": "8", "4": "3", "5": "3.1"}
		again := map[string][]string{"2": {"5", "6", "5", "6"}, "4": {"3", "3.4", "2.8", "fail"}, "5": {"2.9", "3.2", "3.3", "3"}}
		seeds := map[string]bool{}
		var mu sync.Mutex // two workers run the program at a time
		f := &fakeLauncher{program: func(job runner.Job) ending {
			mu.Lock()
			defer mu.Unlock()
			trial := strings.Split(job.ID, "/")[1]
			if seeds[trial+job.Argv[3]] {
				t.Errorf("trial %s has run twice with seed %s", trial, job.Argv[3])
			}
			seeds[trial+job.Argv[3]] = true
			if strings.HasSuffix(job.ID, "/1") {
				return ending{stdout: "loss=" + first[trial] + "\n"}
			}
			v := again[trial][0]
			again[trial] = again[trial][1:]
			if v == "fail" {
				return ending{exit: runner.Exit{Code: 1}}
			}
			return ending{stdout: "loss=" + v + "\n"}
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil {
			t.Fatal(err)
		}
		cs := st.Confirmations()
		if len(cs) != 3 || len(f.launched) != 5+12 {
			t.Fatalf("%d confirmed, %d launched", len(cs), len(f.launched))
		}
		var got []string
		for _, c := range cs {
			got = append(got, fmt.Sprintf("%d: %d %.3f %.3f %v", c.Trial.Number, c.N, c.Mean, c.Margin, c.Tied(cs[0], len(cs))))
		}
		// Margins by hand: t(3)=3.1824, t(2)=4.3027, times sd/sqrt(n).
		want := fmt.Sprintf("[4: 3 3.067 %.3f true 5: 4 3.100 %.3f true 2: 4 5.500 %.3f false]",
			4.3027*0.305505/math.Sqrt(3), 3.1824*0.182574/2, 3.1824*0.577350/2)
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
		if st.Best().Number != 4 || st.Best().Attempt != 1 {
			t.Errorf("the best is %+v", st.Best())
		}
		again2, err := finish(t, dir, &c, f)
		if err != nil || len(f.launched) != 17 || again2.Best().Number != 4 {
			t.Errorf("a second run: %v, %d launched", err, len(f.launched))
		}
	})
}

// A stop while the best are confirmed loses nothing: the rest follows.
func TestConfirmStopped(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Confirm, c.Budget.Trials = 2, 3
		stop := make(chan session.Stop, 1)
		f := &fakeLauncher{}
		f.program = func(job runner.Job) ending {
			if strings.HasSuffix(job.ID, "/2") && len(f.launched) == 4 {
				stop <- session.StopRunning
				return ending{takes: 1 << 50}
			}
			return parabola(job)
		}
		s := open(t, dir, &c, f)
		if err := s.Run(t.Context(), stop); err == nil {
			t.Error("a stopped study ended well")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		st, err := finish(t, dir, &c, &fakeLauncher{program: parabola})
		if err != nil || len(st.Confirmations()) != 3 || st.Closed == nil {
			t.Errorf("%v: %d confirmed", err, len(st.Confirmations()))
		}
	})
}

// The next run confirms what is among the best in the place of a confirmed trial that was taken out since, once.
func TestConfirmAfterAnExclusion(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Confirm, c.Budget.Trials = 2, 5
		f := &fakeLauncher{program: func(job runner.Job) ending {
			return ending{stdout: "loss=" + strings.Split(job.ID, "/")[1] + "\n"}
		}}
		for run, want := range []struct{ exclude, launched, confirmed int }{{0, 5 + 6, 3}, {2, 2, 3}, {0, 0, 3}, {5, 0, 3}} {
			if want.exclude > 0 {
				take := func(s *session.Study) error {
					return s.Do(study.Request{Action: study.ActionExclude, Trial: want.exclude})
				}
				if err := session.Edit(nil, session.Options{Dir: dir}, take); err != nil {
					t.Fatal(err)
				}
			}
			before := len(f.launched)
			st, err := finish(t, dir, &c, f)
			if got := len(f.launched) - before; err != nil || got != want.launched || len(st.Confirmations()) != want.confirmed || !st.Ended() {
				t.Errorf("run %d: %v, %d launched, %d confirmed; want %+v", run, err, got, len(st.Confirmations()), want)
			}
		}
	})
}

// So it does where all runs have failed that were to confirm the one that was taken out.
func TestConfirmAfterAFailedOne(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Confirm, c.Budget.Trials = 2, 5
		f := &fakeLauncher{program: func(job runner.Job) ending {
			if id := strings.Split(job.ID, "/"); id[1] == "1" && id[2] != "1" {
				return ending{exit: runner.Exit{Code: 3}}
			}
			return ending{stdout: "loss=" + strings.Split(job.ID, "/")[1] + "\n"}
		}}
		st, err := finish(t, dir, &c, f)
		if err != nil || st.Trials[0].ConfirmFailures != 2 || len(st.Confirmations()) != 2 {
			t.Fatalf("%v, %d runs of trial 1 have failed, %d confirmed", err, st.Trials[0].ConfirmFailures, len(st.Confirmations()))
		}
		take := func(s *session.Study) error { return s.Do(study.Request{Action: study.ActionExclude, Trial: 1}) }
		if err := session.Edit(nil, session.Options{Dir: dir}, take); err != nil {
			t.Fatal(err)
		}
		if st, err = finish(t, dir, &c, f); err != nil || len(st.Confirmations()) != 3 || !st.Ended() {
			t.Errorf("%v, %d confirmed without trial 1", err, len(st.Confirmations()))
		}
	})
}

// A confirmed trial that a changed range leaves outside is not the best.
func TestConfirmedOutside(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Run.Confirm, c.Budget.Trials = 2, 3
		st, err := finish(t, dir, &c, &fakeLauncher{program: parabola})
		if err != nil {
			t.Fatal(err)
		}
		best := st.Best()
		x, _ := best.Values().Get("x")
		if at := x.Any().(float64); at > 0 {
			c.Params[0].Max = at / 2
		} else {
			c.Params[0].Min = at / 2
		}
		err = session.Edit(&c, session.Options{Dir: dir}, func(s *session.Study) error {
			if b := s.State().Best(); b != nil && b.Number == best.Number {
				t.Errorf("the best is still trial %d, %v", b.Number, b.Values())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A limit that varies by chance lets through who was lucky. The best are run again down the
// ranking until the means of one hold the limit, and what breaks it at once is not; if none
// holds it, the study says so.
func TestConfirmedLimits(t *testing.T) {
	for name, c := range map[string]struct {
		load      string // of each trial's later runs; the first are 1, but 3 of trial 6
		best      int
		confirmed string
		err       error
	}{
		"the first":  {"11111", 1, "1 2 3", nil},
		"the fourth": {"33312", 4, "1 2 3 4", nil},
		"none":       {"33333", 1, "1 2 3 4 5", session.ErrInfeasible},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				limit := 2.0
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "load", Rule: parser.Rule{Metric: "load"}, Max: &limit})
				cfg.Run.Confirm, cfg.Budget.Trials = 2, 6
				f := &fakeLauncher{program: func(job runner.Job) ending {
					_, id, _ := strings.Cut(job.ID, "/")
					trial, attempt, _ := strings.Cut(id, "/")
					load := "1"
					switch {
					case trial == "6":
						load = "3"
					case attempt != "1":
						load = string(c.load[trial[0]-'1'])
					}
					return ending{stdout: "loss=" + trial + " load=" + load + "\n"}
				}}
				st, err := finish(t, dir, &cfg, f)
				if !errors.Is(err, c.err) {
					t.Fatal(err)
				}
				var confirmed []string
				for _, trial := range st.Trials {
					if len(trial.Confirms) > 0 {
						confirmed = append(confirmed, strconv.Itoa(trial.Number))
					}
				}
				if got := strings.Join(confirmed, " "); got != c.confirmed || st.Best().Number != c.best || st.Feasible(st.Best()) != (c.err == nil) {
					t.Errorf("trials %s were run again, and the best is %d, %v", got, st.Best().Number, st.Feasible(st.Best()))
				}
			})
		})
	}
}
