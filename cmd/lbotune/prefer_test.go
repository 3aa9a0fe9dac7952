package main

import (
	"fmt"
	"testing"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// frontier is a study of trials with these values of loss, gain and size.
func frontier(t *testing.T, confirm int, trials ...[3]float64) *study.State {
	t.Helper()
	c := study.Config{Params: []spaces.Param{spaces.NewFloat("x", 0, 1)}, Run: study.Run{Confirm: confirm}, Metrics: []study.Metric{
		{Name: "loss", Direction: study.Minimize}, {Name: "gain", Direction: study.Maximize}, {Name: "size", Direction: study.Minimize}}}
	st := &study.State{}
	record(t, st, study.Created{ID: "id", Config: c})
	for i, v := range trials {
		x := spaces.Values{{Name: "x", Value: spaces.Float(float64(i) / 10)}}
		record(t, st, study.Proposed{Trial: i + 1, Told: i, Origin: optimizer.OriginGiven, Values: x})
		record(t, st, study.Finished{Trial: i + 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: metricsOf(v)})
	}
	return st
}

func metricsOf(v [3]float64) study.Metrics {
	return study.Metrics{"loss": v[0], "gain": v[1], "size": v[2]}
}

func record(t *testing.T, st *study.State, e study.Event) {
	t.Helper()
	if err := st.Apply(study.Record{Event: e}); err != nil {
		t.Fatal(err)
	}
}

// A preference chooses by bounds, then by weights, then by the first objective; what does not differ on
// the front weighs nothing, and others count by their range on it.
func TestPreferred(t *testing.T) {
	four := [][3]float64{{1, 1, 1}, {2, 8, 1}, {6, 9, 1}, {9, 10, 1}}
	two := [][3]float64{{5, 40, 3}, {5, 60, 9}}
	type weights = map[string]float64
	for _, c := range []struct {
		trials [][3]float64
		p      preference
		want   []int
	}{
		{four, preference{}, []int{1}},
		{four, preference{weights: weights{"gain": 1}}, []int{4}},
		{four, preference{weights: weights{"gain": 1, "loss": 1}}, []int{2}},
		{four, preference{weights: weights{"gain": 1}, bounds: []study.Limit{{Metric: "loss", At: 6}}}, []int{3}},
		{four, preference{bounds: []study.Limit{{Metric: "gain", At: 11, Least: true}}}, []int{}},
		{two, preference{weights: weights{"loss": 1, "gain": 1}}, []int{2}},
		{two, preference{weights: weights{"gain": 1, "size": 1.5}}, []int{1}},
	} {
		t.Run(fmt.Sprint(c.p), func(t *testing.T) {
			got := []int{}
			if trial := c.p.of(frontier(t, 0, c.trials...)); trial != nil {
				got = append(got, trial.Number)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v is preferred, want %v", got, c.want)
			}
		})
	}
}

// What was run again is preferred by its means.
func TestPreferredByMeans(t *testing.T) {
	st := frontier(t, 2, [3]float64{1, 1, 1}, [3]float64{2, 8, 1})
	for range 2 {
		record(t, st, study.Confirmed{Trial: 1, Attempt: st.Trials[0].NextAttempt(), Metrics: metricsOf([3]float64{5, 1, 1})})
	}
	for name, p := range map[string]preference{"weights": {}, "bounds": {weights: map[string]float64{"loss": 1}, bounds: []study.Limit{{Metric: "loss", At: 3}}}} {
		t.Run(name, func(t *testing.T) {
			if got := p.of(st); got == nil || got.Number != 2 {
				t.Errorf("by its %s %v is preferred, and the mean of trial 1 is 5", name, lists.Map(st.Front(), func(t *study.Trial) int { return t.Number }))
			}
		})
	}
}
