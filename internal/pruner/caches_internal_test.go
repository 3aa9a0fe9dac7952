package pruner

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// What is kept of the ended trials, so that a reading costs the same however many there are,
// decides as if everything were computed anew: trials end, go on after that, and are taken back.
func TestWhatIsKeptDecidesAsAnew(t *testing.T) {
	for name, settings := range map[string]Settings{
		"median":     {Method: Median, MaxStep: 12},
		"percentile": {Method: Percentile, Percentile: 30, MinTrials: 3},
		"reachable":  {Method: Reachable, MaxStep: 12, Factor: 0.4},
		"stated":     {Method: Reachable, MaxStep: 12, Slope: 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			stops := 0
			seeds := effort.Sequential[uint64](4, 20, 20)
			if name == "stated" { // it stops few
				seeds = max(seeds, 12)
			}
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(seed, 1))
				kept, anew := fresh(t, settings), fresh(t, settings)
				next := map[int]float64{}
				for turn := range 3000 {
					trial := 1 + max(turn/30+rng.IntN(8)-4, 0)
					switch x := rng.IntN(40); {
					case x == 0:
						kept.Forget(trial)
						anew.Forget(trial)
						delete(next, trial)
					case x < 3 || next[trial] >= 12 && x < 20:
						value := rng.NormFloat64()
						if rng.IntN(2) == 0 {
							value = math.NaN()
						}
						kept.Finish(trial, value)
						anew.Finish(trial, value)
					default:
						next[trial]++
						r := Reading{Trial: trial, Step: next[trial], Value: rng.NormFloat64() + next[trial]/10}
						if rng.IntN(30) == 0 {
							r.Value = math.Inf(1)
						}
						if rng.IntN(60) == 0 {
							r.Step += rng.Float64()
						}
						switch rule := anew.rule.(type) {
						case *curves:
							clear(rule.bars)
						case *reaching:
							rule.recount()
						}
						a, b := kept.Read(r), anew.Read(r)
						if a != b {
							t.Fatalf("%s, seed %d, turn %d: %+v; anew %+v", name, seed, turn, a, b)
						}
						if a.Stop {
							stops++
						}
					}
				}
			}
			if stops < 5 {
				t.Errorf("%s: only %d decisions to stop", name, stops)
			}
		})
	}
}

// Restoring decides nothing, and so costs the same however many trials there are.
func TestRestoreComparesWithNobody(t *testing.T) {
	for _, settings := range []Settings{
		{Method: Median}, {Method: Reachable, MaxStep: 12, Factor: 0.4},
	} {
		p := fresh(t, settings)
		for trial := range 50 {
			for step := range 12 {
				p.Restore(Reading{Trial: trial + 1, Step: float64(step + 1), Value: float64(trial)})
			}
			p.Finish(trial+1, math.NaN())
		}
		looked := 0
		switch rule := p.rule.(type) {
		case *curves:
			looked = len(rule.bars)
		case *reaching:
			looked = len(rule.climbs)
		}
		if looked > 0 {
			t.Errorf("%s: compared at %d steps", settings.Method, looked)
		}
	}
}

func fresh(t *testing.T, s Settings) *Pruner {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
