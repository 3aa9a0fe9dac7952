package optimizer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// limits is what the told trials say of a study's constraints. A nil one is that of a
// study without any: every point holds.
//
// Each constraint has a Gaussian process of its own, on by how much trials hold it.
// With cᵢ the amount by which trial i breaks the limit, u the median of the |cᵢ| and
//
//	zᵢ = −sign(cᵢ) ln(1 + |cᵢ|/u),
//
// standardized, a trial holds the limit where z exceeds what 0 has become. The logarithm
// keeps the sign, and spends the model's effort near 0 (Eriksson and Poloczek, Scalable
// constrained Bayesian optimization, 2021). What is worth a trial is then weighed by the
// probability that it holds all limits, as if these were independent (Gardner et al.
// 2014, Gelbart, Snoek and Adams 2014).
type limits struct {
	each []*chance // of the constraints that a trial has told of
	over []float64 // of each success: by how much it breaks limits, as far as noise lets us know
}

// constraintModels returns nil for a study without constraints.
func (l *lbo) constraintModels(ctx context.Context) (*limits, error) {
	if l.past.constraints <= 0 || l.limits != nil {
		return l.limits, nil
	}
	if l.tailsOnly { // the whole models them, and knows what is noise
		return &limits{over: l.past.over}, nil
	}
	if l.limitFits == nil {
		l.limitFits = make([]regression, l.past.constraints)
	}
	out := &limits{over: make([]float64, len(l.past.y))}
	for k := range l.past.constraints {
		c, err := l.constraintModel(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("modelling constraint %d: %w", k+1, err)
		}
		if c != nil {
			c.of, out.each = k, append(out.each, c)
		}
	}
	out.settle(l.past.told)
	l.limits = out
	return out, nil
}

// constraintModel models constraint k, nil if no trial has told of it.
func (l *lbo) constraintModel(ctx context.Context, k int) (*chance, error) {
	x, c := make([][]float64, 0, len(l.past.told)), make([]float64, 0, len(l.past.told))
	for i := range l.past.told {
		if o := &l.past.told[i]; len(o.Constraints) > 0 && !math.IsNaN(o.Constraints[k]) {
			x, c = append(x, o.Proposal.Point), append(c, o.Constraints[k])
		}
	}
	if len(x) == 0 {
		return nil, nil
	}
	var mean, sd float64
	transformed := func(n int) (z []float64) {
		z, mean, sd = transform(c[:n])
		return z
	}
	set := gp.NewSettings(l.past.space.Len())
	set.LeastNoise = gp.DeterministicNoise
	model, err := l.regress(ctx, &l.limitFits[k], k, l.past.constraints, x, transformed, set)
	if err != nil {
		return nil, err
	}
	return newChance(model, (0-mean)/sd, 1), nil
}

// transform returns the z of the amounts c, standardized, and what their mean and standard
// deviation were.
func transform(c []float64) (z []float64, mean, sd float64) {
	var known []float64
	for _, v := range c {
		if a := math.Abs(v); a > 0 && !math.IsInf(a, 1) {
			known = append(known, a)
		}
	}
	unit := 1.0
	if len(known) > 0 {
		unit = warp.Median(known)
	}
	worst := -math.Ln2
	z = mapped(c, func(v float64) float64 {
		z := -math.Copysign(math.Log1p(math.Abs(v)/unit), v)
		if !math.IsInf(z, -1) {
			worst = math.Min(worst, z)
		}
		return z
	})
	for i := range z { // broken by an unknown amount: as badly as any
		z[i] = math.Max(z[i], worst)
	}
	if mean, sd = stat.PopMeanStdDev(z, nil); !(sd > 1e-12*math.Abs(mean)) {
		sd = 1 // of equal values
	}
	return mapped(z, func(v float64) float64 { return (v - mean) / sd }), mean, sd
}

// settle corrects which successes hold the limits where a measured value is too noisy to
// say: there the posterior mean decides.
func (m *limits) settle(told []Observation) {
	i := -1
	for _, o := range told {
		if o.Status != Succeeded {
			continue
		}
		i++
		for _, c := range m.each {
			if c.noisy() && !math.IsNaN(o.Constraints[c.of]) {
				o.Constraints = slices.Clone(o.Constraints)
				o.Constraints[c.of] = c.limit - c.p.Mean(o.Proposal.Point)
			}
		}
		m.over[i] = o.violation()
	}
}

// truly is the probability that a success holds every limit without the noise: that of its
// posterior where there is much of it, and else what was measured.
func (m *limits) truly(o Observation) float64 {
	p := 1.0
	for _, c := range m.each {
		if c.noisy() {
			p *= c.truly(o.Proposal.Point)
		} else if o.Constraints[c.of] > 0 {
			return 0
		}
	}
	return p
}

func (m *limits) hold(i int) bool { return m == nil || m.over[i] == 0 }

// rank returns the values of the successes in rows such that those which break a limit
// follow all others, the least violating first.
func (m *limits) rank(values []float64, rows []int) []float64 {
	if m == nil {
		return values
	}
	floor := floats.Min(values)
	out := make([]float64, len(values))
	for k, i := range rows {
		out[k] = values[k]
		if m.over[i] > 0 {
			out[k] = floor - 1 - m.over[i]
		}
	}
	return out
}

func (m *limits) chances() []*chance {
	if m == nil {
		return nil
	}
	return m.each
}

// probability is that of a trial at x holding every limit.
func (m *limits) probability(x []float64) float64 {
	p := 1.0
	for _, c := range m.chances() {
		p *= c.probability(x)
	}
	return p
}

// assumeLimits conditions the constraints' models on the pending trials, each with its
// posterior mean, as the objective's is. Where that breaks a limit nothing is gained by
// the trial: what is believed of it becomes −∞.
func (a *ask) assumeLimits(m *limits, believed []float64) (*limits, error) {
	if m == nil || len(believed) == 0 {
		return m, nil
	}
	out := &limits{over: m.over}
	for _, c := range m.each {
		model, means, err := a.believe(c.p.Model())
		if err != nil {
			return nil, err
		}
		for k, z := range means {
			if z < c.limit {
				believed[k] = math.Inf(-1)
			}
		}
		assumed := newChance(model, c.limit, c.caution)
		assumed.of = c.of
		out.each = append(out.each, assumed)
	}
	return out, nil
}
