package main

import (
	"math"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
)

// A command takes as many arguments as its usage names.
func TestArgumentsFollowTheUsage(t *testing.T) {
	for use, c := range map[string]struct{ least, most int }{
		"version": {0, 0}, "best STUDY": {1, 1}, "plot STUDY PICTURE": {2, 2}, "ls [FOLDER]": {0, 1}, "serve [STUDY | FOLDER]": {0, 1},
		"report STUDY...": {1, math.MaxInt}, "enqueue STUDY NAME=VALUE ...": {2, math.MaxInt},
		"rerun STUDY N ... | rerun STUDY --failed":                             {1, math.MaxInt},
		"tell STUDY N VALUE [METRIC=VALUE ...] | tell STUDY N --failed REASON": {2, math.MaxInt},
	} {
		t.Run(use, func(t *testing.T) {
			for n := range 6 {
				want := c.least <= n && n <= c.most
				if err := checkArgs(&cobra.Command{Use: use}, make([]string, n)); (err == nil) != want {
					t.Errorf("%d arguments: %v", n, err)
				}
			}
		})
	}
}

func TestImportanceOfNothingGained(t *testing.T) {
	im := &report.Importance{Objective: "loss", From: "first", Trial: 1, Start: 0.5, End: 0.5,
		Params: []report.ParamRow{{Param: "x", Gain: report.Interval{Value: 1}}, {Param: "y", Gain: report.Interval{Value: -0.001, Low: -0.002}}}}
	if got := importanceText(im); strings.Contains(got, "-0") || !strings.Contains(got, "; gain: none, from 0.5 (first) to 0.5 (trial 1)\n") {
		t.Error(got)
	}
}

// A parameter that never varied has a row all the same, which is shorter than the others.
func TestImportanceOfWhatNeverVaried(t *testing.T) {
	im := &report.Importance{Objective: "loss", From: "first", Trial: 2, Start: 1, End: 0.5,
		Params: []report.ParamRow{{Param: "x", Gain: report.Interval{Value: 1}}, {Param: "depth", Never: true}}}
	if got := importanceText(im); !strings.Contains(got, "\ndepth      never varied\n") {
		t.Errorf("%s", got)
	}
}
