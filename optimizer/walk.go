package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

const (
	walkStep   = 0.25 // in the cube
	walkGroups = 12   // up to so many parameters each steps alone, beyond several together
	walkBeside = 3    // pending trials beside which there are steps: more workers see more of the space

	walkMirror = 1.5   // the opposite of a place is so many times as far from the middle
	walkBorder = 0.125 // and at least so far from the ends of a range
	walkSpread = 2     // trials that follow: the opposite, and a point of the latin hypercube
)

// walk is how a study may begin: one parameter after the other, in random order, takes a step of
// a quarter of its range to a random side of the best trial so far and, if that is no better, to
// the other side (the exploratory moves of Hooke and Jeeves 1961). How far it has come is read
// from the points alone: a step is what differs from an earlier point in one group of parameters.
type walk struct {
	groups [][]int // of parameters, in the order of their steps
	of     []int   // the group of each parameter
}

func newWalk(space *spaces.Space, seed uint64) *walk {
	d := space.Len()
	n := min(d, walkGroups)
	w := &walk{groups: make([][]int, n), of: make([]int, d)}
	for k, i := range stream(seed, 0, "walk").Perm(d) {
		g := k * n / d
		w.groups[g], w.of[i] = append(w.groups[g], i), g
	}
	return w
}

// most is the number of trials that the walk takes at most.
func (w *walk) most() int { return 2*len(w.groups) + 1 }

// place is a told or pending point of the walk.
type place struct {
	at      spaces.Point
	active  []bool
	pending bool
	success int // −1 for none
}

func (a *ask) places() (out []place) {
	for _, o := range a.past.told {
		at := o.Proposal.Point
		out = append(out, place{at: at, active: a.dom.active(at), success: a.past.success(o.Trial)})
	}
	for _, at := range a.pending {
		out = append(out, place{at: at, active: a.dom.active(at), pending: true, success: -1})
	}
	return out
}

// gains reports whether q is better than p by more than noise that was declared.
func (a *ask) gains(q, p place) bool {
	if q.success < 0 || p.success < 0 {
		return q.success >= 0
	}
	noise, _ := a.set.Noise.number()
	return a.past.better(q.success, p.success) && (a.past.over[q.success] != a.past.over[p.success] || a.past.y[q.success] > a.past.y[p.success]+noise)
}

// apart returns the group in which alone p and q differ, −1 if there is none. A parameter that
// one of them lacks belongs to the step that switches it.
func (a *ask) apart(p, q place) int {
	g := -1
	for j, c := range a.past.space.Coords() {
		if own := a.lbo.walk.of[c.Param]; p.at[j] != q.at[j] && p.active[c.Param] && q.active[c.Param] && own != g {
			if g >= 0 {
				return -1
			}
			g = own
		}
	}
	return g
}

// steps are those of one group.
type steps struct {
	seen   []place // before and after each
	waits  bool    // for a pending one
	gained bool
}

// walked returns the trial's point while the walk lasts. It is followed by the point opposite to
// where it has come, and by one more that fills the space. While it waits for pending steps the
// model has its turns, and beside many of them the points that fill the space come at once.
func (a *ask) walked() (spaces.Point, bool) {
	n, before := a.lbo.walk.most()+walkSpread, 0
	for _, o := range a.past.told {
		if slices.Contains([]Origin{OriginInitial, OriginGiven, OriginDefault}, o.Proposal.Origin) {
			before++
		}
	}
	if before >= n || len(a.past.told) >= 2*n || len(a.past.told) > before && len(a.pending) == 0 {
		return nil, false // the last, once the model has had its turn and nothing is waited for
	}
	if len(a.pending) > walkBeside {
		return a.untaken(a.lbo.first)
	}
	known := a.places()
	if len(known) == 0 {
		return a.lbo.first[0], true
	}
	made := a.stepsAmong(known)
	if p, ok := a.step(known, made); ok && before < a.lbo.walk.most() {
		return p, true
	}
	if p, ok := a.opposite(made); ok && !a.taken(p) {
		return p, true
	}
	return a.untaken(a.lbo.first[:min(len(a.lbo.first), walkSpread)]) // also the start, where others came before it
}

// untaken returns the first of the points that was not proposed yet.
func (a *ask) untaken(points []spaces.Point) (spaces.Point, bool) {
	i := slices.IndexFunc(points, func(p spaces.Point) bool { return !a.taken(p) })
	if i < 0 {
		return nil, false
	}
	return points[i], true
}

