package spec_test

import (
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

func TestWarmStart(t *testing.T) {
	cfg, err := spec.Parse("a.toml", []byte(`
command    = "train {x}"
warm_start = ["old.study", { from = "runs.csv", same = true }, { from = "old.toml" }, { from = "o.log", study = "net" }]
objective.metric = "loss"
params.x = { type = "float", min = 0, max = 1 }
budget.trials = 9
`), "/start")
	if err != nil {
		t.Fatal(err)
	}
	if want := []study.WarmStart{{From: "old.study"}, {From: "runs.csv", Same: true}, {From: "old.toml"}, {From: "o.log", Study: "net"}}; !reflect.DeepEqual(cfg.WarmStart, want) {
		t.Errorf("read %v, want %v", cfg.WarmStart, want)
	}
}
