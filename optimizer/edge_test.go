package optimizer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// cliff is a surface that rises towards where trials fail, as it does where more memory
// or a larger learning rate is better until there is too much of it.
type cliff struct {
	d     int
	f     func(spaces.Point) float64 // NaN where a trial fails
	best  float64                    // the largest value that does not
	width float64                    // of the range of values
}

// newCliff draws one: what is allowed ends at a plane or at a sphere, and the top that the
// values rise to, as a parabola or as a cone, lies beyond.
func newCliff(seed uint64) cliff {
	rng := rand.New(rand.NewPCG(seed, 11))
	c := cliff{d: []int{1, 2, 2, 3, 5}[seed%5], best: math.Inf(-1)}
	normal, foot := make([]float64, c.d), make([]float64, c.d)
	norm := 0.0
	for j := range normal {
		normal[j] = rng.NormFloat64()
		norm += normal[j] * normal[j]
		foot[j] = 0.25 + 0.5*rng.Float64()
	}
	beyond, radius := 0.1+0.5*rng.Float64(), 0.6+rng.Float64()
	round, cone := rng.IntN(2) == 0, rng.IntN(2) == 0
	for j := range normal {
		normal[j] /= math.Sqrt(norm)
	}
	fails := func(p spaces.Point) bool {
		along, off := 0.0, 0.0
		for j, x := range p {
			along += normal[j] * (x - foot[j])
			back := x - foot[j] + radius*normal[j] // from the sphere's middle
			off += back * back
		}
		return along > 0 || round && off > radius*radius
	}
	rise := func(p spaces.Point) float64 {
		sum := 0.0
		for j, x := range p {
			far := x - foot[j] - beyond*normal[j]
			sum += far * far
		}
		if cone {
			return -math.Sqrt(sum)
		}
		return -sum
	}
	c.f = func(p spaces.Point) float64 {
		if fails(p) {
			return math.NaN()
		}
		return rise(p)
	}
	worst := 0.0
	c.best = rise(foot)
	for range 2000 {
		p := make(spaces.Point, c.d)
		for j := range p {
			p[j] = rng.Float64()
		}
		if !fails(p) {
			worst = math.Min(worst, rise(p))
		}
	}
	c.width = c.best - worst
	return c
}

// climb runs a study and returns the share of failures in its last half, and how much of the
// range the best value misses.
func (c cliff) climb(t *testing.T, seed uint64, trials int) (failures, miss float64) {
	var params []spaces.Param
	for j := range c.d {
		params = append(params, spaces.Param{Name: fmt.Sprintf("x%d", j), Kind: spaces.KindFloat, Min: 0, Max: 1})
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for k, o := range runStudy(t, newOptimizer(t, space, seed, optimizer.Settings{}), trials, c.f) {
		if o.Status == optimizer.Succeeded {
			best = math.Max(best, o.Value())
		} else if k >= trials/2 {
			failures++
		}
	}
	return failures / float64(trials-trials/2), (c.best - best) / c.width
}

// Where the best values lie beside what fails, the search comes near from the good side: of
// the last half of a study's trials at most a third fails, or on average of that search and nine
// more, and what that costs is less than 1 % of the range. Without care 59 % fail, and the best values
// miss the best possible ones by 4.45 % of the range on the first five surfaces and by 2.22 %
// on all.
func TestCliffsAreApproachedFromTheGoodSide(t *testing.T) {
	effort.Quality(t)
	const first = 20 // those before were used for tuning
	misses, n := 0.0, effort.Of(0, 5, 40)
	without := effort.Of(0, 0.0445, 0.0222)
	for seed := uint64(first); seed < uint64(first+n); seed++ {
		c := newCliff(seed)
		share, miss := c.climb(t, seed, 40)
		if share > 1.0/3 { // chance alone makes a tenth more or less of one search: the mean of ten tells
			for again := range uint64(9) {
				more, _ := c.climb(t, 100+again, 40)
				share += (more - share) / float64(again+2)
			}
		}
		t.Logf("surface %d, %d dimensions: %.0f %% fail, missed by %.2g %%", seed, c.d, 100*share, 100*miss)
		if share > 1.0/3 {
			t.Errorf("surface %d: %.0f %% of the last trials failed", seed, 100*share)
		}
		misses += miss / float64(n)
	}
	if misses > without+0.01 {
		t.Errorf("the best values miss the best possible by %.2g %% of the range; without care by %.2g %%", 100*misses, 100*without)
	}
}
