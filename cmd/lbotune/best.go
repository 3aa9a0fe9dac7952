package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func newBest(g *global, above *cobra.Command) {
	cmd := newCommand(above, "best STUDY", "Print the best values so far and the command line to use them",
		`Best prints the best trial. With several objectives it prints the front: the trials that
no other equals or beats in all objectives. --prefer prints one of them: --prefer
latency=1 the one with the best latency; --prefer error=2,latency=1 weighs two objectives,
each from 0 for the worst of the front to 1 for its best; --prefer 'latency<=20' leaves
out slower trials, and --prefer 'latency<=20,error=1' takes the one with the least error
of the rest.

With --goal VALUE the exit code tells a script whether the best is as good as VALUE.`)
	goal := cmd.Flags().Float64("goal", 0, "exit with 8 unless the best is at least as good as `VALUE`")
	prefer := cmd.Flags().StringSlice("prefer", nil, "with several objectives, print the trial preferred by `NAME=WEIGHT` or NAME<=BOUND")
	cmd.RunE = g.onStudy(func(cmd *cobra.Command, st *study.State, l layout.Study) error {
		wanted := cmd.Flags().Changed("goal")
		if wanted && (st.Config.Several() || math.IsNaN(*goal)) {
			return usagef("--goal: want a number, and a study with one objective")
		}
		show := func() error { return summarize(g, st, l, nil) }
		if *prefer != nil {
			show = func() error { return preferred(g, st, l, *prefer) }
		}
		if err := show(); err != nil {
			return err
		}
		err := session.Judge(st)
		switch {
		case errors.Is(err, session.ErrNoSuccess) && st.Closed == nil:
			none := session.ErrNoSuccess.Error() // a reason may follow
			return &marked{errors.New(strings.Replace(err.Error(), none, none+" yet", 1)), err}
		case err != nil || !wanted:
			return err
		}
		value, objective := report.FiguresOf(st, false).Value, st.Config.Objective() // as it is shown
		if objective.Direction.Maximized(value) >= objective.Direction.Maximized(*goal) {
			return nil
		}
		return &marked{fmt.Errorf("the best %s is %s, and the goal %s", objective.Name, exact(value), exact(*goal)), errMissed}
	})
}

// summaryJSON is what run and best print with --json.
type summaryJSON struct {
	Study      string     `json:"study"`
	ID         string     `json:"id"`
	Dir        string     `json:"dir"`
	Metric     string     `json:"metric"`
	Direction  string     `json:"direction"`
	Proposed   int        `json:"proposed"`
	Finished   int        `json:"finished"`
	Ran        *int       `json:"ran,omitempty"` // how many trials have finished in this run
	Succeeded  int        `json:"succeeded"`
	Failed     int        `json:"failed"`
	Pruned     int        `json:"pruned"`
	Infeasible int        `json:"infeasible,omitempty"` // of the succeeded: they break a limit
	Excluded   int        `json:"excluded,omitempty"`
	Outside    int        `json:"outside,omitempty"` // of the ranges as they are now
	Seconds    float64    `json:"seconds"`
	Ended      string     `json:"ended,omitempty"`
	Why        string     `json:"why,omitempty"`
	Best       *trialJSON `json:"best"`
	// Front are, of several objectives, the trials that no other dominates, and
	// Hypervolume is how far they have come.
	Front       []trialJSON     `json:"front,omitempty"`
	Hypervolume *report.Number  `json:"hypervolume,omitempty"`
	Confirmed   []confirmedJSON `json:"confirmed,omitempty"` // the best trials that were repeated, the best mean first
	// Holds is, where the metrics with limits are noisy, the probability that without noise
	// the best trial holds them all.
	Holds       *float64           `json:"holds,omitempty"`
	Remarks     []string           `json:"remarks,omitempty"`     // what a person should know of the study, in words
	Recommended *study.Recommended `json:"recommended,omitempty"` // the optimizer's choice where it is not the best
	// Gain is by how much the best, or the trial that the optimizer would choose, is better than today's
	// values, or else than the first trial.
	Gain *report.Gain `json:"gain,omitempty"`
}

