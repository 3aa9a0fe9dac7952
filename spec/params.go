package spec

import (
	"github.com/lbotune/lbotune/spaces"
)

// fieldKeys maps the fields of a spaces.Problem to keys of the spec where the
// two differ.
var fieldKeys = map[string]string{"type": "type", "name": ""}

// params reads [params.NAME] in file order.
func (t *table) params() []spaces.Param {
	all := t.sub("params")
	names := t.doc.keysOf(all)
	if len(names) == 0 {
		if sub, wrong := t.data["params"]; !wrong || sub != nil && all.data != nil {
			t.missing("params", "for example\n\n    [params.lr]\n    type = \"float\"\n    min = 1e-6\n    max = 0.1\n    scale = \"log\"",
				"there is no parameter to tune: add a table [params.NAME]")
		}
		return nil
	}
	var out []spaces.Param
	for _, name := range names {
		before := len(t.doc.problems)
		p := all.param(name)
		if len(t.doc.problems) == before {
			for _, prob := range p.Check() {
				all.sub(name).paramProblem(prob)
			}
		}
		out = append(out, p)
	}
	all.done()
	all.checkSpace(out)
	return out
}

// checkSpace reports what is wrong between parameters, which is conditions: a
// table's keys can't be there twice, and the rest param has reported.
func (t *table) checkSpace(params []spaces.Param) {
	_, err := spaces.New(params...)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, e := range joined.Unwrap() {
		if prob, ok := e.(spaces.Problem); ok && prob.Field == "when" {
			t.sub(prob.Param).paramProblem(prob)
		}
	}
}

func (t *table) paramProblem(prob spaces.Problem) {
	if key, differs := fieldKeys[prob.Field]; differs && key == "" || !t.has(prob.Field) {
		t.self("", "%s", prob.Message)
		return
	}
	t.at(prob.Field, "", "%s", prob.Message)
}

func (t *table) param(name string) spaces.Param {
	s := t.sub(name)
	p := spaces.Param{Name: name}
	if s.data == nil {
		return p
	}
	var kinds []string
	for _, k := range spaces.Kinds() {
		kinds = append(kinds, string(k))
	}
	if !s.has("type") {
		s.missing("type", `add type = "float", "int", "choice" or "bool"`, "the parameter has no type")
	}
	p.Kind = spaces.Kind(s.oneOf("type", "", kinds...))
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		p.Min, p.Max = s.bound("min"), s.bound("max")
		p.Scale = spaces.Scale(s.oneOf("scale", string(spaces.Linear), string(spaces.Linear), string(spaces.Log)))
	case spaces.KindChoice:
		p.Choices = s.values("choices")
		if !s.has("choices") {
			s.missing("choices", `add choices = ["a", "b"]`, "a parameter of type choice needs its choices")
		}
	case "":
		// Only the type is wrong: say no more about the keys that go with it.
		s.known = append(s.known, "min", "max", "scale", "choices")
	}
	s.condition(&p)
	s.done()
	return p
}

// bound reads a required min or max.
func (t *table) bound(k string) float64 {
	if !t.has(k) {
		t.get(k)
		t.missing(k, "add "+k+" = ...", "the parameter has no %s", k)
		return 0
	}
	x, _ := t.number(k)
	return x
}

func (t *table) condition(p *spaces.Param) {
	if text := t.str("when", ""); text != "" {
		c, err := spaces.ParseCondition(text)
		if err != nil {
			t.at("when", "for example when = \"optimizer == 'sgd'\"", "%v", err)
		}
		p.When = c
	}
	p.Inactive = t.value("inactive")
}
