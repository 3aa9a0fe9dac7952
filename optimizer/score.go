package optimizer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
)

// score is a function to maximize over the cube: an acquisition with all that
// is multiplied into it, in logarithms.
type score interface {
	// at returns the value at x and, if grad is not nil, writes the gradient.
	// Minus infinity means that x is out of the question.
	at(x, grad []float64) float64
	// batch writes the values at xs.
	batch(xs [][]float64, out []float64)
}

// pointwise is an acquisition as a function of the posterior mean and standard
// deviation and of the Lipschitz bounds at one point.
type pointwise func(mu, sigma, lo, up float64) acquisition.Value

// posterior is what is known of the objective at a point: a mean and a variance.
type posterior interface {
	Predict(x []float64) (mean, variance float64)
	PredictGrad(x, dmean, dvariance []float64) (mean, variance float64)
	Batch(xs [][]float64, mean, variance []float64)
}

// modelScore is a pointwise acquisition of one model.
type modelScore struct {
	f      pointwise
	p      posterior
	bounds *bounds // nil: none

	dmu, dvar, dlo, dup []float64
	mean, variance      []float64
}

func newModelScore(p posterior, d int, b *bounds, f pointwise) *modelScore {
	buf := make([]float64, 4*d)
	return &modelScore{f: f, p: p, bounds: b,
		dmu: buf[:d], dvar: buf[d : 2*d], dlo: buf[2*d : 3*d], dup: buf[3*d:]}
}

func (s *modelScore) at(x, grad []float64) float64 {
	if grad == nil {
		mu, variance := s.p.Predict(x)
		lo, up := s.bounds.at(x)
		return s.f(mu, math.Sqrt(variance), lo, up).F
	}
	mu, variance := s.p.PredictGrad(x, s.dmu, s.dvar)
	sigma := math.Sqrt(variance)
	for j := range s.dvar {
		s.dvar[j] /= 2 * sigma
	}
	lo, up := s.bounds.grad(x, s.dlo, s.dup)
	v := s.f(mu, sigma, lo, up)
	v.Chain(grad, s.dmu, s.dvar, s.dlo, s.dup)
	return v.F
}

func (s *modelScore) batch(xs [][]float64, out []float64) {
	if len(s.mean) < len(xs) {
		s.mean, s.variance = make([]float64, len(xs)), make([]float64, len(xs))
	}
	s.p.Batch(xs, s.mean, s.variance)
	for i, x := range xs {
		lo, up := s.bounds.at(x)
		out[i] = s.f(s.mean[i], math.Sqrt(s.variance[i]), lo, up).F
	}
}

// average is the mean of acquisitions over models with sampled
// hyper-parameters, of which the parts are the logarithms: the logarithm of the
// mean of their exponentials.
type average struct {
	parts []score
	grad  []float64
	each  []float64
}

func (s *average) at(x, grad []float64) float64 {
	if grad == nil {
		s.each = s.each[:0]
		for _, p := range s.parts {
			s.each = append(s.each, p.at(x, nil))
		}
		return logMeanExp(s.each)
	}
	// Running weights: sum = Σ e^(v−top), grad = Σ e^(v−top) ∇v.
	if s.grad == nil {
		s.grad = make([]float64, len(x))
	}
	clear(grad)
	top, sum := math.Inf(-1), 0.0
	for _, p := range s.parts {
		v := p.at(x, s.grad)
		if math.IsInf(v, -1) {
			continue
		}
		if v > top {
			shrink := math.Exp(top - v)
			sum *= shrink
			for j := range grad {
				grad[j] *= shrink
			}
			top = v
		}
		w := math.Exp(v - top)
		sum += w
		for j, g := range s.grad {
			grad[j] += w * g
		}
	}
	if sum == 0 {
		return math.Inf(-1)
	}
	for j := range grad {
		grad[j] /= sum
	}
	return top + math.Log(sum/float64(len(s.parts)))
}

func (s *average) batch(xs [][]float64, out []float64) {
	columns, each := make([][]float64, len(xs)), make([]float64, len(xs))
	for _, p := range s.parts {
		p.batch(xs, each)
		for i, v := range each {
			columns[i] = append(columns[i], v)
		}
	}
	for i, column := range columns {
		out[i] = logMeanExp(column)
	}
}

// logMeanExp is ln(1/n Σ e^v), computed without overflow.
func logMeanExp(v []float64) float64 {
	top := floats.Max(v)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum/float64(len(v)))
}

// factor is what holds for every acquisition: addLog returns the logarithm of what it is
// multiplied by and, if grad is not nil, adds its gradient.
type factor interface {
	addLog(x, grad []float64) float64
}

// product adds the logarithms of factors to a score.
type product struct {
	score
	factors []factor
}

func (s *product) at(x, grad []float64) float64 {
	v := s.score.at(x, grad)
	for _, f := range s.factors {
		if math.IsInf(v, -1) {
			return v
		}
		v += f.addLog(x, grad)
	}
	return v
}

func (s *product) batch(xs [][]float64, out []float64) {
	s.score.batch(xs, out)
	for _, f := range s.factors {
		var logs []float64
		if c, ok := f.(*chance); ok {
			logs = c.logs(xs)
		}
		for i, x := range xs {
			switch {
			case math.IsInf(out[i], -1):
			case logs != nil:
				out[i] += logs[i]
			default:
				out[i] += f.addLog(x, nil)
			}
		}
	}
}

// indifferent is the score to which all points are alike.
type indifferent struct{}

func (indifferent) at(_, grad []float64) float64 {
	clear(grad)
	return 0
}

func (indifferent) batch(_ [][]float64, out []float64) { clear(out) }

// repeated is a score that is searched twice from the same candidates, whose values it
// remembers.
type repeated struct {
	score
	seen   [][][]float64
	values [][]float64
}

func (s *repeated) batch(xs [][]float64, out []float64) {
	same := func(known [][]float64) bool { return slices.EqualFunc(xs, known, slices.Equal) }
	if k := slices.IndexFunc(s.seen, same); k >= 0 {
		copy(out, s.values[k])
		return
	}
	s.score.batch(xs, out)
	s.seen, s.values = append(s.seen, xs), append(s.values, slices.Clone(out))
}

// outside is a score without some part of the cube.
type outside struct {
	score
	closed func([]float64) bool
}

func (s *outside) at(x, grad []float64) float64 {
	if s.closed(x) {
		return math.Inf(-1)
	}
	return s.score.at(x, grad)
}

func (s *outside) batch(xs [][]float64, out []float64) {
	s.score.batch(xs, out)
	for i, x := range xs {
		if s.closed(x) {
			out[i] = math.Inf(-1)
		}
	}
}
