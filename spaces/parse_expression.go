package spaces

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// token is a word of a relation, as it stands there; the end is empty.
type token struct {
	text string
	at   int
}

var (
	blanksRE = regexp.MustCompile(`^[ \t\n]*`)
	tokenRE  = regexp.MustCompile(`^(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|'[^']*'|"[^"]*"|\*\*|[<>=!]=|[-+*/%<>()\[\],])`)
)

// parser reads a relation or a condition by climbing the operators' precedence.
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

// relation reads all of the text.
func (p *parser) relation() (Relation, error) {
	if err := p.advance(); err != nil {
		return Relation{}, err
	}
	whole, err := p.expression(0)
	switch {
	case err != nil:
		return Relation{}, err
	case p.tok.text != "":
		return Relation{}, p.unexpected("the end, or an operator")
	case whole.kind != truth:
		return Relation{}, p.fail(token{text: p.text}, "it is no comparison, as x <= y is")
	case len(p.used) == 0:
		return Relation{}, p.fail(token{text: p.text}, "it names no parameter")
	}
	return Relation{Text: p.text, Params: p.used, Holds: func(v Values) bool { return isTrue(whole.eval(v)) }}, nil
}

// advance goes on to the next token.
func (p *parser) advance() error {
	p.end = p.tok.at + len(p.tok.text)
	at := p.end + len(blanksRE.FindString(p.text[p.end:]))
	p.tok = token{tokenRE.FindString(p.text[at:]), at}
	if rest := p.text[at:]; p.tok.text == "" && rest != "" {
		if rest[0] == '\'' || rest[0] == '"' {
			return p.fail(token{rest, at}, "this %c is never closed", rest[0])
		}
		return p.fail(token{rest[:1], at}, "%q means nothing here; comparisons are == != < <= > >= and in", string([]rune(rest)[0]))
	}
	return nil
}

// since is the text from a token to the last one that was read.
func (p *parser) since(t token) token { return token{p.text[t.at:p.end], t.at} }

// expect steps over the token.
func (p *parser) expect(text, want string) error {
	if p.tok.text != text {
		return p.unexpected(want)
	}
	return p.advance()
}

func (p *parser) fail(t token, format string, args ...any) *RelationError {
	return &RelationError{Text: p.text, Offset: t.at, Len: max(len(t.text), 1), Message: fmt.Sprintf(format, args...)}
}

func (p *parser) unexpected(want string) error {
	if p.tok.text == "" {
		return p.fail(p.tok, "found the end; want %s", want)
	}
	return p.fail(p.tok, "found %q; want %s", p.tok.text, want)
}

// want complains if an expression is of another kind.
func (p *parser) want(k kind, es ...expression) error {
	for _, e := range es {
		if e.kind != k && e.kind != mixed && k != mixed {
			return p.fail(e.from, "%s is %s; want %s", e.from.text, e.kind, k)
		}
	}
	return nil
}

// expression reads one whose operators bind at least so strongly.
func (p *parser) expression(binds int) (expression, error) {
	if p.depth++; p.depth > deepest {
		return expression{}, p.fail(p.tok, "more than %d expressions stand within each other", deepest)
	}
	defer func() { p.depth-- }()
	a, err := p.operand()
	for err == nil {
		tok := p.tok
		op, known := operators[tok.text]
		if tok.text == "in" {
			op, known = operators["=="], true
		}
		if !known || op.binds < binds {
			break
		}
		if err = p.advance(); err != nil {
			break
		}
		if tok.text == "in" {
			a, err = p.in(a)
			continue
		}
		least := op.binds + 1
		if op.binds == bindsPower { // a ** b ** c is a ** (b ** c), and a ** -b is allowed
			least = bindsMinus
		}
		var b expression
		if b, err = p.expression(least); err == nil {
			a, err = p.join(op, a, b)
		}
	}
	return a, err
}

func (p *parser) join(op operator, a, b expression) (expression, error) {
	if op.binds == bindsComparison && a.kind == truth && a.of == nil && b.kind != truth {
		return a, p.fail(a.from, "%s is true or false; x < y < z is written x < y and y < z", a.from.text)
	}
	if err := p.want(op.takes, a, b); err != nil {
		return a, err
	}
	if op.takes == mixed {
		if err := p.comparable(a, b); err != nil {
			return a, err
		}
	}
	return expression{kind: op.gives, from: p.since(a.from), eval: func(v Values) Value {
		return op.apply(a.eval(v), b.eval(v))
	}}, nil
}

