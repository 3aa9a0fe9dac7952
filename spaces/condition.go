package spaces

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Condition is a conjunction of comparisons such as
//
//	optimizer == 'sgd'
//	layers >= 2 and norm in ['batch', 'layer']
//
// Strings stand in single or double quotes; numbers, true and false stand bare.
type Condition struct {
	text string
	all  []comparison
}

// comparison keeps the tokens behind its values for complaints about them.
type comparison struct {
	param string
	op    string
	args  []Value
	name  token
	given []token
}

// ConditionError says what is wrong at one place of a condition.
type ConditionError struct {
	Offset, Len int    // bytes of the condition
	Word        string // what stands there, without its quotes
	Message     string
	Allowed     []string // words that may stand there, if they can be listed
}

func (e *ConditionError) Error() string { return e.Message }

// ParseCondition reads a condition. Errors say where it went wrong.
func ParseCondition(text string) (*Condition, error) {
	lex, err := lexCondition(text)
	if err != nil {
		return nil, err
	}
	c := &Condition{text: text}
	for {
		cmp, rest, err := parseComparison(text, lex)
		if err != nil {
			return nil, err
		}
		c.all = append(c.all, cmp)
		if len(rest) == 0 {
			return c, nil
		}
		if w := rest[0].text; rest[0].kind != 'w' || w != "and" {
			return nil, rest[0].fail([]string{"and"}, "condition %q: found %q; want the end or `and`", text, w)
		}
		lex = rest[1:]
	}
}

// String returns the condition as it was written.
func (c *Condition) String() string { return c.text }

// MarshalText writes the condition as it was written.
func (c *Condition) MarshalText() ([]byte, error) { return []byte(c.text), nil }

// UnmarshalText parses a condition.
func (c *Condition) UnmarshalText(b []byte) error {
	p, err := ParseCondition(string(b))
	if err == nil {
		*c = *p
	}
	return err
}

// Params names the parameters that the condition looks at.
func (c *Condition) Params() []string {
	var out []string
	for _, cmp := range c.all {
		out = append(out, cmp.param)
	}
	return out
}

// Holds evaluates the condition. A comparison with an absent (inactive)
// parameter does not hold.
func (c *Condition) Holds(get func(name string) (Value, bool)) bool {
	for _, cmp := range c.all {
		v, ok := get(cmp.param)
		if !ok || !cmp.holds(v) {
			return false
		}
	}
	return true
}

func (c comparison) holds(v Value) bool {
	switch c.op {
	case "==", "in":
		for _, a := range c.args {
			if same(v, a) {
				return true
			}
		}
		return false
	case "!=":
		return !same(v, c.args[0])
	}
	x, _ := v.Number()
	y, _ := c.args[0].Number()
	switch c.op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

// same compares numbers by value, whatever their kind, and the rest exactly.
func same(a, b Value) bool {
	x, ok1 := a.Number()
	y, ok2 := b.Number()
	if ok1 && ok2 {
		return x == y
	}
	return a == b
}

// check says what is wrong with the condition for the parameter that it
// guards, given the parameters declared before it.
func (c *Condition) check(earlier map[string]Param) *ConditionError {
	for _, cmp := range c.all {
		p, ok := earlier[cmp.param]
		if !ok {
			return cmp.name.fail(slices.Sorted(maps.Keys(earlier)), "%q is not a parameter declared before this one", cmp.param)
		}
		ordered := strings.ContainsAny(cmp.op, "<>")
		if ordered && !p.numeric() && !p.ofNumbers() {
			return cmp.name.fail(nil, "%s compares numbers, but %s is %s", cmp.op, p.Name, p.Kind)
		}
		for i, a := range cmp.args {
			if ordered {
				if _, ok := a.Number(); !ok {
					return cmp.given[i].fail(nil, "%s compares numbers; found %q", cmp.op, a.Text())
				}
				continue
			}
			if _, err := p.Normalize(a); err != nil {
				var allowed []string
				for _, choice := range p.Choices {
					allowed = append(allowed, choice.Text())
				}
				return cmp.given[i].fail(allowed, "the condition can never see this value: %v", err)
			}
		}
	}
	return nil
}

type token struct {
	kind    byte // 'w' word, 's' quoted string, 'o' operator or punctuation
	text    string
	at, end int // offsets in the condition
}

// fail complains about the token.
func (t token) fail(allowed []string, format string, args ...any) *ConditionError {
	return &ConditionError{t.at, t.end - t.at, t.text, fmt.Sprintf(format, args...), allowed}
}

func lexCondition(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		ch := text[i]
		switch {
		case ch == ' ' || ch == '\t':
			i++
		case ch == '\'' || ch == '"':
			end := strings.IndexByte(text[i+1:], ch)
			if end < 0 {
				return nil, token{at: i, end: len(text)}.fail(nil, "condition %q: the quote at column %d is never closed", text, i+1)
			}
			out = append(out, token{'s', text[i+1 : i+1+end], i, i + end + 2})
			i += end + 2
		case strings.IndexByte("=!<>", ch) >= 0:
			n := 1
			if i+1 < len(text) && text[i+1] == '=' {
				n = 2
			}
			out = append(out, token{'o', text[i : i+n], i, i + n})
			i += n
		case strings.IndexByte("[](),", ch) >= 0:
			out = append(out, token{'o', text[i : i+1], i, i + 1})
			i++
		default:
			j := i
			for j < len(text) && isWordByte(text[j]) {
				j++
			}
			if j == i {
				return nil, token{at: i, end: i + 1}.fail(nil, "condition %q: unexpected %q at column %d", text, ch, i+1)
			}
			out = append(out, token{'w', text[i:j], i, j})
			i = j
		}
	}
	return out, nil
}

