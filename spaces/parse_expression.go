package spaces

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
)

// token is a word of a relation, as it stands there; the end is empty.
type token struct {
	text string
	at   int
}

var (
	blanksRE = pattern.Lazy(`^[ \t\n]*`)
	tokenRE  = pattern.Lazy(`^(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|'[^']*'|"[^"]*"|\*\*|[<>=!]=|[-+*/%<>()\[\],])`)
)

// parser reads a relation or a condition by climbing the operators' precedence. It panics with
// the *RelationError that parse returns.
type parser struct {
	text      string
	params    map[string]Param
	condition bool
	used      []string // parameters
	literals  []Value
	tok       token // the next one
	end       int   // of the one before it
	depth     int   // of expressions within others
}

// deepest is how deep expressions may stand within others: each level is one of the stack's.
const deepest = 100

// parse reads a relation between parameters, or a condition on those that are declared before
// the one that it is for.
func parse(text string, params map[string]Param, condition bool) (r Relation, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *RelationError:
			err = e
		default:
			panic(e)
		}
	}()
	p := &parser{text: text, params: params, condition: condition}
	p.advance()
	whole := p.expression(0)
	switch {
	case p.tok.text != "":
		panic(p.unexpected("the end, or an operator"))
	case whole.kind != truth:
		panic(p.wrong(token{text: text}, "it is no comparison, as x <= y is"))
	case len(p.used) == 0:
		panic(p.wrong(token{text: text}, "it names no parameter"))
	}
	holds := func(v Values) bool { return isTrue(whole.eval(v)) }
	return Relation{Text: text, Params: p.used, Holds: holds, Never: whole.never, literals: p.literals}, nil
}

func (p *parser) advance() {
	p.end = p.tok.at + len(p.tok.text)
	at := p.end + len(blanksRE().FindString(p.text[p.end:]))
	p.tok = token{tokenRE().FindString(p.text[at:]), at}
	if rest := p.text[at:]; p.tok.text == "" && rest != "" {
		if rest[0] == '\'' || rest[0] == '"' {
			panic(p.wrong(token{rest, at}, "this %c is never closed", rest[0]))
		}
		panic(p.wrong(token{rest[:1], at}, "%q means nothing here; comparisons are == != < <= > >= and in", string([]rune(rest)[0])))
	}
}

// since is the text from a token to the last one that was read.
func (p *parser) since(t token) token { return token{p.text[t.at:p.end], t.at} }

// expect steps over the token.
func (p *parser) expect(text, want string) {
	if p.tok.text != text {
		panic(p.unexpected(want))
	}
	p.advance()
}

func (p *parser) wrong(t token, format string, args ...any) *RelationError {
	return &RelationError{Text: p.text, Offset: t.at, Len: max(len(t.text), 1), Message: fmt.Sprintf(format, args...)}
}

func (p *parser) unexpected(want string) *RelationError {
	if p.tok.text == "" {
		return p.wrong(p.tok, "found the end; want %s", want)
	}
	return p.wrong(p.tok, "found %q; want %s", p.tok.text, want)
}

// want complains if an expression is of another kind.
func (p *parser) want(k kind, es ...expression) {
	for _, e := range es {
		if e.kind != k && e.kind != mixed && k != mixed {
			panic(p.wrong(e.from, "%s is %s; want %s", e.from.text, e.kind, k))
		}
	}
}

// expression reads one whose operators bind at least so strongly.
func (p *parser) expression(binds int) expression {
	if p.depth++; p.depth > deepest {
		panic(p.wrong(p.tok, "more than %d expressions stand within each other", deepest))
	}
	defer func() { p.depth-- }()
	a := p.operand()
	for {
		tok := p.tok
		op, known := operators[tok.text]
		if !known || op.binds < binds {
			return a
		}
		p.advance()
		switch {
		case tok.text == "in":
			a = p.in(a)
		case op.binds == bindsPower: // a ** b ** c is a ** (b ** c), and a ** -b is allowed
			a = p.join(op, a, p.expression(bindsMinus))
		default:
			a = p.join(op, a, p.expression(op.binds+1))
		}
	}
}

func (p *parser) join(op operator, a, b expression) expression {
	if op.binds == bindsComparison && a.kind == truth && a.of == nil && b.kind != truth {
		panic(p.wrong(a.from, "%s is true or false; x < y < z is written x < y and y < z", a.from.text))
	}
	p.want(op.takes, a, b)
	if op.takes == mixed {
		p.comparable(a, b)
	}
	e := expression{kind: op.gives, from: p.since(a.from), eval: func(v Values) Value {
		return op.apply(a.eval(v), b.eval(v))
	}}
	switch {
	case op.binds == bindsAnd:
		e.never = cmp.Or(a.never, b.never)
	case op.binds == bindsOr && b.never != nil:
		e.never = a.never
	case op.binds == bindsComparison && op.takes == number:
		e.never = p.never(cmp.Or(a.of, b.of), a.literal || b.literal, e)
	}
	return e
}

