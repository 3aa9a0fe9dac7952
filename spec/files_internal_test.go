package spec

import (
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// What lbotune puts into a trial's directory no file of the spec's can be named after.
func TestReservedNames(t *testing.T) {
	c := &study.Config{Metrics: make([]study.Metric, 1)}
	if got := reserved(c); slices.Contains(got, layout.SourcesName) || slices.Contains(got, layout.BeforeName) || slices.Contains(got, layout.ResultName) || slices.Contains(got, layout.SlotName) {
		t.Errorf("reserved without need: %v", got)
	}
	c.Run.Sources = &study.Sources{From: "src", Mode: "copy"}
	c.Metrics[0].File, c.Run.Workers = "loss.txt", 2
	c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Dialect: "results-file"}})
	got := reserved(c)
	for _, name := range []string{layout.ParamsName, layout.SourcesName, layout.BeforeName, layout.ResultName, layout.SlotName} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(got, name) {
				t.Errorf("%s is not reserved: %v", name, got)
			}
		})
	}
}
