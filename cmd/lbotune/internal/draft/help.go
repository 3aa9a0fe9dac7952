package draft

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// helped is what a program says of an option in what it prints for --help.
type helped struct {
	flags    []string
	text     string      // all that stands behind them
	choices  []string    // the words that it takes
	exact    bool        // and nothing else: they are no ends of a range
	standard string      // its default
	kind     spaces.Kind // of a number; empty if it is not said
	lo, hi   float64     // the numbers that it takes; infinite where nothing is said
	code     bool        // its numbers stand for something
	whole    bool        // it takes whole numbers, and all of its range is searched
	typed    bool        // it is a number in a file, in which 16 is another type than 16.0
}

// aNumber is one in a range.
const aNumber = `([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)`

// The ways in which programs say what an option takes:
//
//	argparse      --optimizer {sgd,adam}        the optimizer (default: adam)
//	click         --optimizer [sgd|adam]        --lr FLOAT RANGE  [default: 0.1; 0<=x<=1]
//	clap          --optimizer <OPTIMIZER>       The optimizer [default: adam] [possible values: sgd, adam]
//	gflags, absl  --optimizer: <sgd|adam>: the optimizer     (default: 'adam') (an integer)
//	flag of Go    -lr float                     the rate (default 0.1)
//	minisat       -var-decay = <double> (0 .. 1) (default: 0.95)
//	others        -lr  learning rate [0.1]      -c cost : set the parameter C (default 1)
var (
	listedRE   = pattern.Lazy(`[{\[<(]\s*([\w.+-]+(?:\s*[,|]\s*[\w.+-]+)+)\s*[}\]>)]`)
	possibleRE = pattern.Lazy(`(?i)\[?(?:possible values|choices|one of|allowed values)\s*:\s*[\[{(]?\s*([^\]})]+)`)
	proseRE    = pattern.Lazy(`\b([\w.+-]+(?:, [\w.+-]+)+,? or [\w.+-]+)\b`)
	flagRE     = pattern.Lazy(`^\s*(-[\w\[\]-]+)(?:[ =](?:[{\[<(][^}\]>)]*.|[^\s,:]+))?((?:,\s+-[\w-]+)*)`)
	longRE     = pattern.Lazy(`--?[A-Za-z][\w-]*`)
	wordRE     = pattern.Lazy(`^[\w.+-]+$`)
	defaultRE  = pattern.Lazy(`(?i)\bdefaults?(?: to| value)?(?: is)?\s*[:=]?\s*['"]?([-\w.+]*\w)([,:'/]\d|%)?`) // no 1,000 and no 5%
	trailingRE = pattern.Lazy(`\[([\w.+-]+)\]\s*$`)
	realRE     = pattern.Lazy(`^\S*?[\s=<\[(:]*(FLOAT|float|double|DOUBLE|real|REAL)\b|\(a[\w -]* number\b`)
	integerRE  = pattern.Lazy(`^\S*?[\s=<\[(:]*(INT|INTEGER|int|int32|int64|integer|uint)\b|\(an? [\w -]*integer\b`)
	countRE    = pattern.Lazy(`^=-?\d+\.\.-?\d*[2-9e]`) // --decay=1..200
	codeRE     = pattern.Lazy(`(?m)^\s*\d+ ?(or \w+\s*)?(--|=|:) ?\S|\b\d+ ?[=:] ?\w[^\d]+[,;] ?\d+ ?[=:] ?\w`)
	shareRE    = pattern.Lazy(`(?i)probabilit|fraction|proportion`)
	leastRE    = pattern.Lazy(`(?i)(?:at least |[\[;(]\s*[a-z]\w*\s*>=\s*)` + aNumber)
	rangesRE   = []func() *regexp.Regexp{
		pattern.Lazy(aNumber + `\s*<=?\s*[a-z]\w*\s*<=?\s*` + aNumber),
		pattern.Lazy(`[\[(]\s*(?:imin|-inf|` + aNumber + `)\s*\.\.\.?\s*(?:imax|inf|` + aNumber + `)\s*[\])]`),
		pattern.Lazy(`(?i)(?:\bin|range:?|interval)\s+[\[(]` + aNumber + `\s*,\s*` + aNumber + `[\])]`),
		pattern.Lazy(`(?i)(?:^=|\(|\[|between |from |in |, )` + aNumber + `\s*(?:\.\.\.?|-|–| to | and | or )\s*` + aNumber + `(?:$|[^\w.]|\.\D)`),
	}
)

