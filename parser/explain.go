package parser

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// Match is one place where a rule found its metric, for people to look at.
type Match struct {
	Reading Reading
	// Problem says why the value does not count as a number, as the Reason of a
	// NoValueError does; it is empty for readings.
	Problem string
	// Excerpt is the line, or what of it is around the value.
	Excerpt string
	// Start and End are the value's bytes in Excerpt; both are 0 when it does
	// not stand there as it is, as with JSON.
	Start, End int
}

// Explain reads a saved log, as if it were the stream where the rule looks,
// and calls show with every match as it goes. It returns what a trial with that
// output would get: a value, or the [*NoValueError] that it would fail with.
func (p *Pattern) Explain(log io.Reader, show func(Match)) (Result, error) {
	source := p.rule.Source
	if source == both {
		source = Stdout
	}
	collector := NewCollector(p)
	scanner := collector.Scanner(source, nil)
	scanner.show = func(l line, o occurrence) {
		if o.kind != absent {
			show(o.match(l.text))
		}
	}
	if _, err := io.Copy(scanner, log); err != nil {
		return Result{}, fmt.Errorf("read the log: %w", err)
	}
	_ = scanner.Close() // never fails
	return collector.Result(0)
}

func (o *occurrence) match(text []byte) Match {
	m := Match{Reading: o.reading(clip(o.token(text))), Problem: verdicts[o.kind].reason}
	if o.printed != "" {
		m.Excerpt = clip(text)
		return m
	}
	const around = 100
	from, to := max(o.at-around, 0), min(o.end+around, len(text))
	for from > 0 && from < o.at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > o.end && !utf8.RuneStart(text[to]) {
		to--
	}
	value := clip(text[o.at:o.end])
	m.Excerpt = printable(text[from:o.at]) + value
	m.Start, m.End = len(m.Excerpt)-len(value), len(m.Excerpt)
	m.Excerpt += printable(text[o.end:to])
	return m
}
