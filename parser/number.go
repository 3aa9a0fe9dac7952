package parser

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/pattern"
)

// kind says what stands where a metric's value should be.
type kind uint8

const (
	notNumeric kind = iota // does not even begin like a number
	unreadable             // begins like a number and is none: "0,5", "12s", "3/10"
	finite
	nonFinite
	missing        // a word that says that there is no value: "N/A", "None"
	absent         // a last line without a number
	failed         // the program's own word that the trial failed
	rivals         // several values where one was asked for
	severalColumns // the row of a table where a number was asked for
)

// number is what scanNumber read: the token's bytes are the first size bytes.
type number struct {
	value float64
	size  int
	kind  kind
}

// numberMode adapts scanNumber to what it reads.
type numberMode struct {
	cut   bool // the line was cut at its end: a token that touches it is incomplete
	ratio bool // "3/10" is 3: how a step is printed
}

// scanNumber reads the number at the start of text, whole or not at all. The
// number must end where its token ends, see endOfToken.
func scanNumber(text []byte, mode numberMode) number {
	if !startsNumber(text) {
		return scanNonFinite(text, mode)
	}
	size := endOfToken(text, mode)
	token := text[:size]
	if size == len(text) && mode.cut {
		return number{size: size, kind: unreadable}
	}
	if size < len(text) && text[size] == '%' {
		size++
		if !startsTerminator(text[size:]) {
			return number{size: size, kind: unreadable}
		}
	}
	value, k := parseNumber(token)
	if k == unreadable {
		value, k = parseDecorated(token)
	}
	if apart := exponentApart(text[size:]); apart > 0 {
		return number{size: size + apart, kind: unreadable}
	}
	return number{value: value, size: size, kind: k}
}

// exponentApart gives the length of what stands behind a number up to an exponent of its own, as in
// "(9.3+/-0.1)e-03", "0.93(1)e-3" and "0.5 e-3", 0 if there is none.
func exponentApart(rest []byte) int {
	begins := func(i int, with string) bool { return len(rest) > 1 && strings.IndexByte(with, rest[i]) >= 0 }
	if !begins(0, ")](+\xc2") && !(begins(0, " \t") && begins(1, "eE+(\xc2")) { // for speed
		return 0
	}
	return len(exponentRE().Find(rest))
}

var exponentRE = pattern.Lazy(`^(?:[ \t]*(?:±|\+/-|\+-)[ \t]*[\d.]+)?(?:\(\d+\)|[)\]]|[ \t]+)[eE][-+]\d+`)

// scanValue reads the number at the start of text where one value is asked for: what goes on behind a
// blank, as in "1 234.5", "1.5 x 10^-3", "0.6 -> 0.4" and "3 / 10", makes it unreadable. A step has no such.
func scanValue(text []byte, mode numberMode) number {
	n := scanNumber(text, mode)
	if n.kind != finite || mode.ratio {
		return n
	}
	rest := bytes.TrimLeft(text[skipDeviation(text, n.size):], " \t)]")
	end := max(thousands(text, n.size), inUnits(text, n.size))
	if len(rest) > 0 && (rest[0] >= utf8.RuneSelf || strings.IndexByte("xX*1-+=/:", rest[0]) >= 0) { // for speed
		end = max(end, len(trimBlanks(partRE().Find(text))))
		if more := moreRE().Find(rest); more != nil {
			end = len(text) - len(rest) + len(more)
		}
	}
	if end > 0 {
		return number{size: end, kind: unreadable}
	}
	return n
}

// powerRE finds a power of ten by which the number before it is multiplied, moreRE also what became of the number and
// the sum that it is part of, partRE a number that is part of a name ("loss 1: 0.3"), a ratio or a product.
const power = `^(?:[xX×*·⋅][ \t]*)?10(?:\^|\*\*|[⁰¹²³⁴-⁹⁺⁻])\S*`

