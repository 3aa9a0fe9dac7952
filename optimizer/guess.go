package optimizer

import (
	"cmp"
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

// guess is what a person has said of where the best lies. The acquisition is multiplied
// by π(x)^(β/n), n the successes so far (πBO; Hvarfner et al. 2022), where
//
//	π(x) = Π (ε + (1 − ε) exp(−d²/2w²))
//
// over the coordinates of the guessed parameters, d the distance from the guess in the
// cube and w by how sure the person is. It decays, and ε bounds what a wrong one costs.
type guess struct {
	at      []float64
	widths  []float64 // 0 where nothing was guessed
	guessed int       // coordinates
	power   float64
}

const (
	guessPower = 10.0 // β
	guessFloor = 0.01 // ε
	// guessPatience is the number of successes by which a guess is forgotten if the best of
	// them lies elsewhere: where π, by coordinate, is below ½. At least twice the design is
	// waited for.
	guessPatience = 12
	// guessDoubt is by how many standard deviations the model has to put the guess below
	// such a best for it to be forgotten at once: with fewer, good guesses are, too.
	guessDoubt = 3
)

// guessWidths are w by how sure the person is.
var guessWidths = map[string]float64{"hardly": 0.3, "somewhat": 0.15, "very": 0.05}

// newGuess returns nil if nothing was guessed.
func newGuess(space *spaces.Space) *guess {
	at, known := today(space)
	if !known {
		return nil
	}
	g := &guess{at: at, widths: make([]float64, len(at))}
	for j, c := range space.Coords() {
		if sure := space.Params()[c.Param].Sure; sure != "" {
			g.widths[j] = guessWidths[sure]
			g.guessed++
		}
	}
	if g.guessed == 0 {
		return nil
	}
	return g
}

// guessed returns the guess as it counts by now. Of several objectives the best trials are those on the
// front, and one of them near the guess will do.
func (a *ask) guessed() *guess {
	g := *a.lbo.guess
	g.power = 1
	best := a.past.x[a.past.best]
	if a.lbo.parts != nil && len(a.view.seeds) > 0 {
		best = slices.MaxFunc(a.view.seeds, func(x, y []float64) int { return cmp.Compare(g.addLog(x, nil), g.addLog(y, nil)) })
	}
	return g.after(len(a.past.y), a.set.DesignSize, best, g.doubt(a))
}

// after returns the guess as it counts after n successes, of which the best is at best,
// with an initial design of that size, and where the model puts the guess doubt deviations
// below that.
func (g *guess) after(n, design int, best []float64, doubt float64) *guess {
	now := *g
	now.power = 1
	elsewhere := now.addLog(best, nil) < -math.Ln2*float64(g.guessed)
	now.power = guessPower / float64(n)
	if elsewhere {
		now.power *= math.Max(0, 1-float64(n)/float64(max(guessPatience, 2*design)))
		if doubt > guessDoubt {
			now.power = 0
		}
	}
	return &now
}

// doubt is by how many deviations the model puts the guess, with the best trial's values of
// what was not guessed, below the best. Of several objectives there is no one best.
func (g *guess) doubt(a *ask) float64 {
	if a.lbo.parts != nil {
		return 0
	}
	x := slices.Clone(a.past.x[a.view.surrogate.bestRow])
	for j, w := range g.widths {
		if w > 0 {
			x[j] = g.at[j]
		}
	}
	mu, variance := a.view.surrogate.model.Predictor().Predict(x)
	return (a.view.surrogate.best - mu) / math.Sqrt(variance)
}

// logs is addLog at many points.
func (g *guess) logs(xs [][]float64) []float64 {
	return mapped(xs, func(x []float64) float64 { return g.addLog(x, nil) })
}

func (g *guess) ahead([][]float64) {}

// addLog returns ln π(x) times the power and, if grad is not nil, adds its gradient.
func (g *guess) addLog(x, grad []float64) float64 {
	sum := 0.0
	for j, w := range g.widths {
		if w == 0 {
			continue
		}
		d := (x[j] - g.at[j]) / w
		bell := (1 - guessFloor) * math.Exp(-d*d/2)
		sum += math.Log(guessFloor + bell)
		if grad != nil {
			grad[j] -= g.power * bell / (guessFloor + bell) * d / w
		}
	}
	return g.power * sum
}
