package study_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A study that is written as a journal of Optuna is read as the earlier results that it has.
// Its second trial is number 1 there.
func TestOptunaThereAndBack(t *testing.T) {
	st := limited(t, func(*study.Config) {})
	try(t, st, 3, 9, 3)
	apply(t, st, study.Excluded{Trial: try(t, st, 1, 9, 3).Number})
	try(t, st, 2, 11, 3)
	var text bytes.Buffer
	if err := st.WriteOptuna(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"lbotune:status":"infeasible"`, `"constraints":[0.1`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s is missing in\n%s", want, &text)
		}
	}
	c := beginWith(t, study.WarmStart{From: "optuna.log", Same: true}, map[string]string{"optuna.log": text.String()})
	all, err := c.ReadEarlier(0)
	if err != nil {
		t.Fatal(err)
	}
	e := all[0]
	if len(e.Trials) != 2 || !e.Trials[0].Values.Equal(values(0.01, 3)) || *e.Trials[0].Value != 3 || *e.Trials[1].Value != 2 || e.Left != 1 || e.Why != "trial 1: excluded" {
		t.Errorf("read %+v", e)
	}
}

// What happens to trials beside that is written, too.
func TestOptunaOfEveryEvent(t *testing.T) {
	st := &study.State{}
	for _, r := range records(everyEvent()) {
		if err := st.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	applyAll(t, st, study.Noted{Text: "of the study"}, study.Noted{Trial: 1, Text: "a \"spike\""}, study.Noted{Trial: 1, Text: "gone"})
	var text bytes.Buffer
	if err := st.WriteOptuna(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"lbotune:notes":["a \"spike\"","gone"]`, `"lbotune:failure":"no \"luck\" `, `"lbotune:status":"pruned"`, `"lbotune:status":"excluded"`, `"intermediate_values":{"1":4.5,"2":NaN}`} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s is missing in\n%s", want, &text)
			}
		})
	}
}

// A trial that was stopped early with the values of some objectives keeps these as attributes.
func TestOptunaOfSomeObjectives(t *testing.T) {
	st := two(t, func(*study.Config) {})
	apply(t, st, study.Proposed{Trial: 1, Told: 0, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(0.5, 3)})
	apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Pruned, Metrics: study.Metrics{"loss": 7}, Failure: &study.Failure{Kind: study.FailPruned}})
	var text bytes.Buffer
	if err := st.WriteOptuna(&text); err != nil {
		t.Fatal(err)
	}
	if want := `"loss":7`; !strings.Contains(text.String(), want) || strings.Contains(text.String(), `"values":[7`) {
		t.Errorf("want %s as an attribute in\n%s", want, &text)
	}
}

// A course of which some steps are no whole numbers is written whole, and numbered.
func TestOptunaOfHalfSteps(t *testing.T) {
	st := begun(t, config())
	var course []study.Measurement
	for k := range 4 {
		course = append(course, study.Measurement{Step: 0.5 * float64(k+1), Metrics: study.Metrics{"loss": float64(5 - k)}})
	}
	apply(t, st, study.Measured{Trial: 1, Attempt: 1, Measurements: course})
	var text bytes.Buffer
	if err := st.WriteOptuna(&text); err != nil {
		t.Fatal(err)
	}
	if want := `"intermediate_values":{"0":5,"1":4,"2":3,"3":2}`; !strings.Contains(text.String(), want) {
		t.Errorf("%s is missing in\n%s", want, &text)
	}
}

// inUse is how much of the heap is in use.
func inUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// heapAt notes how much of the heap is in use when so many lines have been written.
type heapAt struct{ lines, at, live int }

func (h *heapAt) Write(p []byte) (int, error) {
	if h.lines++; h.lines == h.at {
		h.live = inUse()
	}
	return len(p), nil
}

// What is written is not kept, however long the study is.
func TestOptunaIsWrittenAsItGoes(t *testing.T) {
	st := limited(t, func(*study.Config) {})
	const trials = 4000
	for n := 1; n <= trials; n++ {
		apply(t, st, study.Proposed{Trial: n, Told: n - 1, Pending: []int{}, Origin: optimizer.OriginGiven, Values: values(float64(n)/trials, 3)})
		apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1, "size": 9, "speed": 3}})
	}
	h := &heapAt{at: trials}
	before := inUse()
	if err := st.WriteOptuna(h); err != nil {
		t.Fatal(err)
	}
	if grown := h.live - before; h.live == 0 || grown > 1<<20 {
		t.Errorf("after %d trials %d bytes more are in use than before", h.lines, grown)
	}
	runtime.KeepAlive(st)
}

// An empty cell of a table is the empty choice, as which export writes it. Where there is no empty choice, the cell says nothing.
func TestEarlierEmptyChoiceOfATable(t *testing.T) {
	c := beginWith(t, study.WarmStart{From: "runs.csv", Same: true}, map[string]string{"runs.csv": "x,n,fast,loss\n0.5,1,,1\n0.25,,--fast,2\n"})
	c.Params[1].Default = spaces.Int(3)
	c.Params = append(c.Params, spaces.Param{Name: "fast", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(""), spaces.String("--fast")}, Default: spaces.String("--fast")})
	all, err := c.ReadEarlier(0)
	if err != nil || len(all[0].Trials) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"x=0.5 n=1 fast=", "x=0.25 n=3 fast=--fast"} {
		if got := all[0].Trials[i].Values.String(); got != want {
			t.Errorf("result %d has %s, want %s", i+1, got, want)
		}
	}
}
