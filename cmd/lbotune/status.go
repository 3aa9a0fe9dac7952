package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

type statusJSON struct {
	summaryJSON
	Running      bool              `json:"running"`
	Elapsed      float64           `json:"elapsed"`        // seconds; of a running study until now
	Left         float64           `json:"left,omitempty"` // seconds, estimated
	Attempts     []attemptJSON     `json:"attempts"`       // that run
	Failures     []report.Failures `json:"failures"`
	Unfinished   []int             `json:"unfinished"`
	Hypervolumes report.Numbers    `json:"hypervolumes,omitempty"` // of several objectives, after each trial that finished
	Sessions     int               `json:"sessions"`
	Began        time.Time         `json:"began"`
	Updated      time.Time         `json:"updated"`
	Notes        []string          `json:"notes,omitempty"` // one about trial 2 begins with "trial 2: "
}

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

func newStatus(g *global, above *cobra.Command) {
	cmd := newCommand(above, "status STUDY", "Show how far along a study is", "")
	live := cmd.Flags().Bool("watch", false, "redraw every second until the study has ended")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *live {
			return watch(cmd.Context(), g, args[0])
		}
		src, err := g.source(args[0])
		if err != nil {
			return err
		}
		return printStatus(g, src.State, layout.Study(src.Dir), src.Running)
	}
}

// printStatus says how a study stands on which somebody works, or not.
func printStatus(g *global, st *study.State, l layout.Study, held bool) error {
	if g.json {
		var volumes []float64
		if st.Config.Several() {
			volumes = st.Hypervolumes()
		}
		f := report.FiguresOf(st, held)
		return printJSON(g.out, statusJSON{newSummaryJSON(st, l, f), held, f.Elapsed.Seconds(), f.Left.Seconds(), attemptsUnderWay(st, l, held, len(st.Trials)), report.FailuresOf(st),
			f.Unfinished, volumes, st.Sessions, st.Began, st.Updated, lists.Map(st.Notes, report.Note)})
	}
	return g.print("%s", statusText(st, l, held, standingText(st, l, held, len(st.Trials))))
}

// statusText says which study it is, whether it goes on, how it stands, and what was noted.
func statusText(st *study.State, l layout.Study, held bool, standing string) string {
	s := rows{width: 10}
	s.add("study", "%s in %s", oneLine(st.Config.Name), oneLine(string(l)))
	s.add("state", "%s", oneLine(resting(st, l, held)))
	s.WriteString(standing)
	for _, n := range st.Notes {
		s.add("note", "%s", oneLine(report.Note(n)))
	}
	return s.String()
}

// standingText says how far and how good a study is, and which trials run, most at most.
func standingText(st *study.State, l layout.Study, held bool, most int) string {
	f, attempts, failures := report.FiguresOf(st, held), attemptsUnderWay(st, l, held, most), report.FailuresOf(st)
	s := rows{width: 10}
	s.add("trials", "%d finished: %d succeeded, %d failed, %d stopped early%s", f.Finished, f.Succeeded, f.Failed, f.Pruned, leftOut(f))
	s.when(f.Infeasible > 0, "", "%d of the succeeded over a limit", f.Infeasible)
	for _, why := range failures[:min(len(failures), 3)] {
		s.add("", "%d failed: %s", len(why.Trials), shortened(oneLine(why.Reason), 100))
	}
	n, pending := len(attempts), len(f.Unfinished)
	s.when(n < most && pending > n || !held && pending > 0, "", "%d unfinished: %s", pending, strings.Trim(fmt.Sprint(f.Unfinished), "[]"))
	switch several := st.Config.Several(); {
	case f.Best == nil:
	case several:
		s.add("front", "%s, hypervolume %s", count(len(f.Front), "trial"), short(f.Hypervolume))
		s.when(!f.Feasible, "", "no trial holds every limit")
	default:
		s.add("best", "%s = %s, trial %d", oneLine(st.Config.Objective().Name), f.BestText(), f.Best.Number)
		s.add("", "%s", shortValues(f.Best.Values()))
		s.when(f.Holds != nil, "", "limits %s", f.HoldsText())
		s.when(!f.Feasible, "", "no trial holds every limit; this one breaks them least: %s", oneLine(strings.Join(f.Broken, "; ")))
	}
	why := st.Unsafe()
	s.when(why != "" && (st.Closed == nil || st.Closed.Why != study.EndUnsafe), "unsafe", "%s", oneLine(why))
	for _, text := range st.Remarks() {
		s.add("notice", "%s", oneLine(text))
	}
	remains := when(f.Left > 0, ", about %s left", seconds(f.Left))
	s.add("time", "%s%s in %s, last record %s", took(f.Elapsed), remains, count(st.Sessions, "session"), st.Updated.Local().Format(time.DateTime))
	running := lists.Map(attempts, attemptJSON.line)
	if setup := setupUnderWay(st, l); setup != "" {
		running = append(running, setup)
	}
	if n == most && pending > n {
		running = append(running, fmt.Sprintf("%d more", pending-n))
	}
	s.list("running", running)
	return s.String()
}

