package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// statusJSON is what status prints with --json.
type statusJSON struct {
	summaryJSON
	Running    bool             `json:"running"`
	Elapsed    float64          `json:"elapsed"`        // seconds; of a running study until now
	Left       float64          `json:"left,omitempty"` // seconds, estimated
	Attempts   []attemptJSON    `json:"attempts"`       // that run
	Failures   []study.Failures `json:"failures"`
	Unfinished []int            `json:"unfinished"`
	// Hypervolumes are, of several objectives, those after each trial that finished.
	Hypervolumes []float64 `json:"hypervolumes,omitempty"`
	Sessions     int       `json:"sessions"`
	Began        time.Time `json:"began"`
	Updated      time.Time `json:"updated"`
}

// attemptJSON is an attempt that runs.
type attemptJSON struct {
	Trial   int     `json:"trial"`
	Attempt int     `json:"attempt"`
	Slot    int     `json:"slot"`
	Host    string  `json:"host,omitempty"`
	PID     int     `json:"pid,omitempty"`
	Job     string  `json:"job,omitempty"` // of a batch system, and its node
	Seconds float64 `json:"seconds"`       // since its start
	// Step and Metrics are what it has reported last.
	Step    *float64      `json:"step,omitempty"`
	Metrics study.Metrics `json:"metrics,omitempty"`
	Params  spaces.Values `json:"params"`
}

func newStatus(g *global) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "status STUDY",
		Short: "Show how far along a study is",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if live {
				return watch(cmd.Context(), g, args[0])
			}
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			return printStatus(g, st, l)
		},
	}
	cmd.Flags().BoolVar(&live, "watch", false, "draw it anew each second until the study has ended")
	return cmd
}

func printStatus(g *global, st *study.State, l study.Layout) error {
	held, err := journal.InUse(l.Journal())
	if err != nil {
		return err
	}
	if g.json {
		var volumes []float64
		if st.Config.Several() {
			volumes = st.Hypervolumes()
		}
		f := report.FiguresOf(st, held)
		return printJSON(g.out, statusJSON{newSummaryJSON(st, l, f), held, f.Elapsed.Seconds(), f.Left.Seconds(), attemptsUnderWay(st, l, held, len(st.Trials)), st.Failures(),
			f.Unfinished, volumes, st.Sessions, st.Began, st.Updated})
	}
	_, err = fmt.Fprint(g.out, headText(st, l, held)+standingText(st, l, held, len(st.Trials))+notesText(st))
	return err
}

// headText says which study it is, and whether it goes on.
func headText(st *study.State, l study.Layout, held bool) string {
	s := rows{width: 10}
	s.add("study", "%s in %s", oneLine(st.Config.Name), oneLine(string(l)))
	s.add("state", "%s", oneLine(resting(st, l, held)))
	return s.String()
}

// notesText has the remarks about a study.
func notesText(st *study.State) string {
	s := rows{width: 10}
	for _, n := range st.Notes {
		about := ""
		if n.Trial > 0 {
			about = fmt.Sprintf("trial %d: ", n.Trial)
		}
		s.add("note", "%s%s", about, oneLine(n.Text))
	}
	return s.String()
}

