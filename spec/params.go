package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
)

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
	sound := map[string]bool{}
	for _, name := range names {
		before := len(t.doc.problems)
		out = append(out, all.param(name))
		sound[name] = len(t.doc.problems) == before
	}
	all.done()
	all.checkConditions(out, sound)
	return out
}

// checkConditions reports what is wrong between parameters, which is conditions:
// a table's keys can't be there twice, and the rest param has reported.
func (t *table) checkConditions(params []spaces.Param, sound map[string]bool) {
	_, err := spaces.New(params...)
	for _, e := range parts(err) {
		if prob, ok := e.(spaces.Problem); ok && prob.Field == "when" && saysMore(params, prob.Param, sound) {
			t.sub(prob.Param).paramProblem(prob)
		}
	}
}

// saysMore reports whether a complaint about a parameter's condition may be about
// more than parameters that are wrong themselves.
func saysMore(params []spaces.Param, name string, sound map[string]bool) bool {
	for _, p := range params {
		if p.Name == name {
			return !slices.ContainsFunc(namesRE.FindAllString(p.When, -1), func(n string) bool { ok, known := sound[n]; return known && !ok })
		}
	}
	return true
}

// paramProblem hands on a complaint about the parameter of this table, at its key
// if it is there.
func (t *table) paramProblem(prob spaces.Problem) {
	if prob.When != nil {
		t.relationProblem("when", prob.When)
		return
	}
	if prob.Field == "choices" && t.has("values") {
		prob.Field = "values"
	}
	if t.has(prob.Field) && prob.Field != "name" { // the name is the table's
		t.at(prob.Field, "", "%s", prob.Message)
		return
	}
	hint := ""
	if prob.Field == "name" {
		if name := strings.Trim(notInNameRE.ReplaceAllString(prob.Param, "_"), "_"); identifierRE.MatchString(name) {
			hint = "write " + name
		}
	}
	t.self(hint, "%s", prob.Message)
}

var (
	namesRE     = regexp.MustCompile(`[A-Za-z0-9_]+`)
	notInNameRE = regexp.MustCompile(`[^A-Za-z0-9_]+`)
)

// param reads [params.NAME].
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
	kind := p.Kind
	if kind == "" { // the type is wrong: what else is there tells what it should be
		p.Kind = s.kindOfKeys()
	}
	s.domain(&p)
	s.words(&p)
	s.condition(&p)
	s.done()
	for _, prob := range p.Check() {
		if prob.Field == "default" && s.has("guess") {
			prob.Field = "guess"
		}
		s.paramProblem(prob)
	}
	p.Kind = kind
	return p
}

// kindOfKeys is a kind of parameter that has the keys that are there.
func (t *table) kindOfKeys() spaces.Kind {
	t.known = append(t.known, "min", "max", "scale", "step", "choices", "values", "default", "guess", "sure")
	switch {
	case t.has("min") && t.has("max"):
		return spaces.KindFloat
	case t.has("values"):
		return spaces.KindOrdered
	case t.has("choices"):
		return spaces.KindChoice
	}
	return spaces.KindBool
}

// domain reads the keys that go with a parameter's kind.
func (t *table) domain(p *spaces.Param) {
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		var ok1, ok2 bool
		p.Min, ok1 = t.bound("min")
		p.Max, ok2 = t.bound("max")
		if !ok1 || !ok2 {
			p.Min, p.Max = 1, 2 // nothing to complain about
		}
		var scales []string
		for _, s := range spaces.Scales() {
			scales = append(scales, string(s))
		}
		p.Scale = spaces.Scale(t.oneOf("scale", string(spaces.Linear), scales...))
		if t.has("step") {
			p.Step, _ = t.number("step")
		}
	case spaces.KindChoice:
		p.Choices = t.levels("choices", `add choices = ["a", "b"]`, "a parameter of type choice needs its choices")
	case spaces.KindOrdered:
		p.Choices = t.levels("values", `add values = [16, 32, 64]`, "a parameter of type ordered needs its values, in their order")
	}
	p.Default = t.value("default")
	t.guess(p)
}

// guess reads where the best is expected: a default with more to it.
func (t *table) guess(p *spaces.Param) {
	guess := t.value("guess")
	sure := t.oneOf("sure", spaces.SomewhatSure, spaces.HardlySure, spaces.SomewhatSure, spaces.VerySure)
	switch {
	case guess.IsValid() && t.has("default"):
		t.at("guess", "either is tried first; a guess also says where to look for better ones", "cannot stand beside default")
	case guess.IsValid():
		p.Default, p.Sure = guess, sure
	case t.has("sure") && !t.has("guess"):
		t.at("sure", "add guess = ...", "says how sure a guess is, and there is none")
	}
}

// levels reads a required list of values.
func (t *table) levels(k, hint, message string) []spaces.Value {
	list := t.values(k)
	if !t.has(k) {
		t.missing(k, hint, "%s", message)
	}
	if list == nil {
		return []spaces.Value{spaces.Bool(false), spaces.Bool(true)} // nothing to complain about
	}
	return list
}

// words reads what the command is given for values of a choice or a bool.
func (t *table) words(p *spaces.Param) {
	if !t.has("words") {
		t.get("words")
		return
	}
	s := t.sub("words")
	values := p.Choices
	switch p.Kind {
	case spaces.KindBool:
		values = []spaces.Value{spaces.Bool(false), spaces.Bool(true)}
	case spaces.KindFloat, spaces.KindInt:
		t.at("words", "write it around the placeholder: --lr={lr}", "only choices and bools have words of their own; this one is %s", p.Kind)
		return
	}
	var texts []string
	p.Words = map[string][]string{}
	for _, v := range values {
		texts = append(texts, v.Text())
	}
	for _, k := range t.doc.keysOf(s) {
		if !slices.Contains(texts, k) {
			s.at(k, spelling.DidYouMean(k, texts), "%q is none of the parameter's values", k)
			continue
		}
		if text, ok := s.data[k].(string); ok {
			p.Words[k] = strings.Fields(s.str(k, text))
			continue
		}
		if _, list := s.data[k].([]any); !list {
			s.wrongType(k, s.data[k], `the words as one string, such as "-O3 -g", or as an array of strings`)
			continue
		}
		p.Words[k] = append([]string{}, s.strings(k)...)
	}
}

// bound reads a required min or max.
func (t *table) bound(k string) (x float64, ok bool) {
	if !t.has(k) {
		t.get(k)
		t.missing(k, "add "+k+" = ...", "the parameter has no %s", k)
		return 0, false
	}
	return t.number(k)
}

// condition reads when a parameter exists, and what it is while it does not.
func (t *table) condition(p *spaces.Param) {
	p.When = t.str("when", "")
	p.Inactive = t.value("inactive")
}
