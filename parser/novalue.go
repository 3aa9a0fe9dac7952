package parser

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
)

// NoValueError says why a trial's output gives no value. Its Reason is one of
//
//	no match      the rule found nothing
//	ambiguous     it found several metrics, or several values where one was asked for
//	not finite    the metric is nan or infinite
//	not a number  what stands in the value's place cannot be read
//	failed        the program itself reports that it failed, by a dialect
//	incomplete    a part of the output that may hold the value is missing, see Scanner.Gap, or too long
type NoValueError struct {
	Reason string
	Line   int    // the line that is to blame, 0 for none
	Text   string // what stands there instead of a number
	Detail string // the story in one line
	Hint   string // what to write instead; may be empty
}

// Reasons that are asked for.
const (
	noMatch    = "no match"
	ambiguous  = "ambiguous"
	incomplete = "incomplete"
)

// verdict says of what stands in a value's place why it is none.
type verdict struct{ reason, detail, hint string }

// The details have the metric, what stands there, where, and how a trial failed.
var verdicts = map[kind]verdict{
	notNumeric:     {reason: noMatch},
	absent:         {noMatch, "no %[1]s: %[3]s is %[2]q", ""},
	nonFinite:      {"not finite", "%[1]s is %[2]s on %[3]s", ""},
	unreadable:     {"not a number", "%[1]s: %[2]q on %[3]s is not a number", ""},
	missing:        {"not a number", "%[1]s: %[2]q on %[3]s is not a number", ""},
	failed:         {"failed", "the program reports that it %[4]s (%[2]q on %[3]s)", ""},
	rivals:         {ambiguous, "%[1]s on %[3]s has several objectives: %[2]s", `write metric = "NAME" for the one that is meant`},
	severalColumns: {ambiguous, "%[1]s on %[3]s stands before several numbers: %[2]s", ""},
}

// Error gives Detail, without the hint.
func (e *NoValueError) Error() string { return e.Detail }

// what names the metric in messages.
func (p *Pattern) what() string {
	switch r := p.rule; {
	case r.Dialect != "" && r.Metric != "":
		return fmt.Sprintf("%s report of %q", r.Dialect, r.Metric)
	case r.Dialect != "":
		return r.Dialect + " report"
	case r.Regex != "":
		return fmt.Sprintf("match of regex %q", r.Regex)
	case r.JSON != "":
		return fmt.Sprintf("JSON value at %q", r.JSON)
	case r.LastNumber:
		return "number on the last line"
	}
	return fmt.Sprintf("metric %q", p.rule.Metric)
}

func (p *Pattern) streamName() string {
	several := map[Source]string{both: "stdout and stderr", File: "the file"}
	return cmp.Or(several[p.rule.Source], string(p.rule.Source))
}

// noValue explains why the picked occurrence is no value.
func (m *metric) noValue(picked occurrence) *NoValueError {
	p, why := m.pattern, verdicts[picked.kind]
	e := &NoValueError{Reason: why.reason, Line: picked.line, Text: picked.printed}
	if why.detail == "" {
		m.noMatch(e)
		return e
	}
	source := cmp.Or(picked.source, p.rule.Source)
	where := fmt.Sprintf("line %d of %s", picked.line, source)
	if picked.gaps > 0 { // its number is not known
		e.Line, where = 0, fmt.Sprintf("a line behind the part of %s that was not kept", source)
	}
	e.Detail, e.Hint = fmt.Sprintf(why.detail, p.what(), e.Text, where, picked.status), why.hint
	switch {
	case math.IsInf(picked.value, 0) && picked.kind == nonFinite && !isNonFinite(bytes.TrimSuffix(plainMinus([]byte(picked.printed)), []byte("."))):
		e.Detail += ", beyond the range of a float64"
	case picked.kind == missing && e.Text == "":
		e.Detail = fmt.Sprintf("%s: nothing stands behind it on %s", p.what(), where)
	case picked.part != "":
		e.Detail = fmt.Sprintf("the group of regex %q captures only %q of the number %q on %s", p.rule.Regex, picked.part, e.Text, where)
		e.Hint = `let the group take the whole number, as ([-+.\w]+) does, and make a .* before it lazy: .*?`
	case picked.kind == severalColumns:
		e.Hint = fmt.Sprintf("write metric = \"%s COLUMN\" with the name at the column's head, or find the number by regex", p.rule.Metric)
	case picked.kind == unreadable:
		e.Hint = p.mend(e.Text)
	}
	return e
}

// incomplete says why what is missing of a stream leaves the value open, nil if it
// does not: the first reading is known if it comes before every gap, the last one
// if it comes after, and the others if nothing is missing at all. A JSON text that is too
// long to read leaves it open if no reading comes later.
func (m *metric) incomplete(picked occurrence) *NoValueError {
	e := &NoValueError{Reason: incomplete, Line: picked.line, Text: picked.printed}
	pick, what := m.pattern.rule.Pick, m.pattern.what()
	for _, s := range m.streams {
		own := !picked.empty() && picked.source == s.source
		switch long, torn := s.tooLong(pick, picked); {
		case long > 0 && torn:
			e.Line, e.Text = long, ""
			e.Detail = fmt.Sprintf("the %s %s is not known: a part of the JSON text on line %d of %s is missing", pick, what, long, s.source)
			e.Hint = "let the program print the metric on a line of its own"
		case long > 0:
			e.Line, e.Text = long, ""
			e.Detail = fmt.Sprintf("the %s %s is not known: the JSON text on line %d of %s is longer than can be read", pick, what, long, s.source)
			e.Hint = "let the program print the metric on a line of its own"
		case s.gaps == 0, own && pick == pickLast && picked.gaps == s.gaps, own && pick == pickFirst && picked.gaps == 0:
			continue
		case picked.empty():
			e.Detail = fmt.Sprintf("no %s in what was kept of %s, which was too long to keep whole, or was emptied", what, s.source)
		default:
			e.Detail = fmt.Sprintf("the %s %s is not known: %s was too long to keep whole, or was emptied", pick, what, s.source)
		}
		return e
	}
	return nil
}

