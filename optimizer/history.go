package optimizer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/warp"
	"github.com/lbotune/lbotune/spaces"
)

// history is what every method remembers: the told trials in the order in
// which they were told. Nothing in it depends on what was asked.
type history struct {
	space *spaces.Space
	seed  uint64

	told   []Observation // all, with snapped points
	x      [][]float64   // n successes: points
	y      []float64     // n successes: values, tamed
	raw    []float64     // n successes: values as they were told
	over   []float64     // n successes: by how much they break the limits, 0 if they hold all
	trial  []int         // n successes: numbers of their trials
	twins  [][2]int      // pairs of successes that are next to the same point
	failed [][]float64
	pruned [][]float64
	seen   map[string]bool // keys of all told points
	trials map[int]bool    // numbers of all told trials
	wild   []int           // indices into x of the values that were tamed
	best   int             // index into x of the best success, the first of equals; -1 without any
	safe   *safety         // nil without a safety limit
	// objectives is how many the study has, 0 until it is known.
	objectives int
	// constraints is how many the study has, −1 until it is known.
	constraints int
}

func newHistory(space *spaces.Space, seed uint64) *history {
	return &history{space: space, seed: seed, seen: map[string]bool{}, trials: map[int]bool{}, best: -1, constraints: -1}
}

// meet snaps an observation's point to where it ran, and notes that it was tried. Methods that
// ask no more than that keep nothing else of a trial, of which they may be told very many.
func (h *history) meet(o *Observation) error {
	if err := h.check(*o); err != nil {
		return fmt.Errorf("telling trial %d: %w", o.Trial, err)
	}
	o.Proposal.Point = h.space.Snap(o.Proposal.Point)
	h.trials[o.Trial] = true
	h.safe.tell(*o)
	h.seen[key(o.Proposal.Point)] = true
	if len(o.Constraints) > 0 || o.Status == Succeeded {
		h.constraints = len(o.Constraints)
	}
	if o.Status == Succeeded {
		h.objectives = len(o.Values)
	}
	return nil
}

func (h *history) add(o Observation) error {
	if err := h.meet(&o); err != nil {
		return err
	}
	p := o.Proposal.Point
	h.told = append(h.told, o)
	switch o.Status {
	case Succeeded:
		if i := h.twinOf(p); i >= 0 {
			h.twins = append(h.twins, [2]int{i, len(h.x)})
		}
		h.x = append(h.x, p)
		h.raw = append(h.raw, o.Value())
		h.over = append(h.over, o.violation())
		h.trial = append(h.trial, o.Trial)
		before, last := len(h.wild), len(h.raw)-1
		h.y, h.wild = tamed(h.raw)
		if before > 0 || len(h.wild) > 0 {
			h.best = h.bestWhere(func(int) bool { return true })
		} else if h.best < 0 || h.better(last, h.best) {
			h.best = last
		}
	case Failed:
		if o.unexplained() {
			h.failed = append(h.failed, p)
		}
	case Pruned:
		h.pruned = append(h.pruned, p)
	}
	return nil
}

