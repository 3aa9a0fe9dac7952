package pruner

import (
	"math"
	"strconv"
)

const digits = 6 // significant ones that people are shown

// tell writes two different values as the program would print them, with as
// many digits as tell them apart.
func (s Settings) tell(a, b float64) (string, string) {
	for n := digits; n < 17; n++ {
		if x, y := s.text(a, n), s.text(b, n); x != y {
			return x, y
		}
	}
	return s.text(a, -1), s.text(b, -1)
}

func (s Settings) tellOne(v float64) string { return s.text(v, digits) }

func (s Settings) text(v float64, digits int) string {
	if math.IsInf(v, -1) {
		return "not a finite number"
	}
	if s.Negated {
		v = 0 - v // not -v, which would show -0
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return strconv.Itoa(n) + " trials"
}