// readHelp reads what a program prints for --help of its options.
func readHelp(help string) (list []*helped) {
	var o *helped
	depth := 0
	for line := range strings.Lines(help) {
		line = strings.TrimRight(strings.ReplaceAll(line, "│", " "), " \r\n") // typer draws a frame
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		m := flagRE().FindStringSubmatchIndex(line)
		switch {
		case m != nil:
			head := strings.Replace(line[:m[1]], "[no]", "", 1)
			o, depth = &helped{flags: longRE().FindAllString(head, -1), text: strings.TrimLeft(line[m[3]:], " "), lo: math.Inf(-1), hi: math.Inf(1)}, indent
			// In the line of the option itself the words may stand in its place for a value; further
			// down only if the line says what they are.
			listed := listedRE().FindStringSubmatch(line)
			if o.takes(listed, listed != nil && (listed[0][0] == '{' || strings.Contains(listed[0], "|"))); len(o.flags) > 0 {
				list = append(list, o)
			}
		case o == nil || line == "":
			continue
		case indent <= depth:
			o = nil
			continue
		default:
			o.text += "\n" + line
		}
		o.takes(possibleRE().FindStringSubmatch(line), true)
	}
	for _, o := range list {
		o.understand()
	}
	return list
}

func (o *helped) takes(list []string, exact bool) {
	if list != nil && o.choices == nil {
		o.choices = words(list[1])
		o.exact = exact
	}
}

// understand reads an option's text, which is whole.
func (o *helped) understand() {
	o.takes(proseRE().FindStringSubmatch(o.text), false)
	if m := defaultRE().FindStringSubmatch(o.text); m != nil && m[2] == "" {
		o.standard = m[1]
	} else if m := trailingRE().FindStringSubmatch(o.text); m != nil {
		o.standard = m[1]
	}
	switch x, err := strconv.ParseFloat(o.standard, 64); {
	case err == nil && x == math.Trunc(x) && countRE().MatchString(o.text):
		o.kind = spaces.KindInt
	case realRE().MatchString(o.text), err == nil && strings.ContainsAny(o.standard, ".e"):
		o.kind = spaces.KindFloat
	case integerRE().MatchString(o.text):
		o.kind = spaces.KindInt
	}
	o.code = codeRE().MatchString(o.text)
	if m := leastRE().FindStringSubmatch(o.text); m != nil {
		o.lo, _ = strconv.ParseFloat(m[1], 64)
	}
	for _, re := range rangesRE {
		m := re().FindStringSubmatch(o.text)
		if m == nil {
			continue
		}
		for i, end := range []*float64{&o.lo, &o.hi} {
			if x, err := strconv.ParseFloat(m[i+1], 64); err == nil {
				*end = x
			}
		}
		if o.lo > 0 && o.kind == spaces.KindFloat && m[0][0] == '(' { // which is no value itself
			o.lo *= 1.01
		}
		if strings.Contains(m[0], " or ") { // a switch
			o.kind = spaces.KindInt
		}
		return
	}
	if shareRE().MatchString(o.text) && o.kind != spaces.KindInt {
		o.lo, o.hi = 0, 1
	}
}

// words splits a list of two or more at commas, bars and "or"; one with anything else in it is none.
func words(list string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(list, " or ", ","), func(r rune) bool { return r == ',' || r == '|' }) {
		w = strings.Trim(strings.TrimSpace(w), `'"`)
		if !wordRE().MatchString(w) {
			return nil
		}
		out = append(out, w)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
