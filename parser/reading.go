package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reading is one value of a metric, found in a stream.
type Reading struct {
	Metric  int     // the index of the pattern in its collector
	Source  Source  // the stream, if its scanner knows
	Line    int     // counted by LF from 1
	Column  int     // the byte of the line where the value starts, from 1; ANSI sequences do not count
	Step    float64 // the epoch or step that goes with it, if HasStep
	HasStep bool
	Value   float64 // may be nan or infinite
	Text    string  // the value as printed, such as "93.1%"
}

func (o *occurrence) reading(text string) Reading {
	return Reading{
		Metric: o.metric, Source: o.source, Line: o.line, Column: o.at + 1,
		Step: o.step, HasStep: o.hasStep,
		Value: o.value, Text: text,
	}
}

const longestQuote = 60 // bytes of a program's output that a message repeats

// ellipsis ends what a message repeats of a longer text.
const ellipsis = "..."

// clip copies the beginning of text, in UTF-8 and without what does not print,
// so that nothing in a program's output can act on a terminal.
func clip(text []byte) string {
	end := ""
	if len(text) > longestQuote {
		cut := longestQuote
		for cut > longestQuote-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text, end = text[:cut], ellipsis
	}
	return printable(text) + end
}

func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}

// line is one line as a matcher sees it: without its end, without ANSI
// sequences.
type line struct {
	text   []byte // valid until the matcher returns
	number int    // counted by LF from 1
	open   bool   // the stream ends before the line does
	cut    bool   // the line was longer than maxLine; text is its beginning
	torn   bool   // the line may go on: its writer was ended before its end
}

// blank reports whether nothing is printed on the line.
func (l line) blank() bool { return skipBlanks(l.text, 0) == len(l.text) }

// occurrence is one place where a rule found its metric, readable or not.
type occurrence struct {
	metric    int // whose it is: the index of a pattern in its collector
	source    Source
	kind      kind // notNumeric if there is none
	value     float64
	line      int
	at, end   int // the value's bytes in the line's text
	step      float64
	hasStep   bool
	qualifier qualifier
	gaps      int    // in the stream before it
	status    string // what a failed occurrence says of its trial: that it crashed
	part      string // the part of the number that a regular expression captured
	printed   string // the value's text when it is not in the line as it stands
}

func (o *occurrence) empty() bool { return o.kind == notNumeric }

// token gives the value's text.
func (o *occurrence) token(text []byte) []byte {
	if o.printed != "" {
		return []byte(o.printed)
	}
	return text[o.at:o.end]
}
