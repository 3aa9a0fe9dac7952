package optimizer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// chance is the probability, as a function of the point, that what a Gaussian
// process models will exceed a limit t when it is measured:
//
//	p(x) = Φ((μ(x) − t) / √(σ²(x) + σn²)).
type chance struct {
	p     *gp.Predictor
	noise float64 // σn²
	limit float64 // t
	of    int     // the number of the constraint, of one
	// caution is the power to which p is taken when proposals are weighed. It
	// grows with the share of recent failures: each costs a trial and, so near to
	// others, teaches little.
	caution float64
}

func newChance(m *gp.Model, limit, caution float64) *chance {
	return &chance{p: m.Predictor(), noise: m.Hyper().Noise(), limit: limit, caution: caution}
}

// noisy reports whether a measured value says too little.
func (c *chance) noisy() bool { return math.Sqrt(c.noise) > noisySD }

// truly is the probability of exceeding the limit without noise: Φ((μ(x) − t)/σ(x)).
func (c *chance) truly(x []float64) float64 {
	mu, variance := c.p.Predict(x)
	return distuv.UnitNormal.CDF((mu - c.limit) / math.Sqrt(variance))
}

const (
	successLimit = 250  // trials that the model knows at most
	sharedLimit  = 125  // the same where there are many models
	successNoise = 0.01 // least σn²: no label is beyond doubt
	cautionSpan  = 20   // trials that count as recent
	// lessOften is how many trials may be told before the model's
	// hyper-parameters are fitted again, as a share of all.
	lessOften = 16
)

// successModel is the chance that a trial succeeds: a hidden constraint (Gelbart,
// Snoek and Adams 2014). It is regression on the labels +1 (a value, or pruned) and −1
// (failed), and so, far from all trials, near the share of successes: the search can come back
// to where little was tried. It is nil as long as nothing has failed.
func (l *lbo) successModel(ctx context.Context) (*chance, error) {
	if len(l.past.failed) == 0 || l.success != nil {
		return l.success, nil
	}
	x := mapped(l.past.told, func(o Observation) []float64 { return o.Proposal.Point })
	labels := mapped(l.past.told, func(o Observation) float64 {
		if o.unexplained() {
			return -1
		}
		return 1
	})
	model, err := l.regress(ctx, &l.successFit, 0, 1, x, func(n int) []float64 { return labels[:n] }, successSettings(l.past.space.Len()))
	if err != nil {
		return nil, fmt.Errorf("modelling failures: %w", err)
	}
	l.success = newChance(model, 0, l.caution())
	return l.success, nil
}

// successSettings have a smaller deviation of the lengths about the same mode: labels say so
// little that otherwise the fit would explain a border across all coordinates by one of them.
func successSettings(d int) gp.Settings {
	const sigma = 0.7
	s := gp.NewSettings(d)
	s.Lengths.Mu += sigma*sigma - s.Lengths.Sigma*s.Lengths.Sigma
	s.Lengths.Sigma, s.LeastNoise = sigma, successNoise
	return s
}

// regression is what is kept of a model of labels, or of amounts, from ask to ask.
type regression struct {
	n    int   // trials that the hyper-parameters are those of
	rows []int // those of them that the model knows
	fit  gp.Hyper
	// gain is by how much more likely these trials are together, each given the others and its point, than
	// by the mean and deviation of all, in logarithms. Below 0 the points say nothing; it is −∞ where all
	// are alike.
	gain float64
}

// regress models what z says of the first trials, at their points, by the number-th of so many
// models. Each has its fits at other trials than the rest, so that no ask has to make them
// all, and they share the trials that they know.
func (l *lbo) regress(ctx context.Context, kept *regression, number, models int, x [][]float64, z func(n int) []float64, set gp.Settings) (*gp.Model, error) {
	n, late := len(x), number*lessOften/models
	// Hyper-parameters from a prefix whose length takes few values: any ask that
	// knows the same trials fits the same.
	if m := n - (n+late)%max(1, (n+late)/lessOften); m != kept.n {
		known := z(m)
		rows := gp.Subset(x[:m], known, min(successLimit, max(sharedLimit, 2*successLimit/models)), nil)
		fit, err := gp.NewFitter(pick(x, rows)).Fit(ctx, pick(known, rows), nil, set)
		if err != nil {
			return nil, err
		}
		_, sd := stat.PopMeanStdDev(pick(known, rows), nil)
		alone := -float64(len(rows)) * (math.Log(sd*math.Sqrt(2*math.Pi)) + 0.5)
		*kept = regression{m, rows, fit.Hyper, fit.LeaveOneOut - alone}
	}
	rows := slices.Clone(kept.rows)
	for i := kept.n; i < n; i++ {
		rows = append(rows, i)
	}
	return gp.New(nil, pick(x, rows), pick(z(n), rows), kept.fit)
}

