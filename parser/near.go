package parser

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/spelling"
)

// neighbour is a name that stands before a number, as a metric would.
type neighbour struct {
	name     string
	line     int
	distance int
}

// How far a name is from the one that the rule asks for.
const (
	sameLetters = iota // but for capitals
	sameWords          // but for capitals, blanks and punctuation
	oneInOther         // loss and val_loss
	typingError
	unrelated
)

// pairPattern finds names of up to four words that stand before numbers, or before such as [0.3] and tensor(0.3).
var pairPattern = pattern.Lazy(`([\pL_][\pL\pN_./@$#%-]*(?: [\pL_(][\pL\pN_./@$#%()-]*){0,3})["'\x60\]\\]{0,3}\s*(?:->|=>|:=|[:=|│→：＝]|\s)\s*["']?\[{0,2}(?:[\w.]*(?:[tT]ensor|[aA]rray|Decimal|float\d\d|int\d\d)\()?(?:[-+.]{0,2}\d|[-+]?(?i:nan|inf)\b)`)

// explainer can say why nothing was found of a metric.
type explainer interface {
	explain() (detail, hint string)
}

// nearMiss adds to e what stands in the stream where the rule looks almost.
func (s *searched) nearMiss(p *Pattern, e *NoValueError) bool {
	if s.why != nil {
		detail, hint := s.why.explain()
		if detail != "" {
			e.Detail += "; " + detail
		}
		e.Hint = hint
		return detail != ""
	}
	switch r := p.rule; {
	case s.sample == nil || r.Dialect != "":
		return false
	case r.Regex != "":
		return s.sample.nearRegex(p, e)
	case r.Metric != "":
		return s.sample.followed(r.Metric, e) || s.sample.nearName(r.Metric, e)
	}
	return false
}

// followed looks for the name before something that is not a number.
func (s *sample) followed(name string, e *NoValueError) bool {
	for l := range s.all() {
		at := findName(l.text, []byte(name), 0)
		if at < 0 {
			continue
		}
		end := at + len(name)
		start, ok := skipSeparator(l.text, end)
		if !ok {
			start = end
		}
		e.Line, e.Text = l.number, clip(l.text[start:])
		e.Detail += fmt.Sprintf("; on line %d it stands before %q, which is not a number", e.Line, e.Text)
		if e.Text == "" {
			e.Detail = strings.TrimSuffix(e.Detail, ` before "", which is not a number`) + " at the line's end"
		}
		e.Hint = `find the number by regex, with a group around it`
		return true
	}
	return false
}

// nearName looks for names like the one that was not found.
func (s *sample) nearName(name string, e *NoValueError) bool {
	near := s.neighbours(name)
	if len(near) == 0 {
		return false
	}
	best := near[0]
	names := lists.Map(near[:min(len(near), 5)], func(n neighbour) string { return fmt.Sprintf("%q", n.name) })
	if best.distance == unrelated {
		e.Detail += "; names that stand before numbers there: " + strings.Join(names, ", ")
		return true
	}
	e.Line = best.line
	e.Detail += fmt.Sprintf("; the nearest name there is %q on line %d", best.name, best.line)
	e.Hint = fmt.Sprintf("write metric = %q", best.name)
	return true
}

// neighbours lists the names before numbers, the nearest first: of the words that stand before
// one, those at the end that are nearest to name, as of "epoch done loss" the "loss".
func (s *sample) neighbours(name string) []neighbour {
	const enough = 1000
	var near []neighbour
	seen := map[string]bool{name: true} // where it stands it is a part of a word, as in --name
	for l := range s.all() {
		for _, pair := range pairPattern().FindAllSubmatch(l.text, -1) {
			words := printable(pair[1])
			n := neighbour{name: words, line: l.number, distance: distance(name, words)}
			for _, end := range suffixes(words) {
				if d := distance(name, end); d < n.distance {
					n.name, n.distance = end, d
				}
			}
			if !seen[n.name] {
				seen[n.name] = true
				near = append(near, n)
			}
		}
		if len(near) >= enough {
			break
		}
	}
	slices.SortStableFunc(near, func(a, b neighbour) int { return a.distance - b.distance })
	return near
}

func distance(wanted, name string) int {
	a, b := squash(wanted), squash(name)
	switch {
	case strings.EqualFold(wanted, name):
		return sameLetters
	case a == b:
		return sameWords
	case len(a) > 1 && len(b) > 1 && (strings.Contains(a, b) || strings.Contains(b, a)):
		return oneInOther
	case len(a) > 2 && len(b) < 2*len(a) && spelling.Distance(a, b) <= len(a)/4+1:
		return typingError
	}
	return unrelated
}

var punctuation = pattern.Lazy(`[^a-z0-9[:^ascii:]]+`)

// squash keeps the letters and digits of a name, in lower case.
func squash(name string) string { return punctuation().ReplaceAllString(strings.ToLower(name), "") }

// nearRegex looks for a line that has the text which the expression asks for.
func (s *sample) nearRegex(p *Pattern, e *NoValueError) bool {
	literal := requiredLiteral(p.rule.Regex)
	if len(literal) < 2 {
		return false
	}
	for l := range s.all() {
		if bytes.Contains(l.text, literal) {
			e.Line, e.Text = l.number, clip(l.text)
			e.Detail += fmt.Sprintf("; the nearest is line %d: %q", e.Line, e.Text)
			return true
		}
	}
	e.Detail += fmt.Sprintf("; no line has its %q", literal)
	return true
}
