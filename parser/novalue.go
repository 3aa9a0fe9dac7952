package parser

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// NoValueError says why a trial's output gives no value. Its Reason is one of
//
//	no match      the rule found nothing
//	ambiguous     it found several metrics, or several values where one was asked for
//	not finite    the metric is nan or infinite
//	not a number  what stands in the value's place cannot be read
//	failed        the program itself reports that it failed, by a dialect
//	incomplete    a part of the output is missing that may hold the value, see Scanner.Gap
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

// reasons why what stands in a value's place is none.
var reasons = map[kind]string{
	notNumeric: noMatch, absent: noMatch, nonFinite: "not finite", unreadable: "not a number", missing: "not a number",
	failed: "failed", rivals: ambiguous, severalColumns: ambiguous,
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
	switch p.rule.Source {
	case both:
		return "stdout and stderr"
	case File:
		return "the file"
	}
	return string(p.rule.Source)
}

// noValue explains why the picked occurrence is no value.
func (m *metric) noValue(picked record) *NoValueError {
	e := &NoValueError{Reason: reasons[picked.kind], Line: picked.line, Text: clip(picked.text)}
	where := fmt.Sprintf("line %d of %s", picked.line, cmp.Or(picked.source, m.pattern.rule.Source))
	switch picked.kind {
	case nonFinite:
		e.Detail = fmt.Sprintf("%s is %s on %s", m.pattern.what(), e.Text, where)
		if math.IsInf(picked.value, 0) && !isNonFinite(picked.text) {
			e.Detail = fmt.Sprintf("%s is %s on %s, beyond the range of a float64", m.pattern.what(), e.Text, where)
		}
	case unreadable:
		e.Detail, e.Hint = m.unreadable(picked, e.Text, where)
	case missing:
		e.Detail = fmt.Sprintf("%s: %q on %s is not a number", m.pattern.what(), e.Text, where)
	case failed:
		e.Detail = fmt.Sprintf("the program reports that it %s (%q on %s)", picked.status, e.Text, where)
	case rivals:
		e.Detail = fmt.Sprintf("%s on %s has several objectives: %s", m.pattern.what(), where, e.Text)
		e.Hint = `write metric = "NAME" for the one that is meant`
	case severalColumns:
		e.Detail = fmt.Sprintf("%s on %s stands before several numbers: %s", m.pattern.what(), where, e.Text)
		e.Hint = fmt.Sprintf("write metric = \"%s COLUMN\" with the name at the column's head, or find the number by regex", m.pattern.rule.Metric)
	case absent:
		e.Detail = fmt.Sprintf("no %s: %s is %q", m.pattern.what(), where, e.Text)
	default:
		m.noMatch(e)
	}
	return e
}

// incomplete says why what is missing of a stream leaves the value open, nil if it
// does not: the first reading is known if it comes before every gap, the last one
// if it comes after, and the others if nothing is missing at all.
func (m *metric) incomplete(picked record) *NoValueError {
	e := &NoValueError{Reason: incomplete, Line: picked.line, Text: clip(picked.text)}
	for _, s := range m.streams {
		if !s.read || s.gaps == 0 {
			continue
		}
		own := !picked.empty() && picked.source == s.source
		switch pick := m.pattern.rule.Pick; {
		case own && pick == pickLast && picked.gaps == s.gaps, own && pick == pickFirst && picked.gaps == 0:
			continue
		case picked.empty():
			e.Detail = fmt.Sprintf("no %s in what was kept of %s, which was too long to keep whole", m.pattern.what(), s.source)
		default:
			e.Detail = fmt.Sprintf("the %s %s is not known: %s was too long to keep whole", pick, m.pattern.what(), s.source)
		}
		return e
	}
	return nil
}

// unreadable says what is wrong with a token that begins like a number.
func (m *metric) unreadable(picked record, token, where string) (detail, hint string) {
	if picked.part != "" {
		return fmt.Sprintf("the group of regex %q captures only %q of the number %q on %s",
				m.pattern.rule.Regex, picked.part, token, where),
			`let the group take the whole number, as ([-+.\deE]+) does, and make a .* before it lazy: .*?`
	}
	detail = fmt.Sprintf("%s: %q on %s is not a number", m.pattern.what(), token, where)
	switch {
	case strings.Contains(token, ",") && strings.Trim(token, "0123456789+-.,") == "":
		hint = "numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"
	case m.pattern.rule.Regex != "":
		hint = `let the group capture the number and nothing else, as ([-+.\deE]+) does`
	case m.pattern.rule.Metric != "" && m.pattern.rule.Dialect == "" && withUnit.MatchString(token):
		hint = unitHint(m.pattern.rule.Metric, withUnit.FindStringSubmatch(token)[1])
	case m.pattern.rule.Metric != "" && m.pattern.rule.Dialect == "":
		hint = `if a part of it is the value, find it by regex, with a group around that part`
	case m.pattern.rule.JSON != "" && strings.HasPrefix(token, "a list"):
		hint = fmt.Sprintf("for its last entry write json = %q", m.pattern.rule.JSON+"[-1]")
	}
	return detail, hint
}

// withUnit finds the unit of a number, or several numbers with units as in 1m2.5s.
var withUnit = regexp.MustCompile(`^[-+]?[\d.]+(\p{L}+/?\p{L}*|\p{L}+[\d.]+\p{L}.*|(?::\d+)+)$`)

// unitHint says how to read a number that has a unit, which is never left out or
// converted: a program that prints 950 and then 1.2k has not become better.
func unitHint(name, unit string) string {
	if strings.ContainsAny(unit, "0123456789") {
		return "it has units: let the program print one plain number, such as seconds (in bash TIMEFORMAT=%R)"
	}
	return fmt.Sprintf("it has a unit: if the program always prints the same one, write regex = '%s\\W+([-+.\\deE]+)%s', else let it print one plain number",
		regexp.QuoteMeta(name), unit)
}

// noMatch explains why there is no occurrence at all.
func (m *metric) noMatch(e *NoValueError) {
	p := m.pattern
	switch n := m.lines(); n {
	case 0:
		e.Detail = fmt.Sprintf("no %s: %s is empty", p.what(), p.streamName())
	case 1:
		e.Detail = fmt.Sprintf("no %s in 1 line of %s", p.what(), p.streamName())
	default:
		e.Detail = fmt.Sprintf("no %s in %d lines of %s", p.what(), n, p.streamName())
	}
	for _, s := range m.streams {
		if s.read {
			continue
		}
		for _, f := range s.folds {
			if f.readings() > 0 {
				e.Detail += fmt.Sprintf("; %s has it on line %d", s.source, f.last.line)
				e.Hint = fmt.Sprintf("write source = %q", s.source)
				return
			}
		}
	}
	for _, s := range m.streams {
		if s.read && s.scanner.lineCount() > 0 && s.nearMiss(p, e) {
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
			if f := s.known(q); f != nil && s.read {
				seen = append(seen, fmt.Sprintf("%s %s (line %d: %s)", q, name, f.last.line, clip(f.last.text)))
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
	e := &NoValueError{Reason: ambiguous, Line: after.last.line}
	e.Detail = fmt.Sprintf("%s is in %s (line %d: %s) and in %s (line %d: %s), and which one is the %s is not known",
		m.pattern.what(), before.last.source, before.last.line, clip(before.last.text),
		source, after.last.line, clip(after.last.text), m.pattern.rule.Pick)
	e.Hint = fmt.Sprintf("write source = %q or source = %q", before.last.source, source)
	return e
}
