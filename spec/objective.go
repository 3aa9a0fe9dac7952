package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// objective reads [objective].
func (t *table) objective() study.Objective {
	s := t.sub("objective")
	o := study.Objective{
		Rule: parser.Rule{
			Metric:     s.str("metric", ""),
			Regex:      s.str("regex", ""),
			JSON:       s.str("json", ""),
			LastNumber: s.boolean("last_number", false),
			Dialect:    s.str("dialect", ""),
			Source:     parser.Source(s.str("source", "")),
			Step:       s.str("step", ""),
			Pick:       parser.Pick(s.str("pick", "")),
		},
		Direction: study.Direction(s.oneOf("direction", string(study.Minimize), string(study.Minimize), string(study.Maximize))),
		OKExit:    s.exitCodes("ok_exit"),
		File:      s.str("file", ""),
	}
	if o.File != "" && o.Rule.Source == "" {
		o.Rule.Source = parser.File
	}
	if o.Rule.Source == parser.File && o.File == "" && o.Rule.Dialect == "" {
		s.at("source", `add file = "{trial_dir}/result.json"`, "source file needs the name of the file")
	}
	if o.File != "" && o.Rule.Source != parser.File {
		s.at("file", "", "is read only when source is file; found source = %q", o.Rule.Source)
	}
	s.done()
	if len(s.data) == 0 {
		t.missing("objective", "for example\n\n    [objective]\n    metric = \"loss\"\n    direction = \"minimize\"", "nothing says what to optimize: add a table [objective]")
		return o
	}
	if !s.misread("metric", "regex", "json", "last_number", "dialect", "source", "step", "pick", "file") {
		s.checkRule(o.Rule)
	}
	return o
}

// misread reports whether there is a complaint about one of the keys, or about a
// key that may misspell one.
func (t *table) misread(keys ...string) bool {
	for k := range t.data {
		near := k
		if !slices.Contains(t.known, k) {
			near, _ = Nearest(k, keys)
		}
		if slices.Contains(keys, near) && t.doc.complained(t.name(k)) {
			return true
		}
	}
	return false
}

// checkRule hands the parser's complaints on, each at its key.
func (t *table) checkRule(rule parser.Rule) {
	_, err := parser.Compile(rule)
	if err == nil {
		return
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, e := range list {
		var re *parser.RuleError
		switch {
		case errors.As(e, &re) && t.has(re.Field):
			t.ruleProblem(re)
		case re != nil:
			t.self(re.Hint, "%s", re.Problem)
		default:
			t.self("", "%v", e)
		}
	}
}

// ruleProblem points at the byte of the rule where the trouble is, if the file
// shows the rule as it is.
func (t *table) ruleProblem(re *parser.RuleError) {
	at := t.doc.locate(t.key(re.Field), t.element, false)
	if re.Value != "" && at.line > 0 {
		if i := strings.Index(t.doc.lines[at.line-1], re.Value); i >= 0 {
			at.col, at.length = i+1+re.Offset, max(len(re.Value)-re.Offset, 1)
		}
	}
	msg := re.Problem
	if re.Value != "" {
		msg = fmt.Sprintf("found \"%s\": %s", re.Value, re.Problem)
		if strings.HasPrefix(re.Problem, "is ") {
			msg = fmt.Sprintf("\"%s\" %s", re.Value, re.Problem)
		}
	}
	t.doc.complain(at, t.name(re.Field), re.Hint, "%s", msg)
}

// exitCodes reads an array of exit codes.
func (t *table) exitCodes(k string) []int {
	var out []int
	for _, e := range t.array(k, "an array of exit codes such as [0, 10, 20]") {
		n, ok := e.(int64)
		if !ok || n < 0 || n > 255 {
			t.at(k, "", "found %s; an exit code is a whole number from 0 to 255", describe(e))
			return nil
		}
		out = append(out, int(n))
	}
	return out
}
