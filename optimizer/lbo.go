package optimizer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/spaces"
)

// lbo is Lipschitz Bayesian optimization with trust regions, see docs/lbo.md. By its number a trial
// is one of model, box and local in turn (turnOf), or now and then explores instead (exploreTurn);
// propose has the order of what comes before that, and a turn that has nothing to offer passes to
// its next rule. With several objectives there are no local turns.
type lbo struct {
	past   *history
	set    Settings // resolved
	dom    *domain
	first  []spaces.Point // the initial design
	walk   *walk          // nil unless Settings.Design is walk
	finite []spaces.Point // all configurations of a space that has few

	trust trust
	fit   *modelFit   // the newest that came with an observation, in the proposal's note
	fits  []*modelFit // fits[i] is what fit was once success i had been told
	made  *modelFit   // the last one made here, which may not have come back yet

	// What follows up to limitFits is kept from one Ask to the next, and made anew from what was
	// told: surrogate.go, chance.go, limits.go.
	model   *surrogate // of the first modelAt observations
	modelAt int

	success    *chance // of all observations, as limits; nil until they are asked for
	successFit regression
	limits     *limits
	limitFits  []regression // by constraint

	guess *guess // where people expect the best values; nil if they have not said
	parts []*lbo // one for each of several objectives
	// tailsOnly says that only long tails are warped: of a part of several objectives, whose
	// hypervolume is in their units.
	tailsOnly bool

	earlier  []Earlier  // studies
	kin      []*kin     // models of those whose objective is related
	suspects []*suspect // of earlier, those that claim to have today's objective; nil before they are looked at
	// contradicted are the numbers of earlier studies that claimed today's objective, and do not have it.
	contradicted []int

	printed *printed // the bounds of the paper to the letter, for its reproduction alone; else nil

	pool *pool // what More chooses from, nil unless the last call was Ask or More
}

func newLBO(h *history, set Settings) *lbo {
	l := &lbo{past: h, set: set, dom: newDomain(h.space), trust: newTrust(), guess: newGuess(h.space)}
	h.safe = newSafety(set)
	l.dom.safe = h.safe
	l.first = design(h.space, set, h.seed)
	if set.Design == walking && h.safe == nil {
		l.walk = newWalk(h.space, h.seed)
	}
	if _, small := h.space.Size(fewConfigurations); small {
		l.finite = remaining(h.space, never, fewConfigurations)
	}
	return l
}

func (l *lbo) Tell(o Observation) error {
	l.pool, l.success, l.limits = nil, nil, nil
	if err := l.past.add(o); err != nil {
		return err
	}
	if l.past.objectives > 1 {
		return l.tellParts(l.past.told[len(l.past.told)-1])
	}
	m := recall(o.Proposal.Note)
	f := m.Fit
	ours := f != nil && f.N >= 1 && f.N <= len(l.past.y) && len(f.Hyper.LogLengths) == l.past.space.Dim() // not another study's
	if ours && (l.fit == nil || f.N >= l.fit.N) {
		l.fit = f
	}
	if o.Status == Succeeded {
		l.fits = append(l.fits, l.fit)
	}
	l.trust.tell(l.past, o, m)
	return nil
}

func (l *lbo) Ask(ctx context.Context, q Query) (Proposal, error) {
	l.pool = nil
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	if n, known := len(q.Thresholds), l.past.objectives; n > 0 && known > 0 && n != known {
		return Proposal{}, fmt.Errorf("found %d thresholds; the trials have %d values", n, known)
	}
	wrong, err := l.distrust(ctx) // may begin *l anew: what was taken from it before would not hold
	if err != nil {
		return Proposal{}, err
	}
	a, err := l.newAsk(ctx, q)
	if err != nil {
		return Proposal{}, err
	}
	p, err := a.propose()
	if ended := ctx.Err(); ended != nil { // the proposal may rest on what stopped early
		return Proposal{}, ended
	}
	if err != nil {
		return Proposal{}, err
	}
	p.Note.Contradicted = wrong
	if q.Enough > 0 && a.view != nil && a.view.holds {
		p.Note.Left = a.left(q.Enough)
	}
	if p.Point = l.past.space.Snap(p.Point); !l.past.safe.allows(p.Point) {
		return Proposal{}, ErrNothingSafe
	}
	l.pool = a.pooling(p)
	return p, nil
}

// ask is the making of one proposal.
type ask struct {
	ctx     context.Context // of Ask: when it ends, nothing that was begun is kept
	lbo     *lbo
	past    *history // of lbo
	set     Settings // likewise
	dom     *domain  // likewise
	query   Query
	trial   int
	pending [][]float64
	used    func([]float64) bool // told or pending
	taken   func([]float64) bool // used, or too close to a pending trial to tell more than it will
	view    *view                // the model, with what is assumed of pending trials; made by look
	note    Note
	memory  memory // what the note is to keep
}

func (l *lbo) newAsk(ctx context.Context, q Query) (*ask, error) {
	pending, used, err := l.past.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	a := &ask{ctx: ctx, lbo: l, past: l.past, set: l.set, dom: l.dom, query: q, trial: q.Trial, pending: pending}
	a.used = func(p []float64) bool { return used(l.past.space.Snap(p)) }
	a.taken = func(p []float64) bool { p = l.past.space.Snap(p); return used(p) || a.occupied(p, leastApart) }
	return a, nil
}