// tooLong is the line of a JSON text that was too long to read, or of which a part is missing (torn), if a reading
// that decides the value may lie within it, else 0. Where there is no reading beside a text that was only too long,
// another message says so.
func (m *searched) tooLong(pick string, picked occurrence) (number int, torn bool) {
	line, last := m.long, 0
	if search, ok := m.why.(*jsonSearch); ok {
		broken, ended := search.texts.broken, search.texts.ended
		behind := picked.source == m.source && broken <= picked.line
		if ended > 0 && (pick == pickFirst && behind || pick != pickFirst && pick != pickLast) {
			return ended, true
		}
		line = max(line, search.texts.tooLong)
		line, torn = max(line, ended), ended > line
	}
	if pick == pickFirst {
		return 0, false
	}
	for _, f := range m.folds {
		last = max(last, f.last.line)
	}
	if last == 0 && !torn || last >= line {
		return 0, false
	}
	return line, torn
}

// mend says how to come to a number where a token begins like one and is none.
func (p *Pattern) mend(token string) string {
	r, joined := p.rule, strings.NewReplacer(" ", "", ",", "").Replace(token)
	switch named := r.Metric != "" && r.Dialect == ""; {
	case strings.ContainsAny(token, ", ") && strings.Trim(token, "0123456789+-., "+minuses) == "":
		return "numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"
	case strings.Contains(token, "10^") || strings.Contains(token, "10**") || strings.ContainsAny(token, "⁰¹²³⁴⁵⁶⁷⁸⁹"):
		return "let the program print it as in 1.5e-3"
	case r.Regex != "":
		return `let the group capture the number and nothing else, as ([-+.\w]+) does`
	case named && withUnit().MatchString(joined):
		return unitHint(r.Metric, withUnit().FindStringSubmatch(joined)[1])
	case named:
		return `if a part of it is the value, find it by regex, with a group around that part`
	case r.JSON != "" && strings.HasPrefix(token, "a list"):
		return fmt.Sprintf("for its last entry write json = %q", r.JSON+"[-1]")
	}
	return ""
}

// withUnit finds the unit of a number, or several numbers with units as in 1m2.5s.
var withUnit = pattern.Lazy(`^[-+]?[\d.]+(\p{L}+/?\p{L}*|\p{L}+[\d.]+\p{L}.*|(?::\d+)+)$`)

// unitHint says how to read a number that has a unit, which is never left out or
// converted: a program that prints 950 and then 1.2k has not become better.
func unitHint(name, unit string) string {
	if strings.ContainsAny(unit, "0123456789") {
		return "it has units: let the program print one plain number, such as seconds (in bash TIMEFORMAT=%R)"
	}
	return fmt.Sprintf("it has a unit: if the program always prints the same one, write regex = '%s\\W+([-+.\\w]+)%s', else let it print one plain number",
		regexp.QuoteMeta(name), unit)
}

// noMatch explains why there is no occurrence at all.
func (m *metric) noMatch(e *NoValueError) {
	p, lines := m.pattern, m.lines()
	e.Detail = fmt.Sprintf("no %s in %d lines of %s", p.what(), lines, p.streamName())
	if lines == 1 {
		e.Detail = fmt.Sprintf("no %s in 1 line of %s", p.what(), p.streamName())
	} else if lines == 0 {
		e.Detail = fmt.Sprintf("no %s: %s is empty", p.what(), p.streamName())
	}
	for _, s := range m.others {
		for _, f := range s.folds {
			if f.hasReading() {
				e.Detail += fmt.Sprintf("; %s has it on line %d", s.source, f.last.line)
				e.Hint = fmt.Sprintf("write source = %q", s.source)
				return
			}
		}
	}
	for _, s := range m.streams {
		if s.lineCount() > 0 && s.nearMiss(p, e) {
			return
		}
	}
}

func (m *metric) ambiguousNames(rivals []qualifier) *NoValueError {
	e := &NoValueError{Reason: ambiguous}
	name := m.pattern.rule.Metric
	var seen []string
	const some = 4
	for _, q := range rivals[:min(len(rivals), some)] {
		for _, s := range m.streams {
			if f := s.known(q); f != nil {
				seen = append(seen, fmt.Sprintf("%s %s (line %d: %s)", q, name, f.last.line, f.last.printed))
				break
			}
		}
	}
	if more := len(rivals) - some; more > 0 {
		seen = append(seen, fmt.Sprintf("%d more", more))
	}
	e.Detail = fmt.Sprintf("%s is ambiguous: the output has %s", m.pattern.what(), strings.Join(seen, " and "))
	named := slices.DeleteFunc(slices.Clone(rivals), func(q qualifier) bool { return q == numbered })
	e.Hint = fmt.Sprintf("say which one, as in metric = \"%s %s\", or by regex", named[len(named)-1], name)
	return e
}

func (m *metric) ambiguousStreams(before *fold, after *fold, source Source) *NoValueError {
	a, b := before.last, after.last
	return &NoValueError{Reason: ambiguous, Line: b.line,
		Detail: fmt.Sprintf("%s is in %s (line %d: %s) and in %s (line %d: %s), and which one is the %s is not known",
			m.pattern.what(), a.source, a.line, a.printed, source, b.line, b.printed, m.pattern.rule.Pick),
		Hint: fmt.Sprintf("write source = %q or source = %q", a.source, source)}
}
