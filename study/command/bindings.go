package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// Bindings is what placeholders stand for in one attempt.
type Bindings struct {
	Study   string // the study's directory
	Seed    uint64 // of the trial
	Trial   int
	Attempt int
	Slot    int
	// TrialDir is the attempt's directory, CheckpointDir one that attempts with
	// the same seed share.
	TrialDir, CheckpointDir string
	ParamsFile              string

	// Params are the parameters, nil before the first trial; Values those that
	// are active.
	Params []spaces.Param
	Values spaces.Values
}

// Expand replaces the placeholders of text by their bare values. It reports
// whether one of them is absent.
func (b *Bindings) Expand(text string) (out string, absent bool) {
	out = assemble(Parse(text), nil, func(p Part) string {
		words, gone, known := b.words(p)
		absent = absent || gone
		if !known {
			return p.Text
		}
		return strings.Join(words, " ")
	})
	return out, absent
}

// words returns the words that replace a placeholder: one, unless the spec has it
// otherwise. There is none (absent) for a flag that gives nothing and for a
// parameter that is inactive and has no stated inactive value; known is false for
// text in braces that means nothing here.
func (b *Bindings) words(p Part) (words []string, absent, known bool) {
	if t, ok := b.builtin(p.Name); ok && !p.Flag && (p.Format == "" || LiteralFormat(p.Format)) {
		if p.Format != "" {
			t = Literal(b.builtinValue(p.Name, t))
		}
		return []string{t}, false, true
	}
	par, ok := b.param(p.Name)
	if !ok || p.Format != "" && !ValidFormat(p.Format) {
		return nil, false, false
	}
	v, active := b.Given(par)
	switch own, has := par.Words[v.Text()]; {
	case p.Flag:
		text := p.Off
		if on, _ := v.Any().(bool); on {
			text = p.On
		}
		return []string{text}, !active || text == "", true
	case !active:
		return nil, true, true
	case LiteralFormat(p.Format):
		return []string{Literal(v)}, false, true
	case p.Format != "":
		return []string{formatNumber(p.Format, v)}, false, true
	case has:
		return own, false, true
	}
	return []string{v.Text()}, false, true
}

func (b *Bindings) param(name string) (spaces.Param, bool) {
	for i := range b.Params {
		if b.Params[i].Name == name {
			return b.Params[i], true
		}
	}
	return spaces.Param{}, false
}

// isNumber reports whether a placeholder stands for a number.
func (b *Bindings) isNumber(p Part) bool {
	par, ok := b.param(p.Name)
	v, active := b.Given(par)
	_, number := v.Number()
	return ok && active && number
}

// Given returns what a program is given for a parameter: its value, or while it
// is inactive its stated inactive value, if it has one.
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

func (b *Bindings) builtin(name string) (string, bool) {
	switch name {
	case "study":
		return b.Study, true
	case "seed":
		return strconv.FormatUint(b.Seed, 10), true
	}
	if b.Params == nil {
		return "", false
	}
	switch name {
	case "trial":
		return strconv.Itoa(b.Trial), true
	case "attempt":
		return strconv.Itoa(b.Attempt), true
	case "slot":
		return strconv.Itoa(b.Slot), true
	case "trial_dir":
		return b.TrialDir, true
	case "checkpoint_dir":
		return b.CheckpointDir, true
	case "params_file":
		return b.ParamsFile, true
	case "params_json":
		return string(b.ParamsJSON()), true
	}
	return "", false
}

// builtinValue is the value of a built-in placeholder, whose text is given: a
// number or a string.
func (b *Bindings) builtinValue(name, text string) spaces.Value {
	switch name {
	case "seed", "trial", "attempt", "slot":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return spaces.Int(n)
		}
	}
	return spaces.String(text)
}

// ParamsJSON writes the parameters as one JSON object.
func (b *Bindings) ParamsJSON() []byte {
	out, err := b.All().MarshalJSON()
	if err != nil {
		// Values of a space are finite numbers, strings and truth values.
		panic("command: parameters that JSON cannot hold: " + err.Error())
	}
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
