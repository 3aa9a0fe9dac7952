package spec

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
)

// writer builds the text of a spec. It writes what Parse reads.
type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// key writes key = value with the equals signs of a section aligned.
func (w *writer) key(width int, key, value string) {
	w.line("%-*s = %s", width, key, value)
}

// limits writes a number and a duration, those that are set.
func (w *writer) limits(width int, count string, n int, span string, d time.Duration) {
	if n > 0 {
		w.key(width, count, strconv.Itoa(n))
	}
	if d > 0 {
		w.key(width, span, quote(d.String()))
	}
}

// directions is which values are better, and the other way round.
func directions(maximize bool) (is, other string) {
	is, other = quote(string(study.Minimize)), quote(string(study.Maximize))
	if maximize {
		return other, is
	}
	return is, other
}

// quote writes a TOML basic string.
func quote(s string) string { return command.Literal(spaces.String(s)) }

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// number writes a bound so that floats stay floats and read easily.
func number(x float64, kind spaces.Kind) string {
	if kind == spaces.KindInt {
		return strconv.FormatInt(int64(x), 10)
	}
	return spaces.Float(x).Text()
}

// param writes [params.NAME], with an optional remark above its range.
func (w *writer) param(p spaces.Param, remark string) {
	w.line("\n[params.%s]", p.Name)
	if remark != "" {
		w.line("# %s", remark)
	}
	keys := [][2]string{{"type", quote(string(p.Kind))}}
	switch p.Kind {
	case spaces.KindChoice:
		var list []string
		for _, c := range p.Choices {
			list = append(list, command.Literal(c))
		}
		keys = append(keys, [2]string{"choices", "[" + strings.Join(list, ", ") + "]"})
	case spaces.KindFloat, spaces.KindInt:
		keys = append(keys, [2]string{"min", number(p.Min, p.Kind)}, [2]string{"max", number(p.Max, p.Kind)})
		if p.Scale != "" && p.Scale != spaces.Linear {
			keys = append(keys, [2]string{"scale", quote(string(p.Scale))})
		}
	}
	switch x, isNumber := p.Default.Number(); {
	case isNumber && (p.Kind == spaces.KindFloat || p.Kind == spaces.KindInt):
		keys = append(keys, [2]string{"default", number(x, p.Kind)})
	case p.Default.IsValid():
		keys = append(keys, [2]string{"default", command.Literal(p.Default)})
	}
	width := 0
	for _, k := range keys {
		width = max(width, len(k[0]))
	}
	for _, k := range keys {
		w.key(width, k[0], k[1])
	}
}

// env writes the environment of [run], NAME=value each.
func (w *writer) env(env []string) {
	if len(env) == 0 {
		return
	}
	var pairs []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		pairs = append(pairs, name+" = "+quote(value))
	}
	w.line("env = { %s }", strings.Join(pairs, ", "))
}

// command writes a program with its arguments, or a shell command line if it
// is one string with blanks.
func (w *writer) command(argv []string) {
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		w.line("command = %s", quote(argv[0]))
		return
	}
	w.line("command = %s", quoteAll(argv))
}
