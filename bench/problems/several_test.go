package problems_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/spaces"
)

func at(o problems.Objective, x []float64) spaces.Values {
	var out spaces.Values
	for i, p := range o.Space.Params() {
		out = append(out, spaces.Assignment{Name: p.Name, Value: spaces.Float(x[i])})
	}
	return out
}

// The published optima hold every limit, to the digits that are published, and have the
// least value; no point around them is better and allowed.
func TestConstrainedOptima(t *testing.T) {
	best := map[string][]float64{
		"gramacy2": {0.1954, 0.4044},
		"gardner2": {4.71239, 1.2532359},
		"g06":      {14.095, 0.8429607892154796},
		"spring3":  {0.051689061, 0.356717736, 11.288965755},
		"vessel4":  {0.7781686414, 0.3846491626, 40.31961872, 200},
		"beam4":    {0.2057296398, 3.4704886656, 9.0366239104, 0.2057296398},
		"reducer7": {3.5, 0.7, 17, 7.3, 7.715319911, 3.350214666, 5.286654465},
	}
	for _, o := range problems.Constrained() {
		t.Run(o.Name, func(t *testing.T) {
			x := best[o.Name]
			v := at(o, x)
			if y := o.Eval(v); math.Abs(y-o.Min) > 1e-3*math.Abs(o.Min) {
				t.Errorf("%v at the published optimum, want %v", y, o.Min)
			}
			if over := slices.Max(o.Over(v)); over > 1e-3 {
				t.Errorf("a limit is broken by %v at the published optimum", over)
			}
			rng := rand.New(rand.NewPCG(1, 0x5e7))
			for range 20000 {
				near := slices.Clone(x)
				for j, p := range o.Space.Params() {
					near[j] = min(max(near[j]+0.02*(p.Max-p.Min)*rng.NormFloat64(), p.Min), p.Max)
				}
				if v := at(o, near); slices.Max(o.Over(v)) <= 0 && o.Eval(v) < o.Min-1e-6*math.Abs(o.Min) {
					t.Fatalf("%v at %v is better than the optimum %v", o.Eval(v), near, o.Min)
				}
			}
		})
	}
}

// The volumes of the fronts are those of their points, and no trial adds to them.
func TestFrontVolumes(t *testing.T) {
	least := map[string]float64{"dtlz2": 0.93, "kursawe3": 0.95}
	for _, o := range problems.Fronts() {
		t.Run(o.Name, func(t *testing.T) {
			var front [][]float64
			for _, x := range onFront(o.Name) {
				front = append(front, o.Outputs(at(o, x)))
			}
			volume := func() float64 { return pareto.Volume(turned(front...), turned(o.Reference)[0]) / o.Whole }
			if v := volume(); v > 1+1e-6 || v < cmp.Or(least[o.Name], 0.99) {
				t.Errorf("points of the front have %v of its volume", v)
			}
			rng := rand.New(rand.NewPCG(2, 0x5e7))
			for range 300 {
				front = append(front, o.Outputs(o.Sample(rng)))
			}
			if v := volume(); v > 1+1e-6 {
				t.Errorf("trials have %v of the front's volume", v)
			}
		})
	}
}

// onFront lists points of the front, or near it.
func onFront(name string) (out [][]float64) {
	const n = 400
	for i := range n {
		u := float64(i) / (n - 1)
		switch name {
		case "dtlz2":
			out = append(out, []float64{float64(i%20) / 19, float64(i/20) / 19, 0.5, 0.5, 0.5, 0.5})
		case "kursawe3":
			x := -1.15 * u
			out = append(out, []float64{x, x, x}, []float64{x, x, 0}, []float64{x, 0, 0})
		default:
			out = append(out, []float64{u, 0, 0, 0, 0, 0})
		}
	}
	return out
}

func turned(fs ...[]float64) [][]float64 {
	var out [][]float64
	for _, f := range fs {
		g := slices.Clone(f)
		for i := range g {
			g[i] = -g[i]
		}
		out = append(out, g)
	}
	return out
}
