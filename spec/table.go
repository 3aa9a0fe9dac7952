package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
)

// table reads one TOML table key by key. Every key that was asked for is
// known; done complains about the others. A key of the wrong type is a
// complaint, and its reader answers the default.
type table struct {
	doc   *document
	path  toml.Key // without the numbers of elements of arrays
	at    toml.Key // with them
	label string   // what complaints call such an element, and a table inside it
	data  map[string]any
}

func below(path toml.Key, keys ...string) toml.Key { return append(slices.Clip(path), keys...) }

// name is what complaints call key k.
func (t *table) name(k string) string {
	if t.label != "" {
		return t.label + "." + toml.Key{k}.String()
	}
	return below(t.path, k).String()
}

// Wrong complains about the value of key k.
func (t *table) Wrong(k, hint, format string, args ...any) {
	t.doc.complain(t.doc.locate(below(t.at, k), false), t.name(k), hint, format, args...)
}

func (t *table) when(wrong bool, k, hint, format string, args ...any) {
	if wrong {
		t.Wrong(k, hint, format, args...)
	}
}

func (t *table) self(hint, format string, args ...any) {
	if len(t.path) == 0 {
		t.doc.complain(place{}, "", hint, format, args...)
		return
	}
	t.doc.complain(t.doc.locate(t.at, true), cmp.Or(t.label, t.path.String()), hint, format, args...)
}

// Missing complains that the required key k is not there, unless a key that
// looks like a misspelling of it is, and is not known: done complains about that one.
func (t *table) Missing(k, hint, format string, args ...any) {
	for found := range t.data {
		if _, typo := spelling.Nearest(found, []string{k}); typo && !slices.Contains(t.known(), found) {
			return
		}
	}
	t.self(hint, format, args...)
}

// get returns the raw value of key k and marks it as known.
func (t *table) get(k string) (any, bool) {
	t.knows(k)
	v, ok := t.data[k]
	return v, ok
}

func (t *table) knows(keys ...string) {
	for _, k := range keys {
		if !slices.Contains(t.known(), k) {
			t.doc.known[t.path.String()] = append(t.known(), k)
		}
	}
}

// known lists the keys of this table, and of those at the same place of other elements.
func (t *table) known() []string { return t.doc.known[t.path.String()] }

func (t *table) has(k string) bool {
	_, ok := t.data[k]
	return ok
}

// done complains about every key that nobody asked for, in file order.
func (t *table) done() {
	for _, k := range t.keys() {
		if !slices.Contains(t.known(), k) {
			hint := cmp.Or(otherKey(t.path.String(), k), spelling.DidYouMean(k, t.known()))
			t.doc.complain(t.doc.locate(below(t.at, k), true), t.name(k), hint, "there is no such key")
		}
	}
}

// keys lists the keys of a table in the order of the file; those of inline tables inside arrays
// are sorted.
func (t *table) keys() []string {
	keys, order := slices.Sorted(maps.Keys(t.data)), map[string]int{}
	for _, k := range keys {
		order[k] = cmp.Or(t.doc.places[below(t.at, k).String()], t.doc.places[below(t.path, k).String()]).order
	}
	slices.SortStableFunc(keys, func(a, b string) int { return order[a] - order[b] })
	return keys
}

// wrongType complains that key k holds v instead of what is wanted.
func (t *table) wrongType(k string, v any, want string) {
	t.Wrong(k, "", "found %s; want %s", describe(v), want)
}

func describe(v any) string {
	switch x := v.(type) {
	case string:
		if runes := []rune(x); len(runes) > 40 {
			x = string(runes[:40]) + "..."
		}
		return fmt.Sprintf("the string %q", x)
	case int64:
		return fmt.Sprintf("the number %d", x)
	case float64: // 3.0 is not 3
		text, err := spaces.Float(x).MarshalJSON()
		if err != nil {
			return fmt.Sprintf("the number %v", x)
		}
		return "the number " + string(text)
	case time.Time:
		return "a date or a time"
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
	want := "a table"
	if len(t.path) == 0 && k == "objective" {
		want = "a table [objective], or a table [objectives.NAME] for each of several objectives"
	} else if len(t.path) == 0 && slices.Contains([]string{"params", "objectives", "metrics", "constraints"}, k) {
		want = fmt.Sprintf("a table [%s.NAME] for each", k)
	}
	data, _ := read[map[string]any](t, k, nil, want)
	out := &table{doc: t.doc, path: below(t.path, k), at: below(t.at, k), data: data}
	if t.label != "" {
		out.label = t.name(k)
	}
	return out
}

func (t *table) element(k string, i int, data map[string]any) *table {
	path := below(t.path, k)
	return &table{doc: t.doc, path: path, at: below(t.at, k, number(i)), label: fmt.Sprintf("%s[%d]", path, i), data: data}
}

// subs reads an array of tables, written with [[...]] or inline.
func (t *table) subs(k string) []*table {
	v, _ := t.get(k)
	maps, ok := v.([]map[string]any)
	if !ok {
		maps = elements(t, k, "an array of tables", "a table", func(e any) (map[string]any, bool) {
			m, ok := e.(map[string]any)
			return m, ok
		})
	}
	var out []*table
	for i, m := range maps {
		out = append(out, t.element(k, i, m))
	}
	return out
}
