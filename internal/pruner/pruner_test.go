package pruner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
)

func start(t *testing.T, s pruner.Settings) *pruner.Pruner {
	t.Helper()
	p, err := pruner.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// feed reads values at steps 1, 2, 3, ... up to a stop and returns the last
// decision.
func feed(p *pruner.Pruner, trial int, values ...float64) (d pruner.Decision, step int) {
	for i, v := range values {
		if d = p.Read(pruner.Reading{Trial: trial, Step: float64(i + 1), Value: v}); d.Stop {
			return d, i + 1
		}
	}
	return d, len(values)
}

// ended feeds a trial and finishes it.
func ended(p *pruner.Pruner, trial int, values ...float64) {
	feed(p, trial, values...)
	p.Finish(trial, math.NaN())
}

// The averages at step 3 are 2, 4 and 9, of which 4 is the median: a best
// reading of 3.9 by then is worse, one of 4 is not. Reckoned by hand.
func TestMedianByHand(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Median, Warmup: 3})
	ended(p, 3, 9, 9, 9)
	ended(p, 2, 0, 12, 0, -100)
	ended(p, 1, 1, 2, 3, 100)
	if d, step := feed(p, 4, 3.9, 0, 0); !d.Stop || step != 3 {
		t.Errorf("%+v at step %d, want a stop at step 3", d, step)
	}
	if d, _ := feed(p, 5, 1, 4, 1); d.Stop {
		t.Errorf("stopped one that equals the median: %+v", d)
	}
}

func TestMedianWords(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Median, Warmup: 3, MinTrials: 2, Negated: true})
	ended(p, 1, -0.9, -0.7, -0.5)
	ended(p, 2, -0.7, -0.6, -0.44)
	d, step := feed(p, 3, -0.9, -0.71, -0.8)
	if want := "at step 3: best so far 0.71, worse than the median 0.64 of 2 trials"; d.Why != want || step != 3 || !d.Stop {
		t.Errorf("step %d: %+v\nwant %q", step, d, want)
	}
	if d.Complete || !d.Keep {
		t.Errorf("a pruned trial has no result, and others are compared with it: %+v", d)
	}
}

func TestPercentile(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Percentile, Percentile: 25})
	for i := range 5 {
		ended(p, i, float64(i)) // 0 .. 4, whose upper quartile is 3
	}
	if d, _ := feed(p, 10, 3); d.Stop {
		t.Errorf("stopped at the quartile: %+v", d)
	}
	d, _ := feed(p, 11, 2.5)
	if want := "at step 1: best so far 2.5, worse than the bar of the best 25 % 3 of 5 trials"; d.Why != want {
		t.Errorf("%+v, want %q", d, want)
	}
}

func TestASHAByHand(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 3})
	// At step 1: two go on, whatever they are; the third must be the best.
	for trial, c := range []struct {
		value float64
		stop  bool
	}{{5, false}, {1, false}, {4, true}, {6, false}, {5.5, true}, {5.5, false}, {5, true}} {
		d := p.Read(pruner.Reading{Trial: trial, Step: 1, Value: c.value})
		if d.Stop != c.stop || !d.Keep {
			t.Errorf("trial %d: %+v, want stop %v", trial, d, c.stop)
		}
	}
	d := p.Read(pruner.Reading{Trial: 9, Step: 1, Value: 5.1})
	if want := "at step 1: 5.1, rank 4 of 8; only the best 2 continue"; d.Why != want {
		t.Errorf("%q, want %q", d.Why, want)
	}
	if d := p.Read(pruner.Reading{Trial: 0, Step: 2, Value: -9}); d != (pruner.Decision{}) {
		t.Errorf("between rungs: %+v", d)
	}
}

// Rungs lie at 1, 3, 9, 27, 81, 243: the logarithm of no power is rounded down.
func TestASHARungs(t *testing.T) {
	for _, eta := range []float64{1.1, 2, 2.5, 3, 4, 10} {
		t.Run(fmt.Sprint(eta), func(t *testing.T) {
			for _, least := range []float64{0.001, 1, 7} {
				p := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: least, Reduction: eta})
				if d := p.Read(pruner.Reading{Step: 0.99 * least}); d.Keep {
					t.Errorf("min_resource %v: kept a reading below it", least)
				}
				for k := range 12 {
					step := least * math.Pow(eta, float64(k))
					if d := p.Read(pruner.Reading{Step: step}); !d.Keep {
						t.Errorf("min_resource %v, reduction %v: no rung at %v", least, eta, step)
					}
					if d := p.Read(pruner.Reading{Step: step * 1.05}); d.Keep {
						t.Errorf("min_resource %v, reduction %v: a rung at %v", least, eta, step*1.05)
					}
				}
			}
		})
	}
}

