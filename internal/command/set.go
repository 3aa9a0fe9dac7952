package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
)

// Setting is a value that is set in a base file.
type Setting struct {
	// Path is the value's place: keys and numbers of list elements, with dots.
	Path string `json:"path"`
	// Value is a number, a truth value or a template, which has a parameter's type if it is only that.
	Value spaces.Value `json:"value"`
}

// PathError says that a base file has nothing at the path of a setting.
type PathError struct {
	Path    string
	Missing string   // the first key that is not there
	Allowed []string // the keys that are
}

func (e *PathError) Error() string {
	return fmt.Sprintf("the file has nothing at %s: there is no %q", e.Path, e.Missing)
}

// Settable reports whether values can be set in the file: it is JSON, YAML or TOML by name.
func (f File) Settable() bool { return f.editor() != nil }

// CheckSet returns what is wrong with a setting, a *PathError if the file has no such value.
func (f File) CheckSet(s Setting) error {
	_, err := f.editor()([]byte(f.Text), s.Path, spaces.Bool(true))
	return err
}

// Numbers are the finite numbers in a base file, with their paths, in the order of these.
func (f File) Numbers() (list []Setting) {
	var root any
	read := yaml.Unmarshal // JSON, too
	if strings.EqualFold(filepath.Ext(f.From), ".toml") {
		read = toml.Unmarshal
	}
	if read([]byte(f.Text), &root) != nil {
		return nil
	}
	var walk func(prefix string, node any)
	walk = func(prefix string, node any) {
		s := Setting{Path: strings.TrimPrefix(prefix, ".")}
		switch node := node.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(node)) {
				walk(prefix+"."+k, node[k])
			}
			return
		case []map[string]any, []any:
			elements := reflect.ValueOf(node)
			for i := range elements.Len() {
				walk(prefix+"."+strconv.Itoa(i), elements.Index(i).Interface())
			}
			return
		case float64:
			s.Value = spaces.Float(node)
		case int64:
			s.Value = spaces.Int(node)
		case int:
			s.Value = spaces.Int(int64(node))
		}
		if x, ok := s.Value.Number(); ok && !math.IsInf(x, 0) && !math.IsNaN(x) && f.CheckSet(s) == nil {
			list = append(list, s)
		}
	}
	walk("", root)
	return list
}

// Settings writes the values that are set as the value of a spec's key set.
func (f File) Settings() string {
	pair := func(s Setting) string { return Literal(spaces.String(s.Path)) + " = " + Literal(s.Value) }
	return strings.Join(lists.Map(f.Set, pair), ", ")
}

// renderSet returns the base file with its values set; an absent one vanishes with its key.
func (f File) renderSet(b *Bindings) (string, error) {
	edit := f.editor()
	if edit == nil {
		return "", fmt.Errorf("%s: values are set in JSON, YAML and TOML files", f.To)
	}
	set, gone := []Setting{}, []Setting{}
	for _, s := range f.Set {
		if s.Value = b.typed(s.Value); s.Value.IsValid() {
			set = append(set, s)
		} else {
			gone = append(gone, s)
		}
	}
	// Of several elements of a list the last is taken out first.
	slices.SortFunc(gone, func(s, t Setting) int {
		return cmp.Or(len(t.Path)-len(s.Path), strings.Compare(t.Path, s.Path))
	})
	text := []byte(f.Text)
	for _, s := range slices.Concat(set, gone) {
		var err error
		if text, err = edit(text, s.Path, s.Value); err != nil {
			return "", fmt.Errorf("%s: %w", f.To, err)
		}
	}
	return string(text), nil
}

// typed is the value that a setting's value stands for, none if it is absent.
func (b *Bindings) typed(v spaces.Value) spaces.Value {
	template, ok := v.Any().(string)
	if !ok {
		return v
	}
	p, alone := lonePlaceholder(template)
	given, par, known := b.value(p)
	_, renamed := par.Words[given.Text()]
	switch {
	case !alone || !known || p.Flag || p.Format == "" && renamed:
		text, absent := b.Expand(template)
		if absent {
			return spaces.Value{}
		}
		return spaces.String(text)
	case !given.IsValid() || p.Format == "" || LiteralFormat(p.Format):
		return given
	}
	x, err := strconv.ParseFloat(formatNumber(p.Format, given), 64)
	switch {
	case err != nil:
		return given
	case par.Kind == spaces.KindInt:
		return spaces.Int(int64(x))
	}
	return spaces.Float(x)
}