type confirmedJSON struct {
	Trial    int           `json:"trial"`
	N        int           `json:"n"`
	Mean     report.Number `json:"mean"`
	Margin   report.Number `json:"margin"`             // of a 95 % confidence interval
	Tied     bool          `json:"tied"`               // the best one cannot be told apart from this one
	Means    study.Metrics `json:"means,omitempty"`    // of several objectives or beside limits, those of all metrics
	Feasible *bool         `json:"feasible,omitempty"` // beside limits: the means hold them all
}

func newSummaryJSON(st *study.State, l layout.Study, f report.Figures) summaryJSON {
	c := &st.Config
	several, limited := c.Several(), len(c.AllLimits()) > 0
	out := summaryJSON{Study: c.Name, ID: st.ID, Dir: string(l), Metric: c.Objective().Name,
		Direction: string(c.Objective().Direction), Proposed: f.Proposed, Finished: f.Finished,
		Succeeded: f.Succeeded, Failed: f.Failed, Pruned: f.Pruned, Infeasible: f.Infeasible, Excluded: f.Excluded, Outside: f.Outside, Seconds: journal.Seconds(st.Elapsed),
		Front:       lists.Map(f.Front, trialsJSON(st, l)),
		Hypervolume: maybe(several, report.Number(f.Hypervolume)),
		Holds:       f.Holds, Gain: report.GainOf(st), Remarks: st.Remarks(), Recommended: recommended(st)}
	if st.Closed != nil {
		out.Ended, out.Why = string(st.Closed.Why), st.Closed.Detail
	}
	if f.Best != nil {
		t := trialsJSON(st, l)(f.Best)
		out.Best = &t
	}
	cs := st.Confirmations()
	out.Confirmed = lists.Map(cs, func(c study.Confirmation) confirmedJSON {
		return confirmedJSON{c.Trial.Number, c.N, report.Number(c.Mean), report.Number(c.Margin), c.Tied(cs[0], len(cs)),
			either(several || limited, c.Metrics, nil), maybe(limited, st.Feasible(c.Trial))}
	})
	return out
}

// summarize prints the result of a study; ran is how many trials it ran, nil where none was to.
func summarize(g *global, st *study.State, l layout.Study, ran *int) error {
	f := report.FiguresOf(st, false)
	switch {
	case g.json:
		out := newSummaryJSON(st, l, f)
		out.Ran = ran
		return printJSON(g.out, out)
	case f.Best == nil:
		return g.print("%s\n", cmp.Or(st.NoneCounts(), "no trial succeeded: "+tally(f)))
	case st.Config.Several():
		return summarizeFront(g, st, l, f)
	}
	return describeBest(g, st, l, f)
}

func summarizeFront(g *global, st *study.State, l layout.Study, f report.Figures) error {
	s := rows{width: 8}
	s.WriteString(when(!f.Feasible, "no trial holds every limit; these break them least:\n"))
	single := when(len(st.Confirmations()) > 0, "; values are those before the repeats")
	fmt.Fprintf(&s, "front: %d of %s; hypervolume %s%s\n", len(f.Front), tally(f), short(f.Hypervolume), single)
	s.WriteString(tableText(trialsTable(st, l, f.Front), 0))
	describeConfirmed(&s, st)
	objectives := st.Config.Objectives()
	fmt.Fprintf(&s, "lbotune best STUDY --prefer %s=1 prints one of them with its command\n", word(objectives[len(objectives)-1].Name))
	return g.print("%s", s.String())
}

