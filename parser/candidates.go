package parser

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Candidate is a metric that a log seems to have.
type Candidate struct {
	Rule    Rule          // how it is found: by name, at a path in JSON, or as the last number
	Result  Result        // what a trial with that output would get
	Problem *NoValueError // why it would get nothing; nil if it gets a value

	rivals []qualifier // if it is ambiguous
}

// Candidates lists what a rule may ask for in a log: the names before numbers, the
// heads of columns and the numbers in JSON, in the order of their first appearance,
// and at last the last number.
func Candidates(log []byte) []Candidate {
	d := discovery{at: map[Rule]int{}}
	log = bytes.TrimPrefix(log, byteOrderMark)
	d.read(log[:min(len(log), maxDiscovery)])
	d.try(log, 0)
	tried := len(d.list)
	for _, c := range d.list[:tried] {
		for _, q := range c.rivals {
			d.add(Rule{Metric: string(q) + " " + c.Rule.Metric})
		}
	}
	d.add(Rule{LastNumber: true})
	d.try(log, tried)
	return d.choose()
}

// discovery collects rules that may find something.
type discovery struct {
	list     []Candidate
	patterns []*Pattern   // theirs
	at       map[Rule]int // their places
	phrases  []string     // what stands before numbers, up to four words
	before   []*header    // that the last line may be
}

const (
	maxCandidates = 500
	maxDiscovery  = 4 << 20 // bytes of a log in which names are looked for
	maxDepth      = 6       // of objects in JSON
)

// add adds a rule that is new and can be one.
func (d *discovery) add(rule Rule) bool {
	if _, known := d.at[rule]; known || len(d.list) >= maxCandidates {
		return false
	}
	p, err := Compile(rule)
	if err != nil {
		return false
	}
	d.at[rule] = len(d.list)
	d.list, d.patterns = append(d.list, Candidate{Rule: rule}), append(d.patterns, p)
	return true
}

// try finds out what the rules from a place on give.
func (d *discovery) try(log []byte, from int) {
	collector := NewCollector(d.patterns[from:]...)
	scanner := collector.Scanner(Stdout, nil)
	_, _ = scanner.Write(log) // fails only after Close
	_ = scanner.Close()
	for i := range d.list[from:] {
		c := &d.list[from+i]
		var err error
		c.Result, err = collector.Result(i)
		if errors.As(err, &c.Problem) && c.Problem.Reason == ambiguous {
			_, c.rivals = collector.metric(i).series()
		}
	}
}

func (d *discovery) read(log []byte) {
	texts := &jsonMatcher{open: '{'}
	texts.searches = []*jsonSearch{{texts: texts, visit: func(value any) ([]occurrence, *dead) {
		d.paths(nil, value)
		return nil, nil
	}}}
	for l := range linesOf(log, 1) {
		if len(l.text) > maxLine {
			l.text, l.cut = l.text[:maxLine], true
		}
		known, visited, pending := len(d.list), texts.searches[0].visited, len(texts.text) > 0
		texts.match(l, nil)
		begins := pending || bytes.HasPrefix(bytes.TrimSpace(l.text), []byte("{"))
		if found := texts.searches[0].visited > visited || len(texts.text) > 0; len(d.list) > known || found && begins {
			continue // JSON, which a dictionary that Python prints is not
		}
		d.columns(l.text)
		for _, pair := range pairPattern().FindAllSubmatchIndex(l.text, -1) {
			words := printable(l.text[pair[2]:pair[3]])
			if bytes.HasSuffix(l.text[:pair[2]], []byte("'")) {
				words = strings.TrimPrefix(words, "s ") // of an owner
			}
			d.phrase(words)
		}
		if len(d.list) >= maxCandidates {
			return
		}
	}
}

// phrase adds words before a number, and the last of them alone: of "epoch done
// loss" the "done loss" and the "loss".
func (d *discovery) phrase(words string) {
	if d.add(Rule{Metric: words}) {
		d.phrases = append(d.phrases, words)
	}
	for _, shorter := range suffixes(words) {
		d.add(Rule{Metric: shorter})
	}
}

// suffixes lists the ends of a phrase that begin with a word, the longest first.
func suffixes(words string) (list []string) {
	for _, words, more := strings.Cut(words, " "); more; _, words, more = strings.Cut(words, " ") {
		list = append(list, words)
	}
	return list
}

// columns adds the names on the line before if text is a row under them.
func (d *discovery) columns(text []byte) {
	if isRule(text) {
		return
	}
	for _, h := range d.before {
		if len(text) <= maxRow && h.read(text) != nil {
			for _, c := range h.columns {
				if h.index(c.text) >= 0 && !isNumeric(c.text) {
					d.add(Rule{Metric: c.text})
				}
			}
			break
		}
	}
	d.before = headersOf(text)
}

// paths adds the paths to the numbers in a JSON text, of which value is at path.
func (d *discovery) paths(path jsonPath, value any) {
	object, ok := value.(map[string]any)
	switch kind := jsonOccurrence(value).kind; {
	case ok && len(path) < maxDepth:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			d.paths(append(slices.Clip(path), pathStep{key: key}), object[key])
		}
	case kind == finite || kind == nonFinite:
		d.add(Rule{JSON: path.String()})
	}
}

// choose leaves out what finds nothing, and of a phrase and its ends all but the
// shortest that finds the same.
func (d *discovery) choose() []Candidate {
	hidden := map[Rule]bool{}
	for _, phrase := range d.phrases {
		whole := d.list[d.at[Rule{Metric: phrase}]]
		best := whole
		for _, shorter := range suffixes(phrase) {
			rule := Rule{Metric: shorter}
			if i, known := d.at[rule]; known && d.list[i].same(whole) {
				hidden[best.Rule] = true
				best = d.list[i]
			} else if !slices.Contains(d.phrases, shorter) {
				hidden[rule] = true
			}
		}
	}
	return slices.DeleteFunc(d.list, func(c Candidate) bool {
		return hidden[c.Rule] || c.Problem != nil && (c.Problem.Reason == noMatch || c.Problem.Reason == ambiguous)
	})
}

// same reports whether two candidates have the same readings, as far as can be told.
func (c Candidate) same(other Candidate) bool {
	return c.Problem == nil && other.Problem == nil && c.Result.Count == other.Result.Count &&
		c.Result.Reading.Line == other.Result.Reading.Line && c.Result.Reading.Column == other.Result.Reading.Column
}
