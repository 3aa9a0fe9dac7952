package spec

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is a parsed TOML file that collects complaints about itself.
type document struct {
	lines    []string
	md       toml.MetaData
	prims    map[string]toml.Primitive
	tables   map[string]map[string]toml.Primitive // in which places were looked for, by their path
	root     map[string]any
	problems []Problem
	noRule   bool                // the spec does not say how to find the metric
	known    map[string][]string // keys that were asked for, by the path of the table
	keys     map[string][]string // as they follow in the file, by the path of the table
}

// parseDocument reads TOML. A syntax error is the document's only problem.
func parseDocument(src string) *document {
	d := &document{lines: strings.Split(src, "\n"), tables: map[string]map[string]toml.Primitive{}, known: map[string][]string{}, keys: map[string][]string{}}
	md, err := toml.Decode(src, &d.root)
	if err == nil {
		_, err = toml.Decode(src, &d.prims)
	}
	d.md = md
	seen := map[string]bool{}
	for _, k := range md.Keys() {
		for n := range k {
			if whole, above := k[:n+1].String(), k[:n].String(); !seen[whole] {
				seen[whole] = true
				d.keys[above] = append(d.keys[above], k[n])
			}
		}
	}
	var pe toml.ParseError
	switch {
	case errors.As(err, &pe):
		d.syntaxError(pe)
	case err != nil:
		d.problems = append(d.problems, Problem{Message: err.Error()})
	}
	return d
}

var duplicateRE = regexp.MustCompile(`^Key '(.*)' has already been defined`)

func (d *document) syntaxError(pe toml.ParseError) {
	at := place{pe.Position.Line, max(pe.Position.Col, 1), max(pe.Position.Len, 1)}
	hint := syntaxHint(pe.Message, d.lines[min(max(at.line-1, 0), len(d.lines)-1)])
	if m := duplicateRE.FindStringSubmatch(pe.Message); m != nil && at.line > 0 { // the decoder points behind the value
		at = d.within(at.line, m[1][strings.LastIndexByte(m[1], '.')+1:], true)
		d.complain(at, m[1], "", "is there twice")
		return
	}
	d.complain(at, "", hint, "%s", pe.Message)
}

// syntaxHint explains what a complaint of the decoder usually comes from.
func syntaxHint(message, line string) string {
	ends := strings.Contains(message, "expected a top-level item to end") || strings.Contains(message, "expected a comma")
	switch {
	case ends && strings.ContainsAny(line, `"'`):
		return `put text that contains quotes between ''' and ''': command = '''awk "..." file'''`
	case strings.Contains(message, "escape"):
		return "in double quotes a backslash is written twice; between single quotes it is left as it is"
	case strings.Contains(message, "expected value but found"):
		return `put text in quotes: "like this"`
	}
	return ""
}

// place is a key's position in the file.
type place struct{ line, col, length int }

// probe is a TOML value that always refuses to be decoded: the decoder's error
// then tells where the value stands.
type probe struct{}

func (probe) UnmarshalTOML(any) error { return errors.New("probe") }

// locate finds the value (or, with atKey, the key) at path. Elements of an
// array of tables share one record in the decoder's metadata, so that those
// are looked up in the text.
func (d *document) locate(path toml.Key, element int, atKey bool) place {
	line := d.valueLine(path)
	if element >= 0 {
		line = d.elementLine(path, element)
	}
	for above := len(path) - 1; line == 0 && above > 0; above-- {
		line = d.valueLine(path[:above]) // it stands in an inline table
	}
	for above := len(path); line == 0 && above > 0; above-- {
		line = d.headerLine(path[:above]) // a table that only tables or keys below it name
	}
	if line == 0 {
		return place{}
	}
	return d.within(line, path[len(path)-1], atKey)
}

// headerLine finds the first header of a table at path or below it, or the first dotted key.
func (d *document) headerLine(path toml.Key) int {
	var keys []string
	for _, k := range path {
		keys = append(keys, `["']?`+regexp.QuoteMeta(k)+`["']?`)
	}
	header := regexp.MustCompile(`^\s*\[*\s*` + strings.Join(keys, `\s*\.\s*`) + `\s*[.\]]`)
	return 1 + slices.IndexFunc(d.lines, header.MatchString)
}

