package main

import (
	"testing"

	"github.com/lbotune/lbotune/study"
)

// A gain is said to be one only where its interval lies above 0.
func TestGainSaysHowSureItIs(t *testing.T) {
	for want, g := range map[string]study.Gain{
		"trial 7 beats today's values by 0.5 ± 0.392 (95 % interval, without the noise)":                   {Over: 1, By: 0.5, SD: 0.2},
		"trial 7 can't be told apart from today's values: 0.3 ± 0.392 (95 % interval, without the noise)":  {Over: 1, By: 0.3, SD: 0.2},
		"trial 7 can't be told apart from today's values: -0.5 ± 0.392 (95 % interval, without the noise)": {Over: 1, By: -0.5, SD: 0.2},
	} {
		st := &study.State{Closed: &study.Closed{Recommended: &study.Recommended{Trial: 7, Gain: &g}}}
		if got := gained(st).text(); got != want {
			t.Errorf("%+v: %q; want %q", g, got, want)
		}
	}
	for name, st := range map[string]*study.State{
		"a study that goes on":     {},
		"one without a choice":     {Closed: &study.Closed{}},
		"one without noise so far": {Closed: &study.Closed{Recommended: &study.Recommended{Trial: 7}}},
	} {
		if g := gained(st); g != nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
}
