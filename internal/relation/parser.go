package relation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
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

// parser reads a relation by climbing the operators' precedence.
type parser struct {
	text   string
	params map[string]spaces.Param
	used   map[string]bool
	tok    token // the next one
}

// whole reads all of the text.
func (p *parser) whole() (expression, error) {
	if err := p.advance(); err != nil {
		return expression{}, err
	}
	e, err := p.expression(0)
	if err == nil && p.tok.text != "" {
		err = p.unexpected("the end, or an operator")
	}
	return e, err
}

// advance goes on to the next token.
func (p *parser) advance() error {
	at := p.tok.at + len(p.tok.text)
	at += len(blanksRE.FindString(p.text[at:]))
	p.tok = token{tokenRE.FindString(p.text[at:]), at}
	if rest := p.text[at:]; p.tok.text == "" && rest != "" {
		return p.fail(token{rest[:1], at}, "%q means nothing here; comparisons are == != < <= > >= and in", string([]rune(rest)[0]))
	}
	return nil
}

// expect steps over the token.
func (p *parser) expect(text, want string) error {
	if p.tok.text != text {
		return p.unexpected(want)
	}
	return p.advance()
}

func (p *parser) fail(t token, format string, args ...any) *Error {
	return &Error{Text: p.text, Offset: t.at, Len: max(len(t.text), 1), Message: fmt.Sprintf(format, args...)}
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
	a, err := p.operand()
	for err == nil {
		op, known := operators[p.tok.text]
		if p.tok.text == "in" {
			op, known = operators["=="], true
		}
		if !known || op.binds < binds {
			break
		}
		tok := p.tok
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
	if err := p.want(op.takes, a, b); err != nil {
		return a, err
	}
	if op.takes == mixed {
		if err := p.comparable(a, b); err != nil {
			return a, err
		}
	}
	return expression{kind: op.gives, from: a.from, eval: func(v spaces.Values) spaces.Value {
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
	if a.of == nil || len(a.of.Choices) == 0 || !b.literal {
		return nil
	}
	var allowed []string
	for _, c := range a.of.Choices {
		if equal(c, b.eval(nil)) {
			return nil
		}
		allowed = append(allowed, c.Text())
	}
	err := p.fail(b.from, "%s is never %s", a.of.Name, b.from.text)
	err.Word, err.Allowed = b.eval(nil).Text(), allowed
	return err
}

// in reads the list of values that a may have.
func (p *parser) in(a expression) (expression, error) {
	list, err := p.list("[", "]", func(e expression) error { return p.comparable(a, e) })
	return expression{kind: truth, from: a.from, eval: func(v spaces.Values) spaces.Value {
		return spaces.Bool(slices.ContainsFunc(list, func(e expression) bool { return equal(a.eval(v), e.eval(v)) }))
	}}, err
}

// list reads expressions between brackets.
func (p *parser) list(open, closing string, check func(expression) error) ([]expression, error) {
	err := p.expect(open, open)
	var out []expression
	for err == nil {
		var e expression
		if e, err = p.expression(0); err != nil {
			break
		}
		if err = check(e); err != nil {
			break
		}
		out = append(out, e)
		if p.tok.text != "," {
			return out, p.expect(closing, "a comma, or "+closing)
		}
		err = p.advance()
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
		return p.sign(t, bindsNot, truth, func(v spaces.Value) spaces.Value { return spaces.Bool(!isTrue(v)) })
	case "-":
		return p.sign(t, bindsMinus, number, func(v spaces.Value) spaces.Value { return spaces.Float(-num(v)) })
	case "(":
		e, err := p.expression(0)
		if err == nil {
			err = p.expect(")", "an operator, or )")
		}
		return e, err
	}
	if v, ok := literal(t.text); ok {
		return expression{kind: kindOf(v), from: t, literal: true, eval: func(spaces.Values) spaces.Value { return v }}, nil
	}
	if par, ok := p.params[t.text]; ok {
		p.used[t.text] = true
		return parameter(t, par), nil
	}
	if f, ok := functions[t.text]; ok {
		return p.call(t, f)
	}
	if !nameRE.MatchString(t.text) || operators[t.text].apply != nil {
		p.tok = t
		return expression{}, p.unexpected("a parameter, a number or a text in quotes")
	}
	err := p.fail(t, "there is no parameter %s", t.text)
	err.Word, err.Allowed = t.text, slices.Concat(slices.Sorted(maps.Keys(p.params)), slices.Sorted(maps.Keys(functions)))
	return expression{}, err
}

var nameRE = regexp.MustCompile(`^[A-Za-z_]`)

// literal is the value that a token stands for by itself.
func literal(text string) (spaces.Value, bool) {
	if text == "true" || text == "false" {
		return spaces.Bool(text == "true"), true
	}
	if strings.ContainsAny(text, `'"`) {
		return spaces.String(text[1 : len(text)-1]), true
	}
	x, err := strconv.ParseFloat(text, 64)
	return spaces.Float(x), err == nil && !nameRE.MatchString(text) // inf may be a name
}

// sign reads what not or a minus belongs to.
func (p *parser) sign(t token, binds int, k kind, f func(spaces.Value) spaces.Value) (expression, error) {
	a, err := p.expression(binds)
	if err == nil {
		err = p.want(k, a)
	}
	return expression{kind: k, from: t, eval: func(v spaces.Values) spaces.Value { return f(a.eval(v)) }}, err
}

// call reads the arguments of a function.
func (p *parser) call(name token, f func(float64) float64) (expression, error) {
	args, err := p.list("(", ")", func(e expression) error { return p.want(number, e) })
	if err == nil && f != nil && len(args) > 1 {
		err = p.fail(args[1].from, "%s takes one number", name.text)
	}
	return expression{kind: number, from: name, eval: func(v spaces.Values) spaces.Value {
		x := make([]float64, len(args))
		for i, a := range args {
			x[i] = num(a.eval(v))
		}
		switch {
		case f != nil:
			return spaces.Float(f(x[0]))
		case name.text == "min":
			return spaces.Float(slices.Min(x))
		}
		return spaces.Float(slices.Max(x))
	}}, err
}
