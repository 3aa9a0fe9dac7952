package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// summaryJSON is what run and best print with --json.
type summaryJSON struct {
	Study     string `json:"study"`
	ID        string `json:"id"`
	Dir       string `json:"dir"`
	Metric    string `json:"metric"`
	Direction string `json:"direction"`
	Proposed  int    `json:"proposed"`
	Finished  int    `json:"finished"`
	// Ran is how many trials have finished in this run.
	Ran       *int `json:"ran,omitempty"`
	Succeeded int  `json:"succeeded"`
	Failed    int  `json:"failed"`
	Pruned    int  `json:"pruned"`
	// Infeasible are those of the succeeded that break a limit.
	Infeasible int        `json:"infeasible,omitempty"`
	Seconds    float64    `json:"seconds"`
	Ended      string     `json:"ended,omitempty"`
	Why        string     `json:"why,omitempty"`
	Best       *trialJSON `json:"best"`
	// Front are, of several objectives, the trials that no other dominates, and
	// Hypervolume is how far they have come.
	Front       []trialJSON `json:"front,omitempty"`
	Hypervolume *float64    `json:"hypervolume,omitempty"`
	// Confirmed are the best trials that were repeated, the best mean first.
	Confirmed []confirmedJSON `json:"confirmed,omitempty"`
	// Holds is, where the metrics with limits are noisy, the probability that without noise
	// the best trial holds them all.
	Holds *float64 `json:"holds,omitempty"`
	// Remarks are what a person should know of the study, in words.
	Remarks []string `json:"remarks,omitempty"`
	// Recommended is the optimizer's choice where it is not the best.
	Recommended *study.Recommended `json:"recommended,omitempty"`
}

// confirmedJSON is what the repeats of a trial say.
type confirmedJSON struct {
	Trial  int     `json:"trial"`
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	Margin float64 `json:"margin"` // of a 95 % confidence interval
	// Tied says that the best one cannot be told apart from this one.
	Tied bool `json:"tied"`
	// Means are, of several objectives or beside limits, those of all metrics.
	Means study.Metrics `json:"means,omitempty"`
	// Feasible says, beside limits, whether the means hold them all.
	Feasible *bool `json:"feasible,omitempty"`
}

func newSummaryJSON(st *study.State, l study.Layout, f report.Figures) summaryJSON {
	out := summaryJSON{Study: st.Config.Name, ID: st.ID, Dir: string(l), Metric: st.Config.Objective().Name,
		Direction: string(st.Config.Objective().Direction), Proposed: f.Proposed, Finished: f.Finished,
		Succeeded: f.Succeeded, Failed: f.Failed, Pruned: f.Pruned, Infeasible: f.Infeasible, Seconds: st.Elapsed.Seconds(), Holds: f.Holds}
	if st.Closed != nil {
		out.Ended, out.Why = string(st.Closed.Why), st.Closed.Detail
	}
	if f.Best != nil {
		t := newTrialJSON(st, l, f.Best)
		out.Best = &t
	}
	if st.Config.Several() {
		for _, t := range f.Front {
			out.Front = append(out.Front, newTrialJSON(st, l, t))
		}
		out.Hypervolume = &f.Hypervolume
	}
	out.Recommended, out.Remarks = recommended(st), st.Remarks()
	cs := st.Confirmations()
	for _, c := range cs {
		one := confirmedJSON{Trial: c.Trial.Number, N: c.N, Mean: c.Mean, Margin: c.Margin, Tied: c.Tied(cs[0], len(cs))}
		if st.Config.Several() || len(st.Config.AllLimits()) > 0 {
			one.Means = c.Metrics
		}
		if len(st.Config.AllLimits()) > 0 {
			feasible := st.Feasible(c.Trial)
			one.Feasible = &feasible
		}
		out.Confirmed = append(out.Confirmed, one)
	}
	return out
}

// summarize prints the result of a study, of which ran trials have finished just now; nil
// where nothing was to be run.
func summarize(g *global, st *study.State, l study.Layout, ran *int) error {
	f := report.FiguresOf(st, false)
	if g.json {
		out := newSummaryJSON(st, l, f)
		out.Ran = ran
		return printJSON(g.out, out)
	}
	if f.Best == nil {
		_, err := fmt.Fprintf(g.out, "no trial succeeded: %s\n", tally(f))
		return err
	}
	if st.Config.Several() {
		return summarizeFront(g, st, l, f)
	}
	return describeBest(g, st, l, f)
}

