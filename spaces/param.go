package spaces

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
)

// Kind says what values a parameter takes.
type Kind string

// The kinds of parameters.
const (
	KindFloat   Kind = "float"
	KindInt     Kind = "int"
	KindOrdered Kind = "ordered" // one of a list, whose neighbours are alike
	KindChoice  Kind = "choice"
	KindBool    Kind = "bool"
)

// Scale says in which measure equal steps of a float or an int count as equal.
type Scale string

// The scales of numeric parameters. The empty Scale means Linear.
const (
	Linear Scale = "linear"
	Log    Scale = "log"
	// Logit, for floats between 0 and 1, is linear in ln(x/(1−x)): logarithmic towards
	// both ends.
	Logit Scale = "logit"
)

// maxInt bounds integer parameters: beyond 2^53 a float64 skips integers.
const maxInt = 1 << 53

// Param is one parameter of a study.
type Param struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Min and Max bound floats and ints, both ends included.
	Min float64 `json:"min,omitempty"`
	Max float64 `json:"max,omitempty"`
	// Scale is for floats and ints; Log needs Min > 0, Logit 0 < Min and Max < 1.
	Scale Scale `json:"scale,omitempty"`
	// Step, for floats and ints, is the distance of neighbouring values, of which the
	// first is Min and the last Max. 0 means any float, and 1 for an int.
	Step float64 `json:"step,omitempty"`
	// Format, for floats, is how the program is given the value, as fmt has it
	// after the percent sign: ".3g". Values are then those that it can write.
	Format string `json:"format,omitempty"`
	// Choices are the levels of a choice, or of an ordered parameter in their order:
	// at least two, all different.
	Choices []Value `json:"choices,omitempty"`
	// Words, for a choice or a bool, are what the command is given for some of the
	// values instead of their text, by that text: any number of words. Everything
	// else sees the value itself.
	Words map[string][]string `json:"words,omitempty"`
	// When makes the parameter conditional: it exists only in configurations
	// where the condition holds, a relation between parameters before this one:
	// "optimizer == 'sgd' and layers >= 2". It does not hold where one of them does
	// not exist.
	When string `json:"when,omitempty"`
	// Inactive is what a program is given while When does not hold; no value
	// means that it is given nothing.
	Inactive Value `json:"inactive,omitzero"`
	// Default is the value that is used today; none if it is not known.
	Default Value `json:"default,omitzero"`
	// Sure says that the best is expected near Default, and how surely: hardly, somewhat or
	// very. Empty means that nothing is known of where it is.
	Sure string `json:"sure,omitempty"`
}

// Problem is one thing wrong with a parameter. Field names the spec key at
// fault: name, type, min, max, scale, step, format, choices, when, inactive or
// default.
type Problem struct {
	Param, Field, Message string
	// When is the place in the condition that is at fault, if one is.
	When *RelationError
}

func (p Problem) Error() string {
	return fmt.Sprintf("parameter %s: %s: %s", p.Param, p.Field, p.Message)
}