// opposite returns the point opposite to the best place of the walk, once that is over. Choices
// have no opposites.
func (a *ask) opposite(made []steps) (spaces.Point, bool) {
	best := place{success: -1}
	for _, s := range made {
		if s.waits {
			return nil, false
		}
		for _, p := range s.seen {
			if a.gains(p, best) {
				best = p
			}
		}
	}
	if best.at == nil {
		return nil, false
	}
	p := slices.Clone(best.at)
	for j, c := range a.past.space.Coords() {
		if c.Kind != spaces.KindChoice {
			p[j] = math.Min(math.Max(0.5-walkMirror*(p[j]-0.5), walkBorder), 1-walkBorder)
		}
	}
	return a.past.space.Snap(p), true
}

// stepsAmong finds the steps of each group among places, which are in the order of their trials. A
// step is one from the nearest place before it.
func (a *ask) stepsAmong(known []place) []steps {
	made := make([]steps, len(a.lbo.walk.groups))
	for k, q := range known {
		from, g, least := place{}, -1, math.Inf(1)
		for _, p := range known[:k] {
			if by := a.apart(p, q); by >= 0 && spaces.Distance(p.at, q.at) < least {
				from, g, least = p, by, spaces.Distance(p.at, q.at)
			}
		}
		if g >= 0 {
			s := &made[g]
			s.seen = append(s.seen, from, q)
			s.waits = s.waits || from.pending || q.pending
			s.gained = s.gained || a.gains(q, from)
		}
	}
	return made
}

// step returns the next point of the walk, and false where it is over or waits for others.
func (a *ask) step(known []place, made []steps) (spaces.Point, bool) {
	for _, due := range []func(g int) bool{
		func(g int) bool { return len(made[g].seen) == 2 && !made[g].gained }, // the other side
		func(g int) bool { return len(made[g].seen) == 0 },
		func(g int) bool { // the further levels of a choice
			of := a.lbo.walk.groups[g]
			return len(made[g].seen) > 0 && len(of) == 1 && a.past.space.Params()[of[0]].Kind == spaces.KindChoice
		},
	} {
		for g := range made {
			if made[g].waits || !due(g) {
				continue
			}
			if p, ok := a.move(known, g, made[g]); ok {
				return p, true
			}
		}
	}
	return nil, false
}

// move returns a step of a group from the best place that has any of its parameters. Where all
// has failed there is no slope to be seen.
func (a *ask) move(known []place, g int, made steps) (spaces.Point, bool) {
	base := -1
	for k, p := range known {
		has := slices.ContainsFunc(a.lbo.walk.groups[g], func(i int) bool { return p.active[i] })
		if has && (p.pending || p.success >= 0) && (base < 0 || a.gains(p, known[base])) {
			base = k
		}
	}
	if base < 0 {
		return nil, false
	}
	for _, side := range []float64{1, -1} { // to the side that is due, or where that is forbidden to the other
		for _, share := range []float64{1, 0.5, 0.25} {
			q := slices.Clone(known[base].at)
			for _, i := range a.lbo.walk.groups[g] {
				if known[base].active[i] {
					a.shift(q, i, side*share*walkStep, made)
				}
			}
			if q = a.past.space.Snap(q); !a.taken(q) {
				return q, true
			}
		}
	}
	return nil, false
}

// shift moves parameter i of q by a length, first to a side of its own and then to the other one,
// or to a level that no step has tried.
func (a *ask) shift(q spaces.Point, i int, by float64, made steps) {
	rng, at := stream(a.past.seed, i+1, "walk"), a.past.space.Offset(i)
	c := a.past.space.Coords()[at]
	if c.Kind == spaces.KindChoice || c.Kind == spaces.KindBool {
		levels := a.dom.otherValues(i, q)
		rng.Shuffle(len(levels), func(j, k int) { levels[j], levels[k] = levels[k], levels[j] })
		for _, v := range levels {
			if !slices.ContainsFunc(made.seen, func(p place) bool { return a.dom.value(i, p.at) == v }) {
				copy(q, a.dom.with(q, change{i, v}))
				return
			}
		}
		return
	}
	side := float64(2*rng.IntN(2) - 1)
	if len(made.seen) > 0 { // away from the first step
		side = math.Copysign(1, q[at]-made.seen[1].at[at])
	} else if math.Min(q[at], 1-q[at]) < walkStep { // the longer side
		side = math.Copysign(1, 0.5-q[at])
	}
	if by = side * by; c.Cells > 0 {
		by = math.Copysign(math.Max(math.Abs(by), 1/c.Cells), by)
	}
	q[at] = math.Min(math.Max(q[at]+by, 0), 1)
}
