package spaces

import (
	"fmt"
	"math"
	"regexp"
)

// Kind says what values a parameter takes.
type Kind string

// The kinds of parameters.
const (
	KindFloat  Kind = "float"
	KindInt    Kind = "int"
	KindChoice Kind = "choice"
	KindBool   Kind = "bool"
)

// Kinds lists every kind, in the order in which documents name them.
func Kinds() []Kind { return []Kind{KindFloat, KindInt, KindChoice, KindBool} }

// Scale says in which measure equal steps of a float or an int count as equal.
type Scale string

// The scales of numeric parameters. The empty Scale means Linear.
const (
	Linear Scale = "linear"
	Log    Scale = "log"
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
	// Scale is for floats and ints; Log needs Min > 0.
	Scale Scale `json:"scale,omitempty"`
	// Format, for floats, is how the program is given the value, as fmt has it
	// after the percent sign: ".3g". Values are then those that it can write.
	Format string `json:"format,omitempty"`
	// Choices are the levels of a choice, at least two, all different.
	Choices []Value `json:"choices,omitempty"`
	// Words, for a choice or a bool, are what the command is given for some of the
	// values instead of their text, by that text: any number of words. Everything
	// else sees the value itself.
	Words map[string][]string `json:"words,omitempty"`
	// When makes the parameter conditional: it exists only in configurations
	// where the condition holds.
	When *Condition `json:"when,omitempty"`
	// Inactive is what a program is given while When does not hold; no value
	// means that it is given nothing.
	Inactive Value `json:"inactive,omitzero"`
}

// Problem is one thing wrong with a parameter. Field names the spec key at
// fault: name, type, min, max, scale, format, choices, when or
// inactive.
type Problem struct {
	Param, Field, Message string
	// When is the place in the condition that is at fault, if one is.
	When *ConditionError
}

func (p Problem) Error() string {
	return fmt.Sprintf("parameter %s: %s: %s", p.Param, p.Field, p.Message)
}

var nameRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check returns everything that is wrong with p by itself; conditions are
// checked by New, which knows the other parameters.
func (p Param) Check() []Problem {
	var out []Problem
	bad := func(field, format string, args ...any) {
		out = append(out, Problem{Param: p.Name, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !nameRE.MatchString(p.Name) {
		bad("name", "%q is not a name: want a letter or _ followed by letters, digits and _", p.Name)
	}
	switch p.Kind {
	case KindFloat, KindInt:
		p.checkRange(bad)
	case KindChoice:
		p.checkChoices(bad)
	case KindBool:
	default:
		bad("type", "found %q; allowed are float, int, choice and bool", p.Kind)
		return out
	}
	if len(out) == 0 {
		p.checkFormat(bad)
	}
	if p.Kind != KindChoice && len(p.Choices) > 0 {
		bad("choices", "only a parameter of type choice has choices; this one is %s", p.Kind)
	}
	if (p.Kind == KindChoice || p.Kind == KindBool) && p.Scale != "" {
		bad("scale", "only float and int have a scale; this one is %s", p.Kind)
	}
	if p.Inactive.IsValid() && p.When == nil {
		bad("inactive", "needs when: a parameter without a condition is always active")
	}
	return out
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
	switch p.Scale {
	case "", Linear:
	case Log:
		if p.Min <= 0 {
			bad("min", "min = %s, but a log scale needs min > 0", formatFloat(p.Min))
		}
	default:
		bad("scale", "found %q; allowed are linear and log", p.Scale)
	}
}

func (p Param) checkChoices(bad func(field, format string, args ...any)) {
	if len(p.Choices) < 2 {
		bad("choices", "found %d; a choice needs at least two", len(p.Choices))
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
	v, err := p.parse(text)
	if err != nil {
		return Value{}, err
	}
	return p.Normalize(v)
}

// Normalize returns v as this parameter holds it (an int for a float parameter
// becomes a float, a whole float for an int parameter an int) or says why it
// is none of its values.
func (p Param) Normalize(v Value) (Value, error) {
	no := func(want string) (Value, error) {
		return Value{}, fmt.Errorf("parameter %s: found %q; want %s", p.Name, v.Text(), want)
	}
	switch p.Kind {
	case KindFloat, KindInt:
		x, ok := v.Number()
		if !ok || math.IsNaN(x) || p.Kind == KindInt && x != math.Trunc(x) {
			return no(p.describe())
		}
		if x < p.Min || x > p.Max {
			return no(p.describe())
		}
		if p.Kind == KindInt {
			return Int(int64(x)), nil
		}
		return Float(x), nil
	case KindBool:
		if _, ok := v.v.(bool); ok {
			return v, nil
		}
		return no("true or false")
	case KindChoice:
		for _, c := range p.Choices {
			if c == v || c.Text() == v.Text() {
				return c, nil
			}
		}
		return no(p.describe())
	}
	return no("a value of a known type")
}

// describe says which values the parameter takes.
func (p Param) describe() string {
	switch p.Kind {
	case KindFloat:
		return fmt.Sprintf("a number from %s to %s", formatFloat(p.Min), formatFloat(p.Max))
	case KindInt:
		return fmt.Sprintf("a whole number from %s to %s", formatFloat(p.Min), formatFloat(p.Max))
	case KindBool:
		return "true or false"
	}
	s := "one of "
	for i, c := range p.Choices {
		if i > 0 {
			s += ", "
		}
		s += c.Text()
	}
	return s
}

// Levels returns how many different values the parameter has, and false for a
// float, which has no useful count.
func (p Param) Levels() (float64, bool) {
	switch p.Kind {
	case KindInt:
		return p.Max - p.Min + 1, true
	case KindBool:
		return 2, true
	case KindChoice:
		return float64(len(p.Choices)), true
	}
	return math.Inf(1), false
}
