package optimizer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// lbo is Lipschitz Bayesian optimization with trust regions. After an initial
// design the proposals take turns, by the trial's number:
//
//	model   the acquisition, within the Lipschitz bounds, over the whole cube
//	box     the expected improvement of a model of the best points' surroundings, or
//	        as long as these are few, of the same model in a box around the best point
//	local   a quadratic through the points around the best one, in a smaller box
//	explore every so often, where the Lipschitz bound leaves most room
//
// A turn that has nothing to offer passes to model. See docs/lbo.md.
type lbo struct {
	*history
	set    Settings // resolved
	dom    *domain
	first  []spaces.Point // the initial design
	walk   *walk          // nil where the design is taken as it is
	finite []spaces.Point // all configurations of a space that has few

	trust trust
	fit   *modelFit   // the newest told one
	fits  []*modelFit // fit as it was after each success
	made  *modelFit   // the last one made here

	model   *surrogate // of the first modelAt observations
	modelAt int

	success   *chance // of the first successAt observations
	successAt int

	guess  *guess // nil if nothing was guessed
	parts  []*lbo // one for each of several objectives
	unbent bool   // a part: its volume is in the objective's units, so that these are not warped

	limits   *limits // of the first limitsAt observations
	limitsAt int

	kin      []*kin // earlier studies of related objectives
	earlier  []Earlier
	suspects []*suspect // of them, those that claim to have today's objective; nil before they are looked at
	// contradicted are the numbers of those that do not have it.
	contradicted []int

	printed *Printed // nil but for NewPrinted
}

func newLBO(h *history, set Settings) *lbo {
	l := &lbo{history: h, set: set, dom: newDomain(h.space), trust: newTrust(), guess: newGuess(h.space)}
	h.safe = newSafety(set)
	l.dom.safe = h.safe
	l.first = design(h.space, set, h.seed)
	if set.Design == walking && h.safe == nil {
		l.walk = newWalk(h.space, h.seed)
	}
	if _, small := h.space.Size(fewConfigurations); small {
		l.finite = remaining(h.space, func([]float64) bool { return false }, fewConfigurations)
	}
	return l
}

func (l *lbo) Tell(o Observation) error {
	if err := l.add(o); err != nil {
		return err
	}
	if l.objectives > 1 {
		return l.tellParts(l.told[len(l.told)-1])
	}
	m := recall(o.Proposal.Note)
	if f := m.Fit; l.usable(f) && (l.fit == nil || f.N >= l.fit.N) {
		l.fit = f
	}
	if o.Status == Succeeded {
		l.fits = append(l.fits, l.fit)
	}
	l.trust.tell(l.history, o, m, l.space.Len())
	return nil
}

// usable reports whether a fit that came with an observation belongs to this
// study; an observation from elsewhere may carry any.
func (l *lbo) usable(f *modelFit) bool {
	return f != nil && f.N >= 1 && f.N <= len(l.y) && len(f.Hyper.LogLengths) == l.space.Dim()
}

func (l *lbo) Ask(ctx context.Context, q Query) (Proposal, error) {
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	wrong, err := l.distrust()
	if err != nil {
		return Proposal{}, err
	}
	a, err := l.newAsk(q)
	if err != nil {
		return Proposal{}, err
	}
	p, err := a.propose()
	if err != nil {
		return Proposal{}, err
	}
	p.Note.Contradicted = wrong
	if p.Point = l.space.Snap(p.Point); !l.safe.allows(p.Point) {
		return Proposal{}, ErrNothingSafe
	}
	return p, nil
}

// ask is the making of one proposal.
type ask struct {
	*lbo
	query   Query
	trial   int
	pending [][]float64
	used    func([]float64) bool // told or pending
	taken   func([]float64) bool // used, or too close to a pending trial to tell more than it will
	view    *view
	note    Note
	memory  memory // what the note is to keep
}

func (l *lbo) newAsk(q Query) (*ask, error) {
	pending, err := l.begin(q)
	if err != nil {
		return nil, err
	}
	used := l.taken(pending)
	a := &ask{lbo: l, query: q, trial: q.Trial, pending: pending}
	a.used = func(p []float64) bool { return used(l.space.Snap(p)) }
	a.taken = func(p []float64) bool { p = l.space.Snap(p); return used(p) || a.crowds(p) }
	return a, nil
}