func (d *document) valueLine(path toml.Key) int {
	md, prims := d.md, d.prims
	for i, k := range path {
		prim, ok := prims[k]
		if !ok {
			return 0
		}
		if i < len(path)-1 {
			above := path[:i+1].String()
			if d.tables[above] == nil {
				next := map[string]toml.Primitive{}
				if md.PrimitiveDecode(prim, &next) != nil {
					return 0
				}
				d.tables[above] = next
			}
			prims = d.tables[above]
			continue
		}
		var pe toml.ParseError
		if errors.As(md.PrimitiveDecode(prim, &probe{}), &pe) {
			return pe.Position.Line
		}
	}
	return 0
}

// elementLine finds key path[len-1] in the n-th [[path[0]]] table, or in the
// n-th inline table of an array that is the value of path[:len-1].
func (d *document) elementLine(path toml.Key, n int) int {
	header := regexp.MustCompile(`^\s*\[\[\s*` + regexp.QuoteMeta(path[0]) + `\s*\]\]`)
	last := path[len(path)-1]
	for i, l := range d.lines {
		if !header.MatchString(l) {
			continue
		}
		if n > 0 {
			n--
			continue
		}
		for j := i + 1; j < len(d.lines) && !strings.HasPrefix(strings.TrimSpace(d.lines[j]), "["); j++ {
			if keyAt(d.lines[j], last) >= 0 {
				return j + 1
			}
		}
		return i + 1
	}
	if len(path) > 1 {
		return d.valueLine(path[:len(path)-1])
	}
	return 0
}

// within narrows a line down to the key or to the value behind it. Of a value of
// several lines the decoder knows the last one; the key stands above it.
func (d *document) within(line int, key string, atKey bool) place {
	opens := regexp.MustCompile(`(?:^|[\s."'])` + regexp.QuoteMeta(key) + `["']?\s*=\s*(?:\'\'\'|"""|\[|\{)`)
	for above := line; above > 0 && keyAt(d.lines[line-1], key) < 0; above-- {
		if opens.MatchString(d.lines[above-1]) {
			line = above
		}
	}
	text := d.lines[line-1]
	at := keyAt(text, key)
	if at < 0 {
		trimmed := strings.TrimSpace(text)
		return place{line, strings.Index(text, trimmed) + 1, max(len(trimmed), 1)}
	}
	_, behind, there := strings.Cut(text[at:], "=")
	if atKey || !there {
		return place{line, at + 1, len(key)}
	}
	behind = strings.TrimLeft(behind, " \t")
	value := strings.TrimSpace(oneValue(stripComment(behind)))
	return place{line, len(text) - len(behind) + 1, max(len(value), 1)}
}

// oneValue cuts what follows a value inside an array or an inline table.
func oneValue(s string) string {
	depth := 0
	for i, c := range unquoted(s) {
		switch {
		case c == '[' || c == '{':
			depth++
		case depth == 0 && (c == ',' || c == ']' || c == '}'):
			return s[:i]
		case c == ']' || c == '}':
			depth--
		}
	}
	return s
}

// keyAt returns the offset of key in a line where it stands as a whole word,
// outside strings, -1 if it does not.
func keyAt(line, key string) int {
	line = stripComment(line)
	if key == "" {
		return -1 // a key in quotes may be empty
	}
	for from := 0; ; {
		i := strings.Index(line[from:], key)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(key)
		before := i == 0 || strings.IndexByte(" \t[.{,\"'", line[i-1]) >= 0
		after := end == len(line) || strings.IndexByte(" \t].=\"'", line[end]) >= 0
		if before && after {
			return i
		}
		from = end
	}
}

// stripComment cuts a # comment that stands outside one-line strings.
func stripComment(s string) string {
	for i, c := range unquoted(s) {
		if c == '#' {
			return s[:i]
		}
	}
	return s
}

// unquoted yields the bytes of a line that stand outside one-line strings, with
// their offsets; of a string's quotes the first.
func unquoted(s string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		var quote byte
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case quote == '"' && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			default:
				if c == '"' || c == '\'' {
					quote = c
				}
				if !yield(i, c) {
					return
				}
			}
		}
	}
}

// complain adds a complaint about the key at a place.
func (d *document) complain(at place, key, hint, format string, args ...any) {
	p := Problem{Line: at.line, Col: at.col, Len: at.length, Key: key, Message: fmt.Sprintf(format, args...), Hint: hint}
	if !slices.Contains(d.problems, p) { // a value may be read twice
		d.problems = append(d.problems, p)
	}
}
