package study_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/study"
)

// Budget and workers are adjusted only to what the study can follow.
func TestAdjusted(t *testing.T) {
	c := config()
	c.Run.Slots = make([]study.Slot, 2)
	c.Budget.TimeHard = study.Duration(time.Hour)
	st := begun(t, c)
	for want, r := range map[string]study.Request{
		"trials, time and workers are positive":                                             {Trials: -1},
		"the study has slots for 2 trials at a time, and not for 3":                         {Workers: 3},
		"time_hard, 1h0m0s, ends the study before 2h0m0s: write a larger one into the spec": {Time: study.Duration(2 * time.Hour)},
		"": {Trials: 20, Workers: 2, Time: study.Duration(time.Hour)},
	} {
		t.Run(want, func(t *testing.T) {
			r.Action, r.ID = study.ActionAdjust, "7"
			e, err := st.Event(r)
			if want != "" {
				if err == nil || err.Error() != want {
					t.Errorf("%+v: %v; want %q", r, err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			apply(t, st, e)
			why, known := st.Answered("7")
			if b := st.Config.Budget; !known || why != "" || b.Trials != 20 || b.Time != r.Time || st.Config.Run.Workers != 2 {
				t.Errorf("adjusted to %+v, answered %v %q", b, known, why)
			}
		})
	}
	for _, r := range []study.Request{{Trials: 30}, {Time: study.Duration(time.Minute)}, {Workers: 1}} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			r.Action = study.ActionAdjust
			e, err := st.Event(r)
			if err != nil {
				t.Fatal(err)
			}
			now, was := e.(study.ConfigChanged).Config, st.Config
			if now.Budget.Trials != cmp.Or(r.Trials, was.Budget.Trials) || now.Budget.Time != cmp.Or(r.Time, was.Budget.Time) || now.Run.Workers != cmp.Or(r.Workers, was.Run.Workers) {
				t.Errorf("%+v makes %+v and %d workers", r, now.Budget, now.Run.Workers)
			}
		})
	}
	c = config()
	c.Metrics[0].File = "out.txt"
	for workers, fits := range map[int]bool{1: true, 2: false} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			_, err := begun(t, c).Event(study.Request{Action: study.ActionAdjust, Workers: workers})
			if (err == nil) != fits || err != nil && !strings.Contains(err.Error(), `would write the same file "out.txt" for loss`) {
				t.Errorf("%d at a time: %v", workers, err)
			}
		})
	}
}

// A share of the trials counts exactly: in floating point 0.29*100 is less than 29.
func TestShareOfEnqueued(t *testing.T) {
	c, share := config(), 0.29
	c.Budget.Trials, c.Budget.Enqueued = 100, &share
	s := &study.State{}
	for _, r := range records([]study.Event{study.Created{ID: "0123456789abcdef", Fingerprint: "f1", Config: c}}) {
		if err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 30 {
		e, err := s.Event(study.Request{Action: study.ActionEnqueue, Values: values(0.25, 3)})
		if (err == nil) != (n < 29) {
			t.Fatalf("after %d enqueued trials: %v", n, err)
		}
		if n < 29 {
			if err := s.Apply(study.Record{Event: e}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
