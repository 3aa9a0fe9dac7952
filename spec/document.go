package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/pattern"
)

// document is a parsed TOML file that collects complaints about itself.
type document struct {
	lines    []string
	root     map[string]any
	places   map[string]place // of keys and of elements of arrays, by their path
	problems []Problem
	noRule   bool                // the spec does not say how to find the metric
	known    map[string][]string // keys that were asked for, by the path of the table
}

// parseDocument reads TOML. A syntax error is the document's only problem.
func parseDocument(src string) *document {
	d := &document{lines: strings.Split(src, "\n"), places: map[string]place{}, known: map[string][]string{}}
	_, err := toml.Decode(src, &d.root)
	var pe toml.ParseError
	switch {
	case errors.As(err, &pe):
		d.syntaxError(pe)
	case err != nil:
		d.problems = append(d.problems, Problem{Message: err.Error()})
	default:
		(&scanner{places: d.places, words: wordsOf(src)}).scan()
	}
	return d
}

var duplicateRE = pattern.Lazy(`^Key '(.*)' has already been defined`)

func (d *document) syntaxError(pe toml.ParseError) {
	at := place{line: pe.Position.Line, col: max(pe.Position.Col, 1), length: max(pe.Position.Len, 1)}
	hint := syntaxHint(pe.Message, d.lines[min(max(at.line-1, 0), len(d.lines)-1)])
	m := duplicateRE().FindStringSubmatch(pe.Message)
	if m == nil || at.line == 0 {
		d.complain(at, "", hint, "%s", pe.Message)
		return
	}
	key := m[1][strings.LastIndexByte(m[1], '.')+1:]
	stands := regexp.MustCompile(`(?:^|[\s.\[{,"'])(` + regexp.QuoteMeta(key) + `)["']?\s*[.=\]]`)
	for line := at.line; line > 0; line-- { // the decoder points behind the value
		if found := stands.FindStringSubmatchIndex(d.lines[line-1]); found != nil {
			at = place{line: line, col: found[2] + 1, length: len(key)}
			break
		}
	}
	d.complain(at, m[1], "", "is there twice")
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

// locate finds the value (or, with atKey, the key) at path. Of what is not there it finds the line
// of the table in which it would be.
func (d *document) locate(path toml.Key, atKey bool) place {
	at := d.places[path.String()]
	for above := len(path) - 1; at.line == 0 && above > 0; above-- {
		at = d.places[path[:above].String()]
		at.length = 0
	}
	if at.line == 0 {
		return place{}
	}
	text := d.lines[at.line-1]
	if at.length == 0 { // an empty key, too
		trimmed := strings.TrimSpace(text)
		return place{line: at.line, col: strings.Index(text, trimmed) + 1, length: max(len(trimmed), 1)}
	}
	_, behind, equals := strings.Cut(text[at.col-1:], "=")
	if atKey || !equals || strings.HasPrefix(path[len(path)-1], "[") {
		return at
	}
	behind = strings.TrimLeft(behind, " \t")
	value := strings.TrimSpace(oneValue(behind))
	return place{line: at.line, col: len(text) - len(behind) + 1, length: max(len(value), 1)}
}

// oneValue cuts what follows a value: a comment, or the rest of an array or an inline table.
func oneValue(s string) string {
	depth := 0
	for _, word := range wordRE().FindAllStringIndex(s, -1) {
		switch c := s[word[0]]; {
		case c == '#', depth == 0 && (c == ',' || c == ']' || c == '}'):
			return s[:word[0]]
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	return s
}

func (d *document) complain(at place, key, hint, format string, args ...any) {
	p := Problem{Line: at.line, Col: at.col, Len: at.length, Key: key, Message: fmt.Sprintf(format, args...), Hint: hint}
	if !slices.Contains(d.problems, p) { // a value may be read twice
		d.problems = append(d.problems, p)
	}
}
