package report

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What is left follows from the trials or from the time, whichever ends the study first.
func TestTimeLeft(t *testing.T) {
	b := study.Budget{Time: study.Duration(time.Hour)}
	if got := timeLeft(b, 0, 45*time.Minute, 0); got != 15*time.Minute {
		t.Errorf("%v left; want 15 minutes", got)
	}
	b.Trials = 20
	if got := timeLeft(b, 15, 30*time.Minute, 0); got != 10*time.Minute {
		t.Errorf("%v left for 5 trials of 2 minutes; want 10 minutes", got)
	}
	if got := timeLeft(b, 15, 58*time.Minute, 0); got != 2*time.Minute {
		t.Errorf("%v left; want the 2 minutes of the time budget", got)
	}
	if got := timeLeft(study.Budget{Trials: 10}, 12, time.Hour, 0); got != 0 {
		t.Errorf("%v left beyond the budget", got)
	}
	b.WorkerTime = study.Duration(2 * time.Hour) // of which four workers have used 7 minutes in 8
	if got := timeLeft(b, 15, 30*time.Minute, 105*time.Minute); got != 30*time.Minute*15/105 {
		t.Errorf("%v left; want the 15 minutes of worker time, shared by those that work", got)
	}
	if got := timeLeft(study.Budget{Trials: 90, WorkerTime: b.WorkerTime}, 15, time.Hour, 3*time.Hour); got != 0 {
		t.Errorf("%v left when the worker time is spent", got)
	}
	if got := timeLeft(study.Budget{WorkerTime: study.Duration(1000 * time.Hour)}, 1, time.Hour, time.Second); got != 0 {
		t.Errorf("%v left after an hour's wait for a second of work", got)
	}
	if got := timeLeft(study.Budget{Trials: 10, Time: b.Time}, 10, 30*time.Minute, 0); got != 0 {
		t.Errorf("%v left when all trials are finished", got)
	}
}

// The bounds of the last proposal say nothing once two trials disprove the constant, though no
// proposal has been made since.
func TestRefutedBounds(t *testing.T) {
	h := beginAs(t, func(c *study.Config) { c.Optimizer.LipschitzConstant = 3 }, float("x"))
	h.trialOf([]float64{0.3}, 0.5)
	h.trialOf([]float64{0.5}, 0.54)
	if f := FiguresOf(&h.st, false); f.Bounds == nil || f.Bounds.Gap == nil {
		t.Fatalf("the bounds are %+v", f.Bounds)
	}
	h.trialOf([]float64{0.51}, 0.6)
	if f := FiguresOf(&h.st, false); f.Bounds != nil || h.st.Refuted == "" {
		t.Errorf("disproved by %q, the bounds are %+v", h.st.Refuted, f.Bounds)
	}
}

// No picture shows what follows from a constant that is of no use beside a resource, or disproved: of the
// latter there is the constant alone.
func TestBoundsOfNoUse(t *testing.T) {
	for name, want := range map[string]int{"stated": 3, "disproved": 1, "beside a resource": 0} {
		t.Run(name, func(t *testing.T) {
			h := beginAs(t, func(c *study.Config) {
				c.Optimizer.LipschitzConstant = 3
				if name == "beside a resource" {
					c.Params = append(c.Params, spaces.Param{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 9})
					c.Prune = &pruner.Settings{Method: pruner.ASHA, Resource: "epochs"}
				}
			}, float("x"))
			h.trialOf([]float64{0.3, 1}, 0.5)
			h.trialOf([]float64{0.31, 1}, map[string]float64{"disproved": 0.6}[name]+0.5)
			s := h.of(false)
			p := plots[slices.Index(Plots(), "lipschitz")]
			if n := len(p.pictures(s)); n != want || (s.Trials[1].Lipschitz != nil) != (want > 0) {
				t.Errorf("%s: %d pictures of %+v; want %d", name, n, s.Trials[1].Lipschitz, want)
			}
		})
	}
}

// They leave more beside a better result that the study began with. They say nothing once a result
// that they are made of, however bad, does not count, or once they are of other ranges; and what
// the next proposal says does not depend on what was taken out before.
func TestBoundsOfOtherResults(t *testing.T) {
	wider := float("x")
	wider.Max++
	for name, want := range map[string]float64{"own": 0.1, "begun": 0.4, "the best": math.NaN(), "a bad one": math.NaN(), "and back": 0.1,
		"a later one": 0.1, "another proposal": 0.1, "a failure": 0.1, "wider ranges": math.NaN()} {
		t.Run(name, func(t *testing.T) {
			h := beginAs(t, func(c *study.Config) { c.Optimizer.LipschitzConstant = 3 }, float("x"))
			if better := 0.2; name == "begun" {
				h.record(study.Earlier{Same: true, Trials: []study.EarlierResult{{Values: h.st.Space.Decode(h.st.Space.Center()), Value: &better}}})
			}
			h.trialOf([]float64{0.4}, 0.55)
			h.trialOf([]float64{0.3}, 0.5)
			h.trialOf([]float64{0.5}, 0.54)
			switch name {
			case "the best":
				h.record(study.Excluded{Trial: 2})
			case "a bad one":
				h.record(study.Excluded{Trial: 1})
			case "and back":
				h.record(study.Excluded{Trial: 1}, study.Included{Trial: 1})
			case "a later one":
				h.record(study.Excluded{Trial: 3})
			case "another proposal":
				h.record(study.Excluded{Trial: 1})
				h.trialOf([]float64{0.6}, 0.6)
			case "a failure":
				h.failure("no")
				h.trialOf([]float64{0.6}, 0.6)
				h.record(study.Excluded{Trial: 4})
			case "wider ranges":
				c := h.st.Config
				c.Params = []spaces.Param{wider}
				h.record(study.ConfigChanged{Config: c})
			}
			got := math.NaN()
			if b := FiguresOf(&h.st, false).Bounds; b != nil && b.Gap != nil {
				got = *b.Gap
			} else if b != nil {
				t.Errorf("%s: %v %% are ruled out", name, 100*b.Excluded)
			}
			if !(math.Abs(got-want) < 1e-9) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %v is left; want %v", name, got, want)
			}
		})
	}
}

// Reasons are counted, the most frequent first; a trial that has none is one of them.
func TestFailures(t *testing.T) {
	st := &study.State{}
	for n, reason := range []string{"told", "exit code 1", "", "exit code 1", "told", "exit code 1"} {
		trial := &study.Trial{Number: n + 1, Status: optimizer.Failed}
		if reason != "" {
			trial.Failure = &study.Failure{Text: reason}
		}
		st.Trials = append(st.Trials, trial)
	}
	want := []Failures{{Reason: "exit code 1", Trials: []int{2, 4, 6}}, {Reason: "told", Trials: []int{1, 5}}, {Trials: []int{3}}}
	if got := FailuresOf(st); !reflect.DeepEqual(got, want) {
		t.Errorf("failures %+v, want %+v", got, want)
	}
	st.Trials[0].Excluded = true // it counts no more
	want[1], want[2] = want[2], Failures{Reason: "told", Trials: []int{5}}
	if got := FailuresOf(st); !reflect.DeepEqual(got, want) {
		t.Errorf("without trial 1: failures %+v, want %+v", got, want)
	}
}
