package session

import (
	"log/slog"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// With a safety limit an answer that comes together with the end of a trial, which it does not
// know of, is not followed: the end may say that it is not safe.
func TestAnswerBesideAnEnd(t *testing.T) {
	c := study.Config{Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}}}
	for _, safety := range []*study.Safety{nil, {Metric: "loss", At: 5, Constant: 1}} {
		c.Safety = safety
		st := &study.State{}
		if err := st.Apply(study.Record{Event: study.Created{ID: "id", Config: c}}); err != nil {
			t.Fatal(err)
		}
		l := &loop{study: &Study{state: st, running: map[int]*attempt{}, opts: Options{Log: slog.New(slog.DiscardHandler)}}, stopAsk: func() {}, asking: true, events: []study.Event{study.Finished{Trial: 1}}}
		a := asked{}
		a.question.query.Trial, a.proposals = 2, []optimizer.Proposal{{Point: spaces.Point{0.5}}}
		l.onAnswer(a)
		if followed := len(l.events) == 2; followed != (safety == nil) || l.asking {
			t.Errorf("with %+v: followed %v", safety, followed)
		}
	}
}

// The best at the end is known before the end is recorded: not the one whose limits are in doubt.
func TestBestAtTheEnd(t *testing.T) {
	most := 10.0
	c := study.Config{Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}}, Metrics: []study.Metric{
		{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}, {Name: "size", Rule: parser.Rule{Metric: "size"}, Max: &most}}}
	st := &study.State{}
	events := []study.Event{study.Created{ID: "id", Config: c}}
	for n := 1; n <= 2; n++ {
		x := spaces.Values{{Name: "x", Value: spaces.Float(float64(n) / 2)}}
		events = append(events, study.Proposed{Trial: n, Told: n - 1, Values: x},
			study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": float64(n), "size": 9}})
	}
	for _, e := range events {
		if err := st.Apply(study.Record{Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	if best := bestAt(st, &study.Closed{Doubtful: []int{1}}); best.Number != 2 || st.Best().Number != 1 {
		t.Errorf("the best is trial %d, and at the end %d", st.Best().Number, best.Number)
	}
}