// never says why a parameter's values are all on the wrong side of a literal: the first and the
// last of a range are.
func (p *parser) never(of *Param, literal bool, e expression) *RelationError {
	if of == nil || !literal {
		return nil
	}
	values := of.levels()
	if of.numeric() {
		values = []Value{Float(of.Min), Float(of.Max)}
	}
	for _, v := range values {
		if isTrue(e.eval(Values{{of.Name, v}})) {
			return nil
		}
	}
	return p.wrong(e.from, "%s never holds; %s is %s", e.from.text, of.Name, of.Describe())
}

// comparable complains about values that are never equal.
func (p *parser) comparable(a, b expression) {
	p.want(a.kind, b)
	if b.of != nil {
		a, b = b, a
	}
	if a.of == nil || !b.literal {
		return
	}
	value := b.eval(nil)
	if slices.ContainsFunc(a.of.Choices, func(c Value) bool { return equal(c, value) }) {
		return
	}
	allowed := lists.Map(a.of.Choices, Value.Text)
	if len(allowed) == 0 { // a range may become narrower than a relation expects
		if _, err := a.of.Normalize(value); err == nil || !p.condition {
			return
		}
	}
	err := p.wrong(b.from, "%s is never %s; it is %s", a.of.Name, b.from.text, a.of.Describe())
	err.Word, err.Allowed = value.Text(), allowed
	panic(err)
}

// in reads the list of values that a may have.
func (p *parser) in(a expression) expression {
	list := p.list("[", "]", func(e expression) { p.comparable(a, e) })
	return expression{kind: truth, from: p.since(a.from), eval: func(v Values) Value {
		return Bool(slices.ContainsFunc(list, func(e expression) bool { return equal(a.eval(v), e.eval(v)) }))
	}}
}

func (p *parser) list(open, closing string, check func(expression)) []expression {
	p.expect(open, open)
	var out []expression
	for {
		e := p.expression(0)
		check(e)
		out = append(out, e)
		if p.tok.text != "," {
			p.expect(closing, "a comma, or "+closing)
			return out
		}
		p.advance()
	}
}

// operand reads what stands between operators.
func (p *parser) operand() expression {
	t := p.tok
	p.advance()
	switch t.text {
	case "not":
		return p.sign(t, bindsNot, truth, func(v Value) Value { return Bool(!isTrue(v)) })
	case "-":
		return p.sign(t, bindsMinus, number, func(v Value) Value { return Float(-num(v)) })
	case "(":
		e := p.expression(0)
		p.expect(")", "an operator, or )")
		e.from = p.since(t)
		return e
	}
	if v, ok := literal(t.text); ok {
		p.literals = append(p.literals, v)
		return expression{kind: kindOf(v), from: t, literal: true, eval: func(Values) Value { return v }}
	}
	if par, ok := p.params[t.text]; ok {
		if !slices.Contains(p.used, t.text) {
			p.used = append(p.used, t.text)
		}
		return parameter(t, par)
	}
	if f, ok := functions[t.text]; ok {
		return p.call(t, f)
	}
	if !beginsNameRE().MatchString(t.text) || operators[t.text].apply != nil {
		p.tok = t
		panic(p.unexpected("a parameter, a number or a text in quotes"))
	}
	names := slices.Sorted(maps.Keys(p.params))
	for _, name := range names {
		if slices.Contains(p.params[name].Choices, String(t.text)) {
			panic(p.wrong(t, "%[1]s is a choice of %[2]s: write it in quotes, '%[1]s'", t.text, name))
		}
	}
	err := p.wrong(t, "%q is not a parameter declared before this one", t.text)
	if !p.condition {
		names = append(names, slices.Sorted(maps.Keys(functions))...)
		err = p.wrong(t, "there is no parameter %s", t.text)
	}
	err.Word, err.Allowed = t.text, names
	panic(err)
}

var beginsNameRE = pattern.Lazy(`^[A-Za-z_]`)

// literal is the value that a token stands for by itself.
func literal(text string) (Value, bool) {
	if text == "true" || text == "false" {
		return Bool(text == "true"), true
	}
	if strings.ContainsAny(text, `'"`) {
		return String(text[1 : len(text)-1]), true
	}
	x, err := strconv.ParseFloat(text, 64)
	return Float(x), err == nil && !beginsNameRE().MatchString(text) // inf may be a name
}

// sign reads what not or a minus belongs to.
func (p *parser) sign(t token, binds int, k kind, f func(Value) Value) expression {
	a := p.expression(binds)
	p.want(k, a)
	return expression{kind: k, from: p.since(t), literal: a.literal, eval: func(v Values) Value { return f(a.eval(v)) }}
}

func (p *parser) call(name token, f func(...float64) float64) expression {
	args := p.list("(", ")", func(e expression) { p.want(number, e) })
	if len(args) > 1 && name.text != "min" && name.text != "max" {
		panic(p.wrong(args[1].from, "%s takes one number", name.text))
	}
	return expression{kind: number, from: p.since(name), eval: func(v Values) Value {
		x := make([]float64, len(args))
		for i, a := range args {
			x[i] = num(a.eval(v))
		}
		return Float(f(x...))
	}}
}
