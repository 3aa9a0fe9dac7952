package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
)

func newImportance(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "importance STUDY",
		Short: "Say which parameters matter",
		Long: `Importance asks a model that is made for this question, from trials that represent the
space, whatever the method that chose them. VARIANCE is the share of the objective's variance
over the whole space in which a parameter has a part, ALONE what is due to it alone; GOOD the
share of the variance that is left in the best tenth of the space: what has none can be left
as it is. GAIN is its share of the way from today's values, or the first trial, to the best
one (Shapley values). Each has a 90 % interval. Where the model is too poor to tell, that is
said instead, and the exit code is 5.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := look(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := s.Unimportant(); err != nil {
				return hinted(&marked{err, errNoValue}, "more trials that succeed help")
			}
			if g.json {
				return printJSON(g.out, s.Model.Importance)
			}
			for _, im := range s.Model.Importances() {
				if err := printImportance(g.out, &im); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func printImportance(w io.Writer, im *report.Importance) error {
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
	if err := printTable(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "shares of %s; gain: from %s (%s) to %s (trial %d)\n", oneLine(im.Variance()), short(im.Start), im.From, short(im.End), im.Trial)
	return err
}

func newExplain(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "explain STUDY N",
		Short: "Say why a trial was proposed, and how surprising its result was",
		Long: `Explain tells an optimizer what the study's optimizer knew when it proposed trial N, and
asks what it believes of it: mean and deviation, the Lipschitz bounds, the probability of
success, the acquisition. --json has the model's state too: length scales, noise, L.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, l, t, err := loadTrial(args)
			if err != nil {
				return err
			}
			r, err := report.Explain(cmd.Context(), string(l), t)
			if err != nil {
				return err
			}
			if g.json {
				return printJSON(g.out, r)
			}
			_, err = fmt.Fprint(g.out, reasonText(r, originOf(t)))
			return err
		},
	}
}

// reasonText is what explain prints for people.
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
		if b.Success < 1 {
			s.add("success", "with probability %.2f", b.Success)
		}
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
