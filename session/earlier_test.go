package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// runReal runs a study with the real optimizer and returns the values of its trials.
func runReal(t *testing.T, dir string, c *study.Config) []spaces.Values {
	t.Helper()
	s, err := session.Open(c, session.Options{Dir: dir, Launcher: &fakeLauncher{program: parabola}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	var out []spaces.Values
	for _, trial := range s.State().Trials {
		out = append(out, trial.Values())
	}
	return out
}

// A study that began with others goes on without them, after a break as without one, and
// each of its proposals can be asked for again.
func TestWarmStartIsReadOnce(t *testing.T) {
	for _, same := range []bool{false, true} {
		base := t.TempDir()
		source, csv := filepath.Join(base, "old.study"), filepath.Join(base, "runs.csv")
		if err := os.WriteFile(csv, []byte("x,n,loss\n0.3,2,2\n-1,5,6.5\n0.5,1,1.1\n1,9,9.4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			old := config()
			old.Budget.Trials = 10
			runReal(t, source, &old)
			c := config()
			c.Dir, c.Budget.Trials, c.Seed = base, 10, 4
			c.WarmStart = []study.WarmStart{{From: "old.study", Same: same}, {From: "runs.csv"}}
			whole := runReal(t, filepath.Join(base, "whole"), &c)
			alone := c
			alone.WarmStart = nil
			if without := runReal(t, filepath.Join(base, "alone"), &alone); without[0].Equal(whole[0]) && without[1].Equal(whole[1]) {
				t.Errorf("the first trials are %v with earlier studies and without", whole[:2])
			}

			// A crash has come after the first record: the sources are read then.
			parts := filepath.Join(base, "parts")
			first, err := os.ReadFile(layout.Study(filepath.Join(base, "whole")).Journal())
			if err == nil {
				err = os.MkdirAll(parts, 0o700)
			}
			if err == nil {
				err = os.WriteFile(layout.Study(parts).Journal(), first[:bytes.IndexByte(first, '\n')+1], 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			short := c
			short.Budget.Trials = 5
			runReal(t, parts, &short)
			if err := errors.Join(os.RemoveAll(source), os.Remove(csv)); err != nil {
				t.Fatal(err)
			}
			for i, v := range runReal(t, parts, &c) {
				if !v.Equal(whole[i]) {
					t.Fatalf("trial %d is %s after a break, and %s without", i+1, v, whole[i])
				}
			}
			r, err := session.Replay(t.Context(), parts, nil)
			if err != nil || r.Asked != 10 || len(r.Differences) != 0 {
				t.Errorf("replay: %+v, %v", r, err)
			}
		})
	}
}

// What a study begins with is recorded once, also where it has ended and goes on in the same process.
func TestWarmStartIsRecordedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		csv := filepath.Join(filepath.Dir(dir), "runs.csv")
		if err := os.WriteFile(csv, []byte("x,n,loss\n0.3,2,9\n0.5,1,8\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config()
		c.Dir, c.WarmStart = filepath.Dir(dir), []study.WarmStart{{From: csv, Same: true}}
		goal := 2.0
		c.Budget = study.Budget{Trials: 3, Goal: &goal}
		s := open(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			return ending{stdout: map[bool]string{true: "loss=1\n", false: "loss=3\n"}[strings.HasSuffix(job.ID, "/1/1")]}
		}})
		err := errors.Join(s.Run(t.Context(), nil), s.Do(study.Request{Action: study.ActionExclude, Trial: 1}), s.Run(t.Context(), nil), s.Close())
		if st := s.State(); err != nil || len(st.Trials) != 3 || len(st.Earlier) != 1 {
			t.Errorf("%d trials, and what came before is recorded %d times, %v", len(st.Trials), len(st.Earlier), err)
		}
	})
}

// A study without a trial that has read its warm start does not record it again, and can do without its source.
func TestWarmStartIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		csv := filepath.Join(filepath.Dir(dir), "runs.csv")
		if err := os.WriteFile(csv, []byte("x,n,loss\n0.3,2,9\n0.5,1,\n-7,1,8\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config()
		c.Dir, c.WarmStart = filepath.Dir(dir), []study.WarmStart{{From: csv, Same: true}}
		f := &fakeLauncher{program: parabola}
		err := errors.Join(open(t, dir, &c, f).Close(), open(t, dir, &c, f).Close(), os.Remove(csv), open(t, dir, nil, f).Close())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range events(t, dir) {
			if _, is := e.(study.Earlier); is {
				n++
			}
		}
		if st, err := finish(t, dir, nil, f); err != nil || n != 1 || len(st.Earlier) != 1 || len(st.Earlier[0].Trials) != 2 {
			t.Errorf("recorded %d times, %+v, %v", n, st.Earlier, err)
		}
	})
}

// Nothing is left of a study whose source cannot be read.
func TestWarmStartThatCannotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new.study")
	c := config()
	c.WarmStart = []study.WarmStart{{From: "/nonexistent/runs.csv"}}
	_, err := session.Open(&c, session.Options{Dir: dir, Launcher: &fakeLauncher{}, Optimizer: newFakeOptimizer})
	var wrong *study.SpecError
	if !errors.As(err, &wrong) {
		t.Errorf("opened with %v", err)
	}
	if _, err := os.Stat(layout.Study(dir).Journal()); err == nil {
		t.Error("there is a journal")
	}
}

// A study without a trial reads its warm start by the spec that a session brings: values of another metric, or what lay
// outside of other ranges, would stay for good.
func TestWarmStartOfAChangedSpec(t *testing.T) {
	for name, begin := range map[string]func(*study.Config, session.Options) error{
		"no session": func(c *study.Config, opts session.Options) error {
			return session.Edit(c, opts, func(s *session.Study) error { return nil })
		},
		"a session": func(c *study.Config, opts session.Options) error {
			s, err := session.Open(c, opts)
			return errors.Join(err, s.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				csv := filepath.Join(filepath.Dir(dir), "runs.csv")
				if err := os.WriteFile(csv, []byte("x,n,loss,acc\n0.3,2,9,0.1\n0.5,1,8,0.2\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				c := config()
				c.Dir, c.WarmStart = filepath.Dir(dir), []study.WarmStart{{From: csv, Same: true}}
				if err := begin(&c, session.Options{Dir: dir}); err != nil {
					t.Fatal(err)
				}
				c.Metrics = slices.Clone(c.Metrics)
				c.Metrics[0].Name, c.Metrics[0].Rule.Metric = "acc", "acc"
				s := open(t, dir, &c, &fakeLauncher{program: parabola})
				defer s.Close()
				if e := s.State().Earlier; len(e) != 1 || *e[0].Trials[0].Value != 0.1 {
					t.Errorf("the earlier trials are %+v", e)
				}
			})
		})
	}
}