// caution is 1 plus fifty times the share of failures among the last trials.
func (l *lbo) caution() float64 {
	recent := l.past.told[max(0, len(l.past.told)-cautionSpan):]
	failures := 0.0
	for _, o := range recent {
		if o.unexplained() {
			failures++
		}
	}
	return 1 + 50*failures/float64(len(recent))
}

// Where the best values lie beside what fails, as they do below the learning rate that
// diverges, every step towards the better one is as likely as not to fail. Once carefulAfter
// of the last recentTrials trials have failed, and the designs of the beginning are carefulFrom
// times over, proposals keep to where a trial succeeds with the probability sure. Failures that
// come anywhere, as those of a machine, are no edge.
const (
	recentTrials = 12
	carefulAfter = 2
	carefulFrom  = 3
	sure         = 0.9
)

// besideBest reports whether a point shares the levels of the best one: what fails among
// others is no edge that the search is working at.
func (l *lbo) besideBest(p []float64) bool {
	return l.past.best >= 0 && l.dom.alike(p, l.past.x[l.past.best])
}

// careful reports whether trials have failed so often that no more is to be risked.
func (l *lbo) careful() bool {
	failures := 0
	for _, o := range l.past.told[max(0, len(l.past.told)-recentTrials):] {
		if o.unexplained() && l.besideBest(o.Proposal.Point) {
			failures++
		}
	}
	byPlace := l.successFit.gain > 0 || math.IsInf(l.successFit.gain, -1)
	return failures >= carefulAfter && len(l.past.told) >= carefulFrom*l.set.DesignSize && byPlace
}

// probability returns p(x).
func (s *chance) probability(x []float64) float64 {
	if s == nil {
		return 1
	}
	return math.Exp(s.addLog(x, nil) / s.caution)
}

// weight returns p(x) to the power of the caution.
func (s *chance) weight(x []float64) float64 {
	if s == nil {
		return 1
	}
	return math.Exp(s.addLog(x, nil))
}

// escapeCaution is the least power to which p(x) is taken where the Lipschitz bound
// alone decides. No value bounds the objective where trials fail, so that the room
// for a better one is largest there.
const escapeCaution = 16

// logs returns addLog at many points.
func (s *chance) logs(xs [][]float64) []float64 {
	out, variance := make([]float64, len(xs)), make([]float64, len(xs))
	s.p.Batch(xs, out, variance)
	for i, mu := range out {
		out[i] = s.logAt(mu, variance[i])
	}
	return out
}

// logAt is addLog where the posterior has this mean and variance.
func (s *chance) logAt(mu, variance float64) float64 {
	return s.caution * acquisition.LogCDF((mu-s.limit)/math.Sqrt(variance+s.noise))
}

func (s *chance) ahead(xs [][]float64) { s.p.Ahead(xs) }

// addLog returns the logarithm of the weight and, if grad is not nil, adds its
// gradient.
func (s *chance) addLog(x, grad []float64) float64 {
	if grad == nil {
		return s.logAt(s.p.Predict(x))
	}
	dmu, dvar := make([]float64, len(x)), make([]float64, len(x))
	mu, variance := s.p.PredictGrad(x, dmu, dvar)
	mu -= s.limit
	total := variance + s.noise
	z := mu / math.Sqrt(total)
	logCDF := acquisition.LogCDF(z)
	slope := s.caution * math.Exp(acquisition.LogPDF(z)-logCDF) / math.Sqrt(total)
	for j := range grad {
		grad[j] += slope * (dmu[j] - mu/(2*total)*dvar[j])
	}
	return s.caution * logCDF
}
