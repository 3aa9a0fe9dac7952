package study

import (
	"slices"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/command"
)

// inOrder returns the parameters in the order that they had before, if all of those are
// there by their names, and others after them. So a spec's parameters may change places:
// what is known of the trials, and the optimizer's notes of them, hold in the old order.
func inOrder(before, now []spaces.Param) []spaces.Param {
	var out []spaces.Param
	for _, p := range before {
		i := slices.IndexFunc(now, func(q spaces.Param) bool { return q.Name == p.Name })
		if i < 0 {
			return now
		}
		out = append(out, now[i])
	}
	for _, p := range now {
		if !slices.ContainsFunc(before, func(q spaces.Param) bool { return q.Name == p.Name }) {
			out = append(out, p)
		}
	}
	return out
}

// sameOptimizer reports whether two configs have the same settings of the optimizer,
// be they written out or left to their defaults, of which some depend on the space.
func sameOptimizer(a, b Config) bool {
	if sameJSON(a.Optimizer, b.Optimizer) {
		return true
	}
	x, errX := a.Search()
	y, errY := b.Search()
	if errX != nil || errY != nil {
		return false
	}
	for _, d := range []int{x.Space.Len(), y.Space.Len()} {
		if !sameJSON(x.Settings.Resolved(d), y.Settings.Resolved(d)) {
			return false
		}
	}
	return true
}

// withDefaults is a rule with its defaults written out, if it is a right one.
func withDefaults(r parser.Rule) parser.Rule {
	if p, err := parser.Compile(r); err == nil {
		return p.Rule()
	}
	return r
}

// contents are files without the places that their templates came from, where the
// name does not say how to read them.
func contents(files []command.File) []command.File {
	out := slices.Clone(files)
	for i := range out {
		if len(out[i].Set) == 0 {
			out[i].From = ""
		}
	}
	return out
}