// closing says what a study that has just ended was worth, and what to look at next.
func closing(ctx context.Context, st *study.State, l layout.Study) string {
	f := report.FiguresOf(st, false)
	b := f.Best
	if b == nil || st.Closed == nil || len(st.Order) < 5 {
		return ""
	}
	var today, first *study.Trial // of what holds the limits: with today's values, and the best that the model did not choose
	designed, busy := 0, time.Duration(0)
	for _, t := range st.Trials {
		given := t.Origin == optimizer.OriginDefault
		initial := given || t.Origin == optimizer.OriginInitial
		designed += either(initial && (st.Config.Several() || t.Teaches()), 1, 0)
		if initial && t.Succeeded() && st.Feasible(t) {
			today = either(given, t, today)
			first = either(first == nil || st.Compare(t, first) < 0, t, first)
		}
		for _, a := range t.Attempts {
			if !a.Started.IsZero() && a.Ended.After(a.Started) {
				busy += a.Ended.Sub(a.Started)
			}
		}
	}
	var from []string
	if today != nil && today != b {
		from = append(from, short(today.Value)+" with today's values")
	}
	if first != nil && first != b && first != today {
		from = append(from, fmt.Sprintf("%s after %s", short(first.Value), count(designed, "initial trial")))
	}
	s := rows{width: 8}
	if st.Config.Several() && designed > 0 {
		all := st.Hypervolumes()
		designed = min(designed, len(all))
		s.add("gained:", "hypervolume %s, from %s after the first %s", short(all[len(all)-1]), short(all[designed-1]), count(designed, "trial"))
	} else if resource := st.Config.Resource(); today == b && resource != "" && f.Succeeded == 1 {
		s.add("gained:", "not known: only today's values have had all of %s", resource)
	} else if today == b {
		s.add("gained:", "nothing: today's values are the best")
	} else if len(from) > 0 && f.Feasible && f.Runs == 0 { // a mean of repeats is not to be compared with one value
		s.add("gained:", "%s %s, from %s", oneLine(st.Config.Objective().Name), f.BestText(), strings.Join(from, " and "))
	}
	if busy > 0 && st.SlotTime > 0 {
		slots := st.Config.Run.SlotCount()
		text := count(slots, "trial") + " at a time"
		if average := float64(st.SlotTime) / float64(st.Elapsed); math.Abs(average-float64(slots)) >= 0.05 {
			text = fmt.Sprintf("%.1f trials at a time on average", average)
		}
		s.add("time:", "%s with %s, %.0f %% of it in trials and the rest waiting and proposing",
			took(st.Elapsed), text, 100*min(float64(busy)/float64(st.SlotTime), 1))
	}
	text, remarks := matters(ctx, st)
	s.when(text != "", "matters:", "%s", text)
	for _, text := range remarks {
		s.add("notice:", "%s", oneLine(text))
	}
	if f.Bounds != nil && f.Bounds.Excluded > 0 {
		s.add("bounds:", "rule out %s %% of the space", report.Percent(f.Bounds.Excluded))
	}
	s.add("next:", "lbotune report %s writes an HTML report", word(l))
	return s.String()
}

