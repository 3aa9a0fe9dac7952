package spec

import (
	"math"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// values reads an array of parameter values.
func (t *table) values(k string) []spaces.Value {
	var out []spaces.Value
	for i, e := range t.array(k, `an array such as ["sgd", "adam"]`) {
		val, ok := asValue(e)
		if !ok {
			t.at(k, "", "element %d is %s; want a string, a number, true or false", i+1, describe(e))
			return nil
		}
		out = append(out, val)
	}
	return out
}

// value reads one parameter value; the zero Value means that there is none.
func (t *table) value(k string) spaces.Value {
	v, ok := t.get(k)
	if !ok {
		return spaces.Value{}
	}
	val, ok := asValue(v)
	if !ok {
		t.wrongType(k, v, "a string, a number, true or false")
	}
	return val
}

func asValue(v any) (spaces.Value, bool) {
	switch x := v.(type) {
	case string:
		return spaces.String(x), !strings.ContainsRune(x, 0)
	case int64:
		return spaces.Int(x), true
	case float64:
		return spaces.Float(x), !math.IsNaN(x) && !math.IsInf(x, 0)
	case bool:
		return spaces.Bool(x), true
	}
	return spaces.Value{}, false
}