var powerRE = pattern.Lazy(power)
var moreRE = pattern.Lazy(power +
	`|^(?:-+>|=>|→|(?:\+[ \t]*[\d.]+[ \t]*)+=)[ \t]*` + signRE + `\.?(?:\d|∞|(?i:nan|inf|infinity)\b)\S*`)
var partRE = pattern.Lazy(`^\d+[ \t]*[:=][ \t]*` + signRE + `(?:\d*\.\d|\d+[eE][-+]?\d|∞|(?i:nan|inf|infinity)\b)\S*` +
	`|^\d+[ \t]*/[ \t]*\d+\.?(?:[^.\d]|$)|^\S+[ \t]+\*[ \t]+` + signRE + `\.?\d\S*`)

// thousands gives the end of a number at the start of text that has blanks between its digits, 0 if it
// has none; size is that of its first digits.
func thousands(text []byte, size int) int {
	if next := size + 1; next >= len(text) || text[size] != ' ' || !isDigit(text[next]) {
		return 0
	}
	if groups := groupsRE().FindIndex(text); groups != nil && startsTerminator(text[groups[1]:]) {
		return groups[1]
	}
	return 0
}

// inUnits gives the end of a time in several units at the start of text, as in "1 min 30 s" and "1 day, 2:00:00", 0 if
// it is none; size is that of its first number.
func inUnits(text []byte, size int) int {
	if size+1 >= len(text) || text[size] != ' ' || strings.IndexByte("dhm", text[size+1]) < 0 { // for speed
		return 0
	}
	if more := unitsRE().Find(text[size:]); more != nil {
		return size + len(more)
	}
	return 0
}

var unitsRE = pattern.Lazy(`^ (?:d|days?|h|hrs?|hours?|min|mins|minutes?),? (?:and )?\d[\d.]*(?::[\d:.]+| ?(?:h|hrs?|hours?|m|min|mins|minutes?|s|secs?|seconds?)\b)`)

var groupsRE = pattern.Lazy(`^` + signRE + `[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?`)

// wholeNumber reads a text that is one number and nothing else; its kind is unreadable if it is none.
func wholeNumber(text []byte) (float64, kind) {
	n := scanNumber(text, numberMode{})
	if n.size != len(text) || n.kind == notNumeric {
		return 0, unreadable
	}
	return n.value, n.kind
}

func scanNonFinite(text []byte, mode numberMode) number {
	const longest = len("\u2212infinity+-1.2345678901234567e-100") // with a deviation, as cross-validations print it: "nan+nan"
	size := endOfToken(text[:min(len(text), longest)], mode)
	token := bytes.TrimSuffix(text[:size], []byte("."))
	if plus := bytes.IndexByte(token[min(1, len(token)):], '+'); plus >= 0 {
		token = token[:plus+1]
	}
	value, k := parseNumber(token)
	if k != nonFinite || mode.cut && size == len(text) {
		return number{}
	}
	return number{value: value, size: size, kind: k}
}

// startsNumber reports whether text begins like a number: a digit, perhaps
// after a sign and a decimal point.
func startsNumber(text []byte) bool {
	i := skipSign(text, 0)
	if i < len(text) && text[i] == '.' {
		i++
	}
	return i < len(text) && isDigit(text[i])
}

// endOfToken gives the length of the token that starts text. A token is ended
// by white space, by brackets, quotes and separators, and by the signs that
// announce a deviation. A comma, a colon or an apostrophe between digits
// belongs to the token, and makes it unreadable: "0,5" is not 0.
func endOfToken(text []byte, mode numberMode) int {
	for i, c := range text {
		ends := c == '%' || c == '/' && mode.ratio && i > 0 || startsTerminator(text[i:])
		if ends && !goesOn(text, i) {
			return i
		}
	}
	return len(text)
}

