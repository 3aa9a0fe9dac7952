package yahpo

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// A network with every operator agrees with numpy (testdata/make.py).
func TestNetwork(t *testing.T) {
	n, err := readNetwork("testdata/demo/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]bool{}
	for _, node := range n.nodes {
		ops[node.op] = true
	}
	for op := range operations {
		if !ops[op] {
			t.Errorf("the network has no %s", op)
		}
	}
	var cases []struct{ Cat, Cont, Y []float64 }
	src, err := os.ReadFile("testdata/demo/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		got, err := n.run(map[string]tensor{
			"x_cat":  {kind: int32s, shape: []int{1, 2}, data: c.Cat},
			"x_cont": {kind: float32s, shape: []int{1, 3}, data: c.Cont},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Y {
			if math.Abs(got.data[i]-want) > 2e-6 {
				t.Errorf("for %v and %v output %d is %.9g; want %.9g", c.Cat, c.Cont, i, got.data[i], want)
			}
		}
	}
}

var demo = scenario{
	name: "demo", numbers: []string{"rate", "a.depth", "epoch"}, choices: []string{"data", "kind"}, output: 1,
	loss: complement, instance: "data", fixed: map[string]float64{"epoch": 9},
}

func TestScenario(t *testing.T) {
	all, err := demo.objectives("testdata/demo", Judging, 5)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range all {
		names = append(names, o.Name)
	}
	if want := []string{"demo 7", "demo 100"}; !slices.Equal(names, want) { // of 4, 7, 30, 100
		t.Errorf("for judging there are %q; want %q", names, want)
	}
	var params []string
	for _, p := range all[0].Space.Params() {
		params = append(params, p.Name+" "+p.When)
	}
	if want := []string{"kind ", "rate ", "a_depth kind == 'q'"}; !slices.Equal(params, want) {
		t.Errorf("parameters are %q; want %q", params, want)
	}
	// What does not exist is 0; the epochs are at their highest.
	n, err := readNetwork("testdata/demo/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	out, err := n.run(map[string]tensor{
		"x_cat":  {kind: int32s, shape: []int{1, 2}, data: []float64{3, 1}},
		"x_cont": {kind: float32s, shape: []int{1, 3}, data: []float64{0.5, 0, 9}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := all[1].Eval(spaces.Values{{Name: "kind", Value: spaces.String("p")}, {Name: "rate", Value: spaces.Float(0.5)}})
	if want := 1 - out.data[1]; got != want {
		t.Errorf("the loss is %v; want %v", got, want)
	}
}

// A checkout that is damaged, or none, is refused in words that name the file.
func TestDamaged(t *testing.T) {
	if _, err := Objectives(t.TempDir(), Judging, 1); err == nil || !strings.Contains(err.Error(), "model.onnx") {
		t.Errorf("without files: %v", err)
	}
	whole, err := os.ReadFile("testdata/demo/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) - 6 { // what follows is the version of the operators
		path := filepath.Join(t.TempDir(), "model.onnx")
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readNetwork(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("cut after %d of %d bytes: %v", cut, len(whole), err)
		}
	}
	for _, c := range []struct{ old, change, want string }{
		{`"kind", "type": "categorical"`, `"kind", "type": "ordinal"`, `hyperparameter kind is of the unknown type "ordinal"`},
		{`"100"]`, `"x"]`, `data set "x" is not a number`},
		{`"p", "q"`, `"p", "q", "r"`, "kind has no code for r"},
		{`"lower": 0.01`, `"lower": "0.01"`, "config_space.json"},
	} {
		t.Run(c.old, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/demo")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "config_space.json")
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(src), c.old, c.change, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err = demo.objectives(dir, Judging, 1); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("with %s: %v; want %q", c.change, err, c.want)
			}
		})
	}
}
