package spaces

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Slopes of a metric are stated for parameters, and used in the cube. Between the two lies
// the range: the values of a parameter in its own scale, linear or logarithmic.

// width is how wide the range is in its own scale: ln(Max/Min) where that is logarithmic,
// the number of steps of an ordered parameter, and 1 for a choice and a bool.
func (p Param) width() float64 {
	switch {
	case p.numeric():
		return p.scaled(p.Max) - p.scaled(p.Min)
	case p.Kind == KindOrdered:
		return float64(len(p.Choices) - 1)
	}
	return 1
}

// Stretch is how much farther apart two values are where the ends of the range are 1 apart
// than they are in the cube, at whose faces no value of a parameter with steps lies.
func (p Param) Stretch() float64 {
	switch {
	case p.Kind == KindOrdered:
		return float64(len(p.Choices)) / p.width()
	case p.numeric() && p.step() > 0:
		lo, hi := p.steppedEnds()
		return (hi - lo) / p.width()
	}
	return 1
}

// Change is how much a metric can change from one end of the range to the other, if it went
// on as steeply as at its steepest place, where it changes by slope per unit: the "unit" of the
// parameter, a "decade", which is a factor of 10, or a "step" from one value to the next. Without
// a unit the slope is from one end of the range to the other.
func (p Param) Change(slope float64, unit string) (float64, error) {
	switch {
	case unit == "":
		return slope, nil
	case unit == "unit" && p.numeric():
		return slope * p.steepest() * p.width(), nil
	case unit == "decade" && p.Scale == Log:
		return slope / math.Ln10 * p.width(), nil
	case unit == "step" && p.Kind == KindOrdered:
		return slope * p.width(), nil
	case unit == "step" && p.step() > 0 && p.Scale == Log: // the last two values are the nearest
		return slope / -math.Log1p(-p.step()/p.Max) * p.width(), nil
	case unit == "step" && p.step() > 0:
		return slope * p.steps(), nil
	}
	return 0, fmt.Errorf("%s has %s", p.Name, map[string]string{
		"unit": "no unit: only a float or an int has", "decade": "no decades: only a logarithmic scale has",
		"step": "no steps: only an int, an ordered parameter and one with a step has",
	}[unit])
}

// steepest is how much a value changes at most per unit of its own scale.
func (p Param) steepest() float64 {
	switch p.Scale {
	case Log:
		return p.Max
	case Logit:
		x := clamp(0.5, p.Min, p.Max)
		return x * (1 - x)
	}
	return 1
}

// Widening is by how much more a metric can change from one end of q's range to the other
// than from one of p's, where it is as steep; NaN if that cannot be told.
func (p Param) Widening(q Param) float64 {
	if p.Kind != q.Kind || cmp.Or(p.Scale, Linear) != cmp.Or(q.Scale, Linear) {
		return math.NaN()
	}
	most := 1.0
	for k, c := range q.Choices {
		at := slices.Index(p.Choices, c)
		if at < 0 {
			return math.NaN()
		}
		if k > 0 && q.Kind == KindOrdered {
			most = math.Max(most, math.Abs(float64(at-slices.Index(p.Choices, q.Choices[k-1])))/p.width()*q.width())
		}
	}
	if p.numeric() {
		return q.width() / p.width()
	}
	return most
}