// startsTerminator reports whether a number may end before rest.
func startsTerminator(rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	switch c := rest[0]; c {
	case ';', '(', ')', '[', ']', '{', '}', '|', '"', '`', '<', '>', '*', '\\':
		return true
	case ',', ':', '\'':
		return len(rest) == 1 || !isDigit(rest[1])
	case '+':
		return bytes.HasPrefix(rest, []byte("+/-"))
	default:
		if c >= utf8.RuneSelf {
			return bytes.HasPrefix(rest, []byte("±")) || bytes.HasPrefix(rest, []byte("│"))
		}
		return isBlank(c)
	}
}

// ParseNumber reads all of text as one number, by the rules for what programs print: decimal,
// or one of the names of what is not finite.
func ParseNumber(text string) (value float64, ok bool) {
	value, k := parseNumber([]byte(text))
	return value, k == finite || k == nonFinite
}

// parseNumber reads token as one decimal number: digits with an optional sign,
// decimal point and exponent, or one of the names of what is not finite.
func parseNumber(token []byte) (float64, kind) {
	token = plainMinus(token)
	switch {
	case isDecimal(token):
		value, err := strconv.ParseFloat(string(token), 64)
		if err != nil { // out of range: ParseFloat gives an infinity
			return value, nonFinite
		}
		return value, finite
	case len(token) <= len("-infinity") && isNonFinite(token):
		name := strings.Replace(string(bytes.TrimLeft(token, "+-.")), infinity, "inf", 1)
		value, _ := strconv.ParseFloat(name, 64) // which knows all those names
		if token[0] == '-' {
			value = -value
		}
		return value, nonFinite
	}
	return 0, unreadable
}

// infinity is what .NET, Java and R print in some locales.
const infinity = "\u221e"

// isNonFinite tells nan, inf, infinity and its sign in any case and with any sign, also as .inf.
func isNonFinite(token []byte) bool {
	token = bytes.TrimPrefix(token[skipSign(token, 0):], []byte(".")) // the point is YAML's
	return slices.ContainsFunc([]string{"nan", "inf", "infinity", infinity}, func(name string) bool {
		return len(token) == len(name) && bytes.EqualFold(token, []byte(name))
	})
}

// parseDecorated reads a number with a full stop after it, with Fortran's double exponent,
// "1.5D-03", or with a deviation glued to it as cross-validations print it: "0.93+0.01".
// Three digits alone may be the exponent of Fortran's "1.5+100", and are no deviation.
func parseDecorated(token []byte) (float64, kind) {
	if bare, ok := bytes.CutSuffix(token, []byte(".")); ok {
		return parseNumber(bare)
	}
	if d := bytes.IndexAny(token, "dD"); d > 0 && skipSign(token, d+1) > d+1 {
		return parseNumber(slices.Concat(token[:d], []byte("e"), token[d+1:]))
	}
	plus := bytes.LastIndexByte(token, '+')
	for ; plus > 0; plus = bytes.LastIndexByte(token[:plus], '+') {
		exponent := plus+4 == len(token) && skipDigits(token, plus+1) == len(token)
		if isDecimal(token[plus+1:]) && isDecimal(token[:plus]) && !exponent {
			return parseNumber(token[:plus])
		}
	}
	return math.NaN(), unreadable
}

// isDecimal checks the grammar [+-] digits [. digits] [e [+-] digits], with
// digits on at least one side of the point.
func isDecimal(token []byte) bool {
	token = token[skipSign(token, 0):]
	if e := bytes.IndexAny(token, "eE"); e >= 0 {
		exponent := token[skipSign(token, e+1):]
		if len(exponent) == 0 || skipDigits(exponent, 0) < len(exponent) {
			return false
		}
		token = token[:e]
	}
	whole, fraction, _ := bytes.Cut(token, []byte{'.'})
	digits := skipDigits(whole, 0) + skipDigits(fraction, 0)
	return digits > 0 && digits == len(whole)+len(fraction)
}

