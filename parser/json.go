package parser

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// jsonMatcher finds JSON texts, one on a line, behind something else on a line,
// or over several lines, and decodes each once for all that search it.
type jsonMatcher struct {
	open     byte // what the texts begin with, '{' or '['
	searches []*jsonSearch

	text    []byte // of a text over several lines: what there is so far
	start   int    // its line
	shape   jsonShape
	tooLong int // line of the first text that was too long
}

// jsonSearch is the search for one metric in the texts of a matcher.
type jsonSearch struct {
	metric  int
	visitor jsonVisitor
	key     []byte // what a text must contain to be worth a visit, nil for nothing
	notes   jsonNotes
	texts   *jsonMatcher
	skip    bool // the line that is being looked at
}

// jsonVisitor finds the occurrences in a JSON text.
type jsonVisitor interface {
	visit(value any, notes *jsonNotes) []occurrence
}

// jsonNotes is what explains why nothing was found.
type jsonNotes struct {
	texts int   // that were visited
	now   int   // the line of the text that is being visited
	end   *dead // of the text that comes nearest to having the value
	line  int   // of that text
	hint  string
}

// lacks notes what the text that is being visited has instead of the value. It
// reports whether no text came nearer so far.
func (n *jsonNotes) lacks(end *dead) bool {
	if n.end != nil && n.end.depth >= end.depth {
		return false
	}
	n.end, n.line = end, n.now
	return true
}

func (m *jsonMatcher) needles() [][]byte { return nil }

func (m *jsonMatcher) match(l line, found []occurrence) []occurrence {
	for _, s := range m.searches {
		s.skip = false
	}
	if len(m.text) > 0 {
		size, complete, valid := m.shape.feed(l.text)
		switch {
		case complete:
			found = m.decode(append(m.text, l.text[:size]...), m.start, 0, found)
			m.text = m.text[:0]
			return found
		case valid:
			m.hold(l, l.text)
			return found
		}
		m.text = m.text[:0] // it was no JSON after all; this line may be
	}
	first := skipBlanks(l.text, 0)
	if first < len(l.text) && l.text[first] == m.open {
		m.shape = jsonShape{stack: m.shape.stack[:0]}
		if _, complete, valid := m.shape.feed(l.text[first:]); valid && !complete {
			m.start = l.number
			m.hold(l, l.text[first:])
			return found
		}
	}
	return m.inLine(l, found)
}

// hold keeps a line of a text over several lines, or gives the text up if it is
// too long.
func (m *jsonMatcher) hold(l line, text []byte) {
	m.text = append(append(m.text, text...), '\n')
	if l.cut || len(m.text) > maxDocument {
		m.text = m.text[:0]
		if m.tooLong == 0 {
			m.tooLong = m.start
		}
	}
}

// inLine finds the texts that begin and end in the line.
func (m *jsonMatcher) inLine(l line, found []occurrence) []occurrence {
	worthwhile := false
	for _, s := range m.searches {
		s.skip = !s.worthwhile(l.text)
		worthwhile = worthwhile || !s.skip
	}
	if !worthwhile {
		return found
	}
	const attempts = 16 // braces that open no JSON
	text, at := l.text, 0
	for range attempts {
		i := bytes.IndexByte(text[at:], m.open)
		if i < 0 {
			return found
		}
		at += i
		m.shape = jsonShape{stack: m.shape.stack[:0]}
		size, complete, _ := m.shape.feed(text[at:])
		if !complete {
			at++
			continue
		}
		found = m.decode(text[at:at+size], l.number, at, found)
		at += size
	}
	return found
}

// decode gives a text to the searches for which it is worth a visit.
func (m *jsonMatcher) decode(text []byte, number, at int, found []occurrence) []occurrence {
	var value any
	decoded := false
	for _, s := range m.searches {
		if s.skip || !s.worthwhile(text) {
			continue
		}
		if !decoded {
			var ok bool
			if value, ok = decodeJSON(text); !ok {
				return found
			}
			decoded = true
		}
		s.notes.texts++
		s.notes.now = number
		for _, o := range s.visitor.visit(value, &s.notes) {
			o.metric, o.line, o.at, o.end = s.metric, number, at, at
			found = append(found, o)
		}
	}
	return found
}

