package spec

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/study"
)

// table reads one TOML table key by key. Every key that was asked for is
// known; done complains about the others. A key of the wrong type is a
// complaint, and its reader answers the default.
type table struct {
	doc     *document
	path    toml.Key
	element int // index inside an array of tables, -1 elsewhere
	data    map[string]any
	known   []string
}

func (d *document) rootTable() *table {
	return &table{doc: d, element: -1, data: d.root}
}

func (t *table) key(k string) toml.Key { return append(t.path[:len(t.path):len(t.path)], k) }

func (t *table) name(k string) string {
	if t.element >= 0 {
		return fmt.Sprintf("%s[%d].%s", t.path, t.element, k)
	}
	return t.key(k).String()
}

// at complains about the value of key k.
func (t *table) at(k, hint, format string, args ...any) {
	t.doc.complain(t.doc.locate(t.key(k), t.element, false), t.name(k), hint, format, args...)
}

// self complains about the table itself.
func (t *table) self(hint, format string, args ...any) {
	if len(t.path) == 0 {
		t.doc.complain(place{}, "", hint, format, args...)
		return
	}
	t.doc.complain(t.doc.locate(t.path, t.element, true), t.path.String(), hint, format, args...)
}

// missing complains that the required key k is not there, unless a key that
// looks like a misspelling of it is: done complains about that one.
func (t *table) missing(k, hint, format string, args ...any) {
	for found := range t.data {
		if _, typo := Nearest(found, []string{k}); typo && found != k {
			return
		}
	}
	t.self(hint, format, args...)
}

// get returns the raw value of key k and marks it as known.
func (t *table) get(k string) (any, bool) {
	t.known = append(t.known, k)
	t.doc.asked(t.path, k)
	if t.data == nil {
		return nil, false
	}
	v, ok := t.data[k]
	return v, ok
}

func (t *table) has(k string) bool {
	_, ok := t.data[k]
	return ok
}

// done complains about every key that nobody asked for, in file order.
func (t *table) done() {
	for _, k := range t.doc.keysOf(t) {
		known := false
		for _, n := range t.known {
			known = known || n == k
		}
		if !known {
			t.doc.complain(t.doc.locate(t.key(k), t.element, true), t.name(k), didYouMean(k, t.known), "there is no such key")
		}
	}
}

// keysOf lists the keys of a table in the order of the file.
func (d *document) keysOf(t *table) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range d.md.Keys() {
		if len(k) <= len(t.path) || !samePath(k[:len(t.path)], t.path) {
			continue
		}
		next := k[len(t.path)]
		if _, ok := t.data[next]; ok && !seen[next] {
			seen[next] = true
			out = append(out, next)
		}
	}
	// Keys of inline tables inside arrays are not listed by the decoder.
	for k := range t.data {
		if !seen[k] {
			seen[k] = true
			out = insertSorted(out, k)
		}
	}
	return out
}

func insertSorted(s []string, k string) []string {
	i := len(s)
	for i > 0 && s[i-1] > k {
		i--
	}
	s = append(s, "")
	copy(s[i+1:], s[i:])
	s[i] = k
	return s
}

func samePath(a, b toml.Key) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// wrongType complains that key k holds v instead of what is wanted.
func (t *table) wrongType(k string, v any, want string) {
	t.at(k, "", "found %s; want %s", describe(v), want)
}

func describe(v any) string {
	switch x := v.(type) {
	case string:
		if len(x) > 40 {
			x = x[:40] + "..."
		}
		return fmt.Sprintf("the string %q", x)
	case int64, float64:
		return fmt.Sprintf("the number %v", x)
	case bool:
		return fmt.Sprintf("%v", x)
	case []any:
		return "an array"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	}
	return fmt.Sprintf("%v", v)
}

func (t *table) str(k, def string) string {
	v, ok := t.get(k)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		t.wrongType(k, v, "a string")
		return def
	}
	if strings.ContainsRune(s, 0) {
		t.at(k, "", "holds a NUL character, which no program can be given")
		return def
	}
	return s
}

