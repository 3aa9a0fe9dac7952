package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func newTrials(g *global, above *cobra.Command) {
	cmd := newCommand(above, "trials STUDY", "List the trials of a study", "")
	byValue := cmd.Flags().Bool("by-value", false, "list the best, or the front, first; leave out trials without a value")
	limit := cmd.Flags().Uint64P("limit", "n", 0, "list at most `N` trials")
	cmd.RunE = g.onStudy(func(_ *cobra.Command, st *study.State, l layout.Study) error {
		list := either(*byValue, st.Ranked(), st.Trials)
		if *byValue && len(list) > 0 {
			first := foremost(st) // whose mean may be the best, and not its value
			list = append(first, slices.DeleteFunc(list, func(t *study.Trial) bool { return slices.Contains(first, t) })...)
		}
		if *limit > 0 && uint64(len(list)) > *limit {
			list = list[:*limit]
		}
		return printTrials(g, st, l, list)
	})
}

// foremost is the best trial, or the front.
func foremost(st *study.State) []*study.Trial {
	return either(st.Config.Several(), st.Front(), []*study.Trial{st.Best()})
}

func printTrials(g *global, st *study.State, l layout.Study, list []*study.Trial) error {
	if g.json {
		of := trialsJSON(st, l)
		return printLines(g.out, list, func(t *study.Trial) any { return of(t) })
	}
	columns, _, _ := sizeOf(g.out)
	return g.print("%s", tableText(trialsTable(st, l, list), columns))
}

func trialsTable(st *study.State, l layout.Study, list []*study.Trial) [][]string {
	value := either(st.Config.Several(), oneLine(st.Config.Objective().Name), "value")
	rows := [][]string{{"trial", value, "status", "took"}}
	side := slices.DeleteFunc(slices.Clone(st.Config.Metrics), func(m study.Metric) bool { return m.Name == st.Config.Objective().Name })
	rows[0] = append(rows[0], lists.Map(side, func(m study.Metric) string { return oneLine(m.Name) })...)
	rows[0] = append(rows[0], lists.Map(st.Config.Params, func(p spaces.Param) string { return p.Name })...)
	best, word := foremost(st), either(st.Config.Several(), "front", "best")
	runs := map[int]attemptJSON{}
	if held, err := journal.InUse(l.Journal()); err == nil && len(st.Pending()) > 0 {
		for _, a := range attemptsUnderWay(st, l, held, len(st.Trials)) {
			runs[a.Trial] = a
		}
	}
	for _, t := range list {
		leads := slices.Contains(best, t) && st.Feasible(t)
		value, standing := either(t.HasValue(), short(t.Value), "-"), either(leads, word, st.StandingOf(t))
		row := []string{strconv.Itoa(t.Number), value, standing, either(t.Done() && !t.Hand, took(t.Took), "-")}
		if a, runs := runs[t.Number]; runs && !t.Done() {
			row[2], row[3] = "running", took(secondsOf(a.Seconds))
		}
		rows = append(rows, append(row, cells(t, side, st.Config.Params, "-", short, shortValue)...))
	}
	return rows
}

// cells are the metrics of a trial and the values of its parameters, or none where one is missing.
func cells(t *study.Trial, metrics []study.Metric, params []spaces.Param, none string, number func(float64) string, value func(spaces.Value) string) []string {
	values := t.Values()
	return slices.Concat(lists.Map(metrics, func(m study.Metric) string { return textOr(none, number)(t.Metrics.Get(m.Name)) }),
		lists.Map(params, func(p spaces.Param) string { return textOr(none, value)(values.Get(p.Name)) }))
}

// textOr writes what is there, or says that nothing is.
func textOr[T any](none string, text func(T) string) func(v T, there bool) string {
	return func(v T, there bool) string {
		if there {
			return text(v)
		}
		return none
	}
}

func newShow(g *global, above *cobra.Command) {
	cmd := newCommand(above, "show STUDY N", "Show one trial: values, result, command, and where its output is", "")
	dir := cmd.Flags().String("files", "", "write the trial's [[files]] into `DIR` instead, even if its directory is gone;\nit replaces no other file")
	cmd.RunE = g.onTrial(func(_ context.Context, st *study.State, l layout.Study, t *study.Trial) error {
		if *dir != "" {
			if err := writeFiles(st, l, t, *dir); err != nil || !g.json {
				return err
			}
		}
		return printTrial(g, st, l, t)
	})
}