// standingText says how far a study is, how good its best value is, and what runs: of that no
// more than most trials.
func standingText(st *study.State, l study.Layout, held bool, most int) string {
	f, attempts, failures := report.FiguresOf(st, held), attemptsUnderWay(st, l, held, most), st.Failures()
	s := rows{width: 10}
	s.add("trials", "%d finished: %d succeeded, %d failed, %d stopped early", f.Finished, f.Succeeded, f.Failed, f.Pruned)
	if f.Excluded > 0 {
		s.add("", "%d of them excluded", f.Excluded)
	}
	if f.Infeasible > 0 {
		s.add("", "%d of them over a limit", f.Infeasible)
	}
	for _, why := range failures[:min(len(failures), 3)] {
		s.add("", "%d failed: %s", len(why.Trials), shortened(oneLine(why.Reason), 100))
	}
	if n, pending := len(attempts), len(f.Unfinished); n < most && pending > n || !held && pending > 0 {
		s.add("", "%d unfinished: %s", pending, strings.Trim(fmt.Sprint(f.Unfinished), "[]"))
	}
	switch several := st.Config.Several(); {
	case f.Best == nil:
	case several:
		s.add("front", "%s, hypervolume %s", count(len(f.Front), "trial"), short(f.Hypervolume))
		if !f.Feasible {
			s.add("", "no trial holds every limit")
		}
	default:
		s.add("best", "%s = %s, trial %d", oneLine(st.Config.Objective().Name), f.BestText(), f.Best.Number)
		s.add("", "%s", shortValues(f.Best.Values))
		if !f.Feasible {
			s.add("", "no trial holds every limit; this one breaks them least: %s", oneLine(strings.Join(f.Broken, "; ")))
		}
	}
	if why := st.Unsafe(); why != "" && (st.Closed == nil || st.Closed.Why != study.EndUnsafe) {
		s.add("unsafe", "%s", oneLine(why))
	}
	for _, text := range st.Remarks() {
		s.add("notice", "%s", oneLine(text))
	}
	remains := ""
	if f.Left > 0 {
		remains = fmt.Sprintf(", about %s left", seconds(f.Left))
	}
	s.add("time", "%s%s in %s, last record %s", took(f.Elapsed), remains, count(st.Sessions, "session"), st.Updated.Local().Format(time.DateTime))
	for i, a := range attempts {
		s.add([]string{"running", ""}[min(i, 1)], "%s", a.line())
	}
	return s.String()
}

// attemptsUnderWay lists the attempts that run, at most so many. If no lbotune works on the
// study, they are those that an earlier one has left and that may still run.
func attemptsUnderWay(st *study.State, l study.Layout, held bool, most int) []attemptJSON {
	out := []attemptJSON{}
	host, _ := os.Hostname()
	for _, t := range st.Trials {
		n := len(t.Attempts)
		if len(out) == most {
			break
		}
		if n == 0 || t.Hand || !t.Attempts[n-1].Ended.IsZero() || t.Attempts[n-1].Started.IsZero() {
			continue
		}
		at := t.Attempts[n-1]
		id := study.AttemptID{Trial: t.Number, Attempt: at.Number}
		pid, ended, err := runner.Look(l.Attempt(id))
		job, alive := where(&st.Config, l, id)
		here := job == "" && at.Host == host && pid != 0 && syscall.Kill(pid, 0) == nil
		if !held && (err != nil || ended || !alive && !here) {
			continue
		}
		a := attemptJSON{Trial: t.Number, Attempt: at.Number, Slot: at.Slot, Host: at.Host, PID: pid, Job: job,
			Seconds: max(time.Since(at.Started), 0).Seconds(), Params: t.Values}
		if step, metrics, err := session.Glance(st, l, id); err == nil && len(metrics) > 0 {
			a.Metrics = metrics
			if !math.IsNaN(step) {
				a.Step = &step
			}
		}
		out = append(out, a)
	}
	return out
}

// line is what people want to know of a running attempt.
func (a attemptJSON) line() string {
	text := fmt.Sprintf("trial %d for %s", a.Trial, seconds(time.Duration(a.Seconds*float64(time.Second))))
	if a.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Metrics)) {
		text += fmt.Sprintf(", %s %s", oneLine(name), short(float64(a.Metrics[name])))
	}
	if a.Step != nil {
		text += " at step " + short(*a.Step)
	}
	text += fmt.Sprintf(", slot %d", a.Slot)
	if a.Job != "" {
		return text + ", job " + oneLine(a.Job)
	}
	if a.PID > 0 {
		text += fmt.Sprintf(", process %d", a.PID)
	}
	if host, _ := os.Hostname(); a.Host != host && a.Host != "" {
		text += " on " + oneLine(a.Host)
	}
	return text
}

// resting is where a study stands, with what its jobs do while no lbotune works on it.
func resting(st *study.State, l study.Layout, held bool) string {
	if held || st.Closed != nil {
		return st.Standing(held)
	}
	if r, err := relay(&st.Config, l); err == nil && r != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if waiting, working, err := r.Jobs(ctx); err == nil && waiting+working > 0 {
			return "detached; its job is in the queue"
		}
	}
	if len(left(st, l)) > 0 {
		return "stopped, but its jobs go on; run or resume continues from here, stop cancels them"
	}
	return st.Standing(held) + "; run or resume continues from here"
}