func (a *ask) rng(purpose string) *rand.Rand { return stream(a.seed, a.trial, purpose) }

// leastForModel is the number of successes that a model needs. With two, what is
// known of failures was not used until the second: where 1, 4 and 10 % of a cube of
// 3, 6 and 9 dimensions succeed, 36 runs of 100 trials had 1,899 successes, and with
// one 2,349.
const leastForModel = 1

// tooFew reports whether the space should be filled first. While the initial design
// lasts a second success is waited for, and with a safety limit its end: of the design's own
// points few are safe.
func (a *ask) tooFew() bool {
	n := len(a.y)
	return n < leastForModel || (n == leastForModel || a.safe != nil) && len(a.told) < a.set.DesignSize
}

func (a *ask) propose() (Proposal, error) {
	if p, ok := a.designed(); ok {
		return a.proposal(p, OriginInitial, "initial design"), nil
	}
	if a.tooFew() {
		if p := a.extension(); !a.taken(p) {
			return a.proposal(p, OriginInitial, "too few values for a model"), nil
		}
		p, err := a.spread()
		return a.proposal(p, OriginInitial, "far from all points, too few values for a model"), err
	}
	if a.parts != nil {
		return a.several()
	}
	if err := a.look(); err != nil {
		p, ferr := a.spread()
		return a.proposal(p, OriginFallback, "far from all points: %v", err), ferr
	}
	if p, ok := a.twin(); ok {
		return a.proposal(p, OriginModel, "beside the best point, to tell noise from ruggedness"), nil
	}
	if a.exploreTurn() {
		return a.explore()
	}
	if a.set.Local == on {
		switch a.trial % 3 {
		case 1:
			if len(a.shapes(a.trust.basin, a.space.Dim())) > 0 { // a quadratic knows its curvature already
				if p, ok := a.quadraticStep(); ok {
					return p, nil
				}
			}
			if p, ok := a.valleyStep(); ok {
				return p, nil
			}
			if p, ok := a.boxStep(); ok {
				return p, nil
			}
		case 2:
			if p, ok := a.quadraticStep(); ok {
				return p, nil
			}
			if a.view.limits != nil || a.view.prior != nil { // which the quadratic knows nothing of
				if p, ok := a.boxStep(); ok {
					return p, nil
				}
			}
		}
	}
	return a.global()
}

// designed returns the trial's point of the initial design while that lasts.
func (a *ask) designed() (spaces.Point, bool) {
	if a.walk != nil && a.objectives <= 1 {
		return a.walked()
	}
	if a.trial < 1 || a.trial > len(a.first) || len(a.told) >= a.set.DesignSize {
		return nil, false
	}
	p := a.first[a.trial-1]
	return p, !a.taken(p)
}

// extension returns a point that fills the space with those of the other trials
// beyond the initial design: what many workers are given before the first values
// are there.
func (a *ask) extension() spaces.Point {
	if a.set.Design == "random" {
		return a.space.Draw(a.rng("design"))
	}
	u := sobol.Scrambled(a.space.Len(), a.seed).Points(uint32(a.trial), 1)[0]
	return a.space.Snap(a.space.FromUniform(u))
}

// spread returns a point far from everything told and pending.
func (a *ask) spread() (spaces.Point, error) {
	known := append([][]float64(nil), a.pending...)
	for _, o := range a.told {
		known = append(known, o.Proposal.Point)
	}
	p, err := farthest(a.dom, known, a.rng("spread"), a.taken)
	if errors.Is(err, ErrExhausted) {
		return a.dom.fresh(a.rng("spread"), a.used)
	}
	return p, err
}

// leastApart is the distance, in the maximum norm, up to which a proposal would
// repeat a pending trial.
const leastApart = 1e-3

// crowds reports whether p is that close to a pending trial.
func (a *ask) crowds(p []float64) bool {
	for _, q := range a.pending {
		if chebyshev(p, q) <= leastApart {
			return true
		}
	}
	return false
}

func (a *ask) proposal(p spaces.Point, origin Origin, why string, args ...any) Proposal {
	n := a.note
	n.Why, n.State = fmt.Sprintf(why, args...)+a.tamedNote(), a.memory.write()
	return Proposal{Point: p, Origin: origin, Note: n}
}
