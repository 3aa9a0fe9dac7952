package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newBest(g *global) *cobra.Command {
	var prefer []string
	var goal float64
	cmd := &cobra.Command{
		Use:   "best STUDY",
		Short: "Print the best values so far and the command line to use them",
		Long: `Best prints the best trial. With several objectives it prints the front: the trials that
no other equals or beats in all objectives. --prefer prints one of them: --prefer
latency=1 the one with the best latency; --prefer error=2,latency=1 weighs two objectives,
each from 0 for the worst of the front to 1 for its best; --prefer 'latency<=20' leaves
out slower trials, and --prefer 'latency<=20,error=1' takes the one with the least error
of the rest.

With --goal VALUE the exit code tells a script whether the best is as good as VALUE.`,
		Args: cobra.ExactArgs(1),
		RunE: g.onStudy(func(cmd *cobra.Command, st *study.State, l study.Layout) error {
			wanted := cmd.Flags().Changed("goal")
			if wanted && (st.Config.Several() || math.IsNaN(goal)) {
				return usagef("--goal: want a number, and a study with one objective")
			}
			show := func() error { return summarize(g, st, l, nil) }
			if prefer != nil {
				show = func() error { return preferred(g, st, l, prefer) }
			}
			if err := show(); err != nil {
				return err
			}
			err := session.Judge(st)
			switch {
			case errors.Is(err, session.ErrNoSuccess) && st.Closed == nil:
				return fmt.Errorf("%w yet", err)
			case err != nil || !wanted:
				return err
			}
			return missed(st, goal)
		}),
	}
	cmd.Flags().Float64Var(&goal, "goal", 0, "exit with 8 unless the best is at least as good as `VALUE`")
	cmd.Flags().StringSliceVar(&prefer, "prefer", nil, "with several objectives, print the trial preferred by `NAME=WEIGHT` or NAME<=BOUND")
	return cmd
}

// missed returns errMissed if the value that is shown of the best is worse than goal.
func missed(st *study.State, goal float64) error {
	value, objective := report.FiguresOf(st, false).Value, st.Config.Objective()
	if objective.Direction.Maximized(value) >= objective.Direction.Maximized(goal) {
		return nil
	}
	return &marked{fmt.Errorf("the best %s is %s, and the goal %s", objective.Name, exact(value), exact(goal)), errMissed}
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
	names := mapped(c.Objectives(), func(o study.Metric) string { return o.Name })
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
			p.Bounds = append(p.Bounds, study.Limit{Metric: name, At: x, Least: op == '>'})
		} else {
			p.Weights[name] = x
		}
	}
	return p, nil
}