// closing says of a study that has just ended what it was worth: what was gained over
// today's values and over the first design, how well the slots were used, which parameters
// matter, what the bounds have ruled out, and what to look at next.
func closing(ctx context.Context, st *study.State, l study.Layout) []string {
	f := report.FiguresOf(st, false)
	b := f.Best
	if b == nil || st.Closed == nil || len(st.Order) < 5 {
		return nil
	}
	var today, first *study.Trial
	designed, busy := 0, time.Duration(0)
	for _, t := range st.Trials {
		switch t.Origin {
		case optimizer.OriginDefault:
			today = t
		case optimizer.OriginInitial:
			designed++
			if t.Succeeded() && (first == nil || st.Compare(t, first) < 0) {
				first = t
			}
		}
		for _, a := range t.Attempts {
			if !a.Started.IsZero() && a.Ended.After(a.Started) {
				busy += a.Ended.Sub(a.Started)
			}
		}
	}
	var from []string
	if today != nil && today.Succeeded() && today != b {
		from = append(from, short(today.Value)+" with today's values")
	}
	if first != nil && first != b {
		from = append(from, fmt.Sprintf("%s after %s of the first design", short(first.Value), count(designed, "trial")))
	}
	var out []string
	if st.Config.Several() && designed > 0 {
		all := st.Hypervolumes()
		designed = min(designed, len(all))
		out = append(out, fmt.Sprintf("gained:  hypervolume %s, from %s after the first %s", short(all[len(all)-1]), short(all[designed-1]), count(designed, "trial")))
	} else if len(from) > 0 {
		out = append(out, fmt.Sprintf("gained:  %s %s, from %s", oneLine(st.Config.Objective().Name), f.BestText(), strings.Join(from, " and ")))
	}
	if slots := st.Elapsed * time.Duration(st.Config.Run.SlotCount()); busy > 0 && slots > 0 {
		out = append(out, fmt.Sprintf("time:    %s with %s at a time, %.0f %% of it in trials and the rest waiting and proposing",
			took(st.Elapsed), count(st.Config.Run.SlotCount(), "trial"), 100*min(float64(busy)/float64(slots), 1)))
	}
	if text := matters(ctx, st); text != "" {
		out = append(out, "matters: "+text)
	}
	for _, text := range st.Remarks() {
		out = append(out, "notice:  "+oneLine(text))
	}
	if f.Bounds != nil && f.Bounds.Excluded > 0 {
		out = append(out, fmt.Sprintf("bounds:  rule out %.0f %% of the space", 100*f.Bounds.Excluded))
	}
	return append(out, fmt.Sprintf("next:    lbotune report %s draws all that is known", shell.Word(oneLine(string(l)))))
}

// mattersUpTo is how many trials there may be for a run to end with what matters: of more
// the report that this takes costs seconds.
const mattersUpTo = 1000

