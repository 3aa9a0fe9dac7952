package spaces

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
)

// Value is what one parameter is set to in one trial: a float64, an int64, a
// bool or a string. Values are comparable with ==. The zero Value is invalid
// and stands for "no value".
type Value struct{ v any }

// Float returns a floating-point value. NaN and infinities are no parameter
// values; Param.Check refuses them.
func Float(x float64) Value { return Value{x} }

// Int returns an integer value.
func Int(n int64) Value { return Value{n} }

// Bool returns a truth value.
func Bool(b bool) Value { return Value{b} }

// String returns a text value, as choices have.
func String(s string) Value { return Value{s} }

// IsValid reports whether v holds anything.
func (v Value) IsValid() bool { return v.v != nil }

// Any returns the float64, int64, bool or string inside, nil for no value.
func (v Value) Any() any { return v.v }

// Number returns the value as a float64, for floats and ints only.
func (v Value) Number() (float64, bool) {
	switch x := v.v.(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	}
	return math.NaN(), false
}

// Text returns the value as a program is given it: the shortest decimal that
// reads back as the same float64, a plain decimal integer, true or false, or
// the text of a choice unchanged.
func (v Value) Text() string {
	switch x := v.v.(type) {
	case float64:
		return formatFloat(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case bool:
		return strconv.FormatBool(x)
	case string:
		return x
	}
	return ""
}

// String makes Value a fmt.Stringer; it is Text.
func (v Value) String() string { return v.Text() }

// formatFloat is strconv's shortest form, written without an exponent where
// the exponent would not make it shorter to read.
func formatFloat(x float64) string {
	if a := math.Abs(x); a == 0 || (a >= 1e-4 && a < 1e15) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'e', -1, 64)
}

// MarshalJSON writes a bare JSON number, boolean or string. A float always has
// a point or an exponent and an int never has, so that the kind survives the
// round trip.
func (v Value) MarshalJSON() ([]byte, error) {
	switch x := v.v.(type) {
	case nil:
		return []byte("null"), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("parameter value %v is not a finite number", x)
		}
		s := formatFloat(x)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return []byte(s), nil
	case string:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(x)
		return bytes.TrimRight(b.Bytes(), "\n"), err
	}
	return []byte(v.Text()), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	s := string(bytes.TrimSpace(b))
	switch {
	case s == "null", s == "true", s == "false", strings.HasPrefix(s, `"`):
		return json.Unmarshal(b, &v.v)
	case strings.ContainsAny(s, ".eE") && !strings.ContainsAny(s[:1], "[{"):
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("parameter value %s: beyond the range of a float64", s)
		}
		*v = Float(x)
	default:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("parameter value %s: want a number, a string, true or false", s)
		}
		*v = Int(n)
	}
	return nil
}

// Assignment sets one parameter.
type Assignment struct {
	Name  string
	Value Value
}

// Values is one configuration: the active parameters in the order of the
// space. A parameter whose condition does not hold is absent.
type Values []Assignment

// Get returns the value of the named parameter and whether it is there.
func (vs Values) Get(name string) (Value, bool) {
	for _, a := range vs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return Value{}, false
}

// Float returns the number that the parameter is set to: NaN if there is none, as where its
// condition does not hold.
func (vs Values) Float(name string) float64 {
	v, _ := vs.Get(name)
	return num(v)
}

// Int returns the whole number that the parameter is set to, 0 if there is none.
func (vs Values) Int(name string) int {
	v, _ := vs.Get(name)
	n, _ := v.v.(int64)
	return int(n)
}

// Bool returns the truth value that the parameter is set to, false if there is none.
func (vs Values) Bool(name string) bool {
	v, _ := vs.Get(name)
	return v == Bool(true)
}

// Text returns what the parameter is set to as a program is given it, "" if it is not there.
func (vs Values) Text(name string) string {
	v, _ := vs.Get(name)
	return v.Text()
}

// Equal reports whether both configurations set the same parameters, in the
// same order, to the same values.
func (vs Values) Equal(other Values) bool { return slices.Equal(vs, other) }

// String writes the configuration as people read it: lr=0.01 depth=3.
func (vs Values) String() string {
	return strings.Join(lists.Map(vs, func(a Assignment) string { return a.Name + "=" + a.Value.Text() }), " ")
}

// MarshalJSON writes an object whose members keep the order of the space.
func (vs Values) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, a := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := String(a.Name).MarshalJSON()
		if err != nil {
			return nil, err
		}
		val, err := a.Value.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", a.Name, err)
		}
		b = append(append(append(b, name...), ':'), val...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object and keeps the order of its members.
func (vs *Values) UnmarshalJSON(b []byte) error {
	*vs = nil
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("parameter values: want a JSON object, found %.40q", b)
	}
	*vs = Values{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		var val Value
		if err := dec.Decode(&val); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
		*vs = append(*vs, Assignment{Name: name, Value: val})
	}
	_, err := dec.Token()
	return err
}
