package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

func newTrials(g *global) *cobra.Command {
	var byValue bool
	var limit int
	cmd := &cobra.Command{
		Use:   "trials STUDY",
		Short: "List the trials of a study",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			list := st.Trials
			if byValue {
				list = ranked(st)
			}
			if limit > 0 && len(list) > limit {
				list = list[:limit]
			}
			return printTrials(g, st, l, list)
		},
	}
	cmd.Flags().BoolVar(&byValue, "by-value", false, "the best, or the front, first; trials without a value are left out")
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "list at most `N` trials")
	return cmd
}

// ranked lists the trials with a value, the best first.
func ranked(st *study.State) []*study.Trial {
	out := st.Ranked()
	if front := st.Front(); st.Config.Several() {
		out = append(front, slices.DeleteFunc(out, func(t *study.Trial) bool { return slices.Contains(front, t) })...)
	}
	return out
}

// printTrials prints a table, or with --json one object a line.
func printTrials(g *global, st *study.State, l study.Layout, list []*study.Trial) error {
	if g.json {
		for _, t := range list {
			if err := printLine(g.out, newTrialJSON(st, l, t)); err != nil {
				return err
			}
		}
		return nil
	}
	value := "value"
	if st.Config.Several() {
		value = oneLine(st.Config.Objective().Name)
	}
	rows := [][]string{{"trial", value, "status", "took"}}
	for _, m := range st.Config.Metrics {
		if m.Name != st.Config.Objective().Name {
			rows[0] = append(rows[0], oneLine(m.Name))
		}
	}
	for _, p := range st.Config.Params {
		rows[0] = append(rows[0], p.Name)
	}
	best := map[*study.Trial]string{st.Best(): "best"}
	if st.Config.Several() {
		clear(best)
		for _, t := range st.Front() {
			best[t] = "front"
		}
	}
	runs := map[int]attemptJSON{}
	if held, err := journal.InUse(l.Journal()); err == nil && len(st.Pending()) > 0 {
		for _, a := range attemptsUnderWay(st, l, held, len(st.Trials)) {
			runs[a.Trial] = a
		}
	}
	for _, t := range list {
		row := []string{strconv.Itoa(t.Number), "-", st.StandingOf(t), took(t.Took)}
		if a, runs := runs[t.Number]; runs && !t.Done() {
			row[2], row[3] = "running", took(time.Duration(a.Seconds*float64(time.Second)))
		}
		if t.HasValue() {
			row[1] = short(t.Value)
		}
		if word := best[t]; word != "" && st.Feasible(t) {
			row[2] = word
		}
		for _, m := range st.Config.Metrics {
			if m.Name == st.Config.Objective().Name {
				continue
			}
			cell := "-"
			if v, ok := t.Metrics.Get(m.Name); ok {
				cell = short(v)
			}
			row = append(row, cell)
		}
		for _, p := range st.Config.Params {
			cell := "-"
			if v, ok := t.Values.Get(p.Name); ok {
				cell = shortValue(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return printTable(g.out, rows)
}

func newShow(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "show STUDY N",
		Short: "Show one trial: values, result, command, and where its output is",
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, t, err := loadTrial(args)
			if err != nil {
				return err
			}
			return printTrial(g, st, l, t)
		},
	}
}

// loadTrial reads a study and one of its trials.
func loadTrial(args []string) (*study.State, study.Layout, *study.Trial, error) {
	st, l, err := load(args[0])
	if err != nil {
		return nil, "", nil, err
	}
	n, err := trialNumber(st, args[1])
	if err != nil {
		return nil, "", nil, err
	}
	return st, l, st.Trials[n-1], nil
}

func trialNumber(st *study.State, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(st.Trials) {
		return 0, usagef("found %q; want the number of a trial, from 1 to %d", text, len(st.Trials))
	}
	return n, nil
}

// shownJSON is a trial as show prints it with --json.
type shownJSON struct {
	trialJSON
	Measurements []study.Measurement `json:"measurements,omitempty"`
}

func printTrial(g *global, st *study.State, l study.Layout, t *study.Trial) error {
	j := newTrialJSON(st, l, t)
	if g.json {
		return printJSON(g.out, shownJSON{j, t.Measurements})
	}
	s := rows{width: 9}
	s.add("trial", "%d of study %s", t.Number, oneLine(st.Config.Name))
	s.add("status", "%s", st.StandingOf(t))
	for _, broken := range j.Broken {
		s.add("limit", "%s", oneLine(broken))
	}
	if t.Failure != nil {
		s.add("reason", "%s", oneLine(t.Failure.Text))
		if words := lastWords(l, &st.Config, t); words != "" {
			s.add("stderr", "%s", words)
		}
	}
	if j.Value != nil {
		of := ""
		if run := st.Config.Run; len(t.Repeats) > 0 {
			of = fmt.Sprintf(", the %s of %d runs", cmp.Or(run.Combine, "mean"), len(t.Repeats)+1)
		}
		s.add("value", "%s = %s%s", oneLine(st.Config.Objective().Name), exact(*j.Value), of)
	}
	if t.Done() && t.Status != optimizer.Failed {
		for i, line := range sideMetrics(&st.Config, t, exact) {
			s.add([]string{"metrics", ""}[min(i, 1)], "%s", line)
		}
	}
	for i, line := range valueLines(t.Values) {
		s.add([]string{"params", ""}[min(i, 1)], "%s", line)
	}
	if n := len(t.Measurements); n > 0 {
		s.add("course", "%s, the last at step %s", count(n, "measurement"), short(t.Measurements[n-1].Step))
	}
	s.add("origin", "%s", originOf(t))
	if t.Continues > 0 {
		s.add("continues", "trial %d", t.Continues)
	}
	if t.Done() {
		s.add("took", "%s, finished %s", took(t.Took), t.Finished.Local().Format(time.DateTime))
	}
	s.add("proposed", "%s", t.Proposed.Local().Format(time.DateTime))
	s.add("attempts", "%d", max(t.Attempt, len(t.Attempts)))
	for _, a := range t.Attempts {
		job, _ := where(&st.Config, l, study.AttemptID{Trial: t.Number, Attempt: a.Number})
		s.add("", "%s", attemptLine(a, job))
	}
	s.add("command", "%s", printable(j.Command))
	if j.Output != "" {
		s.add("output", "%s", oneLine(j.Output))
	}
	_, err := fmt.Fprint(g.out, s.String())
	return err
}

// originOf says which rule made a trial, and why.
func originOf(t *study.Trial) string {
	origin, why := oneLine(string(t.Origin)), oneLine(t.Note.Why)
	switch {
	case why == "":
		return origin
	case strings.HasPrefix(why, origin):
		return why
	}
	return origin + ": " + why
}

// attemptLine says when and where an attempt ran.
func attemptLine(a study.Attempt, job string) string {
	line := fmt.Sprintf("%d in slot %d", a.Number, a.Slot)
	if job != "" {
		line += ", job " + oneLine(job)
	} else if a.Host != "" {
		line += " on " + oneLine(a.Host)
	}
	for _, at := range []struct {
		what string
		time time.Time
	}{{"queued", a.Queued}, {"started", a.Started}, {"ended", a.Ended}} {
		if !at.time.IsZero() {
			line += fmt.Sprintf(", %s %s", at.what, at.time.Local().Format(time.TimeOnly))
		}
	}
	return line
}
