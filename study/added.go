package study

import (
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
)

// A study that has begun may get more parameters, after those that it has. The trials so far
// had the value of each that is its default now: the command had it written out, or the
// program had it by itself.

// added lists the parameters that a config has beyond an earlier one.
func added(was, now Config) []spaces.Param { return now.Params[min(len(was.Params), len(now.Params)):] }

// withAdded returns the values of a trial from before the parameters were added.
func withAdded(v spaces.Values, params []spaces.Param) spaces.Values {
	out := slices.Clone(v)
	for _, p := range params {
		if p.When == nil || p.When.Holds(out.Get) {
			out = append(out, spaces.Assignment{Name: p.Name, Value: p.Default})
		}
	}
	return out
}

// extends reports whether a template is an earlier one into which parameters were put, by its
// words or lines. Each piece is one of the earlier ones in their order, as it was or with a
// parameter where that has its default; or it holds a parameter; or it is an option before
// one that does.
func extends(was, now []string, params []spaces.Param) bool {
	b := &command.Bindings{Params: params, Values: withAdded(nil, params)}
	plain := func(text string) string { out, _ := b.Expand(text); return strings.TrimSpace(out) }
	holds := func(i int) bool {
		return i < len(now) && slices.ContainsFunc(command.Parse(now[i]), func(part command.Part) bool {
			return slices.ContainsFunc(params, func(p spaces.Param) bool { return p.Name == part.Name })
		})
	}
	at := 0
	for i, piece := range now {
		switch {
		case at < len(was) && plain(piece) == plain(was[at]):
			at++
		case holds(i), strings.HasPrefix(piece, "-") && holds(i+1):
		default:
			return false
		}
	}
	return at == len(was)
}

// pieces are the words of a command.
func pieces(c command.Command) []string {
	if c.Shell != "" {
		return strings.Fields(c.Shell)
	}
	return c.Argv
}

// commandExtends reports whether the command is the earlier one but for added parameters.
func commandExtends(was, now Config) bool {
	more := added(was, now)
	return len(more) > 0 && (was.Command.Shell == "") == (now.Command.Shell == "") &&
		extends(pieces(was.Command), pieces(now.Command), more)
}

// filesExtend reports the same of the rendered files.
func filesExtend(was, now Config) bool {
	more := added(was, now)
	if len(more) == 0 || len(was.Files) != len(now.Files) {
		return false
	}
	for i, f := range was.Files {
		g := now.Files[i]
		if f.To != g.To || len(f.Set) > 0 && f.Text != g.Text || !extends(settings(f), settings(g), more) {
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
	var out []string
	for _, s := range f.Set {
		out = append(out, brief(s))
	}
	return out
}