// worthwhile reports whether text may hold what is sought. The first texts are
// visited anyway, to be able to say what they have instead.
func (s *jsonSearch) worthwhile(text []byte) bool {
	const studied = 16
	return s.notes.texts < studied || bytes.Contains(text, s.key)
}

func (s *jsonSearch) explain() (detail, hint string) {
	n := &s.notes
	switch {
	case s.texts.tooLong > 0:
		return fmt.Sprintf("the JSON text on line %d is longer than can be read", s.texts.tooLong), ""
	case n.texts == 0:
		return "there is no JSON text", ""
	case n.end == nil:
		return "", ""
	}
	detail = fmt.Sprintf("the JSON text on line %d %s", n.line, n.end.why)
	if len(n.end.near) > 0 {
		detail += "; it has " + quoteSome(n.end.near)
	}
	return detail, n.hint
}

func quoteSome(names []string) string {
	const some = 8
	quoted := make([]string, 0, some)
	for _, name := range names[:min(len(names), some)] {
		quoted = append(quoted, fmt.Sprintf("%q", clip([]byte(name))))
	}
	if len(names) > some {
		quoted = append(quoted, ellipsis)
	}
	return strings.Join(quoted, ", ")
}

// pathVisitor takes the value at a path, and the step at another.
type pathVisitor struct {
	path jsonPath
	step jsonPath // nil for none
}

func (v *pathVisitor) visit(value any, notes *jsonNotes) []occurrence {
	at, end := v.path.lookup(value)
	if end != nil {
		if notes.lacks(end) {
			notes.hint = v.correction(value)
		}
		return nil
	}
	o := jsonOccurrence(at)
	if o.kind == notNumeric {
		notes.lacks(&dead{depth: len(v.path), why: fmt.Sprintf("has null at %q", v.path)})
		return nil
	}
	if v.step != nil {
		step, end := v.step.lookup(value)
		if s := jsonOccurrence(step); end == nil && s.kind == finite {
			o.step, o.hasStep = s.value, true
		}
	}
	return []occurrence{o}
}

// correction guesses the path that was meant: one that differs by capitals or
// punctuation, or a key that has dots.
func (v *pathVisitor) correction(value any) string {
	path := make(jsonPath, 0, len(v.path))
	for _, step := range v.path {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		if _, ok := object[v.path.String()]; ok && len(path) == 0 {
			path = append(path, pathStep{key: v.path.String()})
			break
		}
		_, ok = object[step.key]
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if !ok && distance(step.key, key) <= sameWords {
				step.key, ok = key, true
			}
		}
		if !ok {
			return ""
		}
		path = append(path, step)
		value = object[step.key]
	}
	return fmt.Sprintf("write json = %q", path)
}

// findInJSON makes search one of those in the JSON texts that begin with open.
func (p *Pattern) findInJSON(open byte, search jsonSearch) {
	p.join = func(m *matchers, metric int) {
		own := search
		own.metric, own.texts = metric, sharedMatcher(m, "JSON "+string(open), &jsonMatcher{open: open})
		own.texts.searches = append(own.texts.searches, &own)
		m.why[metric] = &own
	}
}

// compileJSON makes the pattern of a rule with a JSON path.
func (p *Pattern) compileJSON() error {
	path, err := parsePath("json", p.rule.JSON)
	if err != nil {
		return err
	}
	visitor := &pathVisitor{path: path}
	if p.rule.Step != "" {
		if visitor.step, err = parsePath("step", p.rule.Step); err != nil {
			return err
		}
	}
	open, key := byte('{'), []byte(nil)
	if path[0].isIndex {
		open = '['
	}
	if last := path[len(path)-1]; !last.isIndex && isPlain([]byte(last.key)) && !strings.ContainsAny(last.key, `"\/`) {
		key = []byte(last.key)
	}
	p.ownStep = true
	p.findInJSON(open, jsonSearch{visitor: visitor, key: key})
	return nil
}