// attemptsUnderWay lists attempts that run, or may still run where no lbotune works, most at most.
func attemptsUnderWay(st *study.State, l layout.Study, held bool, most int) []attemptJSON {
	out := []attemptJSON{}
	for _, t := range st.Trials {
		n := len(t.Attempts)
		if len(out) == most || n == 0 || !t.Attempts[n-1].Ended.IsZero() || t.Attempts[n-1].Started.IsZero() {
			continue
		}
		at := t.Attempts[n-1]
		id := layout.AttemptID{Trial: t.Number, Attempt: at.Number}
		seen, job, over := sight(st, l, id)
		if over && !held {
			continue
		}
		a := attemptJSON{Trial: t.Number, Attempt: at.Number, Slot: at.Slot, Host: at.Host, PID: seen.PID, Job: job,
			Seconds: max(time.Since(at.Started), 0).Seconds(), Params: t.Values()}
		if step, metrics, err := session.Glance(st, l, id); err == nil && len(metrics) > 0 {
			a.Metrics, a.Step = metrics, maybe(!math.IsNaN(step), step)
		}
		out = append(out, a)
	}
	return out
}

// sight is what is seen of an attempt, its job in a batch system, and whether it seems to be over.
func sight(st *study.State, l layout.Study, id layout.AttemptID) (seen runner.Sight, job string, over bool) {
	seen, err := runner.Look(l.Attempt(id))
	job, alive := where(&st.Config, l, id)
	return seen, job, err != nil || seen.Ended || !alive && (job != "" || !seen.Alive)
}

// setupUnderWay says that the setup command runs, "" if it does not. It is no trial's, and
// like a trial outlives an lbotune that is killed.
func setupUnderWay(st *study.State, l layout.Study) string {
	if st.SetUp {
		return ""
	}
	seen, job, over := sight(st, l, setupAttempt(st))
	if over {
		return ""
	}
	text := "setup for " + seconds(max(time.Since(seen.Started), 0))
	return text + either(job != "", ", job "+oneLine(job), fmt.Sprintf(", process %d", seen.PID))
}

// setupAttempt is the setup command's attempt that runs, or is to run next.
func setupAttempt(st *study.State) layout.AttemptID { return layout.AttemptID{Attempt: st.Setups + 1} }

func (a attemptJSON) line() string {
	text := fmt.Sprintf("trial %d for %s", a.Trial, seconds(secondsOf(a.Seconds)))
	text += when(a.Attempt > 1, ", attempt %d", a.Attempt)
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
	host, _ := os.Hostname()
	return text + when(a.PID > 0, ", process %d", a.PID) + when(a.Host != host && a.Host != "", " on %s", oneLine(a.Host))
}