// writeFiles writes the files that a trial was given, from the journal alone.
func writeFiles(st *study.State, l layout.Study, t *study.Trial, dir string) error {
	if err := outsideStudies("--files", filepath.Join(dir, layout.ParamsName), string(l)); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usagef("--files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usagef("--files: %w", err)
	}
	defer root.Close()
	missing := map[string]string{}
	for _, f := range st.Config.Files {
		text, err := f.Render(lastBindings(l, &st.Config, t))
		if err != nil {
			return err
		}
		switch same, err := holdsText(root, f.To, text); {
		case errors.Is(err, fs.ErrNotExist):
			missing[f.To] = text
		case err != nil:
			return usagef("--files: %w", err)
		case !same: // it may be the template itself
			return hinted(usagef("--files: %s is there already, and holds something else", filepath.Join(dir, f.To)),
				"nothing was written; name another directory")
		}
	}
	for name, text := range missing {
		err := root.MkdirAll(filepath.Dir(name), 0o777)
		if err == nil {
			err = createText(root, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func createText(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// holdsText reports whether a regular file holds a text and nothing else.
func holdsText(root *os.Root, name, text string) (bool, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false, err
	}
	there, err := root.ReadFile(name)
	return string(there) == text, err
}

func trialNumber(st *study.State, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if len(st.Trials) == 0 {
		return 0, usagef("found %q; the study has no trials yet", text)
	}
	if err != nil || n < 1 || n > len(st.Trials) {
		return 0, usagef("found %q; want the number of a trial, from 1 to %d", text, len(st.Trials))
	}
	return n, nil
}

type shownJSON struct {
	trialJSON
	Measurements []study.Measurement `json:"measurements,omitempty"`
}

func printTrial(g *global, st *study.State, l layout.Study, t *study.Trial) error {
	j := trialsJSON(st, l)(t)
	if g.json {
		return printJSON(g.out, shownJSON{j, t.Measurements})
	}
	c, s := &st.Config, rows{width: 9}
	s.add("trial", "%d of study %s", t.Number, oneLine(c.Name))
	s.add("status", "%s", st.StandingOf(t))
	for _, broken := range j.Broken {
		s.add("limit", "%s", oneLine(broken))
	}
	words := lastWords(l, c, t)
	s.when(t.Failure != nil, "reason", "%s", oneLine(t.Failure.String()))
	s.when(words != "", "stderr", "%s", words)
	if j.Value != nil {
		stopped := t.Status == optimizer.Pruned && t.Cut != nil && t.Cut.Attempt == t.Attempt
		of := when(len(t.Repeats) > 0 && !stopped, ", the %s of %d runs", cmp.Or(c.Run.Combine, "mean"), max(len(t.Repeats), c.Run.Repeats))
		s.add("value", "%s = %s%s", oneLine(c.Objective().Name), exact(*j.Value), of)
	}
	if t.Done() && t.Status != optimizer.Failed {
		s.list("metrics", sideMetrics(c, t, exact))
	}
	s.list("params", valueLines(t.Values()))
	course := report.CourseOf(t, c.Objective().Name)
	if n := len(course); n > 0 {
		s.add("course", "%s kept, the last at step %s", count(n, "measurement"), short(course[n-1].Step))
	}
	s.add("origin", "%s", originOf(t))
	s.when(t.Continues > 0, "continues", "trial %d", t.Continues)
	s.when(t.Done(), either(t.Hand, "finished", "took"), "%s%s", when(!t.Hand, "%s, finished ", took(t.Took)), t.Finished.Local().Format(time.DateTime))
	s.add("proposed", "%s", t.Proposed.Local().Format(time.DateTime))
	s.add("attempts", "%d", max(t.Attempt, len(t.Attempts)))
	for _, a := range t.Attempts {
		job, _ := where(c, l, layout.AttemptID{Trial: t.Number, Attempt: a.Number})
		s.add("", "%s", attemptLine(a, job))
	}
	s.list("note", lists.Map(j.Notes, oneLine))
	s.when(j.Command != "", "command", "%s", printable(j.Command))
	s.when(directoryGone(st, l, t), "", "its directory is gone: to run the values again, enqueue them")
	s.when(j.Output != "", "output", "%s", shownFile(l, j.Output))
	return g.print("%s", s.String())
}

// directoryGone reports whether a trial's command names its own directory, which is no longer there.
func directoryGone(st *study.State, l layout.Study, t *study.Trial) bool {
	dir := lastBindings(l, &st.Config, t).TrialDir
	if t.Attempt == 0 || !strings.Contains(commandLine(st, l, t), dir) {
		return false
	}
	_, err := l.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// originOf says which rule made a trial, and why.
func originOf(t *study.Trial) string {
	origin, why := oneLine(string(t.Origin)), oneLine(t.Note.Why)
	return either(strings.HasPrefix(why, origin), why, origin+when(why != "", ": %s", why))
}

// attemptLine says when and where an attempt ran.
func attemptLine(a study.Attempt, job string) string {
	line := fmt.Sprintf("%d in slot %d", a.Number, a.Slot)
	line += when(job != "", ", job %s", oneLine(job)) + when(job == "" && a.Host != "", " on %s", oneLine(a.Host))
	at := func(what string, t time.Time) string {
		return when(!t.IsZero(), ", %s %s", what, t.Local().Format(time.TimeOnly))
	}
	return line + at("queued", a.Queued) + at("started", a.Started) + at("ended", a.Ended)
}

type trialJSON struct {
	Trial   int                       `json:"trial"`
	Status  string                    `json:"status"`
	Value   *float64                  `json:"value"`
	Metrics map[string]*journal.Float `json:"metrics,omitempty"` // all that are watched; one that is missing is null
	// Feasible says whether the trial holds every limit, in a study that has some, and
	// Broken which ones it breaks.
	Feasible  *bool            `json:"feasible,omitempty"`
	Broken    []string         `json:"broken,omitempty"`
	Doubtful  bool             `json:"doubtful,omitempty"` // it holds them by values that are likely luck
	Values    spaces.Values    `json:"params"`
	Origin    optimizer.Origin `json:"origin"`
	Why       string           `json:"why,omitempty"`       // it was proposed
	Continues int              `json:"continues,omitempty"` // the trial that this one continued with more of the resource
	Failure   *study.Failure   `json:"failure,omitempty"`
	Seconds   float64          `json:"seconds"`
	Attempts  int              `json:"attempts"`
	Repeats   []float64        `json:"repeats,omitempty"`
	Confirms  []float64        `json:"confirms,omitempty"`
	// RepeatMetrics and ConfirmMetrics have the metrics beside the objective, too, if there are any.
	RepeatMetrics  []study.Metrics `json:"repeat_metrics,omitempty"`
	ConfirmMetrics []study.Metrics `json:"confirm_metrics,omitempty"`

	Proposed time.Time       `json:"proposed"`
	Runs     []study.Attempt `json:"runs,omitempty"`
	Finished *time.Time      `json:"finished,omitempty"`
	Excluded bool            `json:"excluded,omitempty"`
	Outside  bool            `json:"outside,omitempty"` // of the ranges as they are now
	Output   string          `json:"output,omitempty"`
	Command  string          `json:"command,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

// trialsJSON returns what is printed of trials, see commandLines.
func trialsJSON(st *study.State, l layout.Study) func(*study.Trial) trialJSON {
	line, notes := commandLines(st, l), report.NotesByTrial(st)
	objective := func(run study.Metrics) float64 { return run[st.Config.Objective().Name] }
	return func(t *study.Trial) trialJSON {
		out := trialJSON{Trial: t.Number, Status: cmp.Or(string(t.Status), "unfinished"), Values: t.Values(), Origin: t.Origin, Why: t.Note.Why,
			Proposed: t.Proposed, Runs: t.Attempts, Continues: t.Continues, Failure: t.Failure,
			Seconds: journal.Seconds(t.Took), Attempts: max(t.Attempt, len(t.Attempts)), Repeats: lists.Map(t.Repeats, objective), Confirms: lists.Map(t.Confirms, objective), Excluded: t.Excluded, Outside: t.Outside,
			Output: when(max(t.Attempt, len(t.Attempts)) > 0 && !t.Hand, "%s", outputFile(l, t)), Command: line(t), Notes: notes[t.Number]}
		if len(st.Config.Metrics) > 1 {
			out.RepeatMetrics, out.ConfirmMetrics = t.Repeats, t.Confirms
		}
		if !t.Done() {
			return out
		}
		out.Finished = &t.Finished
		if t.Status == optimizer.Failed {
			return out
		}
		out.Value = maybe(t.HasValue() && !math.IsInf(t.Value, 0), t.Value)
		out.Metrics = map[string]*journal.Float{}
		for _, m := range st.Config.Metrics {
			v, there := t.Metrics.Get(m.Name)
			out.Metrics[m.Name] = maybe(there, journal.Float(v))
		}
		if len(st.Config.AllLimits()) > 0 {
			out.Feasible, out.Broken, out.Doubtful = maybe(true, st.Feasible(t)), st.Config.Broken(st.Means(t)), st.Doubtful(t)
		}
		return out
	}
}

// sideMetrics are the metrics of a trial beside its objective, with limits, written by number.
func sideMetrics(c *study.Config, t *study.Trial, number func(float64) string) []string {
	var out []string
	for _, m := range c.Metrics {
		if m.Name == c.Objective().Name {
			continue
		}
		v, there := t.Metrics.Get(m.Name)
		text := textOr("missing", number)(v, there)
		written, _ := strconv.ParseFloat(text, 64)
		if s := c.Safety; s != nil && s.Metric == m.Name && !m.Limited() {
			if m.Max = &s.At; s.Least {
				m.Min, m.Max = &s.At, nil
			}
		}
		crosses := func(at *float64) bool { return at != nil && cmp.Compare(written, *at) != cmp.Compare(v, *at) }
		if there && (crosses(m.Min) || crosses(m.Max)) {
			text = exact(v)
		}
		limit := ""
		switch {
		case m.Min != nil && m.Max != nil:
			limit = fmt.Sprintf(" (from %s to %s)", exact(*m.Min), exact(*m.Max))
		case m.Min != nil:
			limit = fmt.Sprintf(" (at least %s)", exact(*m.Min))
		case m.Max != nil:
			limit = fmt.Sprintf(" (at most %s)", exact(*m.Max))
		}
		out = append(out, oneLine(m.Name)+" = "+text+limit)
	}
	return out
}

// shownFile names a file of a study, and says so if it is not there.
func shownFile(l layout.Study, path string) string {
	_, err := l.Stat(path)
	return oneLine(path) + when(errors.Is(err, fs.ErrNotExist), ", which is not there")
}

func outputFile(l layout.Study, t *study.Trial) string {
	return filepath.Join(l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: report.ResultAttempt(t)}), runner.StdoutName)
}

// lastBindings are those of the last attempt at a trial that has ended, so that its
// command can be run again as it was.
func lastBindings(l layout.Study, c *study.Config, t *study.Trial) *command.Bindings {
	before := *t
	before.Status = ""
	return study.TrialBindings(l, c, &before, max(t.Attempt, 1), t.Slot)
}

// commandLine is what a person can paste to run the trial again. There is none as long as lbotune runs
// one that writes into a directory of its own: the result would be taken for the trial's.
func commandLine(st *study.State, l layout.Study, t *study.Trial) string {
	return commandLines(st, l)(t)
}

// commandLines returns commandLine for many trials of a study whose config does not change meanwhile.
func commandLines(st *study.State, l layout.Study) func(*study.Trial) string {
	paste := sync.OnceValue(func() func(*command.Bindings) (string, error) { return st.Config.Command.Paste(here(&st.Config)) })
	return func(t *study.Trial) string {
		b := lastBindings(l, &st.Config, t)
		line, _ := paste()(b)
		if !t.Done() && !t.Hand && (strings.Contains(line, b.TrialDir) || strings.Contains(line, b.CheckpointDir)) {
			return ""
		}
		return line
	}
}