// oneOf reads a string that must be one of the allowed ones.
func (t *table) oneOf(k, def string, allowed ...string) string {
	s := t.str(k, def)
	if s == def {
		return s
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	hint := ""
	if c, ok := Nearest(s, allowed); ok {
		hint = "did you mean " + c + "?"
	}
	t.at(k, hint, "found %q; allowed are %s", s, strings.Join(allowed, ", "))
	return def
}

// integer reads a whole number of at least low.
func (t *table) integer(k string, def, low int64) int64 {
	v, ok := t.get(k)
	if !ok {
		return def
	}
	n, ok := v.(int64)
	if !ok {
		t.wrongType(k, v, "a whole number")
		return def
	}
	if n < low {
		t.at(k, "", "found %d; want at least %d", n, low)
		return def
	}
	return n
}

// number reads a finite number; ok is false when there is none.
func (t *table) number(k string) (x float64, ok bool) {
	v, ok := t.get(k)
	if !ok {
		return 0, false
	}
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			t.at(k, "", "found %v; want a finite number", n)
			return 0, false
		}
		return n, true
	case string:
		t.at(k, "write the number without quotes", "found the string %q; want a number", n)
		return 0, false
	}
	t.wrongType(k, v, "a number")
	return 0, false
}

func (t *table) boolean(k string, def bool) bool {
	v, ok := t.get(k)
	if !ok {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		t.wrongType(k, v, "true or false")
		return def
	}
	return b
}

// duration reads text such as "90s" or "2h30m"; it must be positive.
func (t *table) duration(k string, def time.Duration) study.Duration {
	v, ok := t.get(k)
	if !ok {
		return study.Duration(def)
	}
	s, ok := v.(string)
	if !ok {
		t.at(k, `write a duration in quotes: "90s", "5m" or "2h30m"`, "found %s; want a duration", describe(v))
		return study.Duration(def)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.at(k, `for example "90s", "5m" or "2h30m"`, "found %q; want a positive duration", s)
		return study.Duration(def)
	}
	return study.Duration(d)
}

// strings reads an array of strings.
func (t *table) strings(k string) []string {
	v, ok := t.get(k)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.wrongType(k, v, "an array of strings")
		return nil
	}
	var out []string
	for i, e := range list {
		s, ok := e.(string)
		if !ok || strings.ContainsRune(s, 0) {
			t.at(k, "", "element %d is %s; want a string", i+1, describe(e))
			return nil
		}
		out = append(out, s)
	}
	return out
}

// sub reads a table; a missing one reads as empty.
func (t *table) sub(k string) *table {
	out := &table{doc: t.doc, path: t.key(k), element: -1}
	v, ok := t.get(k)
	if !ok {
		return out
	}
	m, ok := v.(map[string]any)
	if !ok {
		t.wrongType(k, v, "a table")
		return out
	}
	out.data = m
	return out
}

// subs reads an array of tables, written with [[...]] or inline.
func (t *table) subs(k string) []*table {
	v, ok := t.get(k)
	if !ok {
		return nil
	}
	var maps []map[string]any
	switch x := v.(type) {
	case []map[string]any:
		maps = x
	case []any:
		for i, e := range x {
			m, ok := e.(map[string]any)
			if !ok {
				t.at(k, "", "element %d is %s; want a table", i+1, describe(e))
				return nil
			}
			maps = append(maps, m)
		}
	default:
		t.wrongType(k, v, "an array of tables")
		return nil
	}
	var out []*table
	for i, m := range maps {
		out = append(out, &table{doc: t.doc, path: t.key(k), element: i, data: m})
	}
	return out
}

// pairs reads a table of strings as NAME=value in file order.
func (t *table) pairs(k string) []string {
	sub := t.sub(k)
	var out []string
	for _, name := range t.doc.keysOf(sub) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			sub.at(name, "", "%q is no name of an environment variable", name)
			continue
		}
		out = append(out, name+"="+sub.str(name, ""))
	}
	return out
}
