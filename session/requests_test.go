package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// wish is a request for values that no optimizer proposes.
func wish(x float64) study.Request {
	return study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(x)}, {Name: "n", Value: spaces.Int(2)}}}
}

// asking is parabola, and leaves requests while trial n runs.
func asking(t *testing.T, dir string, n int, requests ...study.Request) *fakeLauncher {
	return &fakeLauncher{program: func(job runner.Job) ending {
		if strings.Contains(job.Dir, fmt.Sprintf("%06d", n)) {
			for _, r := range requests {
				if _, err := inbox.Leave(layout.Of(dir), r); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Microsecond) // their order is that of time
			}
		}
		return parabola(job)
	}}
}

// times counts the trials with values that a wish asked for, and those that wait.
func times(st *study.State, x float64) (n int) {
	for _, tr := range st.Trials {
		if v, _ := tr.Values().Get("x"); v == spaces.Float(x) && tr.Origin == optimizer.OriginGiven {
			n++
		}
	}
	for _, q := range st.Queue {
		if v, _ := q.Get("x"); v == spaces.Float(x) {
			n++
		}
	}
	return n
}

// noneWait fails if a request was left.
func noneWait(t *testing.T, dir string) {
	t.Helper()
	if rs, err := inbox.Read(layout.Of(dir)); err != nil || len(rs) > 0 {
		t.Errorf("requests %v wait: %v", rs, err)
	}
}

func TestRequestsOfARunningStudy(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		f := asking(t, dir, 3, wish(0.125), wish(7), study.Request{Action: study.ActionNote, Trial: 2, Text: "odd"},
			study.Request{Action: study.ActionExclude, Trial: 99}, study.Request{Action: "dance"},
			study.Request{Action: study.ActionAdjust, Trials: 15, Workers: 3})
		st, err := finish(t, dir, &cfg, f)
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Order) != 15 || f.most != 3 || st.Config.Budget.Trials != 15 || st.Config.Run.Workers != 3 {
			t.Errorf("%d trials, %d at a time", len(st.Order), f.most)
		}
		if times(st, 0.125) != 1 || len(st.Notes) != 1 || st.Notes[0].Text != "odd" {
			t.Errorf("trials %+v, notes %v", st.Trials, st.Notes)
		}
		var refused []string
		for _, e := range events(t, dir) {
			if r, ok := e.(study.Refused); ok {
				refused = append(refused, r.Why)
			}
		}
		want := []string{"want a number from -1 to 1", "there is no trial 99", `there is no action "dance"`}
		if len(refused) != len(want) {
			t.Fatalf("refused: %q", refused)
		}
		for i, w := range want {
			if !strings.Contains(refused[i], w) {
				t.Errorf("refused: %q; want %q", refused[i], w)
			}
		}
		noneWait(t, dir)
		if rep, err := session.Replay(t.Context(), dir, newFakeOptimizer); err != nil || len(rep.Differences) > 0 || rep.Given != 1 {
			t.Errorf("replay %+v: %v", rep, err)
		}
	})
}

// A budget that is raised while the last trials run, or the best are confirmed, is no
// other than one that was larger from the start; a smaller one ends the study.
func TestBudgetOfARunningStudy(t *testing.T) {
	for trials, want := range map[int]int{20: 20, 4: 7} {
		t.Run(fmt.Sprint(trials), func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Run.Confirm = 2
				at := 12
				if trials < at {
					at = 7
				}
				st, err := finish(t, dir, &cfg, asking(t, dir, at, study.Request{Action: study.ActionAdjust, Trials: trials}))
				if err != nil || len(st.Order) != want || st.Closed == nil || st.Closed.Why != study.EndTrials {
					t.Errorf("%d trials, closed %+v: %v", len(st.Order), st.Closed, err)
				}
			})
		})
	}
}

// Fewer workers let the running trials end.
// Requests are served again once what prevented it has passed.
func TestRequestsCannotBeReadForAWhile(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		f := asking(t, dir, 3, wish(0.125))
		ask, place := f.program, layout.Of(dir).Requests()
		f.program = func(job runner.Job) ending {
			time.Sleep(time.Second) // some looks long
			if strings.Contains(job.Dir, "000001") {
				put(t, place, "no directory")
			} else {
				_ = os.Remove(place)
			}
			return ask(job)
		}
		st, err := finish(t, dir, &cfg, f)
		if err != nil || times(st, 0.125) != 1 || len(st.Queue) > 0 {
			t.Errorf("the wish was fulfilled %d times, %v; waiting: %v", times(st, 0.125), err, st.Queue)
		}
	})
}

