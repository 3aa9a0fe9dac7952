package parser

import (
	"bytes"
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

// stepFinder gives occurrences their step: the nearest one before the value on
// its line, else the first one after it, else the last one of the lines before.
type stepFinder struct {
	rule    *stepRule
	current float64
	known   bool
	found   []occurrence
}

func (f *stepFinder) assign(l line, found []occurrence) {
	f.found = f.rule.matcher.match(l, f.found[:0])
	steps := f.found[:0]
	for _, step := range f.found {
		if step.kind == finite {
			steps = append(steps, step)
		}
	}
	next := 0 // the first step after the occurrence
	for i := range found {
		o := &found[i]
		for next < len(steps) && steps[next].at < o.at {
			next++
		}
		switch {
		case o.hasStep:
		case len(steps) > 0:
			o.step, o.hasStep = steps[max(next-1, 0)].value, true
		default:
			o.step, o.hasStep = f.current, f.known
		}
	}
	if len(steps) > 0 {
		f.current, f.known = steps[len(steps)-1].value, true
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
