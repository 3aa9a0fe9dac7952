package command

import (
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// Literal writes a value as JSON, YAML and TOML all have it.
func Literal(v spaces.Value) string {
	b, err := v.MarshalJSON()
	if err != nil {
		// Values of a space are finite numbers, strings and truth values.
		panic("command: a value that JSON cannot hold: " + err.Error())
	}
	if _, number := v.Number(); number {
		return pointed(string(b))
	}
	return strings.ReplaceAll(string(b), "\x7f", `\u007f`) // which TOML wants escaped
}

// pointed gives a number with an exponent a decimal point: 1e-05 is a string to
// readers of YAML 1.1, 1.0e-05 is a number to all.
func pointed(number string) string {
	mantissa, exponent, ok := strings.Cut(number, "e")
	if !ok || strings.Contains(mantissa, ".") {
		return number
	}
	return mantissa + ".0e" + exponent
}
