package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// preference chooses one trial of a front: bounds that it must keep, and weights of
// objectives by their names.
type preference struct {
	bounds  []study.Limit
	weights map[string]float64
}

// of returns the trial of the front that keeps the bounds and has the largest
// weighted sum of the objectives, each from 0 for the worst of the front to 1 for its
// best; nil if none keeps them. Without weights the first objective alone counts. Of what was run
// again its means do.
func (p preference) of(st *study.State) *study.Trial {
	front, sums := st.Front(), map[*study.Trial]float64{}
	for j, o := range st.Config.Objectives() {
		weight := p.weights[o.Name]
		if len(p.weights) == 0 && j == 0 {
			weight = 1
		}
		value := func(t *study.Trial) float64 {
			v, ok := st.Means(t).Get(o.Name)
			if !ok {
				return math.Inf(-1)
			}
			return o.Direction.Maximized(v)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, t := range front {
			low, high = math.Min(low, value(t)), math.Max(high, value(t))
		}
		for _, t := range front {
			if high > low {
				sums[t] += weight * (value(t) - low) / (high - low)
			}
		}
	}
	kept := slices.DeleteFunc(front, func(t *study.Trial) bool {
		return slices.ContainsFunc(p.bounds, func(l study.Limit) bool { return !(l.Over(st.Means(t)) <= 0) })
	})
	if len(kept) == 0 {
		return nil
	}
	return slices.MaxFunc(kept, func(a, b *study.Trial) int { return cmp.Compare(sums[a], sums[b]) })
}

// preferred prints the trial of the front that a person prefers.
func preferred(g *global, st *study.State, l layout.Study, words []string) error {
	p, err := preferenceOf(&st.Config, words)
	if err != nil {
		return err
	}
	t := p.of(st)
	switch {
	case st.Best() == nil:
		return session.Judge(st)
	case t == nil:
		return &marked{fmt.Errorf("no trial of the front keeps %s", strings.Join(unkept(st, p), " and ")), session.ErrNoSuccess}
	case g.json:
		return printJSON(g.out, trialsJSON(st, l)(t))
	}
	f := report.FiguresOf(st, false)
	f.Prefer(st, t)
	return describeBest(g, st, l, f)
}

// unkept are the bounds that no trial of the front keeps, or all of them if each is kept by some.
func unkept(st *study.State, p preference) (words []string) {
	all := p.bounds
	impossible := func(l study.Limit) bool { return preference{bounds: []study.Limit{l}}.of(st) == nil }
	if slices.ContainsFunc(all, impossible) {
		all = slices.DeleteFunc(all, func(l study.Limit) bool { return !impossible(l) })
	}
	return lists.Map(all, func(l study.Limit) string { return l.Metric + either(l.Least, ">=", "<=") + exact(l.At) })
}

// preferenceOf reads NAME=WEIGHT, NAME<=BOUND and NAME>=BOUND.
func preferenceOf(c *study.Config, words []string) (preference, error) {
	p := preference{weights: map[string]float64{}}
	if !c.Several() {
		return p, usagef("--prefer chooses from a front, and the study has one objective")
	}
	names := lists.Map(c.Objectives(), func(o study.Metric) string { return o.Name })
	for _, word := range words {
		at := strings.LastIndexByte(word, '=')
		if at < 1 {
			return p, usagef("--prefer: found %q; want an objective with a weight or a bound: %[2]s=1, %[2]s<=20 or %[2]s>=20", word, names[0])
		}
		x, ok := parser.ParseNumber(word[at+1:])
		name, op := strings.TrimRight(word[:at], "<>"), word[at-1]
		if !slices.Contains(names, name) {
			return p, hinted(usagef("--prefer: there is no objective %q", name), meant(name, names, "", "objectives are "+strings.Join(names, ", ")))
		}
		bound := op == '<' || op == '>'
		if !ok || math.IsNaN(x) || !bound && (x < 0 || math.IsInf(x, 0)) {
			return p, usagef("--prefer: found %q; want a number, and for a weight a finite one, none below 0", word[at+1:])
		}
		if bound {
			p.bounds = append(p.bounds, study.Limit{Metric: name, At: x, Least: op == '>'})
		} else {
			p.weights[name] = x
		}
	}
	return p, nil
}
