package optimizer

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer/internal/quadratic"
)

// trust is the state of the trust regions: the basin that the local steps work
// in and those that they are done with. It is a fold over the told
// observations; whatever a step needs to be judged by later travels in its Note.
//
// A basin lives like this. The first success is its centre; each better one outside of what
// is finished becomes the centre, whatever rule proposed it. Two regions around the centre grow
// and shrink with the steps that were made in them (judge): the box, in which the acquisition is
// maximized, and the quadratic's. A trial that was to improve and did not is a miss. The basin is
// finished after many misses, on a plateau, when the quadratic's region has collapsed, or when a
// proposal's note says that nothing was left to gain (quad.go): a patch around its centre is
// closed, and the best point outside of all patches is the next centre until the next step, which
// may choose another with the model's help (enter). A new best value in a patch opens it again.
type trust struct {
	basin    basin
	finished []patch // where nothing is left to gain
	// settled is false from the end of a basin until a step has begun another: only then may a
	// step choose where.
	settled bool
}

// basin is a box in which the acquisition is maximized and another one in
// which a quadratic model is, both around its best point.
type basin struct {
	centre int       // index of the success in the middle, -1 for none
	reach  []float64 // how far from it, in each coordinate, steps have looked in vain: the size of its patch
	ties   int       // trials whose values equalled its

	box       float64 // width of the box along a parameter of average length scale
	successes int     // box steps in a row that improved
	failures  int     // box steps in a row that did not

	quadratic quadratic.Region
	promise   float64 // gain over the centre that its last step predicted; 0 before the first
	misses    int     // steps of either kind in a row that did not improve
	missedAt  int     // observations told with the last miss
}

func newBasin(centre int) basin {
	return basin{centre: centre, box: boxStart}
}

type patch struct{ centre, half []float64 }

func (f patch) holds(p []float64) bool {
	for j, c := range f.centre {
		if math.Abs(p[j]-c) > f.half[j] {
			return false
		}
	}
	return true
}

const (
	boxStart     = 0.4
	boxSmallest  = 1.0 / 128
	boxLargest   = 1.0
	boxSuccesses = 3 // in a row double the box

	// A finished patch reaches as far as its basin was explored, within these bounds.
	finishedRadius = 0.1
	finishedLeast  = 0.02

	// patience is how many misses finish a basin, in units of 6 + d.
	patience = 10
	// flatTies is how many trials equal the value of the centre, digit by digit, before
	// its basin is a plateau.
	flatTies = 4
)

func newTrust() trust { return trust{basin: newBasin(-1), settled: true} }

// tell judges an observation that h has just added.
func (t *trust) tell(h *history, o Observation, m memory) {
	for _, trial := range m.Finished {
		if i := h.success(trial); i >= 0 && !t.outlived(h, i) {
			t.finish(h, i)
		}
	}
	if o.isStep() && m.Step != nil {
		t.enter(h, m.Step)
	}
	last := h.success(o.Trial)
	if last >= 0 && last == h.best && t.inFinished(h.x[last]) {
		// Something was left to gain after all: the search starts anew there.
		t.finished = slices.DeleteFunc(t.finished, func(f patch) bool { return f.holds(h.x[last]) })
		t.basin, t.settled = newBasin(-1), true
	}
	improved := last >= 0 && t.improves(h, last)
	t.judge(h, o, m.Step, improved)
	switch {
	case !improved:
		t.basin.miss(h, o, m.Step)
	case t.improves(h, last): // judge may have begun another basin
		t.basin.moveTo(last)
	}
	if t.basin.centre >= 0 && t.basin.spent(h.space.Len()) {
		t.finish(h, t.basin.centre)
	}
}

// outlived reports whether a better success has come beside success i since it was found that nothing is
// left to gain there: with several workers such a note may be late.
func (t *trust) outlived(h *history, i int) bool {
	return i != h.best && t.basin.centre == h.best && patch{h.x[i], slices.Repeat([]float64{finishedLeast}, len(h.x[i]))}.holds(h.x[h.best])
}

// improves reports whether a success is a better centre than the present one.
func (t *trust) improves(h *history, success int) bool {
	return !t.inFinished(h.x[success]) && (t.basin.centre < 0 || h.better(success, t.basin.centre))
}

// moveTo makes a success the centre. The regions keep their sizes.
func (b *basin) moveTo(success int) { b.centre, b.misses, b.ties, b.reach = success, 0, 0, nil }

// spent reports whether the search in d dimensions has missed for long, or meets a plateau.
func (b *basin) spent(d int) bool { return b.misses >= patience*(6+d) || b.ties >= flatTies }

// isStep reports whether a trust region proposed the trial.
func (o Observation) isStep() bool {
	return o.Proposal.Origin == originBox || o.Proposal.Origin == originLocal
}

