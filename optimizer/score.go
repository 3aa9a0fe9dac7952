package optimizer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
)

// score is a function to maximize over the cube, in logarithms: the mean of an acquisition over
// models with sampled hyper-parameters, most often one, times what holds for every acquisition.
type score struct {
	parts   []part                 // logarithms of the acquisition by model; without any, all points are alike
	factors []factor               // what it is multiplied by
	closed  []func([]float64) bool // parts of the cube that are out of the question
	open    [][]float64            // points that are asked for next and not closed: to tell may take as long as their values
	known   *known                 // values at candidates that are searched again; nil without
}

// part is the logarithm of an acquisition.
type part interface {
	// at returns the value at x and, if grad is not nil, writes the gradient.
	// Minus infinity means that x is out of the question.
	at(x, grad []float64) float64
	// batch writes the values at xs.
	batch(xs [][]float64, out []float64)
	// ahead does at once what at many points at would do at each.
	ahead(xs [][]float64)
}

// factor is what holds for every acquisition, in logarithms.
type factor interface {
	// addLog returns what is added at x and, if grad is not nil, adds its gradient.
	addLog(x, grad []float64) float64
	// logs returns what is added at many points.
	logs(xs [][]float64) []float64
	ahead(xs [][]float64)
}

// known are lists of points, with their values where nothing more is closed.
type known struct {
	points [][][]float64
	values [][]float64
}

// outside is the score without some more of the cube.
func (s *score) outside(closed func([]float64) bool) *score {
	o := *s
	o.closed, o.open = append(slices.Clip(s.closed), closed), nil
	return &o
}

func (s *score) closes(x []float64) bool {
	return !slices.ContainsFunc(s.open, func(o []float64) bool { return slices.Equal(o, x) }) &&
		slices.ContainsFunc(s.closed, func(closed func([]float64) bool) bool { return closed(x) })
}

// at returns the value at x and, if grad is not nil, writes the gradient.
func (s *score) at(x, grad []float64) float64 {
	if s.closes(x) {
		return math.Inf(-1)
	}
	v := s.mean(x, grad)
	for _, f := range s.factors {
		if math.IsInf(v, -1) {
			return v
		}
		v += f.addLog(x, grad)
	}
	return v
}

// ahead prepares gradients at xs, which are not closed.
func (s *score) ahead(xs [][]float64) {
	s.open = mapped(xs, slices.Clone)
	if len(xs) == 0 {
		return
	}
	for _, p := range s.parts {
		p.ahead(xs)
	}
	for _, f := range s.factors {
		f.ahead(xs)
	}
}

func (s *score) batch(xs [][]float64, out []float64) {
	same := func(points [][]float64) bool { return slices.EqualFunc(xs, points, slices.Equal) }
	if s.known == nil {
		s.weighed(xs, out)
	} else if k := slices.IndexFunc(s.known.points, same); k >= 0 {
		copy(out, s.known.values[k])
	} else {
		s.weighed(xs, out)
		s.known.points, s.known.values = append(s.known.points, xs), append(s.known.values, slices.Clone(out))
	}
	for i, x := range xs {
		if s.closes(x) {
			out[i] = math.Inf(-1)
		}
	}
}

// weighed is batch where nothing is closed.
func (s *score) weighed(xs [][]float64, out []float64) {
	values, each := make([][]float64, len(s.parts)), make([]float64, len(s.parts))
	for k, p := range s.parts {
		values[k] = make([]float64, len(xs))
		p.batch(xs, values[k])
	}
	for i := range xs {
		for k, v := range values {
			each[k] = v[i]
		}
		out[i] = logMeanExp(each)
	}
	for _, f := range s.factors {
		floats.Add(out, f.logs(xs))
	}
}

// mean is the logarithm of the mean of the exponentials of the parts.
func (s *score) mean(x, grad []float64) float64 {
	if grad == nil {
		each := make([]float64, len(s.parts))
		for k, p := range s.parts {
			each[k] = p.at(x, nil)
		}
		return logMeanExp(each)
	}
	clear(grad)
	if len(s.parts) == 0 {
		return 0
	}
	// Running weights: sum = Σ e^(v−top), grad = Σ e^(v−top) ∇v.
	top, sum, own := math.Inf(-1), 0.0, make([]float64, len(x))
	for _, p := range s.parts {
		v := p.at(x, own)
		if math.IsInf(v, -1) {
			continue
		}
		if v > top {
			shrink := math.Exp(top - v)
			sum *= shrink
			floats.Scale(shrink, grad)
			top = v
		}
		w := math.Exp(v - top)
		sum += w
		floats.AddScaled(grad, w, own)
	}
	if sum == 0 {
		return math.Inf(-1)
	}
	for j := range grad {
		grad[j] /= sum
	}
	return top + math.Log(sum/float64(len(s.parts)))
}

// logMeanExp is ln(1/n Σ e^v), computed without overflow, and 0 of nothing.
func logMeanExp(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
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

// pointwise is an acquisition as a function of the posterior mean and standard
// deviation and of the Lipschitz bounds at one point.
type pointwise func(mu, sigma, lo, up float64) acquisition.Value

// posterior is what is known of the objective at a point: a mean and a variance.
type posterior interface {
	Predict(x []float64) (mean, variance float64)
	PredictGrad(x, dmean, dvariance []float64) (mean, variance float64)
	Batch(xs [][]float64, mean, variance []float64)
	Ahead(xs [][]float64)
}

// modelPart is a pointwise acquisition of one model.
type modelPart struct {
	f      pointwise
	p      posterior
	bounds *bounds // nil: none
}

// modelScore is the score that a pointwise acquisition of one model alone is.
func modelScore(p posterior, b *bounds, f pointwise) *score {
	return &score{parts: []part{&modelPart{f, p, b}}}
}

func (s *modelPart) at(x, grad []float64) float64 {
	if grad == nil {
		mu, variance := s.p.Predict(x)
		lo, up := s.bounds.at(x, nil, nil)
		return s.f(mu, math.Sqrt(variance), lo, up).F
	}
	room := func() []float64 { return make([]float64, len(x)) }
	dmu, dvar, dlo, dup := room(), room(), room(), room()
	mu, variance := s.p.PredictGrad(x, dmu, dvar)
	sigma := math.Sqrt(variance)
	for j := range dvar {
		dvar[j] /= 2 * sigma
	}
	lo, up := s.bounds.at(x, dlo, dup)
	v := s.f(mu, sigma, lo, up)
	v.Chain(grad, dmu, dvar, dlo, dup)
	return v.F
}

func (s *modelPart) ahead(xs [][]float64) { s.p.Ahead(xs) }

func (s *modelPart) batch(xs [][]float64, out []float64) {
	variance := make([]float64, len(xs))
	s.p.Batch(xs, out, variance)
	for i, x := range xs {
		lo, up := s.bounds.at(x, nil, nil)
		out[i] = s.f(out[i], math.Sqrt(variance[i]), lo, up).F
	}
}