// editor returns what sets a value in a file of this kind, or takes it out for one of no kind.
func (f File) editor() func(text []byte, path string, v spaces.Value) ([]byte, error) {
	for _, name := range []string{f.From, f.To} {
		switch strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".in"))) {
		case ".json":
			return setJSON
		case ".yaml", ".yml":
			return setYAML
		case ".toml":
			return setTOML
		}
	}
	return nil
}

// setJSON keeps the order of keys.
func setJSON(text []byte, path string, v spaces.Value) ([]byte, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("read the base file: %w", err)
	}
	var value json.RawMessage
	if v.IsValid() {
		value = json.RawMessage(Literal(v))
	}
	raw, err := setRaw(raw, path, strings.Split(path, "."), value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_ = json.Indent(&out, raw, "", "  ") // it is JSON
	return append(out.Bytes(), '\n'), nil
}

// notAValue complains about a setting of a table or a list.
func notAValue(path string) error {
	return fmt.Errorf("%s is a table or a list; set the values in it", path)
}

// setRaw rewrites the objects and lists that the path leads through. What it is given is JSON.
func setRaw(raw json.RawMessage, path string, keys []string, value json.RawMessage) (json.RawMessage, error) {
	within := raw[0] == '{' || raw[0] == '['
	switch {
	case len(keys) == 0 && within:
		return nil, notAValue(path)
	case len(keys) == 0:
		return value, nil
	}
	missing := &PathError{Path: path, Missing: keys[0]}
	if !within {
		return nil, missing
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token()
	var members []string
	found := false
	for i := 0; dec.More(); i++ {
		key, name := strconv.Itoa(i), ""
		if raw[0] == '{' {
			token, _ := dec.Token()
			key, _ = token.(string)
			name = Literal(spaces.String(key)) + ":"
		}
		missing.Allowed = append(missing.Allowed, key)
		var member json.RawMessage
		_ = dec.Decode(&member)
		if key == keys[0] {
			found = true
			var err error
			if member, err = setRaw(member, path, keys[1:], value); err != nil {
				return nil, err
			}
			if member == nil {
				continue
			}
		}
		members = append(members, name+string(member))
	}
	if !found {
		return nil, missing
	}
	return fmt.Appendf(nil, "%c%s%c", raw[0], strings.Join(members, ","), raw[len(raw)-1]), nil
}

// setYAML keeps the order of keys, comments and anchors.
func setYAML(text []byte, path string, v spaces.Value) ([]byte, error) {
	var doc, more, value yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the base file: %w", err)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, errors.New("the base file has several documents; values are set in files of one")
	case err != io.EOF:
		return nil, fmt.Errorf("read the base file: %w", err)
	}
	if v.IsValid() {
		if err := yaml.Unmarshal([]byte(Literal(v)), &value); err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
	}
	keys := strings.Split(path, ".")
	node := doc.Content[0]
	for i, key := range keys {
		places, allowed := children(node, key)
		if len(places) == 0 {
			return nil, &PathError{Path: path, Missing: key, Allowed: allowed}
		}
		at := places[0]
		switch {
		case len(places) > 1: // most readers take the last, some the first
			return nil, fmt.Errorf("the file has %s twice", strings.Join(keys[:i+1], "."))
		case i < len(keys)-1:
			node = node.Content[at]
			continue
		case !v.IsValid():
			from := at
			if node.Kind == yaml.MappingNode {
				from = at - 1
			}
			gone := node.Content[at]
			node.Content = slices.Delete(node.Content, from, at+1)
			bequeath(&doc, gone)
			continue
		}
		old, set := node.Content[at], value.Content[0]
		switch old.Kind {
		case yaml.AliasNode:
			return nil, fmt.Errorf("%s is an alias of another value; set that one", path)
		case yaml.MappingNode, yaml.SequenceNode:
			return nil, notAValue(path)
		}
		set.Anchor, set.LineComment, set.HeadComment, set.FootComment = old.Anchor, old.LineComment, old.HeadComment, old.FootComment
		node.Content[at] = set
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// bequeath puts a value that was taken out where the first alias of it stands.
func bequeath(node, gone *yaml.Node) bool {
	for i, n := range node.Content {
		if n.Alias == gone {
			node.Content[i] = gone
			return true
		}
		if bequeath(n, gone) {
			return true
		}
	}
	return false
}

// children are the places of a key's values, or of a list's element, in a node, and all keys there.
func children(node *yaml.Node, key string) (places []int, keys []string) {
	for i := range node.Content {
		name := strconv.Itoa(i)
		switch {
		case node.Kind == yaml.MappingNode && i%2 == 1:
			name = node.Content[i-1].Value
		case node.Kind != yaml.SequenceNode:
			continue
		}
		if name == key {
			places = append(places, i)
		}
		keys = append(keys, name)
	}
	return places, keys
}