// comparable complains about values that are never equal.
func (p *parser) comparable(a, b expression) error {
	if err := p.want(a.kind, b); err != nil {
		return err
	}
	if b.of != nil {
		a, b = b, a
	}
	if a.of == nil || !b.literal {
		return nil
	}
	value := b.eval(nil)
	var allowed []string
	for _, c := range a.of.Choices {
		if equal(c, value) {
			return nil
		}
		allowed = append(allowed, c.Text())
	}
	if len(allowed) == 0 { // a range may become narrower than a relation expects
		if _, err := a.of.Normalize(value); err == nil || !p.condition {
			return nil
		}
	}
	err := p.fail(b.from, "%s is never %s; it is %s", a.of.Name, b.from.text, a.of.Describe())
	err.Word, err.Allowed = value.Text(), allowed
	return err
}

// in reads the list of values that a may have.
func (p *parser) in(a expression) (expression, error) {
	list, err := p.list("[", "]", func(e expression) error { return p.comparable(a, e) })
	return expression{kind: truth, from: p.since(a.from), eval: func(v Values) Value {
		return Bool(slices.ContainsFunc(list, func(e expression) bool { return equal(a.eval(v), e.eval(v)) }))
	}}, err
}

// list reads expressions between brackets.
func (p *parser) list(open, closing string, check func(expression) error) ([]expression, error) {
	err := p.expect(open, open)
	var out []expression
	for err == nil {
		var e expression
		if e, err = p.expression(0); err == nil {
			err = check(e)
		}
		if out = append(out, e); err == nil && p.tok.text != "," {
			return out, p.expect(closing, "a comma, or "+closing)
		}
		if err == nil {
			err = p.advance()
		}
	}
	return nil, err
}

// operand reads what stands between operators.
func (p *parser) operand() (expression, error) {
	t := p.tok
	if err := p.advance(); err != nil {
		return expression{}, err
	}
	switch t.text {
	case "not":
		return p.sign(t, bindsNot, truth, func(v Value) Value { return Bool(!isTrue(v)) })
	case "-":
		return p.sign(t, bindsMinus, number, func(v Value) Value { return Float(-num(v)) })
	case "(":
		e, err := p.expression(0)
		if err == nil {
			err = p.expect(")", "an operator, or )")
		}
		e.from = p.since(t)
		return e, err
	}
	if v, ok := literal(t.text); ok {
		p.literals = append(p.literals, v)
		return expression{kind: kindOf(v), from: t, literal: true, eval: func(Values) Value { return v }}, nil
	}
	if par, ok := p.params[t.text]; ok {
		if !slices.Contains(p.used, t.text) {
			p.used = append(p.used, t.text)
		}
		return parameter(t, par), nil
	}
	if f, ok := functions[t.text]; ok {
		return p.call(t, f)
	}
	if !beginsNameRE.MatchString(t.text) || operators[t.text].apply != nil {
		p.tok = t
		return expression{}, p.unexpected("a parameter, a number or a text in quotes")
	}
	names := slices.Sorted(maps.Keys(p.params))
	for _, name := range names {
		if slices.Contains(p.params[name].Choices, String(t.text)) {
			return expression{}, p.fail(t, "%[1]s is a choice of %[2]s: write it in quotes, '%[1]s'", t.text, name)
		}
	}
	err := p.fail(t, "%q is not a parameter declared before this one", t.text)
	if !p.condition {
		names = append(names, slices.Sorted(maps.Keys(functions))...)
		err = p.fail(t, "there is no parameter %s", t.text)
	}
	err.Word, err.Allowed = t.text, names
	return expression{}, err
}

var beginsNameRE = regexp.MustCompile(`^[A-Za-z_]`)

// literal is the value that a token stands for by itself.
func literal(text string) (Value, bool) {
	if text == "true" || text == "false" {
		return Bool(text == "true"), true
	}
	if strings.ContainsAny(text, `'"`) {
		return String(text[1 : len(text)-1]), true
	}
	x, err := strconv.ParseFloat(text, 64)
	return Float(x), err == nil && !beginsNameRE.MatchString(text) // inf may be a name
}

// sign reads what not or a minus belongs to.
func (p *parser) sign(t token, binds int, k kind, f func(Value) Value) (expression, error) {
	a, err := p.expression(binds)
	if err != nil {
		return a, err
	}
	err = p.want(k, a)
	return expression{kind: k, from: p.since(t), literal: a.literal, eval: func(v Values) Value { return f(a.eval(v)) }}, err
}

// call reads the arguments of a function.
func (p *parser) call(name token, f func(float64) float64) (expression, error) {
	args, err := p.list("(", ")", func(e expression) error { return p.want(number, e) })
	if err == nil && f != nil && len(args) > 1 {
		err = p.fail(args[1].from, "%s takes one number", name.text)
	}
	return expression{kind: number, from: p.since(name), eval: func(v Values) Value {
		x := make([]float64, len(args))
		for i, a := range args {
			x[i] = num(a.eval(v))
		}
		switch {
		case f != nil:
			return Float(f(x[0]))
		case name.text == "min":
			return Float(slices.Min(x))
		}
		return Float(slices.Max(x))
	}}, err
}
