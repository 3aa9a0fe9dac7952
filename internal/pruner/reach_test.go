package pruner_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
)

// A trial that came to step 4 with 10 is the best. With at most 2 for a step, a reading of 4
// at step 1 can still become 10, one of 3.9 cannot.
func TestReachableByHand(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Reachable, Slope: 2, MaxStep: 4})
	ended(p, 1, 4, 6, 8, 10)
	if d, _ := feed(p, 2, 4); d.Stop {
		t.Errorf("4 was stopped: %s", d.Why)
	}
	if d, _ := feed(p, 3, 3.9); !d.Stop || !strings.Contains(d.Why, "can reach 9.9 at best by step 4, worse than the best 10 of 1 trial") {
		t.Errorf("3.9: %+v", d)
	}
	if d, step := feed(p, 4, 10, 0); d.Stop {
		t.Errorf("a trial whose best reading is the best of all was stopped at step %d: %s", step, d.Why)
	}
}

// What a trial counts as is its value: a last step may be printed twice, as by a final
// evaluation, and a trial's value combine several runs.
func TestReachableByValue(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Reachable, Slope: 2, MaxStep: 4})
	feed(p, 1, 4, 6, 8, 10)
	p.Finish(1, 3)
	if d, _ := feed(p, 2, -2); d.Stop {
		t.Errorf("-2, which can become 4, was stopped: %s", d.Why)
	}
	if d, _ := feed(p, 3, -3.1); !d.Stop {
		t.Error("-3.1 can't become 3, and goes on")
	}
}

// A stated slope that a reading exceeds is disproved: the steeper one counts from then on.
func TestReachableSlopeIsDisproved(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Reachable, Slope: 1, MaxStep: 4})
	steeper := 0.0
	for step, v := range []float64{0, 1, 3, 6} {
		if d := p.Read(pruner.Reading{Trial: 1, Step: float64(step + 1), Value: v}); d.Steeper != 0 {
			steeper = d.Steeper
		}
	}
	p.Finish(1, 6)
	if steeper != 3 {
		t.Errorf("the steepest step was 3, and not %v", steeper)
	}
	if d, _ := feed(p, 2, -3); d.Stop || d.Steeper != 0 {
		t.Errorf("-3 can become 6 as the first trial did: %+v", d)
	}
	if d, _ := feed(p, 3, -3.1); !d.Stop {
		t.Error("-3.1 can't become 6, and goes on")
	}
}

// The complete trials rose from step 2 by 4 and 5 at most. Twice that from 0 is not enough for
// 12, from 2 it is.
func TestReachableLearnsTheClimb(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.Reachable, Factor: 2, MaxStep: 4, MinTrials: 2, Warmup: 2})
	ended(p, 1, 0, 8, 11, 12)
	if d, _ := feed(p, 2, -9, -9); d.Stop {
		t.Errorf("stopped with one other to compare with: %s", d.Why)
	}
	p.Forget(2)
	ended(p, 2, 0, 2, 7, 6)
	ended(p, 3, 0, 0) // stopped by other means: no end, and no climb
	if d, step := feed(p, 4, 0, 1.9); !d.Stop || step != 2 {
		t.Errorf("1.9 at step %d: %+v", step, d)
	}
	if d, _ := feed(p, 5, 0, 2); d.Stop {
		t.Errorf("2 was stopped: %s", d.Why)
	}
}

// families are kinds of learning curves, of which no step gains more than the slope that
// comes with them.
var families = map[string]func(r *rand.Rand, n int) (values []float64, slope float64){
	"walk": func(r *rand.Rand, n int) ([]float64, float64) {
		v := []float64{-r.Float64()}
		for len(v) < n {
			v = append(v, v[len(v)-1]+0.1*(1-2.5*r.Float64()*r.Float64()))
		}
		return v, 0.1
	},
	"slow": func(r *rand.Rand, n int) ([]float64, float64) {
		a, b := r.Float64(), r.Float64()
		var v []float64
		for s := range n {
			v = append(v, b*math.Pow(float64(s+1)/float64(n), 3)-a)
		}
		return v, 1 - math.Pow(float64(n-1)/float64(n), 3)
	},
	"late": func(r *rand.Rand, n int) ([]float64, float64) {
		start, begin := -r.Float64(), r.IntN(n)
		var v []float64
		for s := range n {
			v = append(v, start+0.05*math.Max(0, float64(s-begin)))
		}
		return v, 0.05
	},
}

// As long as the stated slope holds, the trial that would be the best is never stopped,
// whether the last reading counts or the best one. One that is too small is noticed.
func TestStatedSlopeIsNeverWrong(t *testing.T) {
	const trials, steps, studies = 40, 30, 30
	for name, draw := range families {
		for _, share := range []float64{1, 0.2, 0} { // of the slope; 0: learned
			wrong, saved, noticed := 0, 0, 0
			for seed := range uint64(studies) {
				rng := rand.New(rand.NewPCG(seed, 5))
				var curves [][]float64
				last, most, slope := 0, 0, 0.0
				for i := range trials {
					c, s := draw(rng, steps)
					curves, slope = append(curves, c), s
					if c[steps-1] > curves[last][steps-1] {
						last = i
					}
					if top(c) > top(curves[most]) {
						most = i
					}
				}
				p := start(t, pruner.Settings{Method: pruner.Reachable, Slope: share * slope * (1 + 1e-12), Factor: 2, MaxStep: steps, MinTrials: 4})
				p.Read(pruner.Reading{Trial: trials, Step: 1, Value: -slope})
				if p.Read(pruner.Reading{Trial: trials, Step: 2, Value: 0}).Steeper > 0 {
					noticed++
				}
				p.Forget(trials)
				for i, c := range curves {
					d, step := feed(p, i, c...)
					if p.Finish(i, math.NaN()); d.Stop {
						saved += steps - step
						if i == last || i == most {
							wrong++
						}
					}
				}
			}
			t.Logf("%s, %v of the slope: %d of %d studies lost their best trial, %.0f %% of the steps saved", name, share, wrong, studies, 100*float64(saved)/(trials*steps*studies))
			if share == 1 && (wrong > 0 || saved == 0) || noticed != map[float64]int{0.2: studies}[share] {
				t.Errorf("%s, %v of the slope: %d best trials were stopped, %d steps saved, in %d studies a steeper one was noticed", name, share, wrong, saved, noticed)
			}
		}
	}
}

func top(v []float64) float64 {
	t := v[0]
	for _, x := range v {
		t = math.Max(t, x)
	}
	return t
}
