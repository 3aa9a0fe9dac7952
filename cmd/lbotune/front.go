package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// summarizeFront prints the result of a study with several objectives: its front.
func summarizeFront(g *global, st *study.State, l study.Layout, f report.Figures) error {
	c := &st.Config
	var s strings.Builder
	if !f.Feasible {
		s.WriteString("no trial holds every limit; these break them least:\n")
	}
	fmt.Fprintf(&s, "front: %d of %s; hypervolume %s\n", len(f.Front), tally(f), short(f.Hypervolume))
	if _, err := fmt.Fprint(g.out, s.String()); err != nil {
		return err
	}
	if err := printTrials(g, st, l, f.Front); err != nil {
		return err
	}
	s.Reset()
	describeConfirmed(&s, st)
	fmt.Fprintf(&s, "lbotune best STUDY --prefer %s=1 prints one of them with its command\n", oneLine(c.Objectives()[len(c.Objectives())-1].Name))
	_, err := fmt.Fprint(g.out, s.String())
	return err
}

// preferred prints the trial of the front that a person prefers.
func preferred(g *global, st *study.State, l study.Layout, words []string) error {
	p, err := preferenceOf(&st.Config, words)
	if err != nil {
		return err
	}
	t := st.Preferred(p)
	switch {
	case st.Best() == nil:
		return session.ErrNoSuccess
	case t == nil:
		return fmt.Errorf("%w that --prefer asks for", session.ErrNoSuccess)
	case g.json:
		return printJSON(g.out, newTrialJSON(st, l, t))
	}
	f := report.FiguresOf(st, false)
	f.Prefer(st, t)
	return describeBest(g, st, l, f)
}

// preferenceOf reads NAME=WEIGHT, NAME<=BOUND and NAME>=BOUND.
func preferenceOf(c *study.Config, words []string) (study.Preference, error) {
	p := study.Preference{Weights: map[string]float64{}}
	if !c.Several() {
		return p, usagef("--prefer chooses from a front, and the study has one objective")
	}
	var names []string
	for _, o := range c.Objectives() {
		names = append(names, o.Name)
	}
	for _, word := range words {
		at := strings.LastIndexByte(word, '=')
		if at < 1 {
			return p, usagef("--prefer: found %q; want an objective with a weight or a bound: %[2]s=1, %[2]s<=20 or %[2]s>=20", word, names[0])
		}
		x, ok := parser.ParseNumber(word[at+1:])
		name, op := strings.TrimRight(word[:at], "<>"), word[at-1]
		if !slices.Contains(names, name) {
			hint := "objectives are " + strings.Join(names, ", ")
			if near, ok := spec.Nearest(name, names); ok {
				hint = "did you mean " + near + "?"
			}
			return p, hinted(usagef("--prefer: there is no objective %q", name), hint)
		}
		bound := op == '<' || op == '>'
		if !ok || !bound && x < 0 {
			return p, usagef("--prefer: found %q; want a number, and for a weight none below 0", word[at+1:])
		}
		if bound {
			p.Bounds = append(p.Bounds, study.Limit{Metric: name, At: x, Least: op == '>'})
		} else {
			p.Weights[name] = x
		}
	}
	return p, nil
}
