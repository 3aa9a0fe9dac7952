package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What part of the time was spent in trials is computed from the slots that there were at the time, not from
// those at the end.
func TestTimeInTrialsAfterWorkersChanged(t *testing.T) {
	c := study.Config{Name: "resized", Command: command.Command{Argv: []string{"true"}}, Dir: "/",
		Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1}},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Budget:  study.Budget{Trials: 5}, Run: study.Run{Workers: 1}}
	st, begun := new(study.State), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := time.Millisecond // of opening the study
	record := func(e study.Event) {
		t.Helper()
		if err := st.Apply(study.Record{At: begun.Add(at), Elapsed: at, Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	start := func(n int) {
		record(study.Proposed{Trial: n, Origin: optimizer.OriginInitial, Values: st.Space.Decode([]float64{float64(n) / 10})})
		record(study.Started{Trial: n, Attempt: 1, Slot: max(n-2, 0)})
	}
	end := func(n int) {
		record(study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": float64(n)}})
	}
	record(study.Created{ID: "1", Config: c})
	record(study.Session{Number: 1})
	start(1)
	at += time.Minute
	end(1)
	said := func(want string) {
		t.Helper()
		if text := closing(t.Context(), st, layout.Of(t.TempDir())); !strings.Contains(text, want) {
			t.Errorf("%s; want %q", text, want)
		}
	}
	said("time:    1m00s with 1 trial at a time, 100 % of it in trials ")
	c.Run.Workers = 4
	record(study.ConfigChanged{Config: c})
	for n := 2; n <= 5; n++ {
		start(n)
	}
	at += time.Minute
	for n := 2; n <= 5; n++ {
		end(n)
	}
	record(study.Closed{Why: study.EndTrials})
	said("time:    2m00s with 2.5 trials at a time on average, 100 % of it in trials ")
}
