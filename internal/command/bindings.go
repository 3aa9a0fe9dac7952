package command

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/spaces"
)

// Bindings is what placeholders stand for in one attempt.
type Bindings struct {
	Study   string // the study's directory
	Seed    uint64 // of the trial
	Trial   int
	Attempt int
	Slot    int
	// TrialDir is the attempt's directory, CheckpointDir one that its seed's attempts share, if
	// Checkpoints says that there is one.
	TrialDir, CheckpointDir string
	Checkpoints             func() bool
	// Mentions reports whether a text stands in anything that a trial is made of.
	Mentions   func(text string) bool
	ParamsFile string

	// Params are the parameters, nil before the first trial; Values those that are active.
	Params []spaces.Param
	Values spaces.Values

	// Dir is where Cwd, the working directory, lies. Env is the environment, NAME=value in order, in both of
	// which placeholders are replaced; SecretEnv and ParamsFromEnv are as in study.Run.
	Dir, Cwd       string
	Env, SecretEnv []string
	ParamsFromEnv  bool
}

// Expand replaces placeholders by their bare values, and reports whether one is absent.
func (b *Bindings) Expand(text string) (out string, absent bool) {
	return b.expand(text, func(_ Part, bare string) string { return bare })
}

// expand is Expand for values that are written in a way of their own.
func (b *Bindings) expand(text string, write func(p Part, bare string) string) (out string, absent bool) {
	for _, p := range Parse(text) {
		words, gone, known := b.words(p)
		absent = absent || gone
		if known {
			out += write(p, strings.Join(words, " "))
		} else {
			out += p.Text
		}
	}
	return out, absent || b.idle(text)
}

// idleRE matches what has no meaning before nothing: --opts=, a key of a file, the mark of an
// element of a list, the sign of a redirection.
var idleRE = pattern.Lazy(`(?:^\s*(?:-\s+|[0-9]*[<>|&]+\s*)?|=\s*|:\s+)$`)

// idle reports whether flags that give nothing are all of the value that stands in a text.
func (b *Bindings) idle(text string) bool {
	rest, idle := "", false
	for _, p := range Parse(text) {
		if words, _, known := b.words(p); p.Flag && known && len(words) == 0 {
			idle = true
		} else {
			rest += p.Text
		}
	}
	return idle && idleRE().MatchString(rest)
}

// words returns the words that replace a placeholder: one, unless the spec has it otherwise, and
// none of a flag that gives nothing. It is absent where a parameter is inactive without a stated
// value for that; known is false for text in braces that means nothing here.
func (b *Bindings) words(p Part) (words []string, absent, known bool) {
	v, par, known := b.value(p)
	own, renamed := par.Words[v.Text()]
	switch {
	case p.Flag && known:
		text := p.Off
		if on, _ := v.Any().(bool); on {
			text = p.On
		}
		if text != "" {
			words = []string{text}
		}
		return words, !v.IsValid(), true
	case !v.IsValid():
		return nil, known, known
	case LiteralFormat(p.Format):
		return []string{Literal(v)}, false, true
	case p.Format != "":
		return []string{formatNumber(p.Format, v)}, false, true
	case renamed:
		return own, false, true
	}
	return []string{v.Text()}, false, true
}

// value returns what a placeholder stands for, none if that is absent, and its parameter unless it is built in.
func (b *Bindings) value(p Part) (v spaces.Value, par spaces.Param, known bool) {
	builtin := builtins[p.Name]
	if b.Params == nil && p.Name != "study" && p.Name != "seed" {
		builtin = nil // there is no trial yet
	}
	if builtin != nil && !p.Flag && (p.Format == "" || LiteralFormat(p.Format)) {
		return builtin(b), par, true
	}
	i := slices.IndexFunc(b.Params, func(par spaces.Param) bool { return par.Name == p.Name })
	if i < 0 || p.Format != "" && !ValidFormat(p.Format) {
		return spaces.Value{}, par, false
	}
	v, _ = b.Given(b.Params[i])
	return v, b.Params[i], true
}

// Given returns what a program is given for a parameter: its value, or one stated for when it is inactive.
func (b *Bindings) Given(p spaces.Param) (spaces.Value, bool) {
	if v, ok := b.Values.Get(p.Name); ok {
		return v, true
	}
	return p.Inactive, p.Inactive.IsValid()
}

// All lists what Given returns for every parameter, in order.
func (b *Bindings) All() spaces.Values {
	var out spaces.Values
	for _, p := range b.Params {
		if v, ok := b.Given(p); ok {
			out = append(out, spaces.Assignment{Name: p.Name, Value: v})
		}
	}
	return out
}

// builtins are the placeholders that are no parameters.
var builtins = map[string]func(*Bindings) spaces.Value{
	"study":          func(b *Bindings) spaces.Value { return spaces.String(b.Study) },
	"seed":           (*Bindings).seed,
	"trial":          func(b *Bindings) spaces.Value { return spaces.Int(int64(b.Trial)) },
	"attempt":        func(b *Bindings) spaces.Value { return spaces.Int(int64(b.Attempt)) },
	"slot":           func(b *Bindings) spaces.Value { return spaces.Int(int64(b.Slot)) },
	"trial_dir":      func(b *Bindings) spaces.Value { return spaces.String(b.TrialDir) },
	"checkpoint_dir": func(b *Bindings) spaces.Value { return spaces.String(b.CheckpointDir) },
	"params_file":    func(b *Bindings) spaces.Value { return spaces.String(b.ParamsFile) },
	"params_json":    func(b *Bindings) spaces.Value { return spaces.String(string(b.ParamsJSON())) },
}

