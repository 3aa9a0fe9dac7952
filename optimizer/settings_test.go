package optimizer_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func TestValidateReportsEveryProblem(t *testing.T) {
	bad := optimizer.Settings{
		Method: "lb0", Acquisition: "eii", Kappa: -1, LipschitzConstant: math.NaN(), DesignSize: -3,
		Beta: "huge", Noise: "-0.1", Warp: "box-cox",
	}
	var got []string
	for _, p := range bad.Validate() {
		got = append(got, p.Field)
	}
	want := []string{"method", "acquisition", "warp", "lipschitz_constant", "kappa", "design_size", "beta", "noise"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("problems of %v, want %v", got, want)
	}
	if msg := bad.Validate()[0].Message; !strings.Contains(msg, `"lb0"`) || !strings.Contains(msg, "lbo, random, sobol, grid and lipschitz") {
		t.Errorf("the message names neither what was found nor what is allowed: %s", msg)
	}
	if ps := (optimizer.Settings{}).Validate(); len(ps) != 0 {
		t.Errorf("the zero settings have problems: %v", ps)
	}
}

func TestNewRefusesBadSettings(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = optimizer.New(space, 1, optimizer.Settings{Schedule: "linear"})
	if err == nil || !strings.HasPrefix(err.Error(), "optimizer: schedule: ") {
		t.Errorf("got error %v, want one of schedule", err)
	}
}

func TestSettingsFromTOML(t *testing.T) {
	const spec = `
method = "lbo"
preset = "paper"
acquisition = "ucb"
lipschitz = "reject"
lipschitz_constant = 3
estimator = "gradient"
metric = "cube"
schedule = "root"
kappa = 1.5
beta = 1e16
thompson = "rff"
explore_every = 4
explore = "random"
local = "off"
design = "sobol"
design_size = 6
hyperparameters = "map"
maximizer = "direct"
warp = "log"
noise = 0.05
`
	var s optimizer.Settings
	meta, err := toml.Decode(spec, &s)
	if err != nil {
		t.Fatal(err)
	}
	if u := meta.Undecoded(); len(u) > 0 {
		t.Errorf("keys %v have no field", u)
	}
	if n := reflect.TypeFor[optimizer.Settings]().NumField() - 1; n != len(meta.Keys()) { // but SafetyConstant
		t.Errorf("the spec above names %d keys, Settings has %d fields", len(meta.Keys()), n)
	}
	if ps := s.Validate(); len(ps) > 0 {
		t.Error(ps)
	}
	if s.Beta != "1e+16" {
		t.Errorf("beta = %v", s.Beta)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back optimizer.Settings
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back != s {
		t.Errorf("through JSON %+v became %+v", s, back)
	}
}

func TestWordOrNumberRefusesOtherTypes(t *testing.T) {
	var s optimizer.Settings
	if _, err := toml.Decode("noise = true", &s); err == nil || err.Error() != `toml: line 1 (last key "noise"): found true; want a number or a word` {
		t.Error(err)
	}
	if _, err := toml.Decode(`noise = "0.1"`, &s); err == nil || !strings.HasSuffix(err.Error(), `found "0.1"; want a number or a word`) {
		t.Error(err)
	}
	if b, _ := json.Marshal(optimizer.Settings{}); string(b) != "{}" {
		t.Errorf("the zero settings are written as %s", b)
	}
}

func TestDesignLeavesTrialsToTheModel(t *testing.T) {
	for d, want := range map[int]int{1: 4, 8: 9, 20: 21, 23: 24, 24: 24, 100: 24} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			if got := (optimizer.Settings{}).Resolved(d).DesignSize; got != want {
				t.Errorf("a design of %d points for %d parameters, want %d", got, d, want)
			}
		})
	}
	if got := (optimizer.Settings{Preset: "paper"}).Resolved(100).DesignSize; got != 300 {
		t.Errorf("a design of %d points by the paper, want 300", got)
	}
}
