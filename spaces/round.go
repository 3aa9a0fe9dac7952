package spaces

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// digits is how many decimal digits of a value are certain: those after them
// depend on how a coordinate's value is computed.
const digits = 12

// value is what a program is given at a coordinate whose value is computed as x,
// strictly between the ends: x as its format writes it, and without a format x
// itself or, if no more than rounding errors lie between the two, the number of
// few digits beside it: 0.01, not 0.010000000000000005.
//
// It is idempotent even after a detour over the coordinate: rounded absorbs what that changes,
// and what a format makes of a rounded number is a rounded number.
func (p Param) value(x float64) float64 {
	if p.Format != "" {
		return p.formatted(p.rounded(x))
	}
	// Most numbers are seen at a glance to be beside none of so few digits, nor beside an end.
	unit, fuzz := math.Pow10(digits-1-int(math.Floor(math.Log10(math.Abs(x))))), p.fuzz(x)
	if far := 4 * fuzz; p.Scale != Logit && math.Abs(math.Round(x*unit)/unit-x) > far && x-p.Min > far && p.Max-x > far {
		return x
	}
	if y := p.rounded(x); math.Abs(y-x) <= fuzz {
		return y
	}
	return x
}

// rounded is x to a number of digits: of its own on a log scale, of its distance from
// the nearer of 0 and 1 on a logit scale, of the larger end on a linear one, where
// coordinates are equally far apart everywhere.
func (p Param) rounded(x float64) float64 {
	var y float64
	if p.Scale == Log {
		y = parseFloat(strconv.FormatFloat(x, 'e', digits-1, 64))
	} else {
		size := math.Max(math.Abs(p.Min), math.Abs(p.Max))
		if p.Scale == Logit {
			size = math.Min(x, 1-x)
		}
		_, exponent, _ := strings.Cut(strconv.FormatFloat(size, 'e', 0, 64), "e")
		places := digits - 1 - int(parseFloat(exponent))
		if places >= 0 {
			y = parseFloat(strconv.FormatFloat(x, 'f', places, 64))
		} else {
			unit := math.Pow10(-places)
			y = math.Round(x/unit) * unit
		}
	}
	if math.IsNaN(y) { // beyond the largest float64
		return x
	}
	return clamp(y, p.Min, p.Max)
}

// fuzz bounds the rounding errors of floatAt at its value x: of a sum of numbers
// as large as the ends, or of the exponential of one.
func (p Param) fuzz(x float64) float64 {
	const eps = 0x1p-52
	if p.Scale == Log {
		return eps * x * (4 + 2*math.Max(math.Abs(math.Log(p.Min)), math.Abs(math.Log(p.Max))))
	}
	if p.Scale == Logit { // dx = x(1−x) dt, and x itself is rounded, as is 1 − max
		t := math.Max(math.Abs(logit(p.Min)), math.Abs(logit(p.Max)))
		return eps * (x + x*(1-x)*(4+4*t+1/(1-p.Max)))
	}
	return 4 * eps * (math.Abs(p.Min) + math.Abs(p.Max))
}

func (p Param) formatted(x float64) float64 {
	return parseFloat(strings.TrimSpace(fmt.Sprintf("%"+p.Format, x)))
}

// checkFormat says what is wrong with the format: it must keep the ends as they
// are, so that no value is rounded to one outside.
func (p Param) checkFormat(bad func(field, format string, args ...any)) {
	switch {
	case p.Format == "":
		return
	case p.Kind != KindFloat:
		bad("format", "only a float has a format; this one is %s", p.Kind)
		return
	}
	ends := []float64{p.Min, p.Max}
	if p.Step > 0 { // the first steps stand for all
		for k := range int(min(p.steps(), 1000)) {
			ends = append(ends, p.stepped(p.Min+float64(k)*p.Step))
		}
	}
	for _, x := range ends {
		if p.formatted(x) != x {
			bad("format", "the format %q writes the value %s of the range as %s", p.Format, formatFloat(x), strings.TrimSpace(fmt.Sprintf("%"+p.Format, x)))
			return
		}
	}
}

// parseFloat reads what strconv or fmt has written, NaN for what is no number. The
// -0 that a small negative number is rounded to is 0.
func parseFloat(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return math.NaN()
	case x == 0:
		return 0
	}
	return x
}
