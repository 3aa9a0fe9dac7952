package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// A frame is as long and as thin as the cloud of points that shapes it, points where that
// points, and has a way back.
func TestFrameFollowsTheBestPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := []float64{0.4, 0.6}
	var best [][]float64
	for range 200 { // along (3, 4)/5, and a hundredth as far across
		along, across := 0.1*rng.NormFloat64(), 0.001*rng.NormFloat64()
		best = append(best, []float64{c[0] + 0.6*along - 0.8*across, c[1] + 0.8*along + 0.6*across})
	}
	f := newFrame(c, best)
	for k, want := range []float64{0.001, 0.1} {
		e := f.edges[k]
		if sd := math.Hypot(e[0], e[1]) / frameWidth; sd < 0.8*want || sd > 1.25*want {
			t.Errorf("standard deviation %v along axis %d, want %v", sd, k, want)
		}
	}
	if e := f.edges[1]; math.Abs(e[1]/e[0]-4.0/3) > 0.02 {
		t.Errorf("the long edge is %v", e)
	}
	x := []float64{0.41, 0.65}
	for j, y := range f.from(f.to(x)) {
		if math.Abs(y-x[j]) > 1e-12 {
			t.Errorf("there and back: %v for %v", y, x[j])
		}
	}
	if newFrame(c, [][]float64{c, c, c}) != nil {
		t.Error("a frame of one point")
	}
}

// In a narrow valley that runs across the axes and is no parabola, a hundred trials go down
// to digits that the model of the whole cube cannot tell apart: the better of two studies
// to 1e-10, and without steps along the valley to 0.02.
func TestValleysAreFollowed(t *testing.T) {
	effort.Quality(t)
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: -5, Max: 5},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: -5, Max: 5})
	if err != nil {
		t.Fatal(err)
	}
	bent := func(x float64) float64 { return x * (1 + 0.05*math.Sin(8*math.Log(math.Abs(x)+1e-300))) }
	f := func(u []float64) float64 {
		x, y := 10*u[0]-6.3, 10*u[1]-3.9
		along, across := bent(0.8*x+0.6*y), bent(0.8*y-0.6*x)
		return along*along + 1e6*across*across
	}
	best := math.Inf(1)
	for seed := range uint64(2) {
		opt, err := New(space, seed, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= 100; k++ {
			p, err := opt.Ask(t.Context(), Query{Trial: k})
			if err != nil {
				t.Fatal(err)
			}
			v := f(p.Point)
			best = math.Min(best, v)
			if err := opt.Tell(Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{-v}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if best > 1e-6 {
		t.Errorf("the best of 100 trials is %.2g", best)
	}
}

// A program without noise is not said to have some because its values are rugged: twins of
// the best trial show that they are not luck. Of one with noise they show that too.
func TestTwinsTellRuggednessFromNoise(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: -5, Max: 5},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: -5, Max: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, sd := range []float64{0, 1} {
		opt, err := New(space, 1, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		l, rng := opt.(*lbo), rand.New(rand.NewPCG(3, 4))
		for k := 1; k <= 50; k++ {
			p, err := opt.Ask(t.Context(), Query{Trial: k})
			if err != nil {
				t.Fatal(err)
			}
			x, y := 10*p.Point[0]-6.3, 10*p.Point[1]-3.9
			v := x*x + y*y + 5*math.Sin(40*x)*math.Sin(50*y) + sd*5*rng.NormFloat64()
			if err := opt.Tell(Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{-v}}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := l.Recommend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("noise %v: %d twins, trial %d recommended, %d the best", sd, len(l.past.twins), r.Trial, l.past.trial[l.past.best])
		if sd == 0 && (len(l.past.twins) < twinsWant || r.Trial != l.past.trial[l.past.best]) {
			t.Errorf("without noise: %d twins, and trial %d is recommended instead of %d", len(l.past.twins), r.Trial, l.past.trial[l.past.best])
		}
		if sd > 0 && (len(l.past.twins) == 0 || l.model.exact) {
			t.Errorf("with noise: %d twins, and none is seen: %v", len(l.past.twins), l.model.exact)
		}
	}
}
