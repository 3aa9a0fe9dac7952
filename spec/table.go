package spec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/spelling"
)

// table reads one TOML table key by key. Every key that was asked for is
// known; done complains about the others. A key of the wrong type is a
// complaint, and its reader answers the default.
type table struct {
	doc     *document
	path    toml.Key
	element int    // index inside an array of tables, -1 elsewhere
	label   string // what complaints call a table inside such an element
	data    map[string]any
	known   []string
}

// key is the path of key k, name what complaints call it.
func (t *table) key(k string) toml.Key { return append(t.path[:len(t.path):len(t.path)], k) }

func (t *table) name(k string) string {
	if t.label != "" {
		return t.label + "." + toml.Key{k}.String()
	}
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
	if !slices.Contains(t.known, k) {
		t.known = append(t.known, k)
	}
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
		if !slices.Contains(t.known, k) {
			hint := otherKey(t.path.String(), k)
			if hint == "" {
				hint = spelling.DidYouMean(k, t.known)
			}
			t.doc.complain(t.doc.locate(t.key(k), t.element, true), t.name(k), hint, "there is no such key")
		}
	}
}

// keysOf lists the keys of a table in the order of the file.
func (d *document) keysOf(t *table) []string {
	var out []string
	seen := map[string]bool{}
	for _, next := range d.below()[pathKey(t.path)] {
		if _, ok := t.data[next]; ok {
			seen[next] = true
			out = append(out, next)
		}
	}
	// Keys of inline tables inside arrays are not listed by the decoder.
	unlisted := slices.DeleteFunc(slices.Sorted(maps.Keys(t.data)), func(k string) bool { return seen[k] })
	return append(out, unlisted...)
}

// below lists the keys in each table, as they follow in the file.
func (d *document) below() map[string][]string {
	if d.keys != nil {
		return d.keys
	}
	d.keys = map[string][]string{}
	seen := map[string]bool{}
	for _, k := range d.md.Keys() {
		for n := range k {
			if whole := pathKey(k[:n+1]); !seen[whole] {
				seen[whole] = true
				above := pathKey(k[:n])
				d.keys[above] = append(d.keys[above], k[n])
			}
		}
	}
	return d.keys
}

// pathKey stands for a path in a map.
func pathKey(path toml.Key) string { return fmt.Sprintf("%q", []string(path)) }

// wrongType complains that key k holds v instead of what is wanted.
func (t *table) wrongType(k string, v any, want string) {
	t.at(k, "", "found %s; want %s", describe(v), want)
}

func describe(v any) string {
	switch x := v.(type) {
	case string:
		if runes := []rune(x); len(runes) > 40 {
			x = string(runes[:40]) + "..."
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

// sub reads a table; a missing one reads as empty.
func (t *table) sub(k string) *table {
	data, _ := read[map[string]any](t, k, nil, "a table")
	return &table{doc: t.doc, path: t.key(k), element: -1, data: data}
}

// inElement reads a table inside an element of an array of tables.
func (t *table) inElement(k string) *table {
	out := t.sub(k)
	out.element, out.label = t.element, t.name(k)
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
