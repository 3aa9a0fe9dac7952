package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

type trialJSON struct {
	Trial  int      `json:"trial"`
	Status string   `json:"status"`
	Value  *float64 `json:"value"`
	// Metrics are all that are watched; one that is missing is null.
	Metrics map[string]*journal.Float `json:"metrics,omitempty"`
	// Feasible says whether the trial holds every limit, in a study that has some, and
	// Broken which ones it breaks.
	Feasible *bool    `json:"feasible,omitempty"`
	Broken   []string `json:"broken,omitempty"`
	// Doubtful says that it holds them by values that are likely luck.
	Doubtful bool             `json:"doubtful,omitempty"`
	Values   spaces.Values    `json:"params"`
	Origin   optimizer.Origin `json:"origin"`
	Why      string           `json:"why,omitempty"` // it was proposed
	// Continues is the trial that this one continued with more of the resource.
	Continues int             `json:"continues,omitempty"`
	Failure   *study.Failure  `json:"failure,omitempty"`
	Seconds   float64         `json:"seconds"`
	Attempts  int             `json:"attempts"`
	Repeats   []float64       `json:"repeats,omitempty"`
	Confirms  []float64       `json:"confirms,omitempty"`
	Proposed  time.Time       `json:"proposed"`
	Runs      []study.Attempt `json:"runs,omitempty"`
	Finished  *time.Time      `json:"finished,omitempty"`
	Excluded  bool            `json:"excluded,omitempty"`
	Outside   bool            `json:"outside,omitempty"` // of the ranges as they are now
	Output    string          `json:"output,omitempty"`
	Command   string          `json:"command,omitempty"`
}

func newTrialJSON(st *study.State, l study.Layout, t *study.Trial) trialJSON {
	objective := func(run study.Metrics) float64 { return run[st.Config.Objective().Name] }
	out := trialJSON{Trial: t.Number, Status: cmp.Or(string(t.Status), "unfinished"), Values: t.Values, Origin: t.Origin, Why: t.Note.Why,
		Proposed: t.Proposed, Runs: t.Attempts, Continues: t.Continues, Failure: t.Failure,
		Seconds: t.Took.Seconds(), Attempts: t.Attempt, Repeats: mapped(t.Repeats, objective), Confirms: mapped(t.Confirms, objective), Excluded: t.Excluded, Outside: t.Outside,
		Command: commandLine(st, l, t)}
	if max(t.Attempt, len(t.Attempts)) > 0 && !t.Hand {
		out.Output = outputFile(l, t)
	}
	if !t.Done() {
		return out
	}
	out.Finished = &t.Finished
	if t.Status == optimizer.Failed {
		return out
	}
	if t.HasValue() && !math.IsInf(t.Value, 0) {
		out.Value = &t.Value
	}
	out.Metrics = map[string]*journal.Float{}
	for _, m := range st.Config.Metrics {
		out.Metrics[m.Name] = nil
		if v, ok := t.Metrics.Get(m.Name); ok {
			out.Metrics[m.Name] = (*journal.Float)(&v)
		}
	}
	if len(st.Config.AllLimits()) > 0 {
		feasible := st.Feasible(t)
		out.Feasible, out.Broken, out.Doubtful = &feasible, st.Config.Broken(st.Means(t)), st.Doubtful(t)
	}
	return out
}

// sideMetrics are the metrics of a trial beside its objective, with limits, written by number.
func sideMetrics(c *study.Config, t *study.Trial, number func(float64) string) []string {
	var out []string
	for _, m := range c.Metrics {
		if m.Name == c.Objective().Name {
			continue
		}
		text := textOr("missing", number)(t.Metrics.Get(m.Name))
		if s := c.Safety; s != nil && s.Metric == m.Name && !m.Limited() {
			if m.Max = &s.At; s.Least {
				m.Min, m.Max = &s.At, nil
			}
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

func outputFile(l study.Layout, t *study.Trial) string {
	return filepath.Join(l.Attempt(study.AttemptID{Trial: t.Number, Attempt: report.ResultAttempt(t)}), runner.StdoutName)
}

// commandLine is what a person can paste to run the trial again. There is none as long as lbotune runs
// one that writes into a directory of its own: the result would be taken for the trial's.
func commandLine(st *study.State, l study.Layout, t *study.Trial) string {
	b := study.LastBindings(l, &st.Config, t)
	line, _ := st.Config.Paste(b, here(&st.Config))
	if !t.Done() && !t.Hand && (strings.Contains(line, b.TrialDir) || strings.Contains(line, b.CheckpointDir)) {
		return ""
	}
	return line
}

// here is lbotune's directory, by the name that the config has for it if it is the same.
func here(c *study.Config) string {
	dir, err := os.Getwd()
	if err != nil || sameFile(dir, c.Dir) {
		return c.Dir
	}
	return dir
}