// resting is where a study stands, with what its jobs do while no lbotune works on it.
func resting(st *study.State, l layout.Study, held bool) string {
	standing := st.Standing(held)
	if standing != "stopped" {
		return standing
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
	if end := spentOf(st); end != nil {
		return "stopped; the next run or resume ends it: " + end.Detail
	}
	return "stopped; run or resume continues from here"
}

// spentOf is the end to which a study that is not closed has come, nil if there is something left to run.
func spentOf(st *study.State) *study.Closed {
	if len(st.Pending()) > 0 || len(st.Unconfirmed()) > 0 {
		return nil
	}
	return st.Ending(st.Elapsed)
}

// watch draws a study's status in the same place until the study, or the person, ends it.
func watch(ctx context.Context, g *global, name string) error {
	if !isTerminal(g.out) || g.json {
		return usagef("--watch draws on a terminal; for a program there is lbotune journal follow")
	}
	dir, err := g.studyDir(name)
	if err != nil {
		return err
	}
	l := layout.Of(dir)
	p := pane{w: g.out, size: func() (columns, rows int) { columns, rows, _ = sizeOf(g.out); return columns, rows - 1 }}
	err = followed(l, &shelf{})(ctx, func(_ bool, take func() (report.Source, error)) error {
		src, err := take()
		if err != nil {
			return err
		}
		st, held := src.State, src.Running && src.State.Closed == nil
		return p.show(st.Closed != nil, func(columns int) string {
			return statusText(st, l, held, liveText(st, l, held, columns))
		})
	})
	if len(p.lines) > 0 {
		if _, err := fmt.Fprintln(g.out); err != nil {
			return err
		}
	}
	return hintStudy(name, err)
}

// liveText is what run and status --watch draw: how much of the budget is spent, the best value
// from trial to trial, and how the study stands.
func liveText(st *study.State, l layout.Study, held bool, columns int) string {
	full, empty, levels := "█", "░", []rune("▁▂▃▄▅▆▇█")
	if !unicodeLocale() {
		full, empty, levels = "#", ".", []rune("_.-:=+*#")
	}
	width := min(max(cmp.Or(columns, 80)/2, 20), 80)
	s := rows{width: 10}
	b, share, of := st.Config.Budget, 0.0, ""
	if b.Trials > 0 {
		share, of = min(float64(len(st.Order))/float64(b.Trials), 1), count(b.Trials, "trial")
	}
	if elapsed := report.FiguresOf(st, held).Elapsed; b.Limit() > 0 && float64(elapsed)/float64(b.Limit()) >= share {
		share, of = min(float64(elapsed)/float64(b.Limit()), 1), took(b.Limit())
	}
	if limit := time.Duration(b.WorkerTime); limit > 0 && st.Worked.Seconds()/limit.Seconds() >= share {
		share, of = min(st.Worked.Seconds()/limit.Seconds(), 1), took(limit)+" of all workers"
	}
	if of != "" {
		done := int(share * float64(width))
		s.add("progress", "%s%s %.0f %% of %s", strings.Repeat(full, done), strings.Repeat(empty, width-done), math.Floor(100*share), of)
	}
	course := either(st.Config.Several(), (*study.State).Hypervolumes, bestSoFar)(st)
	if n := len(course); n > 1 {
		s.add("course", "%s from %s to %s", sparkline(course, width, levels), short(course[0]), short(course[n-1]))
	}
	const mostRunning = 8 // are drawn, each with what it has printed
	return s.String() + standingText(st, l, held, mostRunning)
}

// bestSoFar is the best value after each trial that succeeded, infeasible ones left out.
func bestSoFar(st *study.State) (out []float64) {
	worth, best := st.Config.Objective().Direction.Maximized, math.NaN()
	for _, n := range st.Order {
		if t := st.Trials[n-1]; t.Succeeded() && st.Feasible(t) {
			best = either(worth(best) > worth(t.Value), best, t.Value)
			out = append(out, best)
		}
	}
	return out
}

// sparkline draws values in at most width characters, of positive ones far apart the logarithms.
func sparkline(values []float64, width int, levels []rune) string {
	first, last := values[0], values[len(values)-1]
	far := math.Min(first, last) > 0 && math.Max(first, last) > 100*math.Min(first, last)
	at := either(far, math.Log, func(v float64) float64 { return v })
	low, span := math.Min(at(first), at(last)), cmp.Or(math.Abs(at(first)-at(last)), 1)
	n := min(len(values), width)
	out := make([]rune, n)
	for i := range out {
		v := values[(i+1)*len(values)/n-1]
		out[i] = levels[min(max(int((at(v)-low)/span*float64(len(levels))), 0), len(levels)-1)] // of an infinite span nothing is known
	}
	return string(out)
}
