package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/maximize"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
	"github.com/lbotune/lbotune/spaces"
)

// The score is the logarithm of the mean gain over draws from the posteriors, and its
// gradient that of its values.
func TestVolumeScoreIsAnExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	models := []*gp.Model{wavy(t, 0), wavy(t, 1.5), wavy(t, 3)}
	compared := 0
	for i := range 4 { // two and three objectives, without and with a warp
		m, kind, off := i/2+2, warp.Identity, 0.0
		if i%2 == 1 {
			kind, off = warp.Log, 0.13 // by secants: e^(1/8) at most
		}
		f := &volumeScore{}
		var points [][]float64
		for range 5 {
			p := make([]float64, m)
			for j := range p {
				p[j] = 2*rng.Float64() - 0.5
			}
			points = append(points, p)
		}
		ref := []float64{-1, -1, -1}[:m]
		f.ref = ref
		for range m {
			f.warps = append(f.warps, bent(t, kind))
		}
		f.tile(points)
		for _, model := range models[:m] {
			f.parts = append(f.parts, model.Predictor())
		}
		for range 8 {
			x := []float64{rng.Float64(), rng.Float64()}
			grad := make([]float64, 2)
			got := f.at(x, grad)
			const draws = 40_000
			sum, squares, gains := 0.0, 0.0, 0
			y, mus, sds := make([]float64, m), make([]float64, m), make([]float64, m)
			for j, p := range f.parts {
				mu, variance := p.Predict(x)
				mus[j], sds[j] = mu, math.Sqrt(variance)
			}
			inverse := func(z float64) float64 { return f.warps[0].Inverse(z) }
			boxes := own(f.boxes, inverse)
			for range draws {
				for j := range y {
					y[j] = inverse(mus[j] + sds[j]*rng.NormFloat64())
				}
				g := pareto.Gain(boxes, y)
				sum, squares = sum+g, squares+g*g
				if g > 0 {
					gains++
				}
			}
			mean := sum / draws
			sd := math.Sqrt((squares/draws - mean*mean) / draws)
			known := gains >= 200 // of fewer the mean is not known, and neither is its error
			if known {
				compared++
			}
			if known && math.Abs(math.Exp(got)-mean) > 5*sd+off*mean+1e-9 || !known && math.Exp(got) > 0.1 {
				t.Errorf("%d objectives, %s, at %v: %v, and by Monte Carlo %v ± %v", m, kind, x, math.Exp(got), mean, sd)
			}
			for i := range grad {
				const h = 1e-5
				up, down := append([]float64(nil), x...), append([]float64(nil), x...)
				up[i] += h
				down[i] -= h
				slope := (f.at(up, nil) - f.at(down, nil)) / (2 * h)
				if math.Abs(slope-grad[i]) > 1e-3*(1+math.Abs(slope)) {
					t.Errorf("%d objectives, %s, at %v: slope %v, and by differences %v", m, kind, x, grad[i], slope)
				}
			}
		}
	}
	if compared < 8 {
		t.Errorf("compared at %d places", compared)
	}
}

// Boxes that add nothing are left out of the score: it is that of all, to the last digits.
func TestVolumeScoreLeavesOutWhatAddsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, kind := range []warp.Kind{warp.Identity, warp.Log} {
		f := &volumeScore{ref: []float64{-1, -1, -1}}
		var points [][]float64
		for range 40 {
			x, y := rng.Float64(), rng.Float64()
			points = append(points, []float64{x, y, 1 - x*x - y*y})
		}
		for j := range 3 {
			f.warps = append(f.warps, bent(t, kind))
			f.dmu, f.dsd = append(f.dmu, make([]float64, 6)), append(f.dsd, make([]float64, 6))
			f.dmu[j][j], f.dsd[j][3+j] = 1, 1 // so that the gradient has the derivatives by each
		}
		f.tile(points)
		left := 0
		for range 300 {
			mu, sigma, grad, want := make([]float64, 3), make([]float64, 3), make([]float64, 6), make([]float64, 6)
			for j := range mu {
				mu[j], sigma[j] = 2*rng.Float64()-0.7, math.Exp(-6*rng.Float64())
			}
			got := f.value(mu, sigma, grad)
			left += len(f.boxes) - len(f.kept)
			logs, top, total := make([]float64, len(f.boxes)), math.Inf(-1), 0.0
			for k := range f.boxes {
				for j := range mu {
					logs[k] += f.gain(3*k+j, mu[j], sigma[j]).F
				}
				top = math.Max(top, logs[k])
			}
			for k := range f.boxes {
				total += math.Exp(logs[k] - top)
			}
			for k := range f.boxes {
				for j := range mu {
					v := f.gain(3*k+j, mu[j], sigma[j])
					want[j] += math.Exp(logs[k]-top) / total * v.Mu
					want[3+j] += math.Exp(logs[k]-top) / total * v.Sigma
				}
			}
			if all := top + math.Log(total); math.Abs(got-all) > 1e-12*(1+math.Abs(all)) {
				t.Errorf("%s: score %v, of all boxes %v", kind, got, all)
			}
			for i := range grad {
				if math.Abs(grad[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
					t.Errorf("%s: gradient %v, of all boxes %v", kind, grad, want)
				}
			}
		}
		if left == 0 {
			t.Errorf("%s: nothing was left out", kind)
		}
	}
}

