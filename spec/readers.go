package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// read reads a value of type T, of which want says what it is. Where there is none it
// returns the default, and false.
func read[T any](t *table, k string, def T, want string) (T, bool) {
	v, there := t.get(k)
	x, ok := v.(T)
	if !ok {
		x = def
	}
	if there && !ok {
		t.wrongType(k, v, want)
	}
	return x, ok
}

// str reads a string that a program can be given.
func (t *table) str(k, def string) string {
	s, ok := read(t, k, def, "a string")
	if ok && strings.ContainsRune(s, 0) {
		t.Wrong(k, "", "holds a NUL character, which no program can be given")
		return def
	}
	return s
}

// Text is str without a default.
func (t *table) Text(k string) string { return t.str(k, "") }

// OneOf is oneOf where the first word is the default.
func (t *table) OneOf(k, first string, more ...string) string {
	return t.oneOf(k, first, append([]string{first}, more...)...)
}

func (t *table) oneOf(k, def string, allowed ...string) string {
	s := t.str(k, def)
	if s == def || slices.Contains(allowed, s) {
		return s
	}
	t.Wrong(k, didYouMeanWord(s, allowed), "found %q; allowed are %s", s, strings.Join(allowed, ", "))
	return def
}

// Int reads a whole number of at least low.
func (t *table) Int(k string, def, low int) int {
	n, ok := read(t, k, int64(def), "a whole number")
	if ok && n < int64(low) {
		t.Wrong(k, "", "found %d; want at least %d", n, low)
		return def
	}
	return int(n)
}

// number reads a finite number; ok is false when there is none.
func (t *table) number(k string) (x float64, ok bool) {
	v, ok := t.get(k)
	if !ok {
		return 0, false
	}
	switch n := v.(type) {
	case int64:
		return float64(n), t.exact(k, n)
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			t.Wrong(k, "", "found %v; want a finite number", n)
			return 0, false
		}
		return n, true
	case string:
		t.Wrong(k, "write the number without quotes", "found the string %q; want a number", n)
		return 0, false
	}
	t.wrongType(k, v, "a number")
	return 0, false
}

// exact complains of a whole number that loses digits where it is computed with.
func (t *table) exact(k string, v any) bool {
	n, whole := v.(int64)
	lost := whole && strconv.FormatFloat(float64(n), 'f', 0, 64) != strconv.FormatInt(n, 10)
	t.when(lost, k, "", "found %d, which would lose digits: whole numbers are exact within ±2^53 = 9007199254740992", n)
	return !lost
}

// within reads a number strictly between low and high.
func (t *table) within(k string, def, low, high float64) float64 {
	x, ok := t.number(k)
	if !ok {
		return def
	}
	if x <= low || x >= high {
		if math.IsInf(high, 1) {
			t.Wrong(k, "", "found %v; want a number above %v", x, low)
		} else {
			t.Wrong(k, "", "found %v; want a number between %v and %v", x, low, high)
		}
		return def
	}
	return x
}

func (t *table) boolean(k string) bool {
	b, _ := read(t, k, false, "true or false")
	return b
}

// Duration reads text such as "90s" or "2h30m"; it must be positive.
func (t *table) Duration(k string, def time.Duration) time.Duration {
	v, ok := t.get(k)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		t.Wrong(k, `write a duration in quotes: "90s", "5m" or "2h30m"`, "found %s; want a duration", describe(v))
		return def
	}
	var d study.Duration
	if err := d.UnmarshalText([]byte(s)); err != nil || d <= 0 {
		t.Wrong(k, `for example "90s", "5m" or "2h30m"`, "found %q; want a positive duration", s)
		return def
	}
	return time.Duration(d)
}

// array reads an array, of which want says what it should be.
func (t *table) array(k, want string) []any {
	list, _ := read[[]any](t, k, nil, want)
	return list
}

// elements reads an array of what take takes, and want says; it is empty if there is anything else.
func elements[T any](t *table, k, array, want string, take func(any) (T, bool)) []T {
	var out []T
	for i, e := range t.array(k, array) {
		x, ok := take(e)
		if !ok {
			t.Wrong(k, "", "element %d is %s; want %s", i+1, describe(e), want)
			return nil
		}
		out = append(out, x)
	}
	return out
}

// Texts reads an array of strings.
func (t *table) Texts(k string) []string {
	return elements(t, k, "an array of strings", "a string", func(e any) (string, bool) {
		s, ok := e.(string)
		return s, ok && !strings.ContainsRune(s, 0)
	})
}

// bytes reads a size: a number of bytes, or text such as "10MB" or "1GiB".
func (t *table) bytes(k string, def int64) int64 {
	v, ok := t.get(k)
	if !ok {
		return def
	}
	switch x := v.(type) {
	case int64:
		if x > 0 {
			return x
		}
	case string:
		if n, ok := parseBytes(x); ok {
			return n
		}
	}
	t.Wrong(k, `for example "10MB" or "1GiB"`, "found %s; want a size", describe(v))
	return def
}

func parseBytes(s string) (int64, bool) {
	units := []struct {
		name string
		size float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		num, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		n := x * u.size
		return int64(n), err == nil && n >= 1 && n <= math.MaxInt64/2
	}
	return 0, false
}

// ownVariableRE matches the environment variables that every trial finds.
var ownVariableRE = pattern.Lazy(`^LBOTUNE_(?:TRIAL|SEED|STUDY|TRIAL_DIR|CHECKPOINT_DIR|PARAM_.*)$`)

// pairs reads a table of strings as NAME=value in file order.
func (t *table) pairs(k string) []string {
	sub := t.sub(k)
	var out []string
	for _, name := range sub.keys() {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			sub.Wrong(name, "", "%q is not the name of an environment variable", name)
			continue
		}
		sub.when(ownVariableRE().MatchString(name), name, "choose another name", "lbotune itself sets %s for each trial", name)
		out = append(out, name+"="+sub.str(name, ""))
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