func TestFewerWorkers(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Run.Workers = 4
		f := asking(t, dir, 5, study.Request{Action: study.ActionAdjust, Workers: 1})
		st, err := finish(t, dir, &cfg, f)
		if err != nil || len(st.Order) != 12 || st.Count(optimizer.Succeeded) != 12 {
			t.Errorf("%d trials: %v", len(st.Order), err)
		}
		busy := map[int]int{}
		for _, tr := range st.Trials[8:] {
			busy[tr.Slot]++
		}
		if len(busy) != 1 {
			t.Errorf("the last trials ran in the slots %v", busy)
		}
	})
}

// The optimizer forgets at once what is excluded while it works, learns it again when it
// counts again, and a replay agrees.
func TestExcludedWhileItRuns(t *testing.T) {
	for name, requests := range map[string][]study.Request{
		"excluded": {{Action: study.ActionExclude, Trial: 2}},
		"included": {{Action: study.ActionExclude, Trial: 2}, {Action: study.ActionInclude, Trial: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials = 6
				f := asking(t, dir, 4, requests...)
				var told []int
				st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f,
					Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						told = nil
						o, err := newFakeOptimizer(sp, seed, set)
						return noted{o, &told}, err
					}})
				want := []int{1, 3, 4, 5}
				if name == "included" {
					want = []int{1, 2, 3, 4, 5}
				}
				if !slices.Equal(told, want) {
					t.Errorf("%s: the optimizer was told of %v; want %v", name, told, want)
				}
				if got, want := st.Trials[5].Values(), proposalAfter(t, st, 6, want...); !got.Equal(want) {
					t.Errorf("%s: trial 6 is %v; want %v", name, got, want)
				}
				rep, err := session.Replay(t.Context(), dir, newFakeOptimizer)
				if err != nil || rep.Asked != 6 || len(rep.Differences) > 0 {
					t.Errorf("%s: replay %+v: %v", name, rep, err)
				}
			})
		})
	}
}

// Whatever instant lbotune dies at while it fulfils a request, the request has its effect
// once: the journal is cut after each byte of the effect's record, and the request still
// there or gone.
func TestRequestSurvivesCrashes(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 2
		if _, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola}); err != nil {
			t.Fatal(err)
		}
		l := layout.Of(dir)
		r, err := inbox.Leave(l, wish(0.125))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(l.Requests(), r.ID+".json")
		request, err1 := os.ReadFile(path)
		before, err2 := os.ReadFile(l.Journal())
		serve := func() error {
			return session.Edit(nil, session.Options{Dir: dir}, func(*session.Study) error { return nil })
		}
		if err := errors.Join(err1, err2, serve()); err != nil {
			t.Fatal(err)
		}
		noneWait(t, dir)
		after, err := os.ReadFile(l.Journal())
		if err != nil || len(after) <= len(before) {
			t.Fatal(err)
		}
		for cut := len(before); cut <= len(after); cut++ {
			if err := errors.Join(os.WriteFile(l.Journal(), after[:cut], 0o600), os.WriteFile(path, request, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := serve(); err != nil {
				t.Fatal(err)
			}
			st, err := study.Load(dir)
			if err != nil || times(st, 0.125) != 1 {
				t.Fatalf("after %d of %d bytes the values are there %d times: %v", cut-len(before), len(after)-len(before), times(st, 0.125), err)
			}
			noneWait(t, dir)
		}
		cfg.Budget.Trials = 4
		st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
		if err != nil || times(st, 0.125) != 1 || !st.Trials[2].Values().Equal(wish(0.125).Values) {
			t.Errorf("the values ran %d times: %v", times(st, 0.125), err)
		}
	})
}

