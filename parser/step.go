package parser

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// stepRule finds the epoch or step that goes with a reading.
type stepRule struct {
	matcher interface {
		match(l line, found []occurrence) []occurrence
	}
	needle []byte // empty when every line must be looked at
}

// newStepRule takes a name, or a regular expression when step has parentheses.
func newStepRule(step string) (*stepRule, error) {
	if strings.ContainsRune(step, '(') {
		m, err := newRegexMatcher("step", step)
		if err != nil {
			return nil, err
		}
		return &stepRule{matcher: m, needle: m.literal}, nil
	}
	if err := checkName("step", step); err != nil {
		return nil, err
	}
	return &stepRule{matcher: stepNameMatcher{[]byte(step)}, needle: []byte(step)}, nil
}

func (r *stepRule) finder() *stepFinder { return &stepFinder{rule: r} }

// stepFinder knows which step goes with a place on a line: the nearest one before
// it on the line, else the first one after it, else the last one of the lines
// before.
type stepFinder struct {
	rule    *stepRule
	current float64
	known   bool
	onLine  []occurrence // the steps on the line that is being looked at
}

func (f *stepFinder) look(l line) {
	f.onLine = slices.DeleteFunc(f.rule.matcher.match(l, f.onLine[:0]),
		func(o occurrence) bool { return o.kind != finite })
}

func (f *stepFinder) at(place int) (step float64, known bool) {
	if len(f.onLine) == 0 {
		return f.current, f.known
	}
	after := sort.Search(len(f.onLine), func(i int) bool { return f.onLine[i].at >= place })
	return f.onLine[max(after-1, 0)].value, true
}

func (f *stepFinder) endLine() {
	if last := len(f.onLine) - 1; last >= 0 {
		f.current, f.known = f.onLine[last].value, true
	}
}

// stepNameMatcher finds a step by its name. It is laxer than the metric's rule:
// "Epoch 3/10", "Epoch: [3][10/391]" and "step #3" are all step 3.
type stepNameMatcher struct {
	name []byte
}

func (m stepNameMatcher) match(l line, found []occurrence) []occurrence {
	for from := 0; ; {
		at := findName(l.text, m.name, from)
		if at < 0 {
			return found
		}
		from = at + len(m.name)
		start, ok := skipSeparator(l.text, from)
		if start < len(l.text) && bytes.IndexByte([]byte("[(#"), l.text[start]) >= 0 {
			start, ok = skipBlanks(l.text, start+1), true
		}
		if !ok {
			continue
		}
		start = skipWrapper(l.text, start)
		n := scanNumber(l.text[start:], numberMode{cut: l.cut, ratio: true})
		if n.kind == finite {
			from = start + n.size
			found = append(found, occurrence{kind: finite, value: n.value, at: start, end: from})
		}
	}
}
