package session_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Somebody sends a harmless spec and beside it a study whose journal holds something else,
// and states the fingerprint of the spec. What is run is what the spec says, whatever else
// the journal holds; or nothing.
func TestForgedStudyRunsTheSpec(t *testing.T) {
	evil := command.Command{Argv: []string{"evil"}}
	for name, forge := range map[string]func(*study.Config){
		"command":     func(c *study.Config) { c.Command = evil },
		"setup":       func(c *study.Config) { c.Setup = "evil" },
		"hook":        func(c *study.Config) { c.Hooks = &study.Hooks{Trial: "evil"} },
		"environment": func(c *study.Config) { c.Run.Env = []string{"PATH=/evil"} },
		"slots":       func(c *study.Config) { c.Run.Slots = []study.Slot{{Env: []string{"PATH=/evil"}}} },
		"directory":   func(c *study.Config) { c.Run.Cwd = "/evil" },
		"files":       func(c *study.Config) { c.Files = []command.File{{Text: "evil", To: "conf"}} },
		"sources":     func(c *study.Config) { c.Run.Sources = &study.Sources{From: "/evil", Mode: "copy"} },
		"launcher": func(c *study.Config) {
			c.Launcher = &study.Launcher{Kind: "slurm", Settings: json.RawMessage(`{"setup":["evil"]}`)}
		},
		"parameters": func(c *study.Config) { c.Params[0].Max = 9 },
	} {
		t.Run(name, func(t *testing.T) {
			for _, trials := range []int{0, 1} {
				bubble(t, func(t *testing.T, dir string) {
					c, forged := config(), config()
					forge(&forged)
					print, err := c.Fingerprint()
					if err != nil {
						t.Fatal(err)
					}
					writeStudy(t, dir, study.Created{ID: "0123456789abcdef", Fingerprint: print, Config: forged}, trials)
					f := &fakeLauncher{program: func(job runner.Job) ending {
						if job.Shell != "" || !slices.Equal(job.Argv[:1], c.Command.Argv[:1]) || strings.Contains(strings.Join(job.Env, " "), "evil") {
							t.Errorf("%s: %q %q is run in %v", name, job.Shell, job.Argv, job.Env)
						}
						return parabola(job)
					}}
					s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
					var refused *study.ConfigError
					if trials > 0 && errors.As(err, &refused) {
						return // it says what differs
					}
					if err != nil {
						t.Fatalf("%s, %d trials: %v", name, trials, err)
					}
					if got, want := asJSON(t, s.State().Config), asJSON(t, c); got != want {
						t.Errorf("%s, %d trials: the study has\n%s\nand the spec\n%s", name, trials, got, want)
					}
					if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil {
						t.Errorf("%s, %d trials: %v", name, trials, err)
					}
					before := len(lines(t, dir))
					if err := open(t, dir, &c, f).Close(); err != nil {
						t.Fatal(err)
					}
					if now := len(lines(t, dir)); now != before {
						t.Errorf("%s, %d trials: the same spec is taken over again", name, trials)
					}
				})
			}
		})
	}
}

// writeStudy writes the journal of a study that may have a trial.
func writeStudy(t *testing.T, dir string, first study.Created, trials int) {
	t.Helper()
	if err := journal.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(layout.Study(dir).Journal(), study.Record{Event: first})
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= trials; k++ {
		err := j.Append(
			study.Record{Event: study.Proposed{Trial: k, Told: k - 1, Pending: []int{}, Origin: optimizer.OriginInitial,
				Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}, {Name: "n", Value: spaces.Int(1)}}}},
			study.Record{Event: study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A number that no spec may have ends no session.
func TestForgedKeep(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		forged := config()
		forged.Budget.Trials, forged.Run.Keep = 3, -1
		writeStudy(t, dir, study.Created{ID: "0123456789abcdef", Fingerprint: "0123456789abcdef", Config: forged}, 1)
		s := open(t, dir, nil, &fakeLauncher{program: parabola})
		if err := errors.Join(s.Run(t.Context(), nil), s.Close()); err != nil || len(s.State().Order) != 3 {
			t.Errorf("%d trials, %v", len(s.State().Order), err)
		}
	})
}

// A replay of records that contradict each other says so.
func TestReplayContradiction(t *testing.T) {
	first := study.Created{ID: "0123456789abcdef", Fingerprint: "0123456789abcdef", Config: config()}
	for want, events := range map[string][]study.Event{
		"told, but 0 finished":           {first, proposedAfter(9)},
		"the first and the only one":     {proposedAfter(0)},
		"-1 trials told, but 0 finished": {first, proposedAfter(-1)},
	} {
		dir := t.TempDir()
		j, err := journal.Create(layout.Study(dir).Journal(), study.Record{Event: events[0]})
		for _, e := range events[1:] {
			if err == nil {
				err = j.Append(study.Record{Event: e})
			}
		}
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Replay(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func proposedAfter(told int) study.Event {
	return study.Proposed{Trial: 1, Told: told, Pending: []int{}, Origin: optimizer.OriginInitial,
		Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}, {Name: "n", Value: spaces.Int(1)}}}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