// Reserved reports whether a placeholder of that name is no parameter's.
func Reserved(name string) bool { return builtins[name] != nil || name == "flag" }

func (b *Bindings) seed() spaces.Value {
	if b.Seed > math.MaxInt64 {
		return spaces.String(strconv.FormatUint(b.Seed, 10))
	}
	return spaces.Int(int64(b.Seed))
}

// ParamsJSON writes the parameters as one JSON object.
func (b *Bindings) ParamsJSON() []byte {
	out, _ := b.All().MarshalJSON() // values of a space are finite numbers, strings and truth values
	return out
}

// formatNumber writes a number as fmt does; d is for ints, the rest for both.
func formatNumber(format string, v spaces.Value) string {
	if n, ok := v.Any().(int64); ok && strings.HasSuffix(format, "d") {
		return fmt.Sprintf("%"+format, n)
	}
	x, ok := v.Number()
	if !ok || strings.HasSuffix(format, "d") {
		return v.Text()
	}
	return fmt.Sprintf("%"+format, x)
}

// Part is a stretch of a template: literal text, also a {{name}} by itself, or one placeholder.
type Part struct {
	// Text is the literal text, {name} for {{name}}, or the placeholder as it was written.
	Text string
	// Name is the placeholder's name; empty for literal text.
	Name string
	// Flag marks {flag:name}, {flag:name=on} and {flag:name=on|off}. The program is
	// given On or Off as the parameter has it, and nothing for an empty one.
	Flag    bool
	On, Off string
	// Format is what followed a colon, as in {lr:.3g}. A placeholder of unknown
	// name whose format is not ValidFormat is not a placeholder: {user:root} stays.
	Format string
	// Start and End are byte offsets in the template.
	Start, End int
	// Context says where in a shell command it stands. Only in a plain word it can be replaced safely.
	Context Context

	// word is the shell word that the placeholder stands in, before the one before it.
	word, before span
	// listed: the word is one of a list, of which there may be more or none.
	listed bool
}

// span is a range of byte offsets in a template.
type span struct{ start, end int }

// alone reports whether the part is a shell word by itself.
func (p Part) alone() bool { return p.word == span{p.Start, p.End} }

// IsPlaceholder reports whether the part is replaced.
func (p Part) IsPlaceholder() bool { return p.Name != "" }

// placeholderRE finds {{...}}, which stands for {...}, and {...} with its name and format.
var placeholderRE = pattern.Lazy(
	`\{(\{[A-Za-z_][A-Za-z0-9_]*(?::[^{}\s"']+)?\})\}|\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}\s"']+))?\}`)

var formatRE = pattern.Lazy(`^\+?0?[0-9]{0,3}(?:\.[0-9]{1,3})?[dgGeEfF]$`)

// Parse splits text into literal stretches and placeholders: {name}, {name:format} or {flag:name...}, a
// bare identifier in braces, not preceded by $. So ${name}, { print $3 } and JSON stay as they are, and
// {{name}} is a literal {name}.
func Parse(text string) []Part {
	var parts []Part
	literal := func(s string, start, end int) {
		if s != "" {
			parts = append(parts, Part{Text: s, Start: start, End: end})
		}
	}
	at := 0
	for _, m := range placeholderRE().FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		literal(text[at:start], at, start)
		at = end
		switch {
		case start > 0 && text[start-1] == '$':
			literal(text[start:end], start, end)
		case m[2] >= 0:
			literal(text[m[2]:m[3]], start, end)
		default:
			p := Part{Text: text[start:end], Name: text[m[4]:m[5]], Start: start, End: end}
			if m[6] >= 0 {
				p.Format = text[m[6]:m[7]]
			}
			p.readFlag()
			parts = append(parts, p)
		}
	}
	literal(text[at:], at, len(text))
	return parts
}

func (p *Part) readFlag() {
	name, texts, own := strings.Cut(p.Format, "=")
	if p.Name != "flag" || !shell.IsName(name) {
		return
	}
	p.Flag, p.Name, p.Format = true, name, ""
	p.On = "--" + strings.ReplaceAll(name, "_", "-")
	if own {
		p.On, p.Off, _ = strings.Cut(texts, "|")
	}
}

// ValidFormat reports whether f is a format: of a number, or a literal one.
func ValidFormat(f string) bool { return NumberFormat(f) || LiteralFormat(f) }

// NumberFormat reports whether f formats a number: an optional + and 0, a width
// and a precision, then one of d (ints only), g, G, e, E, f and F.
func NumberFormat(f string) bool { return formatRE().MatchString(f) }

// LiteralFormat reports whether f writes a value as configuration files have it: a
// number that every reader takes for one, a string in quotes, true or false.
func LiteralFormat(f string) bool { return f == "json" || f == "yaml" || f == "toml" }

// SyntaxError says what is wrong at one place of a template.
type SyntaxError struct {
	Start, End int // byte offsets in the template
	Message    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at byte %d: %s", e.Start, e.Message)
}
