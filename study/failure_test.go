package study_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// fail makes a trial that fails.
func fail(t *testing.T, st *study.State, f *study.Failure) *study.Trial {
	t.Helper()
	n := len(st.Trials) + 1
	apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: optimizer.OriginInitial, Values: values(0.5, 3)})
	apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: f})
	return st.Trials[n-1]
}

// Reasons are counted, the most frequent first; a trial that has none is one of them.
func TestFailures(t *testing.T) {
	st := begun(t, config())
	exit, told := &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"}, &study.Failure{Kind: study.FailTold, Text: "told"}
	for _, f := range []*study.Failure{told, exit, nil, exit} {
		fail(t, st, f)
	}
	want := []study.Failures{{Reason: "exit code 1", Trials: []int{3, 5}}, {Reason: "told", Trials: []int{2}}, {Reason: "", Trials: []int{4}}}
	if got := st.Failures(); !reflect.DeepEqual(got, want) || got[0].Last() != 5 {
		t.Errorf("failures %+v, want %+v", got, want)
	}
}

// The guard ends a study as soon as as many trials as it says have failed alike, a time
// that is over one at that very moment.
func TestGuardAndTime(t *testing.T) {
	st := &study.State{}
	c := config()
	c.Run.FailureGuard, c.Budget.Time = 2, study.Duration(time.Hour)
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	for elapsed, want := range map[time.Duration]bool{time.Hour - 1: false, time.Hour: true} {
		if end := st.Ending(elapsed); (end != nil && end.Why == study.EndTime) != want {
			t.Errorf("after %v: %+v", elapsed, end)
		}
	}
	for n, want := range []study.Ending{"", study.EndGuard} {
		fail(t, st, &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"})
		if end := st.Ending(0); (end == nil) != (want == "") || end != nil && (end.Why != want || end.Detail != "the first 2 trials all failed: exit code 1") {
			t.Errorf("after %d failures: %+v", n+1, end)
		}
	}
	fail(t, st, &study.Failure{Kind: study.FailExit, Code: 2, Text: "exit code 2"})
	if end := st.Ending(0); end != nil {
		t.Errorf("failures of two kinds: %+v", end)
	}
}