// bent is a warp of values with a long tail.
func bent(t *testing.T, kind warp.Kind) warp.Warp {
	t.Helper()
	var values []float64
	for k := range 30 {
		values = append(values, -math.Exp(float64(k)/8))
	}
	w, err := warp.Fit(kind, values, warp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// own are the boxes in the units of the values.
func own(boxes []pareto.Box, inverse func(float64) float64) (out []pareto.Box) {
	for _, b := range boxes {
		o := pareto.Box{}
		for j := range b.Low {
			o.Low, o.Up = append(o.Low, inverse(b.Low[j])), append(o.Up, inverse(b.Up[j]))
		}
		out = append(out, o)
	}
	return out
}

// Many points at once have the scores that each has alone.
func TestVolumeScoreOfManyPoints(t *testing.T) {
	f := &volumeScore{ref: []float64{-1, -1}, warps: []warp.Warp{bent(t, warp.Identity), bent(t, warp.Log)},
		parts: []*gp.Predictor{wavy(t, 0).Predictor(), wavy(t, 1.5).Predictor()}}
	f.tile([][]float64{{0, 0.5}, {0.5, 0}})
	xs, scores := [][]float64{{0.1, 0.2}, {0.5, 0.9}, {0.7, 0.3}}, make([]float64, 3)
	f.batch(xs, scores)
	for i, x := range xs {
		if want := f.at(x, nil); math.Abs(scores[i]-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("at %v: %v among many, and %v alone", x, scores[i], want)
		}
	}
}

// A climb that asks several models ends where a step gains nothing worth having, not with the last digit.
func TestClimbsOfSeveralModelsEnd(t *testing.T) {
	for name, observed := range map[string]func(sum, square float64) Observation{
		"objectives": func(sum, square float64) Observation {
			return Observation{Values: []float64{-sum, -square, sum * square}}
		},
		"limits": func(sum, square float64) Observation {
			return Observation{Values: []float64{-square}, Constraints: []float64{sum - 1, 0.3 - sum}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLBO(newHistory(floatsOf(t, 3), 1), Settings{}.Resolved(3))
			rng := rand.New(rand.NewPCG(3, 4))
			for trial := 1; trial <= 40; trial++ {
				x := spaces.Point{rng.Float64(), rng.Float64(), rng.Float64()}
				o := observed(x[0]+x[1], (x[0]-x[1])*(x[0]-x[1])+x[2])
				o.Trial, o.Proposal.Point, o.Status = trial, x, Succeeded
				if err := l.Tell(o); err != nil {
					t.Fatal(err)
				}
			}
			a, err := l.newAsk(t.Context(), Query{Trial: 41})
			if err != nil {
				t.Fatal(err)
			}
			var s *score
			if l.parts != nil {
				f, looked := a.lookAtAll()
				s, err = a.score(f), looked
			} else if err = a.look(); err == nil {
				s, err = a.globalScore()
			}
			if err != nil {
				t.Fatal(err)
			}
			asked := &askedFor{}
			s.factors = append(s.factors, asked)
			if a.search(s, wholeCube(3), rng); asked.gradients > 18*maximize.Starts {
				t.Errorf("%d climbs asked for %d gradients", maximize.Starts, asked.gradients)
			}
		})
	}
}

// askedFor is a factor of 1 that counts gradients.
type askedFor struct{ gradients int }

func (f *askedFor) addLog(_, grad []float64) float64 {
	if grad != nil {
		f.gradients++
	}
	return 0
}

func (f *askedFor) logs(xs [][]float64) []float64 { return make([]float64, len(xs)) }

func (f *askedFor) ahead([][]float64) {}

// A threshold far below all values makes no more pieces than a search can look at, and fine ones where the
// values are. Nothing is worth infinitely much where the warp ends right above the best of them.
func TestSecantsAreFew(t *testing.T) {
	var values []float64
	for k := range 20 {
		values = append(values, math.Exp(6*float64(k)/19))
	}
	w, err := warp.Fit(warp.YeoJohnson, values, warp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	best := w.Apply(values[19])
	if !math.IsInf(w.Inverse(best+1), 1) {
		t.Fatalf("the warp does not end below %v: %+v", best+1, w)
	}
	pieces := secants(nil, &w, -1e4, math.Inf(1), best)
	n := len(pieces)
	if n > 401 || pieces[0].low != -1e4 || !math.IsInf(pieces[n-1].up, 1) {
		t.Errorf("%d pieces from %v to %v", n, pieces[0].low, pieces[n-1].up)
	}
	for k, p := range pieces {
		if math.IsNaN(p.slope) || math.IsInf(p.slope, 0) || k > 0 && k < n-1 && p.up-p.low > 0.2501 || k > 0 && math.Abs(p.low-pieces[k-1].up) > 1e-9 {
			t.Errorf("piece %d is %+v", k, p)
		}
	}
}
