package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// guessed is a space of four parameters whose best is guessed to be at g, where g is in
// [0,1].
func guessed(t *testing.T, g float64) *spaces.Space {
	t.Helper()
	var params []spaces.Param
	for _, name := range []string{"a", "b", "c", "d"} {
		p := spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 1}
		if g >= 0 {
			p.Default, p.Sure = spaces.Float(g), "somewhat"
		}
		params = append(params, p)
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// A guess is worth most where it is, decays with the trials and faster once it looks
// wrong; its gradient is that of its logarithm.
func TestGuessDecays(t *testing.T) {
	space := guessed(t, 0.3)
	g := newGuess(space)
	if newGuess(guessed(t, -1)) != nil {
		t.Error("a guess where none was made")
	}
	at, far := []float64{0.3, 0.3, 0.3, 0.3}, []float64{0.9, 0.9, 0.9, 0.9}
	now, later, wrong := g.after(5, 5, at, 9), g.after(50, 5, at, 9), g.after(5, 5, far, 3)
	if got := now.addLog(at, nil); got != 0 {
		t.Errorf("the guess itself is worth %v", got)
	}
	if want := now.addLog(far, nil) / 10; math.Abs(later.addLog(far, nil)-want) > 1e-12 || wrong.addLog(far, nil) != now.addLog(far, nil)*(1-5.0/guessPatience) && math.Abs(wrong.addLog(far, nil)/now.addLog(far, nil)-(1-5.0/guessPatience)) > 1e-12 {
		t.Errorf("far from it: %v, later %v, and when it was wrong %v", now.addLog(far, nil), later.addLog(far, nil), wrong.addLog(far, nil))
	}
	if refuted := g.after(5, 5, far, 3.1); refuted.addLog(far, nil) != 0 {
		t.Errorf("far from it, when the model has refuted it: %v", refuted.addLog(far, nil))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		x := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		grad := make([]float64, 4)
		now.addLog(x, grad)
		for j := range x {
			const h = 1e-6
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[j] += h
			down[j] -= h
			if slope := (now.addLog(up, nil) - now.addLog(down, nil)) / (2 * h); math.Abs(slope-grad[j]) > 1e-5*(1+math.Abs(slope)) {
				t.Errorf("slope %v, and by differences %v", grad[j], slope)
			}
		}
	}
}

// A good guess is better than none after a few trials, and the worst one costs less than
// half of what would be reached without.
func TestGoodAndBadGuesses(t *testing.T) {
	// Styblinski and Tang: 2⁴ minima, the least at −2.903534 in each, which is 0.2097.
	regret := func(g float64, trials int) float64 {
		sum := 0.0
		seeds := effort.Sequential(1, 4, 24)
		for seed := range seeds {
			opt, err := New(guessed(t, g), uint64(seed+1), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			best := math.Inf(1)
			for k := 1; k <= trials; k++ {
				p, err := opt.Ask(t.Context(), Query{Trial: k})
				if err != nil {
					t.Fatal(err)
				}
				y := 0.0
				for _, u := range p.Point {
					x := 10*u - 5
					y += (x*x*x*x-16*x*x+5*x)/8 + 39.16616570377142/4
				}
				best = math.Min(best, y)
				if err := opt.Tell(Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{-y}}); err != nil {
					t.Fatal(err)
				}
			}
			sum += best / float64(seeds)
		}
		return sum
	}
	good, none := regret(0.25, 25), regret(-1, 25)
	t.Logf("regret after 25 trials %.3g with a good guess, %.3g without", good, none)
	if !(good < 0.5*none) {
		t.Errorf("a good guess: %v, and none: %v", good, none)
	}
	if effort.Sequential(false, false, true) { // of fewer runs chance says more
		none, bad := regret(-1, 100), regret(1, 100)
		if t.Logf("after 100 trials %.3g without, %.3g with the worst", none, bad); !(bad < 1.5*none) {
			t.Errorf("the worst guess: %v, and none: %v", bad, none)
		}
	}
}

// A guess is not forgotten while a trial near it is on the front, whichever objective is the first.
func TestGuessBesideSeveralObjectives(t *testing.T) {
	far := func(p []float64) float64 { return p[0] + p[1] } // best away from the guess
	near := func(p []float64) float64 { return -math.Abs(p[0]-0.1) - math.Abs(p[1]-0.1) }
	for name, f := range map[string][2]func([]float64) float64{"near last": {far, near}, "near first": {near, far}, "far": {far, far}} {
		opt, err := New(guessed(t, 0.1), 1, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		l, rng := opt.(*lbo), rand.New(rand.NewPCG(2, 3))
		for k := 1; k <= 20; k++ {
			p := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
			if k == 5 {
				p = []float64{0.1, 0.1, 0.1, 0.1}
			}
			o := Observation{Trial: k, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Succeeded, Values: []float64{f[0](p), f[1](p)}}
			if err := l.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
		a, err := l.newAsk(t.Context(), Query{Trial: 21})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.lookAtAll(); err != nil {
			t.Fatal(err)
		}
		if counts := a.guessed().power > 0; counts != (name != "far") {
			t.Errorf("%s: the guess counts: %v", name, counts)
		}
	}
}
