package study_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

var update = flag.Bool("update", false, "rewrite the golden journal; only before the format is released")

func values(x float64, n int64) spaces.Values {
	return spaces.Values{{Name: "x", Value: spaces.Float(x)}, {Name: "n", Value: spaces.Int(n)}}
}

// config is a study of two parameters.
func config() study.Config {
	return study.Config{
		Name:    "parabola",
		Command: command.Command{Argv: []string{"parabola", "{x}", "{n}"}},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params: []spaces.Param{
			{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1},
			{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 9},
		},
		Budget: study.Budget{Trials: 12},
		Run:    study.Run{Workers: 1, FailureGuard: 5, Grace: study.Duration(time.Second)},
		Seed:   3,
		Dir:    "/",
	}
}

// tell is everything about the trials of a study.
func tell(st *study.State) string {
	out := fmt.Sprint(st.Order)
	for _, t := range st.Trials {
		out += fmt.Sprintf("\n%+v", *t)
	}
	return out
}

// everyEvent is a study in which everything happens.
func everyEvent() []study.Event {
	c := config()
	c.Run.Confirm, c.Setup = 2, "make"
	c.Prune = &study.Prune{Method: "median", MinTrials: 1}
	c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size"}})
	larger := c
	larger.Budget.Trials = 20
	was := 2.5
	return []study.Event{
		study.Created{ID: "0123456789abcdef", Fingerprint: "f1", Program: "v0.1.0", Config: c},
		study.Session{Number: 1, Host: "host", PID: 7, Program: "v0.1.0"},
		study.SetupEnded{Attempt: 1, Seconds: 0.5, Failure: &study.Failure{Kind: study.FailExit, Code: 2, Text: "exit code 2"}},
		study.Session{Number: 2, Host: "host", PID: 8, Program: "v0.1.0", Recovered: "journal.jsonl.torn-1"},
		study.SetupEnded{Attempt: 2, Seconds: 1.25},
		study.Enqueued{Values: values(0.25, 3)},
		study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.25, 3)},
		study.Proposed{Trial: 2, Pending: []int{1}, Origin: optimizer.OriginInitial, Values: values(1e-7, 9), Note: optimizer.Note{Why: "centre"}},
		study.Started{Trial: 1, Attempt: 1, Host: "host", Waited: 0.25},
		study.Measured{Trial: 1, Attempt: 1, Measurements: []study.Measurement{
			{Step: 1, Seconds: 0.5, Metrics: study.Metrics{"loss": 4.5, "size": 12}}, {Step: 2, Metrics: study.Metrics{"loss": math.NaN()}}}},
		study.Readings{Trial: 1, Attempt: 1, Readings: []study.Reading{{Step: 1, Value: 4.5}, {Step: 2, Value: math.NaN()}, {Step: 3, Value: math.Inf(1)}}},
		study.Ended{Trial: 1, Attempt: 1, Failure: &study.Failure{Kind: study.FailLost, Text: "lost"}, Seconds: 2},
		study.Started{Trial: 1, Attempt: 2, Slot: 1, Host: "host", Rejoined: true},
		study.Finished{Trial: 1, Attempt: 2, Slot: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 3.0000000000000004, "size": 12}, Seconds: 3, Leftovers: "9 (sleep)"},
		study.Cut{Trial: 2, Attempt: 1, Reading: study.Reading{Step: 1, Value: 9.5}, Why: "at step 1"},
		study.Finished{Trial: 2, Attempt: 1, Slot: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 9.5}, Failure: &study.Failure{Kind: study.FailPruned, Text: "at step 1"}, Seconds: 1},
		study.Proposed{Trial: 3, Told: 2, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(-1, 1), Hand: true},
		study.Finished{Trial: 3, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailTold, Text: "no \"luck\" <here> é"}, Seconds: 0},
		study.Noted{Trial: 3, Text: "by hand"},
		study.ConfigChanged{Fingerprint: "f2", Config: larger},
		study.Proposed{Trial: 4, Told: 3, Pending: []int{}, Origin: optimizer.OriginExplore, Values: values(1, 2)},
		study.Finished{Trial: 4, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 2}, Seconds: 1},
		study.Excluded{Trial: 4},
		study.Confirmed{Trial: 1, Attempt: 3, Metrics: study.Metrics{"loss": 3.25}, Seconds: 1},
		study.Confirmed{Trial: 1, Attempt: 4, Failure: &study.Failure{Kind: study.FailTimeout, Text: "timed out after 1s"}, Seconds: 1},
		study.Closed{Why: study.Ending("time"), Detail: "the study has run for 1h", Recommended: &study.Recommended{Trial: 1, Mean: 3.1, SD: 0.1}},
		study.Excluded{Trial: 1},
		study.Included{Trial: 1},
		study.Enqueued{Values: values(0.5, 4), Request: "0001-7-aa"},
		study.Excluded{Trial: 2, Request: "0002-7-bb"},
		study.Included{Trial: 2, Request: "0003-7-cc"},
		study.Noted{Text: "from afar", Request: "0004-7-dd"},
		study.Refused{Request: "0005-7-ee", Why: "trial 4 is excluded already"},
		study.Earlier{From: "old.study", Trials: []study.EarlierResult{{Values: values(0.5, 2), Value: &was}, {Values: values(-0.5, 9)}},
			Left: 1, Why: "trial 2: parameter x: found \"7\"; want a number between -1 and 1", Defaults: []string{"n"}, Same: true},
		study.Cut{Trial: 2, Attempt: 1, Reading: study.Reading{Step: 2, Value: 9}, Why: "at step 2: size = 9, above 8", Metric: "size"},
		study.Proposed{Trial: 5, Told: 4, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0.75, 2)},
		study.Finished{Trial: 5, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailNoMetric, Text: "no loss"}, Seconds: 1},
		study.Rerun{Trials: []int{5}, Read: []int{5}, Request: "0007-7-11"},
		study.Closed{Why: study.Ending("time"), Detail: "the study has run for 1h", Recommended: &study.Recommended{Trial: 1, Mean: 3.1, SD: 0.1}},
	}
}

