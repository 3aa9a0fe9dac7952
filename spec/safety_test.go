package spec_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spec"
)

// What is stated for the ranges becomes the constant of the cube, where the values of
// parameters with steps are nearer to each other.
func TestSafetyConstantOfTheCube(t *testing.T) {
	cfg, err := parse(t, "testdata/good/slopes.toml")
	if err != nil {
		t.Fatal(err)
	}
	s, layers := cfg.Safety, 0.3*4*5/4
	if want := math.Sqrt(4*4 + 3*3 + layers*layers); math.Abs(s.Constant-want) > 1e-12 || s.Noise != 0.1 || s.Slopes["layers"] != layers {
		t.Errorf("%+v; want the constant %v", s, want)
	}
	for param, want := range map[string]float64{
		`{ type = "float", min = 0, max = 1, default = 0 }`:             1,
		`{ type = "float", min = 0, max = 1, step = 0.5, default = 0 }`: 1.5,
		`{ type = "ordered", values = [1, 2, 3, 4], default = 1 }`:      4. / 3,
	} {
		t.Run(param, func(t *testing.T) {
			src := strings.NewReplacer("PARAM", param).Replace(`
command = "./train {y} {x}"
objective.metric = "loss"
safety = { max = 0.4, constant = 1 }
params.y = { type = "float", min = 0, max = 1, default = 0 }
params.x = PARAM
budget.trials = 8`)
			cfg, err := spec.Parse("s.toml", []byte(src), "/")
			if err != nil || math.Abs(cfg.Safety.Constant-want) > 1e-12 {
				t.Errorf("%s: %+v, %v; want the constant %v", param, cfg.Safety, err, want)
			}
		})
	}
}
