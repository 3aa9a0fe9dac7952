package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

// place is where a point lies along a parameter's axis: its coordinate or, for a choice or
// a bool, the middle of its level's share.
func place(space *spaces.Space, i int, p spaces.Point) float64 {
	at := space.Offset(i)
	switch param := space.Params()[i]; param.Kind {
	case spaces.KindChoice:
		n := len(param.Choices)
		return (float64(floats.MaxIdx(p[at:at+n])) + 0.5) / float64(n)
	case spaces.KindBool:
		return 0.25 + p[at]/2
	}
	return p[at]
}

// moved is p with one parameter at another place of its axis.
func moved(space *spaces.Space, p spaces.Point, i int, u float64) spaces.Point {
	q, at := slices.Clone(p), space.Offset(i)
	switch param := space.Params()[i]; param.Kind {
	case spaces.KindChoice:
		n := len(param.Choices)
		clear(q[at : at+n])
		q[at+min(int(u*float64(n)), n-1)] = 1
	case spaces.KindBool:
		q[at] = math.Round(u)
	default:
		q[at] = u
	}
	return q
}

// paramAxis is the axis of a parameter: its place in the cube, with ticks at its values.
func paramAxis(p spaces.Param) axis {
	a := axis{hi: 1, label: p.Name, ticks: []tick{}}
	switch p.Kind {
	case spaces.KindChoice, spaces.KindOrdered:
		for l, c := range p.Choices {
			a.ticks = append(a.ticks, tick{(float64(l) + 0.5) / float64(len(p.Choices)), c.Text()})
		}
		if n := len(a.ticks); n > 8 {
			a.ticks = []tick{a.ticks[0], a.ticks[n-1]}
		}
	case spaces.KindBool:
		a.ticks = []tick{{0.25, "false"}, {0.75, "true"}}
	default:
		marks := niceTicks(p.Min, p.Max, p.Scale == spaces.Log)
		switch p.Scale {
		case spaces.Log:
			a.scale = logScale
		case spaces.Logit:
			a.scale, marks = " (logit)", []float64{0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 1e-4, 0.9999, p.Min, p.Max}
		}
		own := alone(p)
		for _, v := range marks {
			if p.Step > 0 {
				v = min(p.Min+math.Round((v-p.Min)/p.Step)*p.Step, p.Max)
			}
			at, err := own.Encode(spaces.Values{{Name: p.Name, Value: spaces.Float(v)}})
			near := func(t tick) bool { return math.Abs(t.at-at[0]) < 0.1 }
			if err == nil && v >= p.Min && v <= p.Max && !slices.ContainsFunc(a.ticks, near) {
				a.ticks = append(a.ticks, tick{at[0], mark(v, p.Max-p.Min)})
			}
		}
		slices.SortFunc(a.ticks, func(a, b tick) int { return cmp.Compare(a.at, b.at) })
	}
	return a
}

// alone is a space of one parameter of another space, whatever decides over it there.
func alone(p spaces.Param) *spaces.Space {
	p.When, p.Default, p.Inactive, p.Sure = "", spaces.Value{}, spaces.Value{}, ""
	space, err := spaces.New(p)
	must(err) // which it was in the other, too
	return space
}
