package optimizer

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// thompsonScore is one function drawn from the posterior, above best and in
// logarithms, so that factors can be added to it.
type thompsonScore struct {
	draw   *gp.Draw
	best   float64
	mode   string  // of the bounds: truncate, clip, reject or off
	bounds *bounds // nil: none

	df, dlo, dup []float64
}

// thompson draws a function from the posterior of one of the models.
func thompson(a *ask, target float64, b *bounds, mode string) (score, error) {
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
	d := m.Dim()
	s := &thompsonScore{draw: draw, best: target, mode: mode, bounds: b,
		df: make([]float64, d), dlo: make([]float64, d), dup: make([]float64, d)}
	return a.withFactors(s), nil
}

func (s *thompsonScore) at(x, grad []float64) float64 {
	if grad == nil {
		lo, up := s.bounds.at(x)
		return s.value(s.draw.Value(x), lo, up).F
	}
	f := s.draw.ValueGrad(x, s.df)
	lo, up := s.bounds.grad(x, s.dlo, s.dup)
	v := s.value(f, lo, up)
	v.Chain(grad, s.df, nil, s.dlo, s.dup)
	return v.F
}

// value treats the draw like a mean without uncertainty.
func (s *thompsonScore) value(f, lo, up float64) acquisition.Value {
	v := acquisition.Value{F: f, Mu: 1}
	switch {
	case s.mode == "reject":
		v = acquisition.AcceptReject(v, lo, up)
	case s.mode != off:
		v = acquisition.Clip(v, lo, up)
	}
	v.F -= s.best
	return acquisition.LogSoftplus(v)
}

func (s *thompsonScore) batch(xs [][]float64, out []float64) { oneByOne(s, xs, out) }
