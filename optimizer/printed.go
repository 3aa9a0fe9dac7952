package optimizer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/maximize"
	"github.com/lbotune/lbotune/spaces"
)

// Printed takes the Lipschitz bounds of the paper to the letter, for its reproduction. The
// constant is never raised because it excludes too much, bounds that cross reject, y* is the
// best observation whatever the noise, a point may be proposed twice, and one run of DIRECT
// alone looks for the largest acquisition.
type Printed struct {
	// Twice divides the estimated constant, which is that of standardized values, by
	// their standard deviation once more.
	Twice bool
	// Rejected says what is proposed where the bounds reject every candidate, of which the
	// paper says nothing: first is the first point that DIRECT looks at, the centre of
	// the cube; random is uniform where the upper bound allows an improvement; clip
	// maximizes what the bounds cut without rejecting it. Default first.
	Rejected string
	// Raw leaves the values as they are told; the paper standardizes them.
	Raw bool
}

// NewPrinted is New for the method lbo and one objective, with bounds by the letter.
func NewPrinted(space *spaces.Space, seed uint64, settings Settings, p Printed) (Optimizer, error) {
	if allowed := []string{"", "first", "random", "clip"}; !slices.Contains(allowed, p.Rejected) {
		return nil, fmt.Errorf("optimizer: rejected: found %q; allowed are %s", p.Rejected, list(allowed[1:]))
	}
	opt, err := New(space, seed, settings)
	if err != nil {
		return nil, err
	}
	if space.Dim() != space.Len() {
		return nil, errors.New("optimizer: bounds by the letter are for spaces of numbers alone")
	}
	l, ok := opt.(*lbo)
	if !ok {
		return nil, fmt.Errorf("optimizer: method %s has no Lipschitz bounds to be printed; %s has", settings.Method, MethodLBO)
	}
	l.printed = &p
	return l, nil
}

// printedEvaluations bounds the evaluations of DIRECT here: an experiment makes thousands of
// runs.
const printedEvaluations = 500

// direct is divide for a space of floats, whose points are those of the cube.
func (a *ask) direct(f score) found {
	one := wholeCube(a.past.space.Dim())
	r := maximize.Direct(a.ctx, func(u []float64) float64 { return f.at(u, nil) }, one.lo, one.up,
		printedEvaluations)
	return found{r.X, r.F}
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
	switch a.lbo.printed.Rejected {
	case "random":
		return a.exploreRandom()
	case "clip":
		if f, err = a.rule().relaxed(a); err != nil {
			return Proposal{}, err
		}
		return a.proposal(a.direct(f).x, OriginFallback, "every candidate is rejected: largest acquisition, not rejected"), nil
	}
	return a.proposal(a.past.space.Center(), OriginFallback, "every candidate is rejected: the first that was looked at"), nil
}