// matters names the parameters with the largest parts in the variance, or why that is not known, and
// returns what is to be remarked, too.
func matters(ctx context.Context, st *study.State) (text string, remarks []string) {
	if len(st.Order) > 1000 { // of so many it takes seconds
		return "", st.Remarks()
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a second's work where nothing else runs
	defer cancel()
	s := report.Of(ctx, report.Source{State: st})
	if err := s.Unimportant(); ctx.Err() != nil {
		return "", s.Remarks
	} else if err != nil {
		return "not known: " + err.Error(), s.Remarks
	}
	im := s.Model.Importances()[0]
	var parts []string
	for _, r := range im.Ranked() {
		if len(parts) < 3 && (len(parts) == 0 || r.Total.Value >= 0.1) {
			parts = append(parts, fmt.Sprintf("%s (%s %%, %s to %s)", oneLine(r.Param), report.Percent(r.Total.Value), report.Percent(r.Total.Low), report.Percent(r.Total.High)))
		}
	}
	return fmt.Sprintf("%s of %s", strings.Join(parts, ", "), oneLine(im.Variance())), s.Remarks
}

func describeBest(g *global, st *study.State, l layout.Study, f report.Figures) error {
	b, best := f.Best, either(st.Config.Several(), "preferred", "best")
	s := rows{width: 8}
	s.WriteString(when(!f.Feasible, "no trial holds every limit; this one breaks them least:\n"))
	fmt.Fprintf(&s, "%s %s = %s, trial %d of %s\n", best, oneLine(st.Config.Objective().Name), f.BestText(), b.Number, tally(f))
	for _, line := range valueLines(b.Values()) {
		s.WriteString("  " + line + "\n")
	}
	means := *b
	means.Metrics = st.Means(b)
	side := sideMetrics(&st.Config, &means, short)
	s.when(len(side) > 0, "metrics:", "%s", strings.Join(side, ", "))
	s.when(len(f.Broken) > 0, "limits:", "%s", oneLine(strings.Join(f.Broken, "; ")))
	if f.Holds != nil {
		n := len(st.Closed.Doubtful)
		lucky := when(n > 0, "; %s held by values that are likely luck", count(n, "trial"))
		s.add("limits:", "%s%s; confirm in [run] settles it", f.HoldsText(), lucky)
	}
	describeConfirmed(&s, st)
	if r := recommended(st); r != nil {
		t := st.Trials[r.Trial-1]
		fmt.Fprintf(&s, "the best value may be partly luck; the model rates trial %d highest, %s (95 %% interval)\n  %s\n  command: %s\n",
			r.Trial, report.Around(r.Mean, 1.96*r.SD), oneLine(t.Values().String()), printable(commandLine(st, l, t)))
	}
	if gain := report.GainOf(st); gain != nil && gain.Margin > 0 { // without noise what is gained is said at the end
		s.add("gain:", "%s", gain.Text())
	}
	if c := st.Closed; c != nil && c.Why == "regret" {
		s.add("left:", "%s", oneLine(c.Detail))
	}
	s.when(!b.Hand, "output:", "%s", shownFile(l, outputFile(l, b)))
	s.add("command:", "%s", printable(commandLine(st, l, b)))
	if len(st.Config.Files) > 0 {
		s.when(directoryGone(st, l, b), "", "its directory is gone: lbotune show %s %d --files DIR writes its files",
			shell.Word(string(l)), b.Number)
	}
	return g.print("%s", s.String())
}

// valueLines are the values of a trial, one a line, with their equals signs aligned.
func valueLines(values spaces.Values) []string {
	width := 0
	for _, v := range values {
		width = max(width, len(v.Name))
	}
	return lists.Map(values, func(v spaces.Assignment) string { return fmt.Sprintf("%-*s = %s", width, v.Name, valueText(v.Value)) })
}

// describeConfirmed says what the repeats of the best trials have shown.
func describeConfirmed(s *rows, st *study.State) {
	cs := st.Confirmations()
	for i, c := range cs {
		broken := oneLine(strings.Join(st.Config.Broken(c.Metrics), "; "))
		if st.Config.Several() {
			means := lists.Map(st.Config.Objectives(), func(o study.Metric) string {
				v, _ := c.Metrics.Get(o.Name)
				return oneLine(o.Name) + " = " + short(v)
			})
			s.add("repeats:", "trial %d: means of %d runs %s%s", c.Trial.Number, c.N, strings.Join(means, ", "), when(broken != "", ", which break a limit: mean %s", broken))
			continue
		}
		more := when(broken != "", ", which breaks a limit: mean %s", broken) +
			when(i > 0 && c.Tied(cs[0], len(cs)), ", which can't be told apart from trial %d", cs[0].Trial.Number)
		s.add("repeats:", "trial %d: mean %s (95 %% interval of %d runs)%s", c.Trial.Number, report.Around(c.Mean, c.Margin), c.N, more)
	}
	for _, t := range st.Trials {
		n := t.ConfirmFailures
		s.when(n > 0 && t.Succeeded(), "repeats:", "trial %d: %d of %s failed", t.Number, n, count(n+len(t.Confirms), "attempt"))
	}
}

// recommended is the optimizer's choice if it is not the best and no repeats have settled it.
func recommended(st *study.State) *study.Recommended {
	if st.Closed == nil || st.Closed.Recommended == nil || len(st.Confirmations()) > 0 {
		return nil
	}
	r := st.Closed.Recommended
	if b := st.Best(); b == nil || r.Trial == b.Number || r.Trial < 1 || r.Trial > len(st.Trials) {
		return nil
	}
	return &study.Recommended{Trial: r.Trial, Mean: r.Mean, SD: r.SD} // its gain is shown by itself
}

func tally(f report.Figures) string {
	text := count(f.Proposed, "trial")
	text += when(len(f.Unfinished) > 0, ", %d unfinished", len(f.Unfinished)) + when(f.Failed > 0, ", %d failed", f.Failed)
	text += when(f.Infeasible > 0, ", %d over a limit", f.Infeasible) + when(f.Pruned > 0, ", %d stopped early", f.Pruned)
	return text + leftOut(f)
}

// leftOut tells the trials that count no more.
func leftOut(f report.Figures) string {
	return when(f.Excluded > 0, ", %d excluded", f.Excluded) + when(f.Outside > 0, ", %d out of range", f.Outside)
}
