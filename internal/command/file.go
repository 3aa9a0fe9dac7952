package command

import (
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// File is a configuration file rendered into every trial's directory.
type File struct {
	// From is the template's path at the study's start, if it was a file; Text
	// is its content then, kept so that later edits change no running study.
	From string `json:"from,omitempty"`
	Text string `json:"text"`
	// To is the file's name in the trial's directory.
	To string `json:"to"`
	// Set are the values that are set in a base file of JSON, YAML or TOML; Text is then no template.
	Set []Setting `json:"set,omitempty"`
}

// Render returns the text of the file in one attempt. A line with an absent value vanishes.
func (f File) Render(b *Bindings) (string, error) {
	if len(f.Set) > 0 {
		return f.renderSet(b)
	}
	var out strings.Builder
	for line := range strings.Lines(f.Text) {
		t, absent := b.expand(line, func(p Part, bare string) string {
			v, _, _ := b.value(p)
			_, number := v.Number()
			if number && numberBeforeRE().MatchString(line[:p.Start]) && numberAfterRE().MatchString(line[p.End:]) {
				return pointed(bare) // no reader takes it for a string
			}
			return bare
		})
		if !absent {
			out.WriteString(t)
		}
	}
	return out.String(), nil
}

// These match what stands beside a number that is a value by itself.
var (
	numberBeforeRE = pattern.Lazy(`(?:^|[\s:=,\[({])$`)
	numberAfterRE  = pattern.Lazy(`^(?:$|[\s,\])};])`)
)

// Literal writes a value as JSON, YAML and TOML all have it.
func Literal(v spaces.Value) string {
	b, _ := v.MarshalJSON() // values of a space are finite numbers, strings and truth values
	if _, number := v.Number(); number {
		return pointed(string(b))
	}
	return strings.ReplaceAll(string(b), "\x7f", `\u007f`) // which TOML wants escaped
}

// EnvironmentKey writes variables, NAME=value each, as a spec's key env.
func EnvironmentKey(env []string) string {
	pair := func(e string) string {
		name, value, _ := strings.Cut(e, "=")
		return name + " = " + Literal(spaces.String(value))
	}
	return "env = { " + strings.Join(lists.Map(env, pair), ", ") + " }"
}

// pointed gives a number with an exponent a decimal point: 1e-05 is a string to
// readers of YAML 1.1, 1.0e-05 is a number to all.
func pointed(number string) string {
	e := strings.IndexAny(number, "eE")
	if e < 0 || strings.Contains(number[:e], ".") {
		return number
	}
	return number[:e] + ".0" + number[e:]
}
