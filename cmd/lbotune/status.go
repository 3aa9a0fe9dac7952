package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// statusJSON is what status prints with --json.
type statusJSON struct {
	summaryJSON
	Running    bool      `json:"running"`
	Unfinished []int     `json:"unfinished"`
	Sessions   int       `json:"sessions"`
	Began      time.Time `json:"began"`
	Updated    time.Time `json:"updated"`
}

func newStatus(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "status STUDY",
		Short: "Show how far along a study is",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			return printStatus(g, st, l)
		},
	}
}

func printStatus(g *global, st *study.State, l study.Layout) error {
	held, err := journal.InUse(l.Journal())
	if err != nil {
		return err
	}
	pending := []int{}
	for _, t := range st.Pending() {
		pending = append(pending, t.Number)
	}
	if g.json {
		return printJSON(g.out, statusJSON{newSummaryJSON(st, l), held, pending, st.Sessions, st.Began, st.Updated})
	}
	var s strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&s, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("study", "%s in %s", oneLine(st.Config.Name), oneLine(string(l)))
	row("state", "%s", standing(st, held))
	row("trials", "%d finished: %d succeeded, %d failed, %d stopped early", len(st.Order),
		st.Count(optimizer.Succeeded), st.Count(optimizer.Failed), st.Count(optimizer.Pruned))
	if n := excluded(st); n > 0 {
		row("", "%d of them excluded", n)
	}
	if n := st.Infeasible(); n > 0 {
		row("", "%d of them over a limit", n)
	}
	if len(pending) > 0 {
		row("", "%d unfinished: %s", len(pending), strings.Trim(fmt.Sprint(pending), "[]"))
	}
	if b := st.Best(); b != nil && st.Config.Several() {
		row("front", "%s, hypervolume %s", count(len(st.Front()), "trial"), short(st.Hypervolume()))
		if broken := st.Config.Broken(b.Metrics); len(broken) > 0 {
			row("", "no trial holds every limit")
		}
	} else if b != nil {
		row("best", "%s = %s, trial %d", oneLine(metricName(&st.Config)), exact(b.Value), b.Number)
		row("", "%s", shortValues(b.Values))
		if broken := st.Config.Broken(b.Metrics); len(broken) > 0 {
			row("", "no trial holds every limit; this one breaks them least: %s", oneLine(strings.Join(broken, "; ")))
		}
	}
	row("time", "%s in %s, last record %s", took(st.Elapsed), count(st.Sessions, "session"), st.Updated.Local().Format(time.DateTime))
	for _, n := range st.Notes {
		about := ""
		if n.Trial > 0 {
			about = fmt.Sprintf("trial %d: ", n.Trial)
		}
		row("note", "%s%s", about, oneLine(n.Text))
	}
	_, err = fmt.Fprint(g.out, s.String())
	return err
}

// excluded counts the trials that were taken out.
func excluded(st *study.State) int {
	n := 0
	for _, t := range st.Trials {
		if t.Excluded {
			n++
		}
	}
	return n
}

// standing says in words whether a study runs, rests or has ended.
func standing(st *study.State, held bool) string {
	switch {
	case held:
		return "running"
	case st.Closed != nil:
		return "ended: " + oneLine(st.Closed.Detail)
	}
	return "stopped; run or resume continues from here"
}
