package command

import (
	"regexp"
	"strings"
)

// File is a configuration file rendered into every trial's directory.
type File struct {
	// From is the template's path at the study's start, if it was a file; Text
	// is its content then, kept so that later edits change no running study.
	From string `json:"from,omitempty"`
	Text string `json:"text"`
	// To is the file's name in the trial's directory.
	To string `json:"to"`
	// Set are the values that are set in a base file of JSON, YAML or TOML. Its Text
	// is then no template.
	Set []Setting `json:"set,omitempty"`
}

// Render returns the text of the file in one attempt. A line with an absent value
// vanishes.
func (f File) Render(b *Bindings) (string, error) {
	if len(f.Set) > 0 {
		return f.renderSet(b)
	}
	var out strings.Builder
	for line := range strings.Lines(f.Text) {
		if t, absent := renderLine(line, b); !absent {
			out.WriteString(t)
		}
	}
	return out.String(), nil
}

// renderLine replaces the placeholders of a line. Numbers are written so that no
// reader takes one for a string.
func renderLine(line string, b *Bindings) (out string, absent bool) {
	out = assemble(Parse(line), nil, func(p Part) string {
		words, gone, known := b.words(p)
		absent = absent || gone
		text := strings.Join(words, " ")
		switch {
		case !known:
			return p.Text
		case numberBeforeRE.MatchString(line[:p.Start]) && numberAfterRE.MatchString(line[p.End:]) && b.isNumber(p):
			return pointed(text)
		}
		return text
	})
	return out, absent
}

// These match what stands beside a number that is a value by itself, and not a part
// of a name or a string.
var (
	numberBeforeRE = regexp.MustCompile(`(?:^|[\s:=,\[({])$`)
	numberAfterRE  = regexp.MustCompile(`^(?:$|[\s,\])};])`)
)
