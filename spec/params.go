package spec

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// params reads [params.NAME] in file order.
func (t *table) params() []spaces.Param {
	all := t.sub("params")
	names := all.keys()
	if len(names) == 0 {
		if sub, wrong := t.data["params"]; !wrong || sub != nil && all.data != nil {
			t.Missing("params", "for example\n\n    [params.lr]\n    type = \"float\"\n    min = 1e-6\n    max = 0.1\n    scale = \"log\"",
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
	unsound := func(name string) bool { ok, known := sound[name]; return known && !ok }
	for i, p := range params {
		if p.When == "" {
			continue
		}
		if r, _ := spaces.ParseRelation(p.When, params[:i]); r.Never != nil && !slices.ContainsFunc(r.Params, unsound) {
			t.sub(p.Name).relationProblem("when", r.Never)
		}
	}
	for _, e := range parts(err) {
		prob, ok := e.(spaces.Problem)
		// What names a parameter that is wrong itself may say nothing more.
		if ok && prob.When != nil && !slices.ContainsFunc(namesRE().FindAllString(prob.When.Text, -1), unsound) {
			t.sub(prob.Param).paramProblem(prob)
		}
	}
}

// paramProblem hands on a complaint about the parameter of this table, at its key if it is there.
func (t *table) paramProblem(prob spaces.Problem) {
	if prob.When != nil {
		t.relationProblem("when", prob.When)
		return
	}
	if prob.Field == "choices" && t.has("values") {
		prob.Field = "values"
	}
	if t.has(prob.Field) && prob.Field != "name" { // the name is the table's
		t.Wrong(prob.Field, "", "%s", prob.Message)
		return
	}
	hint := ""
	if prob.Field == "name" {
		if name := strings.Trim(notInNameRE().ReplaceAllString(prob.Param, "_"), "_"); shell.IsName(name) {
			hint = "write " + name
		}
	}
	t.self(hint, "%s", prob.Message)
}

var (
	namesRE     = pattern.Lazy(`[A-Za-z0-9_]+`)
	notInNameRE = pattern.Lazy(`[^A-Za-z0-9_]+`)
)

func (t *table) param(name string) spaces.Param {
	s := t.sub(name)
	p := spaces.Param{Name: name}
	if s.data == nil {
		return p
	}
	if !s.has("type") {
		s.Missing("type", `add type = "float", "int", "choice" or "bool"`, "the parameter has no type")
	}
	p.Kind = spaces.Kind(s.oneOf("type", "", "float", "int", "ordered", "choice", "bool"))
	kind := p.Kind
	if kind == "" { // the type is wrong: what else is there tells what it should be
		p.Kind = s.kindOfKeys()
	}
	unbounded := s.domain(&p)
	s.words(&p)
	p.When, p.Inactive = s.Text("when"), s.value("inactive")
	s.done()
	for _, prob := range p.Check() {
		if prob.Field == "default" && s.has("guess") {
			prob.Field = "guess"
		}
		if !unbounded || prob.Field == "name" || prob.Field == "inactive" {
			s.paramProblem(prob)
		}
	}
	p.Kind = kind
	return p
}

// kindOfKeys is a kind of parameter that has the keys that are there.
func (t *table) kindOfKeys() spaces.Kind {
	t.knows("min", "max", "scale", "step", "choices", "values", "default", "guess", "sure")
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

// domain reads the keys that go with a parameter's kind, and reports whether a bound is missing or no number.
func (t *table) domain(p *spaces.Param) (unbounded bool) {
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		t.knows("min", "max") // neither is a misspelling of the other
		var ok1, ok2 bool
		p.Min, ok1 = t.bound("min")
		p.Max, ok2 = t.bound("max")
		if unbounded = !ok1 || !ok2; unbounded {
			p.Min, p.Max = 1, 2 // nothing to complain about
		}
		p.Scale = spaces.Scale(t.OneOf("scale", "linear", "log", "logit"))
		p.Step = t.within("step", 0, 0, math.Inf(1))
	case spaces.KindChoice:
		p.Choices = t.levels("choices", `add choices = ["a", "b"]`, "a parameter of type choice needs its choices")
	case spaces.KindOrdered:
		p.Choices = t.levels("values", `add values = [16, 32, 64]`, "a parameter of type ordered needs its values, in their order")
	}
	p.Default = t.value("default")
	t.guess(p)
	t.exact("default", t.data["default"])
	t.exact("guess", t.data["guess"])
	return unbounded
}

// guess reads where the best is expected: a default with more to it.
func (t *table) guess(p *spaces.Param) {
	guess := t.value("guess")
	sure := t.oneOf("sure", "somewhat", "hardly", "somewhat", "very")
	switch {
	case guess.IsValid() && t.has("default"):
		t.Wrong("guess", "either is tried first; a guess also says where to look for better ones", "cannot stand beside default")
	case guess.IsValid():
		p.Default, p.Sure = guess, sure
	case t.has("sure") && !t.has("guess"):
		t.Wrong("sure", "add guess = ...", "says how sure a guess is, and there is none")
	}
}

// levels reads a required list of values.
func (t *table) levels(k, hint, message string) []spaces.Value {
	list := elements(t, k, `an array such as ["sgd", "adam"]`, "a string, a number, true or false", asValue)
	for _, v := range list {
		t.exact(k, v.Any())
	}
	if !t.has(k) {
		t.Missing(k, hint, "%s", message)
	}
	if list == nil {
		return []spaces.Value{spaces.Bool(false), spaces.Bool(true)} // nothing to complain about
	}
	return list
}

// words reads what the command is given for values of a choice or a bool.
func (t *table) words(p *spaces.Param) {
	if _, there := t.get("words"); !there {
		return
	}
	s := t.sub("words")
	values := p.Choices
	switch p.Kind {
	case spaces.KindBool:
		values = []spaces.Value{spaces.Bool(false), spaces.Bool(true)}
	case spaces.KindFloat, spaces.KindInt:
		t.Wrong("words", "write it around the placeholder: --lr={lr}", "only choices and bools have words of their own; this one is %s", p.Kind)
		return
	}
	texts := lists.Map(values, spaces.Value.Text)
	p.Words = map[string][]string{}
	for _, k := range s.keys() {
		if !slices.Contains(texts, k) {
			s.Wrong(k, spelling.DidYouMean(k, texts), "%q is none of the parameter's values", k)
			continue
		}
		switch v := s.data[k].(type) {
		case string:
			p.Words[k] = strings.Fields(s.str(k, v))
		case []any:
			p.Words[k] = append([]string{}, s.Texts(k)...)
		default:
			s.wrongType(k, v, `the words as one string, such as "-O3 -g", or as an array of strings`)
		}
	}
}

func (t *table) bound(k string) (x float64, ok bool) {
	if _, there := t.get(k); !there {
		t.Missing(k, "add "+k+" = ...", "the parameter has no %s", k)
		return 0, false
	}
	return t.number(k)
}

// where reads the relations between parameters: an array of strings, or one string.
func (t *table) where() []string {
	if text, one := t.data["where"].(string); one {
		t.get("where")
		return []string{text}
	}
	return t.Texts("where")
}

// checkWhere checks the relations, if there is nothing to say of the parameters.
func (t *table) checkWhere(cfg *study.Config) {
	space, err := spaces.New(cfg.Params...)
	if err != nil || len(cfg.Where) == 0 || slices.ContainsFunc(t.doc.problems, func(p Problem) bool { return strings.HasPrefix(p.Key, "params") }) {
		return
	}
	before := len(t.doc.problems)
	for _, text := range cfg.Where {
		r, err := spaces.ParseRelation(text, cfg.Params)
		var re *spaces.RelationError
		switch {
		case errors.As(err, &re):
			t.relationProblem("where", re)
		case cfg.Resource() != "" && slices.Contains(r.Params, cfg.Resource()):
			t.inText("where", text, 0, len(text), "", "the training budget %s cannot be part of a relation", cfg.Resource())
		}
	}
	if len(t.doc.problems) > before {
		return
	}
	var empty *spaces.EmptyError
	related, err := cfg.Space()
	if err == nil {
		t.checkToday(cfg, space, related)
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
	t.Wrong("where", hint, "together they leave nothing of the space: %s", empty)
}

// checkToday complains of defaults that break a relation, whatever stands beside them: what
// would be tried in their place is nothing that anybody uses, or has called safe.
func (t *table) checkToday(cfg *study.Config, space, related *spaces.Space) {
	today, known := space.Default()
	tried, _ := related.Default()
	broken := related.Broken(today)
	if !known || broken == nil {
		return
	}
	stated := slices.DeleteFunc(slices.Clone(today), func(a spaces.Assignment) bool {
		p, _ := space.Lookup(a.Name)
		return !p.Default.IsValid()
	})
	if !slices.ContainsFunc(stated, func(a spaces.Assignment) bool { return !slices.Contains(tried, a) }) {
		return
	}
	begins, hint := "the first trial has the defaults", "change the relation, or the defaults"
	if cfg.Safety != nil {
		begins, hint = "[safety] begins with the defaults", hint+" to other values that are known to be safe"
	}
	t.inText("where", broken.Text, 0, len(broken.Text), hint, "%s, and %s break %q", begins, stated, broken.Text)
}

// relationProblem points at what is wrong with the relation that is key k's value.
func (t *table) relationProblem(k string, e *spaces.RelationError) {
	hint := ""
	if near, ok := spelling.Nearest(e.Word, e.Allowed); ok {
		hint = "did you mean " + near + "?"
	}
	t.inText(k, e.Text, e.Offset, e.Len, hint, "%s", e.Message)
}

// inText complains about a part of a text that is key k's value, or one of its values, at
// its place in the file, if the file shows the text as it is.
func (t *table) inText(k, text string, offset, length int, hint, format string, args ...any) {
	at, shown := t.find(text, 0, k)
	if shown {
		at.col, at.length = at.col+offset, max(length, 1)
	}
	t.doc.complain(at, t.name(k), hint, format, args...)
}
