package optimizer_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// waves is a sum of random cosines, bumps one of random bumps, and nets a random network of one
// layer, over the cube.
func waves(rng *rand.Rand, d int) func([]float64) float64 {
	const terms = 8
	var w [terms][]float64
	var phase, height [terms]float64
	for i := range terms {
		for range d {
			w[i] = append(w[i], 5*rng.NormFloat64()/math.Sqrt(float64(d)))
		}
		phase[i], height[i] = 2*math.Pi*rng.Float64(), rng.NormFloat64()/math.Sqrt(terms)
	}
	return func(x []float64) float64 {
		sum := 0.0
		for i := range terms {
			at := phase[i]
			for j, v := range x {
				at += w[i][j] * v
			}
			sum += height[i] * math.Cos(at)
		}
		return sum
	}
}

func bumps(rng *rand.Rand, d int) func([]float64) float64 {
	const terms = 8
	var centre [terms][]float64
	var width, height [terms]float64
	for i := range terms {
		for range d {
			centre[i] = append(centre[i], rng.Float64())
		}
		width[i], height[i] = 0.15+0.35*rng.Float64(), rng.NormFloat64()
	}
	return func(x []float64) float64 {
		sum := 0.0
		for i := range terms {
			r2 := 0.0
			for j, v := range x {
				r2 += (v - centre[i][j]) * (v - centre[i][j])
			}
			sum += height[i] * math.Exp(-r2/(2*width[i]*width[i]))
		}
		return sum
	}
}

func nets(rng *rand.Rand, d int) func([]float64) float64 {
	const nodes = 12
	var w [nodes][]float64
	var at, height [nodes]float64
	for i := range nodes {
		for range d {
			w[i] = append(w[i], 6*rng.NormFloat64()/math.Sqrt(float64(d)))
		}
		at[i], height[i] = 3*rng.NormFloat64(), rng.NormFloat64()
	}
	return func(x []float64) float64 {
		sum := 0.0
		for i := range nodes {
			z := at[i]
			for j, v := range x {
				z += w[i][j] * (v - 0.5)
			}
			sum += height[i] * math.Tanh(z)
		}
		return sum
	}
}

// coverage counts how often bands hold the truth.
type coverage struct{ held, below, above, n float64 }

func (c *coverage) add(b optimizer.Belief, truth float64) {
	c.n++
	switch {
	case truth < b.Low:
		c.below++
	case truth > b.High:
		c.above++
	default:
		c.held++
	}
}

// bandsOf studies a function with noise, and adds how well the bands hold after each count: at
// uniform points, on slices through the best, and at the next proposal.
func bandsOf(t *testing.T, f func([]float64) float64, d int, seed uint64, noise float64, counts map[int]*[3]coverage) {
	t.Helper()
	space := cube(d)
	opt, err := optimizer.New(space, seed, optimizer.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 11))
	last := 0
	for n := range counts {
		last = max(last, n)
	}
	best, most := spaces.Point(nil), math.Inf(-1)
	for k := 1; k <= last+1; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		if c := counts[k-1]; c != nil {
			var points []spaces.Point
			for range 50 {
				points = append(points, space.Draw(rng))
			}
			for j := range d {
				for i := range 10 {
					at := append(spaces.Point{}, best...)
					at[j] = (float64(i) + 0.5) / 10
					points = append(points, at)
				}
			}
			points = append(points, p.Point)
			e, err := opt.(optimizer.Explainer).Explain(t.Context(), optimizer.Query{Trial: k}, slices.Values(points))
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range e.Beliefs {
				kind := 1
				if i < 50 {
					kind = 0
				} else if i == len(points)-1 {
					kind = 2
				}
				c[kind].add(b, f(points[i]))
			}
		}
		v := f(p.Point) + noise*rng.NormFloat64()
		if v > most {
			best, most = p.Point, v
		}
		if err := opt.Tell(optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{v}}); err != nil {
			t.Fatal(err)
		}
	}
}

// The bands that are shown hold the truth about as often as they say. Their factors were chosen on
// these three kinds of functions; TestBandsHold of bench/suites judges them on others.
func TestBandsHold(t *testing.T) {
	effort.Quality(t)
	counts, seeds := []int{10, 14, 29, 60}, effort.Of(0, effort.Daily[uint64](4, 8), 40)
	for name, family := range map[string]func(*rand.Rand, int) func([]float64) float64{"waves": waves, "bumps": bumps, "nets": nets} {
		t.Run(name, func(t *testing.T) {
			var all [3]coverage
			for _, noise := range []float64{0, 0.02, 0.1, 0.3} {
				at := map[int]*[3]coverage{}
				for _, n := range counts {
					at[n] = &[3]coverage{}
				}
				for seed := range seeds {
					d := 1 + int(seed%4)
					bandsOf(t, family(rand.New(rand.NewPCG(seed, 13)), d), d, seed, noise, at)
				}
				for _, n := range counts {
					for k, c := range at[n] {
						all[k].held, all[k].n, all[k].below, all[k].above = all[k].held+c.held, all[k].n+c.n, all[k].below+c.below, all[k].above+c.above
					}
					u, s, p := at[n][0], at[n][1], at[n][2]
					t.Logf("%s, noise %g, %d trials: uniform %.1f %% (%.1f below, %.1f above), slices %.1f %% (%.1f, %.1f), next %.1f %%", name, noise, n,
						100*u.held/u.n, 100*u.below/u.n, 100*u.above/u.n, 100*s.held/s.n, 100*s.below/s.n, 100*s.above/s.n, 100*p.held/p.n)
				}
			}
			for k, what := range []string{"uniform", "slices", "next"} {
				c := all[k]
				t.Logf("%s, %s: %.1f %% of %.0f, %.1f below, %.1f above", name, what, 100*c.held/c.n, c.n, 100*c.below/c.n, 100*c.above/c.n)
				if share := c.held / c.n; share < []float64{0.89, 0.92, 0.93}[k] || k == 1 && share > 0.98 {
					t.Errorf("%s, %s: %.1f %% of the bands of 95 %% hold", name, what, 100*share)
				}
			}
		})
	}
}
