package study

import (
	"slices"
	"strings"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/command"
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

// addedValues lists the added parameters, and the defaults of those that depend on none of
// the others.
func addedValues(was, now Config) ([]spaces.Param, spaces.Values) {
	space, err := spaces.New(now.Params...)
	if err != nil {
		return nil, nil // Apply will say so
	}
	return added(was, now), withAdded(nil, space, len(was.Params))
}

// extends reports whether a template is an earlier one into which parameters were put, by its
// words or lines. Each piece is one of the earlier ones in their order, as it was or with a
// parameter where that has its default; or it holds a parameter; or it is an option before
// one that does.
func extends(was, now []string, params []spaces.Param, values spaces.Values) bool {
	b := &command.Bindings{Params: params, Values: values}
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
	more, values := addedValues(was, now)
	return len(more) > 0 && (was.Command.Shell == "") == (now.Command.Shell == "") &&
		extends(pieces(was.Command), pieces(now.Command), more, values)
}

// filesExtend reports the same of the rendered files.
func filesExtend(was, now Config) bool {
	more, values := addedValues(was, now)
	if len(more) == 0 || len(was.Files) != len(now.Files) {
		return false
	}
	for i, f := range was.Files {
		g := now.Files[i]
		if f.To != g.To || len(f.Set) > 0 && f.Text != g.Text || !extends(settings(f), settings(g), more, values) {
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
