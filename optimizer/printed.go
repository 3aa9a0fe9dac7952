package optimizer

import (
	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/spaces"
)

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
		return a.proposal(a.direct(f).x, OriginFallback, "every candidate is rejected: largest acquisition, not rejected"), nil
	}
	return a.proposal(a.past.space.Center(), OriginFallback, "every candidate is rejected: the first that was looked at"), nil
}
