package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What part of the time was spent in trials is computed from the slots that there were at the time, not from
// those at the end. Where these are the same they are named as they are.
func TestTimeInTrialsAfterWorkersChanged(t *testing.T) {
	for workers, want := range map[[2]int]string{
		{2, 2}: "time:    3m00s with 2 trials at a time, 83 % of it in trials ",
		{1, 4}: "time:    2m00s with 2.5 trials at a time on average, 100 % of it in trials ",
	} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			c := study.Config{Name: "resized", Command: command.Command{Argv: []string{"true"}}, Dir: "/",
				Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1}},
				Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
				Budget:  study.Budget{Trials: 5}, Run: study.Run{Workers: workers[0]}}
			st, begun := new(study.State), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
			at := time.Millisecond // since it was opened
			record := func(e study.Event) {
				t.Helper()
				if err := st.Apply(study.Record{At: begun.Add(at), Elapsed: at, Event: e}); err != nil {
					t.Fatal(err)
				}
			}
			start := func(n, slot int) {
				record(study.Proposed{Trial: n, Origin: optimizer.OriginInitial, Values: st.Space.Decode([]float64{float64(n) / 10})})
				record(study.Started{Trial: n, Attempt: 1, Slot: slot})
			}
			end := func(n int) {
				record(study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": float64(n)}})
			}
			record(study.Created{ID: "1", Config: c})
			record(study.Session{Number: 1})
			start(1, 0)
			at += time.Minute
			end(1)
			now := workers[1]
			if c.Run.Workers = now; now != workers[0] {
				record(study.ConfigChanged{Config: c})
			}
			for first := 2; first <= 5; first += now {
				for slot := range now {
					start(first+slot, slot)
				}
				at += time.Minute
				for slot := range now {
					end(first + slot)
				}
			}
			record(study.Closed{Why: study.EndTrials})
			if text := closing(t.Context(), st, layout.Of(t.TempDir())); !strings.Contains(text, want) {
				t.Errorf("%s; want %q", text, want)
			}
		})
	}
}

// A metric stands on the side of its limit on which it is, however few digits are shown of it.
func TestMetricsAreNotRoundedAcrossLimits(t *testing.T) {
	limit := 0.5
	c := &study.Config{Metrics: []study.Metric{{Name: "loss", Direction: study.Minimize}, {Name: "load", Max: &limit}}}
	for load, want := range map[float64]string{
		0.123456789: "load = 0.123457 (at most 0.5)",
		0.5:         "load = 0.5 (at most 0.5)",
		0.50000001:  "load = 0.50000001 (at most 0.5)",
		0.49999999:  "load = 0.49999999 (at most 0.5)",
	} {
		trial := &study.Trial{Metrics: study.Reported{{Name: "load", Value: load}, {Name: "loss", Value: 1}}}
		if got := sideMetrics(c, trial, short); len(got) != 1 || got[0] != want {
			t.Errorf("%v; want %s", got, want)
		}
	}
}

// What was predicted has digits enough for its deviation.
func TestPredictedIsAsExactAsItsDeviation(t *testing.T) {
	r := report.Reason{Trial: 1, Before: &report.Belief{Mean: 1234567.25, SD: 0.05, Success: 1}, Model: &report.Model{}}
	if text := reasonText(r, "model", ""); !strings.Contains(text, "1234567.25 ± 0.05,") {
		t.Error(text)
	}
}