func (l *lbo) looking(ctx context.Context, q Query) (*ask, error) {
	a, err := l.newAsk(ctx, q)
	if err == nil {
		err = a.look()
	}
	return a, err
}

func (a *ask) rng(purpose string) *rand.Rand { return stream(a.past.seed, a.trial, purpose) }

// leastForModel is the number of successes that a model needs. Were it more, a space that mostly fails
// would be filled for long, and what is known of failures ignored.
const leastForModel = 1

// tooFew reports whether the space should be filled first. While the initial design lasts a second
// success is waited for, and with a safety limit its end: of the design's own points few are safe.
// After it one success is enough.
func (a *ask) tooFew() bool {
	n, designing := len(a.past.y), len(a.past.told) < a.set.DesignSize
	return n < leastForModel || designing && (n < 2 || a.past.safe != nil)
}

func (a *ask) propose() (Proposal, error) {
	if p, ok := a.designed(); ok {
		return a.proposal(p, OriginInitial, "initial design"), nil
	}
	if a.tooFew() {
		return a.fill(OriginInitial, "too few values for a model")
	}
	if a.lbo.parts != nil {
		return a.several()
	}
	if err := a.look(); err != nil {
		return a.spread(originFallback, "far from all points: %v", err)
	}
	if a.featureless() {
		return a.fill(OriginExplore, "all values are the same")
	}
	if p, ok := a.twin(); ok {
		return a.proposal(p, OriginModel, "beside the best point, to tell noise from ruggedness"), nil
	}
	if a.exploreTurn() {
		return a.explore()
	}
	if p, ok := a.local(); ok {
		return p, nil
	}
	return a.global()
}

// A turn is what a trial is for, by its number.
type turn int

const (
	modelTurn turn = iota
	boxTurn
	localTurn
	turns
)

func turnOf(trial int) turn { return turn(trial) % turns }

// local makes the first local step of the trial's turn that can be made.
func (a *ask) local() (Proposal, bool) {
	turn := turnOf(a.trial)
	if a.set.Local != on || turn == modelTurn {
		return Proposal{}, false
	}
	basin, ok := a.basin()
	if !ok {
		return Proposal{}, false
	}
	curved := len(a.shapes(a.lbo.trust.basin, a.past.space.Dim())) > 0 // earlier studies know the curvature
	if turn == localTurn || curved {
		if p, ok := a.quadraticStep(basin); ok {
			return p, true
		}
	}
	if turn == boxTurn {
		if p, ok := a.valleyStep(basin); ok {
			return p, true
		}
	}
	// In place of the quadratic's step comes that of the box only where there are limits or earlier
	// studies: the quadratic knows nothing of them.
	if turn == localTurn && a.view.limits == nil && a.view.surrogate.prior == nil {
		return Proposal{}, false
	}
	return a.boxStep(basin)
}

// designed returns the trial's point of the initial design while that lasts.
func (a *ask) designed() (spaces.Point, bool) {
	if a.lbo.walk != nil && a.past.objectives <= 1 {
		return a.walked()
	}
	if a.trial < 1 || a.trial > len(a.lbo.first) || len(a.past.told) >= a.set.DesignSize {
		return nil, false
	}
	p := a.lbo.first[a.trial-1]
	return p, !a.taken(p)
}

// fill proposes a point that fills the space with those of the other trials beyond the initial design:
// what many workers are given before the first values are there.
func (a *ask) fill(origin Origin, why string) (Proposal, error) {
	p := a.past.space.FromUniform(sobol.Scrambled(a.past.space.Len(), a.past.seed).Points(uint32(a.trial), 1)[0])
	if a.set.Design == "random" {
		p = a.past.space.Draw(a.rng("design"))
	}
	if p = a.past.space.Snap(p); !a.taken(p) {
		return a.proposal(p, origin, "%s", why), nil
	}
	return a.spread(origin, "far from all points, %s", why)
}

// spread proposes a point far from everything told and pending.
func (a *ask) spread(origin Origin, why string, args ...any) (Proposal, error) {
	told := mapped(a.past.told, func(o Observation) []float64 { return o.Proposal.Point })
	known := slices.Concat(a.pending, told)
	rng := a.rng("spread")
	p := farthest(mitchell, func() []float64 { return a.dom.uniform(rng) }, known, a.taken)
	var err error
	if p == nil {
		p, err = a.untried(rng, "spread")
	}
	return a.proposal(p, origin, why, args...), err
}

// untried draws a point that is not taken, or at least not used.
func (a *ask) untried(rng *rand.Rand, purpose string) (spaces.Point, error) {
	p, err := a.dom.fresh(rng, a.taken)
	if errors.Is(err, ErrExhausted) {
		return a.dom.fresh(a.rng(purpose), a.used)
	}
	return p, err
}

// leastApart is the distance, in the maximum norm, up to which a proposal would
// repeat a pending trial.
const leastApart = 1e-3

func (a *ask) proposal(p spaces.Point, origin Origin, why string, args ...any) Proposal {
	n := a.note
	n.Why, n.State = fmt.Sprintf(why, args...)+a.past.tamedNote(), a.memory.write()
	return Proposal{Point: p, Origin: origin, Note: n}
}
