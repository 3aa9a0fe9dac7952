package session

import (
	"errors"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// The best are confirmed once all trials have ended, and nothing else is under way or to end.
func TestToConfirm(t *testing.T) {
	config := study.Config{Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1}},
		Metrics: []study.Metric{{Name: "loss", Direction: study.Minimize}}, Run: study.Run{Confirm: 1}}
	st := &study.State{}
	for _, e := range []study.Event{study.Created{ID: "id", Config: config},
		study.Proposed{Trial: 1, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}}},
		study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}}} {
		if err := st.Apply(study.Record{At: time.Unix(0, 0), Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(*loop)
		want   int
	}{
		"at the end":                   {func(*loop) {}, 1},
		"before it":                    {func(l *loop) { l.ending = nil }, 0},
		"during a stop":                {func(l *loop) { l.stop = StopAsking }, 0},
		"after an error":               {func(l *loop) { l.fatal = errors.New("full") }, 0},
		"while the optimizer is asked": {func(l *loop) { l.asking = true }, 0},
		"while one waits":              {func(l *loop) { l.ready = []layout.AttemptID{{Trial: 1, Attempt: 2}} }, 0},
		"while a trial runs":           {func(l *loop) { l.study.running = map[int]*attempt{2: {}} }, 0},
		"while another is being":       {func(l *loop) { l.study.running = map[int]*attempt{2: {confirms: true}} }, 1},
		"while it is being":            {func(l *loop) { l.study.running = map[int]*attempt{1: {confirms: true}} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := &loop{study: &Study{state: st, running: map[int]*attempt{}}, ending: &study.Closed{Why: study.EndTrials}}
			if c.change(l); len(l.toConfirm()) != c.want {
				t.Errorf("%s: %v are to be confirmed; want %d", name, l.toConfirm(), c.want)
			}
		})
	}
}