// A reading that jumps over rungs is compared at the highest only.
func TestASHAJumps(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 2})
	p.Read(pruner.Reading{Trial: 1, Step: 1, Value: 1})
	p.Read(pruner.Reading{Trial: 2, Step: 5, Value: 9}) // rung 4, not 1 or 2
	if d := p.Read(pruner.Reading{Trial: 3, Step: 1, Value: 2}); d.Stop {
		t.Errorf("compared with a reading of a higher rung: %+v", d)
	}
	if d := p.Read(pruner.Reading{Trial: 4, Step: 4, Value: 2}); !d.Stop {
		t.Errorf("not compared with a reading beyond the rung: %+v", d)
	}
}

func TestPatience(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Patience, Patience: 3, Negated: true})
	d, step := feed(p, 1, -5, -4, -4, -4.5, -3, -3, -3, -3)
	want := "at step 8: no reading better than 3 at step 5 in the last 3"
	if !d.Stop || !d.Complete || d.Keep || step != 8 || d.Why != want {
		t.Errorf("step %d: %+v\nwant %q", step, d, want)
	}
	p = start(t, pruner.Settings{Method: pruner.Patience, Patience: 1, Warmup: 6})
	if _, step := feed(p, 1, 3, 2, 1, 1, 1, 1, 1); step != 6 {
		t.Errorf("stopped at step %d before the warm-up ended", step)
	}
	nan := math.NaN()
	p = start(t, pruner.Settings{Method: pruner.Patience, Patience: 3})
	if d, step := feed(p, 1, nan, nan, nan); !d.Stop || d.Complete || step != 3 {
		t.Errorf("step %d: %+v; want a stop without a result", step, d)
	}
}

func bound(v float64) *float64 { return &v }

func TestThreshold(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Threshold, Threshold: bound(-10), Warmup: 3, Negated: true})
	d, step := feed(p, 1, -99, -99, -10, -12.5)
	if want := "at step 4: 12.5, worse than the threshold 10"; step != 4 || d.Why != want || d.Complete {
		t.Errorf("step %d: %+v\nwant %q", step, d, want)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			d := p.Read(pruner.Reading{Trial: 2, Step: 3, Value: v})
			if want := "at step 3: not a finite number, worse than the threshold 10"; d.Why != want {
				t.Errorf("%v: %q, want %q", v, d.Why, want)
			}
		})
	}
}

// comparing are the rules under which trials are compared with each other.
func comparing() map[string]pruner.Settings {
	return map[string]pruner.Settings{
		"median":     {Method: pruner.Median},
		"percentile": {Method: pruner.Percentile, Percentile: 25},
		"asha":       {Method: pruner.ASHA, MinResource: 1, Reduction: 3},
	}
}

func TestAloneOrAllEqualNobodyIsStopped(t *testing.T) {
	for name, s := range comparing() {
		p := start(t, s)
		if d, step := feed(p, 1, 5, 4, 3, 2, 1, 0, -1, -2, -3, math.NaN()); d.Stop {
			t.Errorf("%s: stopped the only trial at step %d", name, step)
		}
		for _, v := range []float64{0.1, 1e308, -1e308} {
			p := start(t, s)
			for trial := range 20 {
				if d, step := feed(p, trial, v, v, v, v, v, v, v, v, v, v); d.Stop {
					t.Errorf("%s: trial %d, equal to all others, stopped at step %d: %s", name, trial, step, d.Why)
				}
				p.Finish(trial, math.NaN())
			}
		}
	}
}

func TestMinTrialsAndWarmup(t *testing.T) {
	for name, s := range comparing() {
		s.MinTrials, s.Warmup = 6, 3
		p := start(t, s)
		for trial := range 6 {
			if d, step := feed(p, trial, 10, 10, 10-float64(trial)); d.Stop {
				t.Errorf("%s: stopped trial %d at step %d", name, trial, step)
			}
			p.Finish(trial, math.NaN())
		}
		if _, step := feed(p, 7, 0, 0, 0, 0); step != 3 {
			t.Errorf("%s: stopped at step %d, want 3", name, step)
		}
	}
}

func TestWhatIsNotFiniteIsWorst(t *testing.T) {
	for name, s := range comparing() {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			p := start(t, s)
			for trial := range 5 {
				ended(p, trial, float64(trial))
			}
			d, _ := feed(p, 9, v)
			if !d.Stop || !strings.Contains(d.Why, "not a finite number") {
				t.Errorf("%s: %v gives %+v", name, v, d)
			}
			p.Finish(9, math.NaN())
			if d, _ := feed(p, 10, 4); d.Stop {
				t.Errorf("%s: after %v the best trial is stopped: %s", name, v, d.Why)
			}
		}
	}
}

