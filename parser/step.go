package parser

import (
	"slices"
	"strings"
)

// stepMatcher takes a name, or a regular expression when step has parentheses.
func stepMatcher(step string) (matcher, error) {
	if !strings.ContainsRune(step, '(') {
		return stepName(step).match, checkName("step", step)
	}
	m, err := newRegexMatcher("step", step)
	return m.match, err
}

// stepFinder knows which step goes with a place on a line: the nearest one before
// it on the line, else the first one after it, else the last one of the lines
// before.
type stepFinder struct {
	match   matcher
	current float64
	known   bool
	onLine  []occurrence // the steps on the line that was looked at last
}

func (f *stepFinder) look(l line) {
	if last := len(f.onLine) - 1; last >= 0 {
		f.current, f.known = f.onLine[last].value, true
	}
	f.onLine = slices.DeleteFunc(f.match(l, f.onLine[:0]),
		func(o occurrence) bool { return o.kind != finite })
}

func (f *stepFinder) at(place int) (step float64, known bool) {
	if len(f.onLine) == 0 {
		return f.current, f.known
	}
	after, _ := slices.BinarySearchFunc(f.onLine, place, func(o occurrence, at int) int { return o.at - at })
	return f.onLine[max(after-1, 0)].value, true
}

// stepName finds a step by its name.
type stepName []byte

func (m stepName) match(l line, found []occurrence) []occurrence {
	for at := findName(l.text, m, 0); at >= 0; {
		end := at + len(m)
		if start, n := numberAfter(l, end, true); n.kind == finite {
			end = start + n.size
			found = append(found, occurrence{kind: finite, value: n.value, at: start, end: end})
		}
		at = findName(l.text, m, end)
	}
	return found
}