var nameRE = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check returns everything that is wrong with p by itself; conditions are
// checked by New, which knows the other parameters.
func (p Param) Check() []Problem {
	var out []Problem
	bad := func(field, format string, args ...any) {
		out = append(out, Problem{Param: p.Name, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !nameRE().MatchString(p.Name) {
		bad("name", "%q is not a name: want a letter or _ followed by letters, digits and _", p.Name)
	}
	switch p.Kind {
	case KindFloat, KindInt:
		p.checkRange(bad)
	case KindChoice, KindOrdered:
		p.checkChoices(bad)
	case KindBool:
	default:
		bad("type", "found %q; allowed are float, int, ordered, choice and bool", p.Kind)
		return out
	}
	if len(out) == 0 {
		p.checkFormat(bad)
	}
	if p.Kind != KindChoice && p.Kind != KindOrdered && len(p.Choices) > 0 {
		bad("choices", "only a parameter of type choice or ordered has choices; this one is %s", p.Kind)
	}
	if !p.numeric() && p.Scale != "" {
		bad("scale", "only float and int have a scale; this one is %s", p.Kind)
	}
	if !p.numeric() && p.Step != 0 {
		bad("step", "only float and int have a step; this one is %s", p.Kind)
	}
	if p.Default.IsValid() && len(out) == 0 {
		if _, err := p.Normalize(p.Default); err != nil {
			bad("default", "found %s; want %s", quoted(p.Default), p.Describe())
		}
	}
	if p.Inactive.IsValid() && p.When == "" {
		bad("inactive", "needs when: a parameter without a condition is always active")
	}
	return out
}

// quoted is a value as people read it, a text in quotes: "true" is not true.
func quoted(v Value) string {
	switch x := v.v.(type) {
	case string:
		return strconv.Quote(x)
	case float64, int64, bool:
		return v.Text()
	}
	return fmt.Sprintf("%v of type %[1]T", v.v) // which Today was given
}

func (p Param) checkRange(bad func(field, format string, args ...any)) {
	for _, end := range []struct {
		field string
		x     float64
	}{{"min", p.Min}, {"max", p.Max}} {
		switch {
		case math.IsNaN(end.x) || math.IsInf(end.x, 0):
			bad(end.field, "found %v; want a finite number", end.x)
			return
		case p.Kind == KindInt && end.x != math.Trunc(end.x):
			bad(end.field, "found %s; an int parameter needs a whole number", formatFloat(end.x))
		case p.Kind == KindInt && math.Abs(end.x) > maxInt:
			bad(end.field, "found %s; an int parameter stays within ±2^53", formatFloat(end.x))
		}
	}
	if p.Min >= p.Max {
		bad("min", "min = %s must be smaller than max = %s", formatFloat(p.Min), formatFloat(p.Max))
	}
	if math.IsInf(p.Max-p.Min, 0) {
		bad("max", "the range is wider than a float64 can hold")
	}
	if p.Min < p.Max {
		p.checkStep(bad)
	}
	switch p.Scale {
	case "", Linear:
	case Log:
		if p.Min <= 0 {
			bad("min", "min = %s, but a log scale needs min > 0", formatFloat(p.Min))
		} else if p.Min <= p.Step/2 {
			bad("min", "min = %s, but a log scale with step = %s needs a larger one", formatFloat(p.Min), formatFloat(p.Step))
		}
	case Logit:
		switch {
		case p.Kind != KindFloat:
			bad("scale", "only a float has a logit scale; this one is %s", p.Kind)
		case p.Step != 0:
			bad("scale", "a logit scale has no step")
		case p.Min <= 0:
			bad("min", "min = %s, but a logit scale needs min > 0", formatFloat(p.Min))
		case p.Max >= 1:
			bad("max", "max = %s, but a logit scale needs max < 1", formatFloat(p.Max))
		}
	default:
		bad("scale", "found %q; allowed are linear, log and logit", p.Scale)
	}
}

func (p Param) numeric() bool { return p.Kind == KindFloat || p.Kind == KindInt }

// step is the distance of neighbouring values, 0 for a float that takes any.
func (p Param) step() float64 {
	if p.Kind == KindInt && p.Step == 0 {
		return 1
	}
	return p.Step
}

func (p Param) steps() float64 { return math.Round((p.Max - p.Min) / p.step()) }

// maxSteps bounds their number where Step is given, so that rounding errors stay
// far below a step.
const maxSteps = 1e9

func (p Param) checkStep(bad func(field, format string, args ...any)) {
	switch {
	case p.Step == 0:
	case !(p.Step > 0) || math.IsInf(p.Step, 0):
		bad("step", "found %s; want a positive number", formatFloat(p.Step))
	case p.Kind == KindInt && p.Step != math.Trunc(p.Step):
		bad("step", "found %s; an int parameter needs a whole number", formatFloat(p.Step))
	case p.Step > p.Max-p.Min:
		bad("step", "step = %s leads beyond max = %s at once", formatFloat(p.Step), formatFloat(p.Max))
	case p.steps() > maxSteps:
		bad("step", "step = %s makes more than 1e9 values; leave it out", formatFloat(p.Step))
	case math.Abs(p.Min+p.steps()*p.Step-p.Max) > 1e-6*p.Step:
		bad("max", "max = %s is no whole number of steps of %s from min = %s; the nearest below is %s",
			formatFloat(p.Max), formatFloat(p.Step), formatFloat(p.Min), formatFloat(p.after(math.Floor((p.Max-p.Min)/p.Step))))
	}
}

func (p Param) checkChoices(bad func(field, format string, args ...any)) {
	if len(p.Choices) < 2 {
		bad("choices", "found %d; want at least two", len(p.Choices))
	}
	seen := map[string]bool{}
	for _, c := range p.Choices {
		if x, ok := c.Number(); !c.IsValid() || ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			bad("choices", "found %s; want strings, numbers or truth values", c)
			continue
		}
		if seen[c.Text()] {
			bad("choices", "%q is there twice", c.Text())
		}
		seen[c.Text()] = true
	}
}

// Parse reads a value of this parameter from its text, as a command line or a
// person gives it, and checks its range.
func (p Param) Parse(text string) (Value, error) {
	var v Value
	var err error
	switch p.Kind {
	case KindFloat:
		// As programs print numbers, and not as Go also writes them: 0x1p3, 1_000.
		var x float64
		if x, err = strconv.ParseFloat(text, 64); !strings.ContainsAny(text, "xX_") {
			v = Float(x)
		}
	case KindInt:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v = Int(n)
	case KindBool:
		if text == "true" || text == "false" {
			v = Bool(text == "true")
		}
	default:
		if v = String(text); text == none && !slices.Contains(p.Choices, v) {
			v = String("")
		}
	}
	if err != nil || !v.IsValid() {
		return Value{}, fmt.Errorf("parameter %s: found %q; want %s", p.Name, text, p.Describe())
	}
	return p.Normalize(v)
}

// Normalize returns v as this parameter holds it (an int for a float parameter
// becomes a float, a whole float for an int parameter an int) or says why it
// is none of its values.
func (p Param) Normalize(v Value) (Value, error) {
	switch p.Kind {
	case KindFloat, KindInt:
		x, ok := v.Number()
		if !ok || !(x >= p.Min && x <= p.Max) || p.Kind == KindInt && v != Int(int64(x)) && v != Float(math.Trunc(x)) {
			break
		}
		if p.Step > 0 {
			at := p.stepped(x)
			if math.Abs(x-at) > 1e-6*p.Step {
				break
			}
			x = at
		}
		return p.valueOf(x), nil
	case KindBool:
		if _, ok := v.v.(bool); ok {
			return v, nil
		}
	case KindChoice, KindOrdered:
		for _, c := range p.Choices {
			if c == v || c.Text() != "" && c.Text() == v.Text() { // what is no value has no text
				return c, nil
			}
		}
	default:
		return Value{}, fmt.Errorf("parameter %s: found %q; want a value of a known type", p.Name, v.Text())
	}
	return Value{}, fmt.Errorf("parameter %s: found %q; want %s", p.Name, v.Text(), p.Describe())
}

// Describe says which values the parameter takes.
func (p Param) Describe() string {
	steps := ""
	if p.Step > 0 {
		steps = fmt.Sprintf(" in steps of %s", formatFloat(p.Step))
	}
	switch p.Kind {
	case KindFloat:
		return fmt.Sprintf("a number from %s to %s%s", formatFloat(p.Min), formatFloat(p.Max), steps)
	case KindInt:
		return fmt.Sprintf("a whole number from %s to %s%s", formatFloat(p.Min), formatFloat(p.Max), steps)
	case KindBool:
		return "true or false"
	}
	return "one of " + strings.Join(lists.Map(p.Choices, func(v Value) string { return cmp.Or(v.Text(), none) }), ", ")
}

// none is how people see and write the empty choice.
const none = `""`

// Levels returns how many different values the parameter has, and false for a
// float without a step, which has no useful count.
func (p Param) Levels() (float64, bool) {
	switch levels := p.levels(); {
	case levels != nil:
		return float64(len(levels)), true
	case p.numeric() && p.step() > 0:
		return p.steps() + 1, true
	}
	return math.Inf(1), false
}

// Near returns the values at most reach places before and after v, in their order and
// without v: none for a float without a step.
func (p Param) Near(v Value, reach int) []Value {
	levels, finite := p.Levels()
	if !finite {
		return nil
	}
	at := p.place(v)
	var out []Value
	for k := max(at-reach, 0); k <= at+reach && float64(k) < levels; k++ {
		if k != at {
			out = append(out, p.valueAt(k))
		}
	}
	return out
}

// place is how many values come before v.
func (p Param) place(v Value) int {
	if levels := p.levels(); levels != nil {
		return slices.Index(levels, v)
	}
	return int(math.Round((num(v) - p.Min) / p.step()))
}

// valueAt is the value that has k before it.
func (p Param) valueAt(k int) Value {
	if levels := p.levels(); levels != nil {
		return levels[k]
	}
	return p.valueOf(p.stepped(p.Min + float64(k)*p.step()))
}

func (p Param) valueOf(x float64) Value {
	if p.Kind == KindInt {
		return Int(int64(x))
	}
	return Float(x)
}
