package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/maximize"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
	"github.com/lbotune/lbotune/spaces"
)

// global maximizes the acquisition over the whole cube, and outside of what is closed
// where it points there. Where trials fail, the little that is left of the acquisition
// is largest where nothing is known but failures: the Lipschitz bound decides there,
// weighed by the probability of success.
func (a *ask) global() (Proposal, error) {
	if p, ok := a.stretch(); ok {
		return p, nil
	}
	if a.lbo.printed != nil {
		return a.printedGlobal()
	}
	f, err := a.globalScore()
	if err != nil {
		return a.anything(err.Error())
	}
	f.known = &known{}
	ends, why := a.offPlateaus(f), "largest acquisition"
	if len(ends) == 0 || ends[0].v <= acquisition.Rejected {
		if f, err = a.relaxedScore(); err != nil {
			return a.anything(err.Error())
		}
		ends, why = a.offPlateaus(f), "largest acquisition without the Lipschitz bounds, which exclude every candidate"
	}
	if len(ends) == 0 {
		return a.anything("every candidate was tried")
	}
	if closed := a.closed(); closed(ends[0].x) {
		if a.view.success != nil {
			return a.escape("the acquisition points where nothing is left to gain")
		}
		ends, why = a.offPlateaus(f.outside(closed)), "largest acquisition where something may be left to gain"
		if len(ends) == 0 || ends[0].v <= acquisition.Rejected {
			return a.escape("the acquisition expects nothing elsewhere")
		}
	}
	best := ends[0].x
	return a.described(best, OriginModel, "%s", why), nil
}

// offPlateaus maximizes f where the model's data does not say that a trial would repeat a
// value, or, if nothing is left there, anywhere.
func (a *ask) offPlateaus(f *score) []found {
	if a.view.flat != nil {
		if ends := a.maximize(f.outside(a.view.flat.holds)); len(ends) > 0 && ends[0].v > acquisition.Rejected {
			return ends
		}
	}
	return a.maximize(f)
}

// endgameGain is the predicted gain, in units of what the best value is above
// the median, below which the quadratic model needs no help in its region.
const endgameGain = 1e-3

// closed returns the test whether a global proposal would be wasted at a point:
// where nothing is left to gain, and around a centre whose last digits the quadratic
// model is working out, where it would be a second local one.
func (a *ask) closed() func([]float64) bool {
	t := &a.lbo.trust
	if a.set.Local != on {
		return never
	}
	improving := t.settled && t.basin.centre >= 0 && t.basin.misses <= 2 && !a.view.surrogate.noisy()
	if !improving || t.basin.promise == 0 || t.basin.promise >= endgameGain*(a.past.y[a.past.best]-warp.Median(a.past.y)) {
		return t.inFinished
	}
	centre := a.past.x[t.basin.centre]
	return func(p []float64) bool { return chebyshev(p, centre) <= finishedRadius || t.inFinished(p) }
}

// directEvaluations bounds the evaluations of a search by DIRECT.
const directEvaluations = 2000

// maximize searches the whole cube, or lists it where it is small, and returns
// what it found, the best first.
func (a *ask) maximize(f *score) []found {
	if a.lbo.finite != nil {
		return a.list(f)
	}
	if a.set.Maximizer == "direct" {
		if end := a.divide(f, a.past.space.FromUniform, directEvaluations); !math.IsInf(end.v, -1) && !a.taken(end.x) {
			return []found{end}
		}
	}
	return a.search(f, wholeCube(a.past.space.Dim()), a.rng("global"))
}

// divide searches by DIRECT, with one coordinate for each parameter.
func (a *ask) divide(f *score, point func(u []float64) spaces.Point, evaluations int) found {
	r := maximize.Direct(a.ctx, func(u []float64) float64 { return f.at(point(u), nil) }, a.past.space.Len(), evaluations)
	return found{point(r.X), r.F}
}

// list evaluates all of a small space that is not taken.
func (a *ask) list(f *score) []found {
	left := slices.DeleteFunc(mapped(a.lbo.finite, func(p spaces.Point) []float64 { return p }), a.taken)
	values := evaluate(a.ctx, f, left)
	var ends []found
	for _, i := range orderBy(len(left), func(i int) float64 { return -values[i] }) {
		if !math.IsNaN(values[i]) && !math.IsInf(values[i], -1) {
			ends = append(ends, found{left[i], values[i]})
		}
	}
	return ends
}

// anything draws a point that is not taken.
func (a *ask) anything(why string) (Proposal, error) {
	p, err := a.untried(a.rng("anything"), "anything")
	if err != nil {
		return Proposal{}, err
	}
	return a.proposal(p, originFallback, "uniform: %s", why), nil
}

// described is proposal, and notes what the model says about the point.
func (a *ask) described(x []float64, origin Origin, why string, args ...any) Proposal {
	if m := a.view.surrogate.value(a.view.models[0].Predictor().Mean(x)); !math.IsInf(m, 0) && !math.IsNaN(m) {
		a.note.Expected = &m
	}
	if a.view.success != nil {
		a.note.Success = a.view.success.probability(x)
	}
	if a.view.limits != nil {
		a.note.Feasible = a.view.limits.probability(x)
	}
	return a.proposal(x, origin, why, args...)
}

// printed takes the Lipschitz bounds of the paper to the letter, for its reproduction: the
// constant is never raised, bounds that cross reject, y* is the best observation whatever the
// noise, a point may be proposed twice, and one run of DIRECT looks for the largest acquisition.
type printed struct {
	// rejected says what is proposed where the bounds reject every candidate, of which the
	// paper says nothing: random is uniform where the upper bound allows an improvement; clip
	// maximizes what the bounds cut without rejecting it; any other word is the first point
	// that DIRECT looks at, the centre of the cube.
	rejected string
	// twice divides the estimated constant, which is that of standardized values, by
	// their standard deviation once more.
	twice bool
	// raw leaves the values as they are told; the paper standardizes them.
	raw bool
}

// ToTheLetter has a new optimizer of a space of numbers take the bounds to the letter. It is
// meant for the reproduction, a module of its own, which finds it by its name: no user of
// the package needs it.
func (l *lbo) ToTheLetter(rejected string, twice, raw bool) {
	l.printed = &printed{rejected, twice, raw}
}

// printedEvaluations bounds the evaluations of DIRECT here: an experiment makes thousands of
// runs.
const printedEvaluations = 500

// direct is divide for a space of floats, whose points are those of the cube.
func (a *ask) direct(f *score) found {
	return a.divide(f, func(u []float64) spaces.Point { return u }, printedEvaluations)
}

// printedGlobal is global by the letter.
func (a *ask) printedGlobal() (Proposal, error) {
	f, err := a.globalScore()
	if err != nil {
		return Proposal{}, err
	}
	if end := a.direct(f); end.v > acquisition.Rejected {
		return a.proposal(end.x, OriginModel, "largest acquisition"), nil
	}
	switch a.lbo.printed.rejected {
	case "random":
		return a.exploreRandom()
	case "clip":
		if f, err = a.relaxedScore(); err != nil {
			return Proposal{}, err
		}
		return a.proposal(a.direct(f).x, originFallback, "every candidate is rejected: largest acquisition, not rejected"), nil
	}
	return a.proposal(a.past.space.Center(), originFallback, "every candidate is rejected: the first that was looked at"), nil
}