// matters names the parameters with the largest parts in the variance, or says why they are
// not known. What takes long is left to lbotune importance.
func matters(ctx context.Context, st *study.State) string {
	if len(st.Order) > mattersUpTo {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a second's work where nothing else runs
	defer cancel()
	s := report.Of(ctx, report.Source{State: st})
	if err := s.Unimportant(); ctx.Err() != nil {
		return ""
	} else if err != nil {
		return "not known: " + err.Error()
	}
	im := s.Model.Importances()[0]
	var parts []string
	for _, r := range im.Ranked() {
		if len(parts) < 3 && (len(parts) == 0 || r.Total.Value >= 0.1) {
			parts = append(parts, fmt.Sprintf("%s (%.0f %%, %.0f to %.0f)", oneLine(r.Param), 100*r.Total.Value, 100*r.Total.Low, 100*r.Total.High))
		}
	}
	return fmt.Sprintf("%s of %s", strings.Join(parts, ", "), oneLine(im.Variance()))
}

// describeBest prints one trial as the result of a study.
func describeBest(g *global, st *study.State, l study.Layout, f report.Figures) error {
	var s strings.Builder
	b := f.Best
	if !f.Feasible {
		s.WriteString("no trial holds every limit; this one breaks them least:\n")
	}
	best := "best"
	if st.Config.Several() {
		best = "preferred"
	}
	fmt.Fprintf(&s, "%s %s = %s, trial %d of %s\n", best, oneLine(st.Config.Objective().Name), f.BestText(), b.Number, tally(f))
	for _, line := range valueLines(b.Values) {
		s.WriteString("  " + line + "\n")
	}
	means := *b
	means.Metrics = st.Means(b)
	if side := sideMetrics(&st.Config, &means, short); len(side) > 0 {
		fmt.Fprintf(&s, "metrics: %s\n", strings.Join(side, ", "))
	}
	if len(f.Broken) > 0 {
		fmt.Fprintf(&s, "limits:  %s\n", oneLine(strings.Join(f.Broken, "; ")))
	}
	if f.Holds != nil {
		describeDoubt(&s, *f.Holds, st.Closed.Doubtful)
	}
	describeConfirmed(&s, st)
	describeRecommended(&s, st, l)
	if !b.Hand {
		fmt.Fprintf(&s, "output:  %s\n", oneLine(outputFile(l, b)))
	}
	fmt.Fprintf(&s, "command: %s\n", printable(commandLine(st, l, b)))
	_, err := fmt.Fprint(g.out, s.String())
	return err
}

// describeDoubt says how likely the best trial holds the limits where their metrics are noisy,
// and which trials do so by luck.
func describeDoubt(s *strings.Builder, holds float64, doubtful []int) {
	fmt.Fprintf(s, "limits:  held with a probability of %s without their noise", percent(holds))
	if n := len(doubtful); n > 0 {
		fmt.Fprintf(s, "; %s held by values that are likely luck", count(n, "trial"))
	}
	s.WriteString("; confirm in [run] settles it\n")
}

// percent is a probability for people: no more certain than it is.
func percent(p float64) string { return fmt.Sprintf("%.0f %%", math.Min(math.Max(100*p, 1), 99)) }

// valueLines are the values of a trial, one a line, with their equals signs aligned.
func valueLines(values spaces.Values) []string {
	width := 0
	for _, v := range values {
		width = max(width, len(v.Name))
	}
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%-*s = %s", width, v.Name, valueText(v.Value)))
	}
	return out
}

// describeConfirmed says what the repeats of the best trials have shown.
func describeConfirmed(s *strings.Builder, st *study.State) {
	cs := st.Confirmations()
	for i, c := range cs {
		if st.Config.Several() {
			var means []string
			for _, o := range st.Config.Objectives() {
				v, _ := c.Metrics.Get(o.Name)
				means = append(means, oneLine(o.Name)+" = "+short(v))
			}
			fmt.Fprintf(s, "repeats: trial %d: means of %d runs %s\n", c.Trial.Number, c.N, strings.Join(means, ", "))
			continue
		}
		fmt.Fprintf(s, "repeats: trial %d: mean %s ± %s (95 %% interval of %d runs)", c.Trial.Number, short(c.Mean), short(c.Margin), c.N)
		if broken := st.Config.Broken(c.Metrics); len(broken) > 0 {
			fmt.Fprintf(s, ", which breaks a limit: mean %s", oneLine(strings.Join(broken, "; ")))
		}
		if i > 0 && c.Tied(cs[0], len(cs)) {
			fmt.Fprintf(s, ", which can't be told apart from trial %d", cs[0].Trial.Number)
		}
		s.WriteString("\n")
	}
}

// describeRecommended names the trial that the optimizer would choose if it is
// not the one with the best value.
func describeRecommended(s *strings.Builder, st *study.State, l study.Layout) {
	r := recommended(st)
	if r == nil {
		return
	}
	t := st.Trials[r.Trial-1]
	fmt.Fprintf(s, "the best value may be partly luck; the model rates trial %d highest, %s ± %s (95 %% interval)\n  %s\n  command: %s\n",
		r.Trial, short(r.Mean), short(1.96*r.SD), oneLine(t.Values.String()), printable(commandLine(st, l, t)))
}

// recommended is the optimizer's choice where it differs from the best trial
// and no repeats have settled the matter.
func recommended(st *study.State) *study.Recommended {
	if st.Closed == nil || st.Closed.Recommended == nil || len(st.Confirmations()) > 0 {
		return nil
	}
	r := st.Closed.Recommended
	if b := st.Best(); b == nil || r.Trial == b.Number || r.Trial < 1 || r.Trial > len(st.Trials) {
		return nil
	}
	return r
}

// tally says how the trials of a study ended.
func tally(f report.Figures) string {
	text := count(f.Proposed, "trial")
	for i, n := range []int{len(f.Unfinished), f.Failed, f.Infeasible, f.Pruned} {
		if n > 0 {
			text += fmt.Sprintf(", %d %s", n, []string{"unfinished", "failed", "over a limit", "stopped early"}[i])
		}
	}
	return text
}
