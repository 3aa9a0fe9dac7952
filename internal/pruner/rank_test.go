package pruner_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
)

// At a rung, trials are ranked by fronts, and on a front by the room around them.
func TestSeveralObjectivesByHand(t *testing.T) {
	p := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 2})
	nan := math.NaN()
	for i, c := range []struct {
		values [2]float64
		stop   bool
	}{
		{[2]float64{0, 10}, false},   // alone
		{[2]float64{10, 0}, false},   // both are ends of the front
		{[2]float64{5, 5}, true},     // on the front, but with the least room; one of three goes on
		{[2]float64{4, 4}, true},     // dominated by the third: two of four go on, and the ends are these
		{[2]float64{11, 11}, false},  // dominates all
		{[2]float64{12, nan}, false}, // the best in one; what is not finite is worst
		{[2]float64{3, 3}, true},
		{[2]float64{nan, nan}, true},
	} {
		d := p.Read(pruner.Reading{Trial: i + 1, Step: 1, Value: c.values[0], Others: c.values[1:]})
		if d.Stop != c.stop {
			t.Errorf("trial %d with %v: %+v, want stop %v", i+1, c.values, d, c.stop)
		}
		if c.stop && d.Why == "" {
			t.Errorf("trial %d: no reason", i+1)
		}
	}
}

// With one objective the rank is that of the values.
func TestOneObjectiveAmongOthersThatAreEqual(t *testing.T) {
	one := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 3})
	two := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 3})
	rng := rand.New(rand.NewPCG(7, 7))
	for trial := range 200 {
		v := rng.Float64()
		a := one.Read(pruner.Reading{Trial: trial, Step: 1, Value: v})
		b := two.Read(pruner.Reading{Trial: trial, Step: 1, Value: v, Others: []float64{1}})
		if a.Stop != b.Stop {
			t.Fatalf("trial %d with %v: %+v alone, %+v beside equal values", trial, v, a, b)
		}
	}
}

// Of curves in two objectives that pull in different directions, the front of those that
// were not stopped has nearly the volume of the front of all, for less than half of the
// epochs. Ranking by the first objective alone loses much of it.
func TestSimulatedFront(t *testing.T) {
	share, volume := simulateFront(t, true)
	_, alone := simulateFront(t, false)
	t.Logf("epochs %.2f of all, volume %.3f of the whole front's; by the first objective alone %.3f", share, volume, alone)
	if share > 0.5 || volume < 0.97 || alone > 0.95 {
		t.Error("want at most half of the epochs, at least 0.97 of the volume, and at most 0.95 by the first alone")
	}
}

// simulateFront is the median share of epochs that are run, and that of the front's volume.
func simulateFront(t *testing.T, both bool) (share, volume float64) {
	var shares, volumes []float64
	for seed := range uint64(simSeeds) {
		p := start(t, pruner.Settings{Method: pruner.ASHA, MinResource: 1, Reduction: 3, MinTrials: 4})
		var all, kept [][2]float64
		epochs := 0
		for trial := range simTrials {
			q := newProgram(seed, trial)
			rival := *q // the better it is in the first, the worse in the second, but for the rest
			rival.a = 0.1 + 0.8*(1-q.a) + 0.2*q.noise.Float64()
			at := func(epoch int) [2]float64 { return [2]float64{q.measured(epoch), rival.measured(epoch)} }
			all = append(all, [2]float64{-q.loss(maxEpochs), -rival.loss(maxEpochs)})
			stopped := false
			for epoch := 1; epoch <= maxEpochs && !stopped; epoch++ {
				v := at(epoch)
				epochs++
				r := pruner.Reading{Trial: trial, Step: float64(epoch), Value: v[0]}
				if both {
					r.Others = v[1:]
				}
				stopped = p.Read(r).Stop
			}
			if !stopped {
				kept = append(kept, all[trial])
			}
		}
		shares = append(shares, float64(epochs)/(simTrials*maxEpochs))
		volumes = append(volumes, area(kept)/area(all))
	}
	return middle(shares), middle(volumes)
}

// area is what points dominate above (-2, -2).
func area(points [][2]float64) float64 {
	slices.SortFunc(points, func(a, b [2]float64) int {
		if a[0] > b[0] {
			return -1
		}
		return 1
	})
	sum, top := 0.0, -2.0
	for _, p := range points {
		if p[1] > top {
			sum += (p[0] + 2) * (p[1] - top)
			top = p[1]
		}
	}
	return sum
}