func (h *history) check(o Observation) error {
	switch {
	case h.trials[o.Trial]:
		return errors.New("it was told before")
	case o.Trial == 0: // below are those of earlier studies
		return errors.New("trials are numbered from 1")
	}
	if err := checkPoint(h.space, o.Proposal.Point); err != nil {
		return err
	}
	if n := len(o.Constraints); h.constraints >= 0 && n != h.constraints && (n > 0 || o.Status == Succeeded) {
		return fmt.Errorf("found %d constraints; other trials have %d", n, h.constraints)
	}
	if slices.ContainsFunc(o.Constraints, func(c float64) bool { return math.IsInf(c, -1) }) {
		return errors.New("a constraint cannot be held by an infinite margin")
	}
	how, valued := map[Status]string{Succeeded: "succeeded", Pruned: "was pruned"}[o.Status]
	bad := slices.IndexFunc(o.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	switch n := len(o.Values); {
	case o.Status == Failed:
		return nil
	case !valued:
		return fmt.Errorf("found status %q; allowed are %s, %s and %s", o.Status, Succeeded, Failed, Pruned)
	case h.objectives > 0 && n != h.objectives && (n > 0 && o.Status == Succeeded || n > h.objectives):
		return fmt.Errorf("found %d values; other trials have %d", n, h.objectives)
	case n == 0:
		return fmt.Errorf("a trial that %s needs a value", how)
	case bad >= 0:
		return fmt.Errorf("a trial that %s needs a finite value; found %v", how, o.Values[bad])
	}
	return nil
}

// better reports whether success i is better than success j: one that holds every limit
// than one that does not, of two that do the one with the larger value, and of two that
// do not the one that breaks them by less.
func (h *history) better(i, j int) bool {
	if h.over[i] != h.over[j] {
		return h.over[i] < h.over[j]
	}
	return h.y[i] > h.y[j]
}

// ranked are the values of the first successes, such that those which break a limit follow all others.
func (h *history) ranked(values []float64) []float64 {
	rows := make([]int, len(values))
	for i := range rows {
		rows[i] = i
	}
	return (&limits{over: h.over}).rank(values, rows)
}

// bestWhere returns the best success for which that holds, the first of equals, −1 without any.
func (h *history) bestWhere(holds func(success int) bool) int {
	best := -1
	for i := range h.x {
		if holds(i) && (best < 0 || h.better(i, best)) {
			best = i
		}
	}
	return best
}

func checkPoint(space *spaces.Space, p spaces.Point) error {
	if len(p) != space.Dim() {
		return fmt.Errorf("the point has %d coordinates, the space %d", len(p), space.Dim())
	}
	for i, c := range p {
		if !(c >= 0 && c <= 1) {
			return fmt.Errorf("coordinate %d of the point is %v, outside [0,1]", i, c)
		}
	}
	return nil
}

// begin checks a query and returns the snapped points of its pending trials, and the test
// whether a snapped point was told or is pending, or may not be proposed.
func (h *history) begin(ctx context.Context, q Query) (pending [][]float64, used func([]float64) bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	waiting := make(map[string]bool, len(q.Pending))
	for _, p := range q.Pending {
		if err := checkPoint(h.space, p.Point); err != nil {
			return nil, nil, fmt.Errorf("asking for trial %d: pending trial %d: %w", q.Trial, p.Trial, err)
		}
		point := h.space.Snap(p.Point)
		pending, waiting[key(point)] = append(pending, point), true
	}
	return pending, func(p []float64) bool {
		k := key(p)
		return h.seen[k] || waiting[k] || !h.space.Allows(p) || !h.safe.allows(p)
	}, nil
}

// key identifies a snapped point.
func key(p []float64) string {
	b := make([]byte, 0, 8*len(p))
	for _, c := range p {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c))
	}
	return string(b)
}

// A value so far above all others that these look alike beside it is hardly one of the
// same objective: a division by almost nothing, a sum that overflowed. One such trial
// would end the search, which could no longer tell the others apart.
const (
	wildRatio = 1e6 // times the larger of the next value, the median and 1
	wildLeast = 4   // values from which on one can be judged
	wildShare = 10  // at most one in so many is wild
)

// tamed returns the values with those that are absurdly large put just below the largest of
// the rest, and which those are. Without any it returns y itself. What it makes of the
// first n values depends on these alone.
func tamed(y []float64) (_ []float64, wild []int) {
	for len(y) >= wildLeast && len(wild) <= len(y)/wildShare {
		first, second := -1, -1
		for i, v := range y {
			switch {
			case slices.Contains(wild, i):
			case first < 0 || v > y[first]:
				first, second = i, first
			case second < 0 || v > y[second]:
				second = i
			}
		}
		gap := y[first]/wildRatio - y[second]/wildRatio // the difference might overflow
		if !(gap > math.Max(1, math.Abs(y[second]))) || !(gap > math.Abs(warp.Median(y))) {
			break
		}
		wild = append(wild, first)
	}
	if len(wild) == 0 {
		return y, nil
	}
	rest := math.Inf(-1)
	for i, v := range y {
		if !slices.Contains(wild, i) {
			rest = math.Max(rest, v)
		}
	}
	y = slices.Clone(y)
	for _, i := range wild {
		y[i] = math.Nextafter(rest, math.Inf(-1))
	}
	return y, wild
}

// tamedNote says which trials were tamed, empty if none was.
func (h *history) tamedNote() string {
	if len(h.wild) == 0 {
		return ""
	}
	i := h.wild[0]
	return fmt.Sprintf("; trial %d, more than %.0e times beyond all others, counts as no better than these", h.trial[i], wildRatio)
}
