package spaces

import (
	"fmt"
	"strconv"
	"strings"
)

func (p Param) parse(text string) (Value, error) {
	switch p.Kind {
	case KindFloat:
		// As programs print numbers, and not as Go also writes them: 0x1p3, 1_000.
		if x, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, "xX_") {
			return Float(x), nil
		}
	case KindInt:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(n), nil
		}
	case KindBool:
		if text == "true" || text == "false" {
			return Bool(text == "true"), nil
		}
	default:
		return String(text), nil
	}
	return Value{}, fmt.Errorf("parameter %s: found %q; want %s", p.Name, text, p.Describe())
}
