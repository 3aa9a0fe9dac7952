package study

import (
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// A study that has begun may get more parameters, after those that it has. The trials so far
// had the value of each that is its default now: the command had it written out, or the
// program had it by itself.

// added lists the parameters that a config has beyond an earlier one.
func added(was, now Config) []spaces.Param { return now.Params[min(len(was.Params), len(now.Params)):] }

// withAdded returns the values of a trial from when there were only the first n parameters.
func withAdded(v spaces.Values, space *spaces.Space, n int) spaces.Values {
	out := slices.Clone(v)
	for i := n; i < space.Len(); i++ {
		if p := space.Params()[i]; space.Exists(i, out) {
			out = append(out, spaces.Assignment{Name: p.Name, Value: p.Default})
		}
	}
	return out
}

// extends reports whether a template is an earlier one into which parameters were put, by its words
// or lines. Each piece is one of the earlier ones in their order, as it was or with a parameter
// where that has its default; or it holds a parameter; or it is an option before one that does and is none itself.
func extends(was, now []string, before, after Config) bool {
	space, err := spaces.New(after.Params...)
	params := added(before, after)
	if err != nil || len(params) == 0 {
		return false // Apply will say so
	}
	b := &command.Bindings{Params: params, Values: withAdded(nil, space, len(before.Params))}
	same := func(piece, before string) bool {
		x, _ := b.Expand(piece)
		y, _ := b.Expand(before)
		return x == y || x != piece && strings.TrimRight(x, " \t") == strings.TrimRight(y, " \t")
	}
	holds := func(i int) bool {
		return i < len(now) && slices.ContainsFunc(command.Parse(now[i]), func(part command.Part) bool {
			return slices.ContainsFunc(params, func(p spaces.Param) bool { return p.Name == part.Name })
		})
	}
	at := 0
	for i, piece := range now {
		switch {
		case at < len(was) && same(piece, was[at]):
			at++
		case holds(i), strings.HasPrefix(piece, "-") && !strings.Contains(piece, " ") && holds(i+1) && !strings.HasPrefix(now[i+1], "-"):
		default:
			return false
		}
	}
	return at == len(was)
}

func pieces(c command.Command) []string {
	if c.Shell != "" {
		return fields(c.Shell)
	}
	return c.Argv
}

// fieldRE matches what stands between blanks that mean nothing to a shell, the end of a line, and a text that ends at a mark.
var fieldRE = pattern.Lazy(`<<[\s\S]*|(?:\\[^\n]|"(?:\\[\s\S]|[^"\\])*"|'[^']*'|[^\s\\<])+|<|\\?\n`)

// fields splits a shell command there; of such a text, lines are pieces.
func fields(text string) []string {
	out := fieldRE().FindAllString(strings.TrimSpace(text), -1)
	if last := len(out) - 1; last >= 0 && strings.HasPrefix(out[last], "<<") {
		out = append(out[:last], strings.Split(out[last], "\n")...)
	}
	return slices.DeleteFunc(out, func(field string) bool { return field == "\\\n" })
}

// commandExtends reports whether the command is the earlier one but for added parameters.
func commandExtends(was, now Config) bool {
	return (was.Command.Shell == "") == (now.Command.Shell == "") && extends(pieces(was.Command), pieces(now.Command), was, now)
}

// filesExtend reports the same of the rendered files.
func filesExtend(was, now Config) bool {
	if len(was.Files) != len(now.Files) {
		return false
	}
	for i, f := range was.Files {
		g := now.Files[i]
		if f.To != g.To || len(f.Set) > 0 && f.Text != g.Text || !extends(settings(f), settings(g), was, now) {
			return false
		}
	}
	return true
}

// settings are the lines of a template, or what is set in a base file.
func settings(f command.File) []string {
	if len(f.Set) == 0 {
		return strings.Split(f.Text, "\n")
	}
	return lists.Map(f.Set, func(s command.Setting) string { return brief(s) })
}
