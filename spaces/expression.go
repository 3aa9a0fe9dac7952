package spaces

import (
	"fmt"
	"math"
	"slices"
)

// RelationError says what is wrong at one place of a relation or a condition.
type RelationError struct {
	Text        string
	Offset, Len int    // bytes of the text
	Word        string // what stands there, if it is a name or a value
	Message     string
	Allowed     []string // words that may stand there, if they can be listed
}

func (e *RelationError) Error() string { return fmt.Sprintf("relation %q: %s", e.Text, e.Message) }

// ParseRelation reads a relation between parameters:
//
//	x + 2 * y ** 2 <= 1           == != < <= > >= and + - * / % **, the last for powers
//	batch % 8 == 0 or not deep    and, or, not
//	opt in ['sgd', 'adam']        texts in quotes, true and false
//	log2(width) <= depth          abs, ceil, floor, round, min, max, sqrt, exp, log, log2, log10
//
// Numbers that differ by rounding errors alone, 1e-12 of the larger, are equal. The error is
// a *RelationError.
func ParseRelation(text string, params []Param) (Relation, error) {
	named := map[string]Param{}
	for _, p := range params {
		named[p.Name] = p
	}
	return parse(text, named, false)
}

// kind is what an expression's values are.
type kind string

const (
	number kind = "a number"
	words  kind = "a text"
	truth  kind = "true or false"
	mixed  kind = "of several kinds" // as the levels of a choice may be
)

func kindOf(v Value) kind {
	switch v.Any().(type) {
	case bool:
		return truth
	case string:
		return words
	}
	return number
}

// expression is a part of a relation.
type expression struct {
	kind    kind
	eval    func(Values) Value
	of      *Param // set if it is a parameter alone
	literal bool   // it is a number or a text as it stands there
	from    token
	never   *RelationError // why it is never true, if that is known
}

func parameter(from token, p Param) expression {
	e := expression{kind: number, from: from, of: &p}
	e.eval = func(v Values) Value { x, _ := v.Get(p.Name); return x }
	for i, c := range p.levels() {
		if k := kindOf(c); i == 0 {
			e.kind = k
		} else if k != e.kind {
			e.kind = mixed
		}
	}
	return e
}

// operator joins two expressions. Those that bind more strongly come first.
type operator struct {
	binds int
	takes kind // mixed: any
	gives kind
	apply func(a, b Value) Value
}

var operators = map[string]operator{
	"or":  {bindsOr, truth, truth, func(a, b Value) Value { return Bool(isTrue(a) || isTrue(b)) }},
	"and": {bindsAnd, truth, truth, func(a, b Value) Value { return Bool(isTrue(a) && isTrue(b)) }},
	"==":  {bindsComparison, mixed, truth, func(a, b Value) Value { return Bool(equal(a, b)) }},
	"in":  {bindsComparison, mixed, truth, nil}, // of a list
	"!=":  {bindsComparison, mixed, truth, func(a, b Value) Value { return Bool(!equal(a, b)) }},
	"<":   {bindsComparison, number, truth, func(a, b Value) Value { return Bool(num(a) < num(b) && !equal(a, b)) }},
	">":   {bindsComparison, number, truth, func(a, b Value) Value { return Bool(num(a) > num(b) && !equal(a, b)) }},
	"<=":  {bindsComparison, number, truth, func(a, b Value) Value { return Bool(num(a) < num(b) || equal(a, b)) }},
	">=":  {bindsComparison, number, truth, func(a, b Value) Value { return Bool(num(a) > num(b) || equal(a, b)) }},
	"+":   arithmetic(5, sum),
	"-":   arithmetic(5, func(x, y float64) float64 { return sum(x, -y) }),
	"*":   arithmetic(6, func(x, y float64) float64 { return x * y }),
	"/":   arithmetic(6, func(x, y float64) float64 { return x / y }),
	"%":   arithmetic(6, remainder),
	"**":  arithmetic(bindsPower, math.Pow),
}

const (
	bindsOr         = 1
	bindsAnd        = 2
	bindsNot        = 3 // not a == b is not (a == b)
	bindsComparison = 4
	bindsMinus      = 7 // -a ** b is -(a ** b)
	bindsPower      = 8
)

func arithmetic(binds int, f func(x, y float64) float64) operator {
	return operator{binds, number, number, func(a, b Value) Value { return Float(f(num(a), num(b))) }}
}

// functions are of one number, but min and max.
var functions = map[string]func(...float64) float64{
	"abs": ofOne(math.Abs), "ceil": ofOne(whole(math.Ceil)), "floor": ofOne(whole(math.Floor)), "round": ofOne(whole(math.Round)),
	"sqrt": ofOne(math.Sqrt), "exp": ofOne(math.Exp), "log": ofOne(math.Log), "log2": ofOne(math.Log2), "log10": ofOne(math.Log10),
	"min": func(x ...float64) float64 { return slices.Min(x) }, "max": func(x ...float64) float64 { return slices.Max(x) },
}

func ofOne(f func(float64) float64) func(...float64) float64 {
	return func(x ...float64) float64 { return f(x[0]) }
}

func isTrue(v Value) bool { return v == Bool(true) }

func num(v Value) float64 {
	x, _ := v.Number()
	return x
}

// rounding is the relative difference up to which numbers are equal: steps of 0.1 may add up
// to 1 by a sum that is 0.9999999999999999.
const rounding = 1e-12

func equal(a, b Value) bool {
	x, ok1 := a.Number()
	y, ok2 := b.Number()
	if ok1 && ok2 {
		return x == y || little(x-y, max(math.Abs(x), math.Abs(y)))
	}
	return a == b
}

// little reports whether a difference from x is rounding alone.
func little(difference, x float64) bool {
	return math.Abs(difference) < rounding*math.Min(math.Abs(x), math.MaxFloat64)
}

// sum is 0 where nothing but rounding is left of the two: 0.1 + 0.2 - 0.3 == 0.
func sum(x, y float64) float64 {
	if little(x+y, x) {
		return 0
	}
	return x + y
}

// remainder of a division has the sign of x. It is 0 where y goes into x up to rounding, as 0.1
// into 0.3, and exact for whole numbers.
func remainder(x, y float64) float64 {
	if (x != math.Trunc(x) || y != math.Trunc(y)) && little(x-math.Round(x/y)*y, x) {
		return 0
	}
	return math.Mod(x, y)
}

// mostFraction is how large a number may be for its fraction to be told from rounding.
const mostFraction = 1e9

// whole is f but for numbers that are whole up to rounding, as 0.3/0.1 is, which stay so.
func whole(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if n := math.Round(x); math.Abs(x) < mostFraction && little(x-n, x) {
			return n
		}
		return f(x)
	}
}
