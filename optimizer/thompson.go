package optimizer

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// drawn is a function drawn from the posterior, treated like a mean without uncertainty.
type drawn struct{ *gp.Draw }

func (d drawn) Predict(x []float64) (mean, variance float64) { return d.Value(x), 0 }

func (d drawn) PredictGrad(x, dmean, _ []float64) (mean, variance float64) {
	return d.ValueGrad(x, dmean), 0
}

func (d drawn) Batch(xs [][]float64, mean, _ []float64) {
	for i, x := range xs {
		mean[i] = d.Value(x)
	}
}

// thompson draws a function from the posterior of one of the models. It is maximized above best
// and in logarithms, so that factors can be added to it.
func thompson(a *ask, best float64, b *bounds, mode string) (part, error) {
	rng := a.rng("thompson")
	m := a.view.models[rng.IntN(len(a.view.models))]
	var draw *gp.Draw
	var err error
	if a.set.Thompson == "rff" {
		draw, err = m.DrawWeights(gp.WeightFeatures, rng)
	} else {
		draw, err = m.DrawPath(gp.PathFeatures, rng)
	}
	if err != nil {
		return nil, fmt.Errorf("drawing from the posterior: %w", err)
	}
	return newModelPart(drawn{draw}, m.Dim(), b, func(f, _, lo, up float64) acquisition.Value {
		return above(acquisition.Value{F: f, Mu: 1}, best, mode, lo, up)
	}), nil
}