// records dates events, one second after the other.
func records(es []study.Event) []study.Record {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	var out []study.Record
	for i, e := range es {
		d := time.Duration(i) * time.Second
		out = append(out, study.Record{At: at.Add(d), Elapsed: d, Event: e})
	}
	return out
}

// Every record reads back as it was written, by itself and behind a journal's
// seq.
func TestRecordsSurviveJSON(t *testing.T) {
	for _, r := range records(everyEvent()) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{string(text), `{"seq":12,` + string(text[1:])} {
			var back study.Record
			if err := json.Unmarshal([]byte(line), &back); err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			again, err := json.Marshal(back)
			if err != nil || string(again) != string(text) {
				t.Errorf("%s became %s, %v", text, again, err)
			}
			if reflect.TypeOf(back.Event) != reflect.TypeOf(r.Event) || !back.At.Equal(r.At) || back.Elapsed != r.Elapsed {
				t.Errorf("%s became %+v", text, back)
			}
		}
	}
	var r study.Record
	err := json.Unmarshal([]byte(`{"type":"teleported","at":"2026-01-02T03:04:05.000Z","elapsed":1}`), &r)
	if !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), "later version") {
		t.Errorf("an unknown record: %v", err)
	}
}

// The journal of format 1 that is kept in testdata reads as it always did.
func TestGoldenJournal(t *testing.T) {
	golden := filepath.Join("testdata", "v1")
	// What is written today is the same, byte for byte.
	dir := t.TempDir()
	rs := records(everyEvent())
	j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs[1:] {
		if err := j.AppendLazy(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	was, err1 := os.ReadFile(layout.Study(golden).Journal())
	is, err2 := os.ReadFile(layout.Study(dir).Journal())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(layout.Study(golden).Journal(), is, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(was) != string(is) {
		t.Errorf("the format has changed: a later program must read what this one writes\n%s", is)
	}
	st, err := study.Load(golden)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := journal.Verify(layout.Study(golden).Journal())
	if err != nil {
		t.Fatal(err)
	}
	if int(sum.Records) != len(everyEvent()) || sum.Torn != nil {
		t.Errorf("%d records, %v", sum.Records, sum.Torn)
	}
	checkEverything(t, st)
}

// answers are those to the requests of everyEvent, and to another.
func answers(st *study.State) (out []string) {
	for _, id := range []string{"0001-7-aa", "0002-7-bb", "0003-7-cc", "0004-7-dd", "0005-7-ee", "0006-7-ff"} {
		why, known := st.Answered(id)
		if !known {
			why = "unknown"
		}
		out = append(out, why)
	}
	return out
}

// checkEverything looks at the state after everyEvent.
func checkEverything(t *testing.T, st *study.State) {
	t.Helper()
	one, two, three, four := st.Trials[0], st.Trials[1], st.Trials[2], st.Trials[3]
	for what, ok := range map[string]bool{
		"order":      reflect.DeepEqual(st.Order, []int{1, 2, 3, 4}),
		"best":       st.Best() == one, // trial 4 is better, but excluded
		"setup":      st.SetUp,
		"queue":      len(st.Queue) == 1 && st.Queue[0].Equal(values(0.5, 4)),
		"sessions":   st.Sessions == 2,
		"elapsed":    st.Elapsed == time.Duration(len(everyEvent())-1)*time.Second,
		"config":     st.Config.Budget.Trials == 20,
		"closed":     st.Closed != nil && st.Closed.Why == study.Ending("time") && st.Closed.Recommended.Trial == 1,
		"notes":      len(st.Notes) == 2 && st.Notes[0].Trial == 3,
		"counts":     st.Count(optimizer.Succeeded) == 2 && st.Count(optimizer.Pruned) == 1 && st.Count(optimizer.Failed) == 1,
		"value":      one.Value == 3.0000000000000004 && one.Attempt == 2 && one.NextAttempt() == 5,
		"metrics":    fmt.Sprint(one.Metrics) == "[{loss 3.0000000000000004} {size 12}]",
		"course":     len(one.Measurements) == 2 && one.Measurements[0].Metrics["size"] == 12,
		"attempts":   len(one.Attempts) == 4 && one.Attempts[0].Started.Sub(one.Attempts[0].Queued) == 250*time.Millisecond && one.Attempts[1].Slot == 1,
		"no retries": one.Retries == 0, // a lost attempt is nobody's fault
		"confirmed":  len(one.Confirms) == 1 && one.ConfirmFailures == 1,
		"pruned":     two.Status == optimizer.Pruned && two.Cut != nil && two.Slot == 1,
		"by hand":    three.Hand && three.Failure.Text == "no \"luck\" <here> é",
		"excluded":   four.Excluded && !four.Succeeded(),
		"told":       st.Observation(one).Value() == -3.0000000000000004,
		"pending":    len(st.Pending()) == 1 && st.Pending()[0].Number == 5 && st.Pending()[0].NextAttempt() == 1,
		"requests":   reflect.DeepEqual(answers(st), []string{"", "", "", "", "trial 4 is excluded already", "unknown"}),
	} {
		if !ok {
			t.Errorf("%s is not as it should be", what)
		}
	}
}

// Records that contradict each other are refused, and change nothing.
func TestContradictions(t *testing.T) {
	rs := records(append(everyEvent(), study.Proposed{Trial: 6, Values: values(0, 1)}))
	one := study.Metrics{"loss": 1}
	for want, e := range map[string]study.Event{
		"a study record must be the first and the only one of its kind":                      rs[0].Event,
		"proposed record: trial 8 follows trial 6":                                           study.Proposed{Trial: 8, Values: values(0, 1)},
		"proposed record: trial 2 follows trial 6":                                           study.Proposed{Trial: 2, Values: values(0, 1)},
		"proposed record: trial 7: 9 trials told, but 4 finished":                            study.Proposed{Trial: 7, Told: 9, Values: values(0, 1)},
		`proposed record: trial 7: parameter x: found "2"; want a number from -1 to 1`:       study.Proposed{Trial: 7, Values: values(2, 1)},
		"proposed record: trial 7 continues trial 3, which has no value":                     study.Proposed{Trial: 7, Values: values(0, 1), Continues: 3},
		"proposed record: there is no trial 9":                                               study.Proposed{Trial: 7, Values: values(0, 1), Continues: 9},
		"started record: there is no trial 9":                                                study.Started{Trial: 9},
		"measured record: there is no trial 9":                                               study.Measured{Trial: 9},
		"readings record: there is no trial 9":                                               study.Readings{Trial: 9},
		"cut record: there is no trial 9":                                                    study.Cut{Trial: 9},
		"ended record: there is no trial 9":                                                  study.Ended{Trial: 9, Metrics: one},
		"finished record: there is no trial 9":                                               study.Finished{Trial: 9, Status: optimizer.Succeeded, Metrics: one},
		"finished record: trial 5: succeeded without a value":                                study.Finished{Trial: 5, Status: optimizer.Succeeded, Metrics: study.Metrics{"size": 1}},
		"confirmed record: there is no trial 9":                                              study.Confirmed{Trial: 9, Metrics: one},
		"finished record: slot -1":                                                           study.Finished{Trial: 5, Attempt: 1, Slot: -1, Status: optimizer.Failed},
		"readings record: a reading of 2 values, and there are 1 objectives":                 study.Readings{Trial: 5, Readings: []study.Reading{{Others: []float64{1}}}},
		"cut record: a reading of 3 values, and there are 1 objectives":                      study.Cut{Trial: 5, Reading: study.Reading{Others: []float64{1, 2}}},
		"exclude record: there is no trial 9":                                                study.Excluded{Trial: 9},
		"include record: there is no trial 9":                                                study.Included{Trial: 9},
		"rerun record: there is no trial 9":                                                  study.Rerun{Trials: []int{9}},
		"rerun record: trial 3 was handed out: whoever runs it tells of it":                  study.Rerun{Trials: []int{3}},
		"rerun record: trial 1 has not failed":                                               study.Rerun{Trials: []int{1}},
		"config record: there is no metric with a direction and a name: nothing to optimize": study.ConfigChanged{},
	} {
		t.Run(want, func(t *testing.T) {
			st := &study.State{}
			for _, r := range rs {
				if err := st.Apply(r); err != nil {
					t.Fatal(err)
				}
			}
			before := tell(st)
			if err := st.Apply(study.Record{At: rs[0].At, Event: e}); err == nil || err.Error() != want {
				t.Errorf("got %v", err)
			}
			if tell(st) != before {
				t.Error("the state has changed")
			}
		})
	}
	if err := new(study.State).Apply(rs[1]); err == nil || err.Error() != "a study record must be the first and the only one of its kind" {
		t.Error(err)
	}
}

// What is not finished is listed by number, whatever has finished in between.
func TestPending(t *testing.T) {
	st := begun(t, config())
	st2 := &study.State{}
	apply(t, st2, study.Created{ID: "id", Fingerprint: "f", Config: config()})
	for n := range 4 {
		apply(t, st2, study.Proposed{Trial: n + 1, Pending: []int{}, Values: values(0, 1)})
	}
	apply(t, st2, study.Finished{Trial: 3, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}})
	var got []int
	for _, p := range st2.Pending() {
		got = append(got, p.Number)
	}
	if !slices.Equal(got, []int{1, 2, 4}) || len(st.Pending()) != 0 {
		t.Errorf("pending are %v, and of a finished study %v", got, st.Pending())
	}
}

// The first end of a trial counts.
func TestFirstEndWins(t *testing.T) {
	st := &study.State{}
	for _, r := range records(everyEvent()) {
		if err := st.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	v := -5.0
	if err := st.Apply(study.Record{Event: study.Finished{Trial: 1, Attempt: 9, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}}}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []study.Event{
		study.Ended{Trial: 1, Attempt: 9, Metrics: study.Metrics{"loss": 0}},
		study.Cut{Trial: 1, Attempt: 9},
		study.Readings{Trial: 1, Attempt: 9, Readings: []study.Reading{{Step: 1, Value: 0}}},
	} {
		apply(t, st, e)
	}
	checkEverything(t, st)
}

// A record that is not as lbotune writes it is an error that says what it is of.
func TestUnreadableRecords(t *testing.T) {
	for line, want := range map[string]string{
		`[]`: "cannot unmarshal array",
		`{"type":"note","at":"yesterday","elapsed":1}`:                                                                                        "note record: parsing time",
		`{"seq":3,"type":"note","at":"2026-01-02T03:04:05.000Z","elapsed":1,"trial":"one"}`:                                                   "note record: json: cannot unmarshal string",
		`{"type":"readings","at":"2026-01-02T03:04:05.000Z","elapsed":1,"readings":["low"]}`:                                                  "readings record: reading: json",
		`{"type":"confirmed","at":"2026-01-02T03:04:05.000Z","elapsed":1,"trial":1,"attempt":1,"slot":0,"metrics":{"loss":null},"seconds":1}`: "confirmed record: null is neither a number nor",
		`{"type":"readings","at":"2026-01-02T03:04:05.000Z","elapsed":1,"trial":1,"attempt":1,"readings":[[1,null]]}`:                         "readings record: reading: null is neither a number nor",
		`{"type":"cut","at":"2026-01-02T03:04:05.000Z","elapsed":1,"trial":1,"attempt":1,"reading":[1,2,null],"why":"by itself"}`:             "cut record: reading: null is neither a number nor",
	} {
		t.Run(line, func(t *testing.T) {
			var r study.Record
			if err := json.Unmarshal([]byte(line), &r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", line, err, want)
			}
		})
	}
	dir := t.TempDir()
	j, err := journal.Create(layout.Study(dir).Journal(), records(everyEvent())[0])
	if err != nil {
		t.Fatal(err)
	}
	err = j.Append(map[string]any{"type": "teleported", "at": "2026-01-02T03:04:05.000Z", "elapsed": 1})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := study.Load(dir); !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), "record 2") {
		t.Errorf("a later version's journal: %v", err)
	}
}

// A study that the failure guard has ended is open again as soon as a session begins.
func TestGuardedStudyOpensAgain(t *testing.T) {
	st := begun(t, config())
	for why, ended := range map[study.Ending]bool{study.EndGuard: false, study.EndTrials: true} {
		apply(t, st, study.Closed{Why: why})
		apply(t, st, study.Session{Number: 2})
		if st.Ended() != ended || (st.Closed == nil) == ended {
			t.Errorf("after %s and another session: closed %+v", why, st.Closed)
		}
	}
}

// A journal whose lines are intact but make no sense is damaged at that line.
func TestContradictionInJournal(t *testing.T) {
	dir := t.TempDir()
	rs := records(everyEvent())
	j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(rs[1], rs[1], study.Record{At: rs[1].At, Event: study.Excluded{Trial: 3}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var damage *journal.CorruptError
	if _, err := study.Load(dir); !errors.As(err, &damage) || damage.Line != 4 || damage.Path != layout.Study(dir).Journal() {
		t.Errorf("error %v", err)
	}
}

// A trial's values are those that were proposed, to the sign of a zero, though a state keeps no more of
// most of them than their points.
func TestValuesAreThoseProposed(t *testing.T) {
	c := study.Config{Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1}, {Name: "n", Kind: spaces.KindInt, Min: 1, Max: 9}},
		Metrics: []study.Metric{{Name: "loss", Direction: study.Minimize}}}
	st := new(study.State)
	apply := func(e study.Event) {
		t.Helper()
		if err := st.Apply(study.Record{Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	apply(study.Created{ID: "a", Config: c})
	for i, x := range []float64{0.1, math.Copysign(0, -1), 0, 1 / 3.0, -1} {
		want := spaces.Values{{Name: "x", Value: spaces.Float(x)}, {Name: "n", Value: spaces.Int(int64(i + 1))}}
		apply(study.Proposed{Trial: i + 1, Values: want})
		st.Trials[i].Values()[0].Value = spaces.Float(7) // of a copy
		if got := st.Trials[i].Values(); got.String() != want.String() {
			t.Errorf("trial %d has %v; want %v", i+1, got, want)
		}
	}
}

// A state keeps of a trial little more than the coordinates of its point.
func TestTrialsTakeLittleRoom(t *testing.T) {
	const params, trials = 100, 1000
	c := study.Config{Metrics: []study.Metric{{Name: "loss", Direction: study.Minimize}}}
	for i := range params {
		c.Params = append(c.Params, spaces.Param{Name: fmt.Sprint("x", i), Kind: spaces.KindFloat, Max: 1})
	}
	st := new(study.State)
	if err := st.Apply(study.Record{Event: study.Created{ID: "a", Config: c}}); err != nil {
		t.Fatal(err)
	}
	live := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := live()
	for n := 1; n <= trials; n++ {
		var values spaces.Values
		for i, p := range c.Params {
			values = append(values, spaces.Assignment{Name: p.Name, Value: spaces.Float(1 / float64(n+i))})
		}
		if err := st.Apply(study.Record{Event: study.Proposed{Trial: n, Values: values}}); err != nil {
			t.Fatal(err)
		}
	}
	if each := (live() - before) / trials; each > 2*8*params+1000 {
		t.Errorf("a trial of %d parameters takes %d bytes", params, each)
	}
	runtime.KeepAlive(st)
}