// What a requester that was killed has left does nothing, and what is no request is
// refused; the next session takes what waits.
func TestRequestsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		l := layout.Of(dir)
		if _, err := inbox.Leave(l, wish(0.125)); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"0-1-d.json.new": `{"version":1,"action":"note","text":"dra`,
			"1-1-c.json":     `{"version":1,"action":"note","text":"cu`,
			"2-1-1a.json":    `{"version":2,"action":"note","text":"later"}`,
			"3-1-f.json":     `{"version":1,"action":"note","text":"x","shout":true}`,
		} {
			if err := os.WriteFile(filepath.Join(l.Requests(), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("/dev/zero", filepath.Join(l.Requests(), "4-1-11.json")); err != nil {
			t.Fatal(err)
		}
		cfg := config()
		st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
		if err != nil || times(st, 0.125) != 1 || len(st.Notes) != 0 {
			t.Errorf("%d times, notes %v: %v", times(st, 0.125), st.Notes, err)
		}
		for _, id := range []string{"1-1-c", "2-1-1a", "3-1-f"} {
			if why, known := st.Answered(id); !known || why == "" {
				t.Errorf("%s: known %v, refused %q", id, known, why)
			}
		}
		noneWait(t, dir)
	})
}

// What was left while nobody worked on a study that has ended is served by the next session,
// which goes on if it says so.
func TestRequestsLeftAtTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		f := &fakeLauncher{program: parabola}
		if _, err := finish(t, dir, &cfg, f); err != nil {
			t.Fatal(err)
		}
		for _, r := range []study.Request{{Action: study.ActionNote, Text: "odd"}, {Action: study.ActionAdjust, Trials: 14}} {
			if _, err := inbox.Leave(layout.Of(dir), r); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Microsecond)
			st, err := finish(t, dir, nil, f)
			if want := max(r.Trials, 12); err != nil || len(st.Notes) != 1 || len(st.Order) != want {
				t.Errorf("%d trials, want %d; notes %v: %v", len(st.Order), want, st.Notes, err)
			}
			noneWait(t, dir)
		}
		if rep, err := session.Replay(t.Context(), dir, newFakeOptimizer); err != nil || len(rep.Differences) > 0 || rep.Asked != 14 {
			t.Errorf("replay %+v: %v", rep, err)
		}
	})
}

// Who hands out trials forgets at once what a request excludes.
func TestExcludedWhileHandedOut(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		s := open(t, dir, &cfg, &fakeLauncher{})
		for n := 1; n <= 2; n++ {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Tell(n, study.Metrics{"loss": float64(n)}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := inbox.Leave(s.Layout(), study.Request{Action: study.ActionExclude, Trial: 1})
		if err := errors.Join(err, s.Serve()); err != nil {
			t.Fatal(err)
		}
		noneWait(t, dir)
		trial, err := s.Ask(t.Context())
		if err != nil || !trial.Values().Equal(proposalAfter(t, s.State(), 3, 2)) {
			t.Errorf("trial %+v: %v", trial, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A study that shares the machine gets no more slots than it was started with.
func TestWorkersOfASharer(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		f := asking(t, dir, 3, study.Request{Action: study.ActionAdjust, Workers: 3})
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer,
			Share: sharers(t, filepath.Join(t.TempDir(), "shared"), 2)})
		refused := slices.IndexFunc(events(t, dir), func(e study.Event) bool {
			r, ok := e.(study.Refused)
			return ok && strings.Contains(r.Why, "for more than the 1 trials at a time that it was started with")
		})
		if refused < 0 || st.Config.Run.Workers != 1 || f.most != 1 {
			t.Errorf("%d trials at a time: %v", f.most, lines(t, dir))
		}
	})
}

// A person may raise the budget while the optimizer thinks about what it recommends at the end: then
// there is none yet.
func TestAdjustedWhileTheBestIsChosen(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials = 3
		asked := 0
		st := conclude(t, &cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola},
			Optimizer: func(sp *spaces.Space, seed uint64, set optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
				o, err := newFakeOptimizer(sp, seed, set)
				return advising{o, func() (optimizer.Recommendation, error) {
					if asked++; asked == 1 {
						if _, err := inbox.Leave(layout.Of(dir), study.Request{Action: study.ActionAdjust, Trials: 5}); err != nil {
							t.Error(err)
						}
					}
					return optimizer.Recommendation{Trial: 2, Mean: -1, SD: 0.5}, nil
				}}, err
			}})
		if len(st.Order) != 5 || st.Closed.Detail != "all 5 trials are finished" || asked != 2 || st.Closed.Recommended == nil {
			t.Errorf("%d trials, recommended %d times: %+v", len(st.Order), asked, st.Closed)
		}
	})
}
