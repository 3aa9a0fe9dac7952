package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// where reads the relations between parameters: an array of strings, or one string.
func (t *table) where() []string {
	if text, one := t.data["where"].(string); one {
		t.get("where")
		return []string{text}
	}
	return t.strings("where")
}

// checkWhere checks the relations, if there is nothing to say of the parameters.
func (t *table) checkWhere(cfg *study.Config) {
	space, err := spaces.New(cfg.Params...)
	if err != nil || len(cfg.Where) == 0 || slices.ContainsFunc(t.doc.problems, func(p Problem) bool { return strings.HasPrefix(p.Key, "params") }) {
		return
	}
	var relations []spaces.Relation
	for _, text := range cfg.Where {
		r, err := spaces.ParseRelation(text, cfg.Params)
		var re *spaces.RelationError
		switch {
		case errors.As(err, &re):
			t.relationProblem("where", re)
		case cfg.Resource() != "" && slices.Contains(r.Params, cfg.Resource()):
			t.inText("where", text, 0, len(text), "", "the training budget %s cannot be part of a relation", cfg.Resource())
		default:
			relations = append(relations, r)
		}
	}
	if len(relations) < len(cfg.Where) {
		return
	}
	var empty *spaces.EmptyError
	related, err := space.Where(relations...)
	if err == nil && cfg.Safety != nil {
		t.checkToday(space, related)
	}
	if !errors.As(err, &empty) {
		return
	}
	hint := "to have a + b = 1, say, vary a alone and let the command compute b"
	if empty.Relation >= 0 {
		text := cfg.Where[empty.Relation]
		t.inText("where", text, 0, len(text), hint, "leaves nothing of the space: %s", empty)
		return
	}
	t.at("where", hint, "together they leave nothing of the space: %s", empty)
}

// checkToday complains of defaults that break a relation: what would be tried in their place
// is nothing that anybody has called safe.
func (t *table) checkToday(space, related *spaces.Space) {
	today, known := space.Default()
	var broken *spaces.BrokenError
	if _, err := related.Encode(today); known && errors.As(err, &broken) {
		t.inText("where", broken.Relation, 0, len(broken.Relation), "change the relation, or the defaults to other values that are known to be safe",
			"[safety] begins with the defaults, and %s break %q", today, broken.Relation)
	}
}

// relationProblem points at what is wrong with the relation that is key k's value.
func (t *table) relationProblem(k string, e *spaces.RelationError) {
	hint := ""
	if near, ok := Nearest(e.Word, e.Allowed); ok {
		hint = "did you mean " + near + "?"
	}
	t.inText(k, e.Text, e.Offset, e.Len, hint, "%s", e.Message)
}

// inText complains about a part of a text that is key k's value, or one of its values, at
// its place in the file, if the file shows the text as it is.
func (t *table) inText(k, text string, offset, length int, hint, format string, args ...any) {
	at := t.doc.locate(t.key(k), t.element, false)
	for line := at.line; line > 0 && line <= len(t.doc.lines); line++ {
		if i := strings.Index(t.doc.lines[line-1], text); i >= 0 && text != "" {
			at = place{line, i + 1 + offset, max(length, 1)}
			break
		}
	}
	t.doc.complain(at, t.name(k), hint, "%s", fmt.Sprintf(format, args...))
}