// skipSign goes past a sign, which may be the minus of typesetting: see isMinus.
func skipSign(token []byte, i int) int {
	if r, size := utf8.DecodeRune(token[min(i, len(token)):]); r == '+' || r == '-' || isMinus(r) {
		return i + size
	}
	return i
}

func skipDigits(token []byte, i int) int {
	for i < len(token) && isDigit(token[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isBlank tells white space and all other control characters: progress bars
// put backspaces between a number and what follows it.
func isBlank(c byte) bool { return c <= ' ' || c == 0x7f }

// trimBlanks cuts off the blanks that end text.
func trimBlanks(text []byte) []byte {
	return bytes.TrimRightFunc(text, isBlankRune)
}

func isBlankRune(r rune) bool { return r < utf8.RuneSelf && isBlank(byte(r)) }

func skipBlanks(text []byte, i int) int {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	return i
}

// isMissing tells what stands in a cell that has no value. Stars are what Fortran prints for a
// number that its field has no room for.
func isMissing(text string) bool {
	if len(text) > 2 && strings.Trim(text, "*") == "" {
		return true
	}
	switch strings.ToLower(text) {
	case "", "-", "--", "—", "?", "??", "???", "none", "null", "nil", "<nil>", "na", "n/a", "n.a.", "<na>":
		return true
	}
	return false
}

// isMinus knows the minus sign of typesetting, two hyphens, the dash, and the small and the wide
// minus. Java, ICU and R print them in some locales; directly before a digit they mean what "-" does.
func isMinus(r rune) bool {
	return r >= utf8.RuneSelf && strings.ContainsRune(minuses, r)
}

const minuses = "\u2212\u2010\u2011\u2013\ufe63\uff0d"

const signRE = `[-+` + minuses + `]?`

// plainMinus writes the minus signs of a token as "-".
func plainMinus(token []byte) []byte {
	if bytes.IndexFunc(token, isMinus) < 0 {
		return token
	}
	return bytes.Map(func(r rune) rune {
		if isMinus(r) {
			return '-'
		}
		return r
	}, token)
}

// skipDeviation goes past the deviations of a number that ends at i: "± 0.01", "+/- 0.01",
// perhaps in parentheses, and the "(1)" of 0.93(1). Without one it stays there.
func skipDeviation(text []byte, i int) int {
	for {
		next := skipBlanks(text, i)
		if next == len(text) || strings.IndexByte("(+\xc2", text[next]) < 0 { // for speed
			return i
		}
		glued, whole := lastDigitsRE().Find(text[i:]), bytes.TrimRight(text[:i], "0123456789")
		if glued != nil && bytes.HasSuffix(whole, []byte(".")) {
			i += len(glued)
			continue
		}
		at := i + len(deviationRE().Find(text[i:]))
		n := scanNumber(text[at:], numberMode{})
		if at == i || n.kind == notNumeric {
			return i
		}
		i = at + n.size
	}
}

var deviationRE = pattern.Lazy(`^[\x00- \x7f]*\(?[\x00- \x7f]*(?:±|\+/-|\+-)[\x00- \x7f]*`)
var lastDigitsRE = pattern.Lazy(`^\(\d+\)`)

// goesOn reports whether what stands at i, which ends most tokens, is within this one: a
// power or a product, Wolfram's "3.1`*^-7", bytes of zero as in UTF-16, and backspaces of which the terminal
// shows digits that are put over those before.
func goesOn(text []byte, i int) bool {
	c := text[i]
	if c != '*' && c != '`' && c != 0 && c != '\b' {
		return false
	}
	next := i
	for next < len(text) && text[next] == c {
		next++
	}
	if c == '\b' && next-i > i {
		return false // all that was printed is put away: a progress bar begins anew
	}
	if c == 0 {
		return next < len(text) && !isBlank(text[next])
	}
	return startsNumber(text[next:]) || bytes.HasPrefix(bytes.TrimPrefix(text[next:], []byte("*")), []byte("^"))
}
