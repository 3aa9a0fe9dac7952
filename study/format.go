package study

import (
	"math"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/command"
)

// setFormat gives a parameter the format in which the program takes it, so that
// what the program is given, what is recorded and what the optimizer is told are
// one number. There is none if the program is given the exact value anywhere. Of
// several formats the most precise one counts.
func (c *check) setFormat(p *spaces.Param, uses []use) {
	best, most := use{}, -1.0
	for _, u := range uses {
		if !numeric(*p) || !command.NumberFormat(u.part.Format) {
			return
		}
		if digits := precision(u.part.Format); digits > most {
			best, most = u, digits
		}
	}
	if len(uses) == 0 || math.IsInf(most, 1) {
		return
	}
	format := best.part.Format
	if p.Kind == spaces.KindInt {
		if x := math.Max(math.Abs(p.Min), math.Abs(p.Max)); !strings.ContainsAny(format, "fF") && x > math.Pow(10, most) {
			c.piece(best.template, best.part, "give it more digits, or write it as {"+p.Name+"}",
				"%s has too few digits for whole numbers up to %s", best.part.Text, spaces.Float(x).Text())
		}
		return
	}
	rounded := *p
	rounded.Format = format
	for _, prob := range rounded.Check() {
		if prob.Field == "format" {
			c.piece(best.template, best.part, "use more digits, g instead of f, or bounds that "+best.part.Text+" can write", "%s: %s", best.part.Text, prob.Message)
			return
		}
	}
	p.Format = format
}

// precision is how many digits a number format keeps: significant ones, or for f
// those after the point. Without a precision g keeps all.
func precision(format string) float64 {
	verb := format[len(format)-1]
	_, digits, given := strings.Cut(format[:len(format)-1], ".")
	n, err := strconv.Atoi(digits)
	switch {
	case verb == 'd' || !given && strings.ContainsRune("gG", rune(verb)):
		return math.Inf(1)
	case !given || err != nil:
		n = 6
	}
	switch verb {
	case 'e', 'E':
		n++
	case 'g', 'G':
		n = max(n, 1)
	}
	return float64(n)
}
