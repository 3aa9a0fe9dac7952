package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

// domain is what the search for proposals knows of the space: which
// coordinates a gradient may move and which are changed level by level.
type domain struct {
	space *spaces.Space
	plain bool // floats only, unconditional: snapping is at most rounding
	alone []*spaces.Space
	safe  *safety // nil: everything is
}

// fewLevels is the number of values up to which an int, a float with a step or an
// ordered parameter is searched level by level like a choice; beyond it a gradient moves it and the result is rounded.
const fewLevels = 8

func newDomain(space *spaces.Space) *domain {
	d := &domain{space: space, plain: true}
	for _, p := range space.Params() {
		if p.Kind != spaces.KindFloat || p.Step > 0 || p.When != "" {
			d.plain = false
		}
		p.When, p.Inactive = "", spaces.Value{}
		alone, err := spaces.New(p)
		if err != nil {
			panic("optimizer: a parameter of a space is no space: " + err.Error())
		}
		d.alone = append(d.alone, alone)
	}
	return d
}

// snap returns the point that would really be run, in place where nothing but
// rounding is at stake.
func (d *domain) snap(p []float64) []float64 {
	if d.plain {
		for j, v := range p {
			p[j] = math.Min(math.Max(v, 0), 1)
		}
		return p
	}
	return d.space.Snap(p)
}

// box is the smallest box that holds every point.
func (d *domain) box() region {
	r := wholeCube(d.space.Dim())
	for j, c := range d.space.Coords() {
		if c.Kind == spaces.KindChoice {
			r.up[j] = 1 / math.Sqrt2
		}
	}
	return r
}

// free lists the coordinates that a gradient may move at p.
func (d *domain) free(p []float64) []int {
	free := make([]int, 0, len(p))
	var active []bool
	if !d.plain {
		active = d.active(p)
	}
	for j, c := range d.space.Coords() {
		if d.plain || active[c.Param] && gradual(c) {
			free = append(free, j)
		}
	}
	return free
}

// gradual reports whether a gradient may move the coordinate.
func gradual(c spaces.Coord) bool {
	return c.Cells == 0 || c.Cells > fewLevels
}

// active reports which parameters exist in the configuration at p.
func (d *domain) active(p []float64) []bool {
	v := d.space.Decode(p)
	active := make([]bool, d.space.Len())
	k := 0
	for i, par := range d.space.Params() {
		if k < len(v) && v[k].Name == par.Name {
			active[i] = true
			k++
		}
	}
	return active
}

// change is another value of one parameter.
type change struct {
	param int
	to    spaces.Value
}

// changes lead from the snapped point p to its neighbours, which differ from it in one parameter
// that is searched level by level: every other level of a choice, a bool or a few numbers, the next
// on either side of many numbers.
func (d *domain) changes(p []float64) (out []change) {
	if d.plain {
		return nil
	}
	active := d.active(p)
	for i, par := range d.space.Params() {
		if _, finite := par.Levels(); active[i] && finite {
			for _, v := range d.otherValues(i, p) {
				out = append(out, change{i, v})
			}
		}
	}
	return out
}

// otherValues lists the values that changes gives parameter i.
func (d *domain) otherValues(i int, p []float64) []spaces.Value {
	par := d.space.Params()[i]
	levels, _ := par.Levels()
	reach := 1
	if levels <= fewLevels || par.Kind == spaces.KindChoice {
		reach = int(levels)
	}
	return par.Near(d.value(i, p), reach)
}

func (d *domain) value(i int, p []float64) spaces.Value {
	return d.alone[i].Decode(spaces.Point(d.part(i, p)))[0].Value
}

func (d *domain) part(i int, p []float64) []float64 {
	o := d.space.Offset(i)
	return p[o : o+d.alone[i].Dim()]
}

// with returns the snapped point after a change.
func (d *domain) with(p []float64, c change) []float64 {
	q := slices.Clone(p)
	at, err := d.alone[c.param].Encode(spaces.Values{{Name: d.space.Params()[c.param].Name, Value: c.to}})
	if err != nil {
		panic("optimizer: a parameter refuses its own value: " + err.Error())
	}
	copy(d.part(c.param, q), at)
	return d.space.Snap(q)
}

// uniform draws a snapped point, uniform in every parameter; under a safety limit one that
// is safe.
func (d *domain) uniform(rng *rand.Rand) []float64 {
	if d.safe != nil {
		return d.safe.draw(d, rng)
	}
	if !d.plain || d.space.Related() {
		return d.space.Draw(rng)
	}
	p := make([]float64, d.space.Dim())
	for j := range p {
		p[j] = rng.Float64()
	}
	return p
}

// perturb draws a snapped point near p: a random few of the parameters move,
// gradual ones by Gaussian steps of the given standard deviation, others to a
// random other value. Where relations forbid what comes of it, it is drawn again, and at
// last is p itself.
func (d *domain) perturb(p []float64, sd float64, rng *rand.Rand) []float64 {
	for range redraws {
		if q := d.move(p, sd, rng); d.allows(q) {
			return q
		}
	}
	return p
}

const redraws = 20

func (d *domain) allows(p []float64) bool { return d.space.Allows(p) && d.safe.allows(p) }

// partial reports whether there are points that may not be proposed.
func (d *domain) partial() bool { return d.space.Related() || d.safe != nil }

func (d *domain) move(p []float64, sd float64, rng *rand.Rand) []float64 {
	q := slices.Clone(p)
	params := d.space.Params()
	chance := math.Min(1, 2/float64(len(params)))
	moved := rng.IntN(len(params)) // this one at least
	for i := range params {
		if i != moved && rng.Float64() >= chance {
			continue
		}
		part := d.part(i, q)
		if coord := d.space.Coords()[d.space.Offset(i)]; gradual(coord) {
			step := sd * rng.NormFloat64()
			if coord.Cells > 0 { // at least to the next int
				step = math.Copysign(math.Max(math.Abs(step), 1/coord.Cells), step)
			}
			part[0] = math.Min(math.Max(part[0]+step, 0), 1)
			continue
		}
		if vs := d.otherValues(i, q); len(vs) > 0 {
			copy(q, d.with(q, change{i, vs[rng.IntN(len(vs))]}))
		}
	}
	return d.snap(q)
}

// alike reports whether a and b differ only in coordinates that a gradient may
// move.
func (d *domain) alike(a, b []float64) bool {
	if d.plain {
		return true
	}
	for j, c := range d.space.Coords() {
		if !gradual(c) && a[j] != b[j] {
			return false
		}
	}
	return true
}

func chebyshev(a, b []float64) float64 { return floats.Distance(a, b, math.Inf(1)) }