// An average survives one value that is not finite.
func TestAverageLeavesOutWhatIsNotFinite(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Median, Warmup: 4})
	ended(p, 1, 2, math.NaN(), 4, 6) // 4 on average
	if d, _ := feed(p, 2, 3.9, 0, 0, 0); !d.Stop {
		t.Error("3.9 is not stopped")
	}
	if d, _ := feed(p, 3, 4, 0, 0, 0); d.Stop {
		t.Errorf("4 is stopped: %s", d.Why)
	}
}

// Steps that repeat or go back are passed over, those that jump stand for what
// they left out: 1 for one step, 10 for nine, so that the average is 8.2.
func TestStepsRepeatGoBackAndJump(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Median, Warmup: 10})
	for _, r := range [][2]float64{{0, 1}, {0, 500}, {1, 1}, {1, 500}, {0, 500}, {10, 10}, {9, 500}, {10, -500}} {
		p.Read(pruner.Reading{Trial: 1, Step: r[0], Value: r[1]})
	}
	p.Finish(1, math.NaN())
	// Steps 0 and 1 weigh 1 each, step 10 weighs 9: (1 + 1 + 90) / 11 = 92/11.
	for v, stop := range map[float64]bool{92.0/11 - 1e-9: true, 92.0/11 + 1e-9: false} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			if d := p.Read(pruner.Reading{Trial: 2, Step: 10, Value: v}); d.Stop != stop {
				t.Errorf("%v: %+v, want stop %v", v, d, stop)
			}
			p.Forget(2)
		})
	}
}

// Who is behind is not compared with, and nobody is compared at steps that no
// ended trial came to.
func TestComparedAtTheSameStep(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Median})
	ended(p, 1, 1, 1, 1, 1)
	ended(p, 2, 9, 9)
	ended(p, 3, 9)
	if d := p.Read(pruner.Reading{Trial: 4, Step: 3, Value: 2}); d.Stop {
		t.Errorf("compared with trials that ended before: %s", d.Why)
	}
	if d := p.Read(pruner.Reading{Trial: 4, Step: 5, Value: 2}); d.Stop {
		t.Errorf("compared with nobody: %s", d.Why)
	}
	if d := p.Read(pruner.Reading{Trial: 5, Step: 1.5, Value: 2}); !d.Stop {
		t.Error("between two steps of the others nothing is compared")
	}
}

// What failed or began again is as if it had never been.
func TestForget(t *testing.T) {
	for name, s := range comparing() {
		p := start(t, s)
		for trial := range 9 {
			ended(p, trial, 100)
			p.Forget(trial)
		}
		if d, _ := feed(p, 10, 1); d.Stop {
			t.Errorf("%s: compared with forgotten trials: %s", name, d.Why)
		}
		p.Forget(10)
		if d, _ := feed(p, 10, 1); !d.Keep {
			t.Errorf("%s: the first reading of a retry is not new", name)
		}
	}
	p := start(t, pruner.Settings{Method: pruner.Patience, Patience: 2})
	feed(p, 1, 5, 4)
	p.Forget(1)
	if d, step := feed(p, 1, 3, 2, 1); !d.Stop || step != 3 {
		t.Errorf("patience of a retry ran out at step %d", step)
	}
}

func TestCounter(t *testing.T) {
	var c pruner.Counter
	for _, s := range []struct {
		printed float64
		known   bool
		want    float64
	}{{0, false, 1}, {0, false, 2}, {0, true, 0}, {-7.5, true, -7.5}, {math.NaN(), true, 5}, {math.Inf(1), true, 6}, {1e300, true, 7}} {
		if got := c.Step(s.printed, s.known); got != s.want {
			t.Errorf("Step(%v, %v) = %v, want %v", s.printed, s.known, got, s.want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for want, s := range map[string]pruner.Settings{
		`method: found "best"`:        {Method: "best"},
		"percentile: found 100":       {Method: pruner.Percentile, Percentile: 100},
		"patience: found 0":           {Method: pruner.Patience},
		"threshold: found NaN":        {Method: pruner.Threshold, Threshold: bound(math.NaN())},
		"min_resource: found 0":       {Method: pruner.ASHA, Reduction: 3},
		"reduction: found 1;":         {Method: pruner.ASHA, MinResource: 1, Reduction: 1},
		"reduction: found NaN":        {Method: pruner.ASHA, MinResource: 1, Reduction: math.NaN()},
		"max_step: found 0":           {Method: pruner.Reachable, Factor: 2},
		"slope: found -1":             {Method: pruner.Reachable, MaxStep: 9, Slope: -1},
		"factor: found 0":             {Method: pruner.Reachable, MaxStep: 9},
		"warmup: found nan":           {Method: pruner.Median, Warmup: math.NaN()},
		"min_trials: found -1; want ": {Method: pruner.Median, MinTrials: -1},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := pruner.New(s); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}
