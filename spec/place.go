package spec

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// place hands on what is wrong with the configuration, at its place in the file.
func (t *table) place(cfg *study.Config, p study.Problem) {
	in, keys := t, p.Key
	if keys[0] == "metrics" {
		in, keys = t.metricTable(cfg, keys[1]), keys[2:]
	}
	element := -1
	for len(keys) > 1 {
		i, err := strconv.Atoi(keys[1])
		switch {
		case err != nil:
			in, keys = in.sub(keys[0]), keys[1:]
		case len(keys) > 2:
			in, keys = in.subs(keys[0])[i], keys[2:]
		default:
			element, keys = i, keys[:1]
		}
	}
	k := keys[0]
	_, isTable := in.data[k].(map[string]any)
	switch {
	case p.Piece != "":
		in.piece(k, p, element)
	case isTable:
		in.sub(k).self(p.Hint, "%s", p.Message)
	default:
		in.at(k, p.Hint, "%s", p.Message)
	}
}

// metricTable is the table that says where a metric is found.
func (t *table) metricTable(cfg *study.Config, name string) *table {
	for _, section := range []string{"objectives", "metrics", "constraints"} {
		if in := t.sub(section); in.has(name) && (section == "objectives" || name != cfg.Objective().Name) {
			return in.sub(name)
		}
	}
	return t.sub("objective")
}

// piece complains about a piece of key k's text, or of one of its elements, where the file
// shows it.
func (t *table) piece(k string, p study.Problem, element int) {
	above := ""
	if element >= 0 {
		for _, e := range t.data[k].([]any)[:element] {
			above += e.(string) + "\n"
		}
	}
	d := t.doc
	at := d.locate(t.key(k), t.element, false)
	before := strings.Count(above+p.Text[:p.At], p.Piece)
	for line := at.line; line > 0 && line <= len(d.lines); line++ {
		text := d.lines[line-1]
		if element >= 0 {
			text = stripComment(text)
		}
		if n := strings.Count(text, p.Piece); n <= before {
			before -= n
			continue
		}
		col := strings.Index(text, p.Piece)
		for ; before > 0; before-- {
			col += len(p.Piece)
			col += strings.Index(text[col:], p.Piece)
		}
		at = place{line, col + 1, len(p.Piece)}
		break
	}
	d.complain(at, t.name(k), p.Hint, "%s", p.Message)
}

// identifierRE matches the names of parameters and of environment variables.
var identifierRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