// judge changes the size of the region that proposed the trial. If another rule did, and moves the
// centre out of the quadratic's region, that region's size is forgotten. A region that collapses
// finishes the basin: what tell does after it is the next basin's. Of that the steps that were
// pending in a finished one say nothing.
func (t *trust) judge(h *history, o Observation, step *trustStep, improved bool) {
	if step != nil {
		if c := h.success(step.Centre); c >= 0 && t.inFinished(h.x[c]) {
			return
		}
	}
	switch o.Proposal.Origin {
	case originBox:
		if step == nil || step.Radius > 0 { // else it was made in a valley's frame
			t.basin.judgeBox(improved, h.space.Len())
		}
	case originLocal:
		t.judgeQuadratic(h, o, step)
	default:
		if c := t.basin.centre; improved && c >= 0 {
			t.basin.quadratic = t.basin.quadratic.Moved(chebyshev(h.x[len(h.x)-1], h.x[c]))
		}
	}
}

// miss counts a trial that did not improve, if it was to, and notes where it has looked.
func (b *basin) miss(h *history, o Observation, step *trustStep) {
	attempted := o.Proposal.Origin == originBox || o.Proposal.Origin == originLocal && step != nil && step.Gain > 0
	// A step that was made before the last miss was told knew nothing of it: it is the same miss.
	if attempted && (step == nil || step.Told >= b.missedAt) {
		b.misses++
		b.missedAt = len(h.told)
	}
	if b.centre < 0 {
		return
	}
	tied := o.Status == Succeeded && o.Value() == h.y[b.centre] && h.over[len(h.over)-1] == h.over[b.centre]
	if tied {
		b.ties++
	}
	if tied || o.isStep() && step != nil && h.success(step.Centre) == b.centre {
		b.looked(o.Proposal.Point, h.x[b.centre])
	}
}

// looked widens the reach of a basin by a point.
func (b *basin) looked(p, centre []float64) {
	if b.reach == nil {
		b.reach = make([]float64, len(p))
	}
	for j, x := range p {
		b.reach[j] = math.Max(b.reach[j], math.Abs(x-centre[j]))
	}
}

// enter moves to the basin that a step started.
func (t *trust) enter(h *history, step *trustStep) {
	if i := h.success(step.Centre); step.New && i >= 0 && !t.settled && !t.inFinished(h.x[i]) {
		if i != t.basin.centre {
			t.basin = newBasin(i)
		}
		t.settled = true
	}
}

// judgeBox doubles the box after boxSuccesses improvements in a row and halves
// it after max(3, d/2) failures (Eriksson et al. 2019, with the counts that
// served best here); a box that became tiny is set back to boxStart.
func (b *basin) judgeBox(improved bool, d int) {
	if improved {
		b.successes, b.failures = b.successes+1, 0
	} else {
		b.successes, b.failures = 0, b.failures+1
	}
	switch {
	case b.successes >= boxSuccesses:
		b.box, b.successes = math.Min(2*b.box, boxLargest), 0
	case b.failures >= max(3, d/2):
		b.box, b.failures = b.box/2, 0
	}
	if b.box < boxSmallest {
		b.box = boxStart
	}
}

// judgeQuadratic compares what the step gained with what it promised. The
// radius that it was made with is in its note: under several workers others may
// have been told since.
func (t *trust) judgeQuadratic(h *history, o Observation, step *trustStep) {
	if step == nil || step.Gain == 0 { // made for the sake of later steps
		return
	}
	centre := h.success(step.Centre)
	if centre < 0 {
		return
	}
	gain := math.NaN() // of a failure
	if o.Status == Succeeded && h.over[len(h.over)-1] <= h.over[centre] {
		gain = o.Value() - h.y[centre]
	}
	t.basin.promise = step.Gain
	t.basin.quadratic = quadratic.Region{Radius: step.Radius}.Judged(step.Gain, gain)
	if t.basin.quadratic.Collapsed() {
		t.finish(h, centre)
	}
}

// finish closes a patch around success c, also where c is not the present centre, and begins a
// basin at the best point outside of all patches, for now: the next step may choose another with the
// help of the model.
func (t *trust) finish(h *history, c int) {
	p := h.x[c]
	if slices.ContainsFunc(t.finished, func(f patch) bool { return slices.Equal(f.centre, p) }) {
		return
	}
	half := slices.Repeat([]float64{finishedLeast}, len(p))
	if c == t.basin.centre {
		for j, r := range t.basin.reach {
			half[j] = math.Min(math.Max(r, finishedLeast), finishedRadius)
		}
	}
	t.finished = append(t.finished, patch{p, half})
	t.settled = false
	t.basin = newBasin(h.bestWhere(func(i int) bool { return !t.inFinished(h.x[i]) }))
}

func (t *trust) inFinished(p []float64) bool {
	return slices.ContainsFunc(t.finished, func(f patch) bool { return f.holds(p) })
}

// success returns the index of the success of that trial, -1 without one.
func (h *history) success(trial int) int {
	return slices.Index(h.trial, trial)
}
