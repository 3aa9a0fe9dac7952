package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// played is a study of trials at x, with these losses, that has ended: the first has today's values, and each has the
// bounds of a stated constant.
func played(t *testing.T, edit func(*study.Config), rest spaces.Values, trials ...[2]float64) *study.State {
	t.Helper()
	c := study.Config{Name: "played", Command: command.Command{Argv: []string{"x"}}, Seed: 1, Dir: "/", Budget: study.Budget{Trials: 99}, Run: study.Run{Workers: 1},
		Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(trials[0][0])}},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}}}
	edit(&c)
	st := new(study.State)
	record := func(events ...study.Event) {
		t.Helper()
		for _, e := range events {
			if err := st.Apply(study.Record{At: time.Unix(1, 0), Elapsed: time.Second, Event: e}); err != nil {
				t.Fatal(err)
			}
		}
	}
	record(study.Created{ID: "1", Fingerprint: "f", Config: c}, study.Session{Number: 1})
	for i, trial := range trials {
		p := study.Proposed{Trial: i + 1, Told: i, Origin: optimizer.OriginDefault, Values: append(spaces.Values{{Name: "x", Value: spaces.Float(trial[0])}}, rest...)}
		if i > 0 {
			p.Origin = optimizer.OriginModel
		}
		gap := 0.1
		p.Note.Lipschitz = &optimizer.LipschitzNote{Slope: 1, Constant: 2, Excluded: 0.39, Gap: &gap, Stated: true}
		end := study.Finished{Trial: i + 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": trial[1], "size": trial[0]}, Seconds: 1}
		if i > 0 && len(rest) > 0 {
			end.Status = optimizer.Pruned
		}
		record(p, study.Started{Trial: i + 1, Attempt: 1}, end)
		if len(rest) > 0 { // all trials but the first have a part of it
			rest = spaces.Values{{Name: rest[0].Name, Value: spaces.Int(1)}}
		}
	}
	record(study.Closed{Why: study.Ending("time"), Detail: "the time is over"})
	return st
}

// Today's values are not the best where no other trial could be: each had a part of the resource.
func TestTodaysValuesWithoutARival(t *testing.T) {
	trials := [][2]float64{{0.5, 3}, {0.1, 9}, {0.2, 0.6}, {0.3, 9}, {0.4, 9}}
	st := played(t, func(c *study.Config) {
		c.Params = append(c.Params, spaces.Param{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 9})
		c.Prune = &study.Prune{Method: "asha", Resource: "epochs", MinResource: 1, Reduction: 3}
	}, spaces.Values{{Name: "epochs", Value: spaces.Int(9)}}, trials...)
	if text := closing(t.Context(), st, layout.Of(t.TempDir())); !strings.Contains(text, "gained:  not known: only today's values have had all of epochs\n") {
		t.Errorf("with a part of the epochs:\n%s", text)
	}
	trials[2][1] = 6
	st = played(t, func(*study.Config) {}, nil, trials...)
	if text := closing(t.Context(), st, layout.Of(t.TempDir())); !strings.Contains(text, "gained:  nothing: today's values are the best\n") {
		t.Errorf("without a resource:\n%s", text)
	}
}

// Initial trials that count no more are none of those of which it is said what they gave; a hypervolume is that after all.
func TestInitialTrialsThatCount(t *testing.T) {
	for want, metrics := range map[string][]study.Metric{"from 3 after 2 initial trials": nil, "after the first 4 trials": {{Name: "size", Direction: study.Minimize}}} {
		st := played(t, func(c *study.Config) { c.Metrics = append(c.Metrics, metrics...) }, nil, [2]float64{0.5, 3}, [2]float64{0.1, 1}, [2]float64{0.2, 4}, [2]float64{0.3, 9}, [2]float64{0.4, 2})
		for i, trial := range st.Trials[:4] {
			trial.Origin, trial.Outside, trial.Excluded = optimizer.OriginInitial, i == 1, i == 3
		}
		if text := closing(t.Context(), st, layout.Of(t.TempDir())); !strings.Contains(text, want+"\n") {
			t.Errorf("two of four count, and not %q:\n%s", want, text)
		}
	}
}

// A constant that trials disprove rules nothing out, neither at the end nor of a trial that was proposed before.
func TestDisprovedBoundsAreNotSaid(t *testing.T) {
	for name, c := range map[string]struct {
		constant float64
		holds    bool
	}{"it holds": {200, true}, "it is disproved": {2, false}} {
		t.Run(name, func(t *testing.T) {
			trials := [][2]float64{{0.5, 3}, {0.1, 9}, {0.2, 6}, {0.3, 5}, {0.4, 4}, {0.6, 2}}
			st := played(t, func(cfg *study.Config) { cfg.Optimizer.LipschitzConstant = c.constant }, nil, trials...)
			end := closing(t.Context(), st, layout.Of(t.TempDir()))
			if strings.Contains(end, "rule out 39 %") != c.holds {
				t.Errorf("refuted: %q, and at the end it says\n%s", st.Refuted, end)
			}
			l := st.Trials[4].Note.Lipschitz
			at := 0.1
			why := reasonText(report.Reason{Before: &report.Belief{AtBest: &at, AtWorst: &at, ExcludedBelow: &at}, Model: &report.Model{Lipschitz: l}}, "model", st.Refuted)
			for _, text := range []string{"rules out 39 %", "at best 0.1", "would have excluded"} {
				if strings.Contains(why, text) != c.holds {
					t.Errorf("%q is said of a trial, or not:\n%s", text, why)
				}
			}
			if strings.Contains(why, "lipschitz_constant = 2 does not hold: loss is ") == c.holds {
				t.Errorf("the reason is missing:\n%s", why)
			}
		})
	}
}