func isWordByte(b byte) bool {
	return b == '_' || b == '.' || b == '-' || b == '+' || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

func parseComparison(text string, lex []token) (comparison, []token, error) {
	fail := func(want string) (comparison, []token, error) {
		found, at := "the end", token{at: len(text), end: len(text)}
		if len(lex) > 0 {
			found, at = strconv.Quote(lex[0].text), lex[0]
		}
		return comparison{}, nil, at.fail(nil, "condition %q: found %s; want %s", text, found, want)
	}
	if len(lex) == 0 || lex[0].kind != 'w' || !nameRE.MatchString(lex[0].text) {
		return fail("the name of a parameter, as in optimizer == 'sgd'")
	}
	c := comparison{param: lex[0].text, name: lex[0]}
	lex = lex[1:]
	if len(lex) == 0 {
		return fail("==, !=, <, <=, >, >= or in")
	}
	switch lex[0].text {
	case "==", "!=", "<", "<=", ">", ">=":
		c.op = lex[0].text
		lex = lex[1:]
		v, ok := literal(lex)
		if !ok {
			return fail("a value: 'text' in quotes, a number, true or false")
		}
		c.args, c.given = []Value{v}, lex[:1]
		return c, lex[1:], nil
	case "in":
		c.op = "in"
		lex = lex[1:]
		if len(lex) == 0 || lex[0].text != "[" {
			return fail("a list such as ['a', 'b']")
		}
		for lex[0].text != "]" {
			lex = lex[1:]
			v, ok := literal(lex)
			if !ok {
				return fail("a value: 'text' in quotes, a number, true or false")
			}
			c.args, c.given = append(c.args, v), append(c.given, lex[0])
			lex = lex[1:]
			if len(lex) == 0 || lex[0].text != "," && lex[0].text != "]" {
				return fail("`,` or `]`")
			}
		}
		return c, lex[1:], nil
	}
	return fail("==, !=, <, <=, >, >= or in")
}

func literal(lex []token) (Value, bool) {
	if len(lex) == 0 {
		return Value{}, false
	}
	t := lex[0]
	switch {
	case t.kind == 's':
		return String(t.text), true
	case t.kind != 'w':
		return Value{}, false
	case t.text == "true" || t.text == "false":
		return Bool(t.text == "true"), true
	}
	if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
		return Int(n), true
	}
	if x, err := strconv.ParseFloat(t.text, 64); err == nil {
		return Float(x), true
	}
	return Value{}, false
}
