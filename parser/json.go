package parser

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
)

// jsonMatcher finds JSON texts, one on a line, behind something else on a line,
// or over several lines, and decodes each once for all that search it.
type jsonMatcher struct {
	open     byte   // what the texts begin with, '{' or '['
	ends     string // what they may end with
	mark     []byte // what stands before them, on one line with all of it; nil for nothing
	what     string // they are called
	none     string // said if there is none
	searches []*jsonSearch

	text    []byte // of a text over several lines: what there is so far
	start   int    // its line
	shape   jsonShape
	lost    bool // the text is too long: it is followed to its end, since what is nested in it is no text
	tooLong int  // line of the last text that was too long
	broken  int  // line of the first text of which a part was not seen, so that what is nested in it looks like texts
	ended   int  // the last line on which such a text has ended
	strays  int  // open braces since then of what was taken for a text, and is none
	goesOn  bool // the line before ends as only a part of a text does
}

// jsonSearch is the search for one metric in the texts of a matcher.
type jsonSearch struct {
	metric int
	visit  func(value any) ([]occurrence, *dead) // finds the occurrences in a JSON text, or says why there is none
	key    []byte                                // what a text must contain to be worth a visit, nil for nothing
	texts  *jsonMatcher

	visited int    // texts
	end     *dead  // of the text that comes nearest to having the value
	line    int    // of that text
	hint    string // of that text
}

func (m *jsonMatcher) match(l line, found []occurrence) []occurrence {
	const attempts = 16 // braces that open no JSON
	at := 0
	inside, ends := m.within(l.text)
	within := inside || ends
	if len(m.text) > 0 || m.lost {
		size, complete, valid := m.shape.feed(l.text)
		if valid && !complete {
			m.hold(l, l.text)
			return found
		}
		if complete && !m.lost {
			found = m.decode(append(m.text, l.text[:size]...), m.start, 0, found)
		}
		if complete {
			at = size
		}
		if !valid && m.broken > 0 {
			m.strays++
		}
		m.text, m.lost = m.text[:0], false // if it was no JSON after all, this line may be
	}
	first, last := skipBlanks(l.text, at), len(trimBlanks(l.text))-1
	before, closes := len(found), m.closes(l, first)
	for failed := 0; ; {
		i := bytes.IndexByte(l.text[at:], m.open)
		if i < 0 {
			if rest := skipBlanks(l.text, at); rest == first && closes || rest > first && m.closes(l, rest) || within && len(found) > before {
				m.ended = l.number
				return found[:before] // all on this line is within
			}
			return found
		}
		if at += i; failed >= attempts && at < last || !bytes.HasSuffix(trimBlanks(l.text[:at]), m.mark) {
			at++
			continue
		}
		m.shape = jsonShape{stack: m.shape.stack[:0]}
		size, complete, valid := m.shape.feed(l.text[at:])
		switch {
		case complete:
			found = m.decode(l.text[at:at+size], l.number, at, found)
			at += size
		case valid && m.mark == nil && (at == first || at == last && !l.cut):
			m.start = l.number
			if m.lost = inside; inside { // that it ends with a comma says nothing of what it begins
				m.ended = l.number
			}
			m.hold(l, l.text[at:])
			return found
		default:
			failed++
			at++
		}
	}
}

// hold keeps a line of a text over several lines, or gives the text up if it is
// too long.
func (m *jsonMatcher) hold(l line, text []byte) {
	if !m.lost {
		m.text = append(append(m.text, text...), '\n')
	}
	if l.cut || len(m.text) > maxDocument {
		m.text, m.lost = m.text[:0], !l.cut // of a cut line nobody knows how it goes on
		m.tooLong = m.start
	}
	if l.cut {
		m.broken, m.strays = cmp.Or(m.broken, m.start), 0
	}
}

// gap gives up a text over several lines of which a part is missing before a line.
func (m *jsonMatcher) gap(before int) {
	if m.mark != nil {
		return
	}
	if len(m.text) > 0 || m.lost {
		before = m.start
	}
	m.text, m.lost, m.broken, m.strays, m.goesOn = m.text[:0], false, cmp.Or(m.broken, before), 0, false
}

// within reports whether a line looks like a part of a text of which something was not seen: it is inside if it begins
// with a key, or the line before ends as this one does if ends, with what something must follow. A text that never
// closes shows in nothing else.
func (m *jsonMatcher) within(text []byte) (inside, ends bool) {
	ink := trimBlanks(text)
	if ink = ink[skipBlanks(ink, 0):]; len(ink) == 0 || m.broken == 0 {
		return false, false
	}
	inside = m.goesOn && ink[0] == m.open || keyRE().Match(ink)
	m.goesOn = ink[len(ink)-1] == ',' || ink[len(ink)-1] == '['
	return inside, m.goesOn
}

