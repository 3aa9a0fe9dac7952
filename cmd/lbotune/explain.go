package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/study"
)

func newImportance(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "importance STUDY",
		Short: "Show which parameters matter",
		Long: `Importance asks a model made for this question, from trials that represent the space,
whatever method chose them. VARIANCE is the share of the objective's variance over the
whole space in which a parameter has a part, ALONE the share due to it alone. GOOD is the
share of the variance that is left in the best tenth of the space: a parameter that has
none can be left as it is. GAIN is its share of the way from today's values, or the first
trial, to the best one (Shapley values). Each has a 90 % interval. If the model cannot
tell, importance says so instead, and the exit code is 5.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := g.look(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := s.Unimportant(); err != nil {
				return hinted(&marked{fmt.Errorf("what matters is not known: %w", err), errNoValue}, "more trials that succeed help")
			}
			if g.json {
				return printJSON(g.out, s.Model.Importance)
			}
			text := ""
			for _, im := range s.Model.Importances() {
				text += importanceText(&im)
			}
			return g.print("%s", text)
		},
	}
}

func importanceText(im *report.Importance) string {
	rows := [][]string{{"parameter", "variance", "", "alone", "", "good", "", "gain", ""}}
	for _, r := range im.Ranked() {
		row := []string{r.Param}
		if r.Never {
			rows = append(rows, append(row, "never varied"))
			continue
		}
		for _, v := range []report.Interval{r.Total, r.Main, r.Good, im.Share(r.Gain)} {
			row = append(row, fmt.Sprintf("%.0f %%", 100*v.Value), fmt.Sprintf("%.0f to %.0f", 100*v.Low, 100*v.High))
		}
		rows = append(rows, row)
	}
	return tableText(rows) + fmt.Sprintf("shares of %s; gain: from %s (%s) to %s (trial %d)\n",
		oneLine(im.Variance()), short(im.Start), im.From, short(im.End), im.Trial)
}

func newExplain(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "explain STUDY N",
		Short: "Show why a trial was proposed and how surprising its result was",
		Long: `Explain shows what the model predicted for trial N when it was proposed: mean and deviation,
the Lipschitz bounds, the probability of success, the acquisition. --json adds the model's state: length scales, noise, L.`,
		Args: cobra.ExactArgs(2),
		RunE: g.onTrial(func(ctx context.Context, _ *study.State, l study.Layout, t *study.Trial) error {
			r, err := report.Explain(ctx, string(l), t)
			if err != nil {
				return err
			}
			return g.show(r, reasonText(r, originOf(t)))
		}),
	}
}

func reasonText(r report.Reason, origin string) string {
	s := rows{width: 9}
	s.add("trial", "%d: %s", r.Trial, shortValues(r.Values))
	s.add("origin", "%s", origin)
	s.add("knew", "%s, and %d that ran", count(r.Told, "finished trial"), len(r.Pending))
	if b := r.Before; b != nil {
		s.add("predicted", "%s ± %s, between %s and %s with 95 %%", short(float64(b.Mean)), short(float64(b.SD)), short(float64(b.Low)), short(float64(b.High)))
		s.add("best then", "%s", short(float64(b.Best)))
		if b.AtBest != nil && b.AtWorst != nil {
			s.add("bounds", "at best %s, at worst %s", short(*b.AtBest), short(*b.AtWorst))
		}
		if l := r.Model.Lipschitz; l != nil {
			s.add("", "L = %s rules out %.0f %% of the space", short(l.Constant), 100*l.Excluded)
			if x := b.ExcludedBelow; x != nil && *x > 0 {
				s.add("", "and would have excluded this trial below %s L", short(*x))
			}
		}
		s.when(b.Success < 1, "success", "with probability %.2f", b.Success)
		s.add("lengths", "%s", strings.Trim(fmt.Sprintf("%.3g", r.Model.Lengths), "[]"))
		if b.Surprise != nil {
			s.add("surprise", "%+.1f standard deviations", *b.Surprise)
		}
	} else {
		s.add("model", "none: %s", r.NoModel)
	}
	if r.Value != nil {
		s.add("value", "%s", short(*r.Value))
	}
	return s.String()
}