// keyRE finds the key that a line begins with.
var keyRE = pattern.Lazy(`^"(?:[^"\\]|\\.)*"\s*:`)

// closes reports whether what a line has from a place on, outside of all texts, is the end of one of which a
// part was not seen: the objects so far may lie within it.
func (m *jsonMatcher) closes(l line, at int) bool {
	rest := trimBlanks(l.text[at:])
	if m.broken == 0 || len(rest) == 0 {
		return false
	}
	end := m.open + 2 // '}' or ']'
	closes := rest[0] == end || rest[len(rest)-1] == end && bytes.IndexByte([]byte(`],"`), rest[0]) >= 0
	switch {
	case closes && m.strays > 0:
		m.strays--
		return false
	case closes:
		m.ended = l.number
	}
	return closes
}

// decode gives a text to the searches for which it is worth a visit.
func (m *jsonMatcher) decode(text []byte, number, at int, found []occurrence) []occurrence {
	var value any
	decoded := false
	for _, s := range m.searches {
		if !s.worthwhile(text) {
			continue
		}
		if !decoded {
			value, decoded = decodeJSON(text)
		}
		if !decoded {
			return found
		}
		s.visited++
		all, end := s.visit(value)
		for _, o := range all {
			o.metric, o.line, o.at, o.end = s.metric, number, at, at
			found = append(found, o)
		}
		if end != nil && (s.end == nil || end.depth > s.end.depth) {
			s.end, s.line, s.hint = end, number, ""
			if end.hint != nil {
				s.hint = end.hint()
			}
		}
	}
	return found
}

// worthwhile reports whether text may hold what is sought. The first texts are
// visited anyway, to be able to say what they have instead.
func (s *jsonSearch) worthwhile(text []byte) bool {
	const studied = 16
	return s.visited < studied || bytes.Contains(text, s.key)
}

func (s *jsonSearch) explain() (detail, hint string) {
	switch {
	case s.texts.tooLong > 0:
		return fmt.Sprintf("the JSON text on line %d is longer than can be read", s.texts.tooLong), ""
	case s.visited == 0:
		return s.texts.none, ""
	case s.end == nil:
		return "", ""
	}
	detail = fmt.Sprintf("the %s on line %d %s", s.texts.what, s.line, s.end.why)
	if len(s.end.near) > 0 {
		detail += "; it has " + quoteSome(s.end.near)
	}
	return detail, s.hint
}

func quoteSome(names []string) string {
	const some = 8
	quoted := lists.Map(names[:min(len(names), some)], func(name string) string { return strconv.Quote(clip([]byte(name))) })
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

func (v *pathVisitor) visit(value any) ([]occurrence, *dead) {
	at, end := v.path.lookup(value)
	if end != nil {
		end.hint = func() string { return v.correction(value) }
		return nil, end
	}
	o := jsonOccurrence(at)
	if o.kind == notNumeric {
		return nil, &dead{depth: len(v.path), why: fmt.Sprintf("has null at %q", v.path)}
	}
	if v.step != nil {
		step, end := v.step.lookup(value)
		if s := jsonOccurrence(step); end == nil && s.kind == finite {
			o.step, o.hasStep = s.value, true
		}
	}
	return []occurrence{o}, nil
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

// jsonTexts finds those that begin with open.
func jsonTexts(open byte) *jsonMatcher {
	return &jsonMatcher{open: open, ends: "}]", what: "JSON text", none: "there is no JSON text"}
}

// inJSON adds a search in the texts of a matcher, or of one like it that there is already.
func (m *searched) inJSON(texts *jsonMatcher, search jsonSearch) {
	search.metric = m.metric
	search.texts = sharedMatcher(m.stream, "JSON "+string(texts.mark)+string(texts.open), texts, true)
	search.texts.searches = append(search.texts.searches, &search)
	m.why = &search
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
	escaped := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\/`, r) } // or may be
	if last := path[len(path)-1]; !last.isIndex && !strings.ContainsFunc(last.key, escaped) {
		key = []byte(last.key)
	}
	p.ownStep = true
	p.join = func(m *searched, _ Rule) { m.inJSON(jsonTexts(open), jsonSearch{visit: visitor.visit, key: key}) }
	return nil
}
