// Package yahpo reads the surrogates of YAHPO Gym (Pfisterer, Schneider, Moosbauer, Binder and
// Bischl, "YAHPO Gym: An Efficient Multi-Objective Multi-Fidelity Benchmark for Hyperparameter
// Optimization", AutoML 2022): networks that were fitted to recorded trainings, from a checkout
// of github.com/slds-lmu/yahpo_data.
package yahpo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/spaces"
)

// scenario is what a surrogate's files leave unsaid.
type scenario struct {
	name             string
	numbers, choices []string // what the network takes, in this order
	output           int      // which of its outputs is the loss
	loss             func(float64) float64
	instance         string             // the parameter that names the data set
	fixed            map[string]float64 // the fidelities, at their highest
}

var scenarios = []scenario{
	{
		name: "lcbench", // 100 − val_accuracy, in percent
		numbers: []string{"epoch", "batch_size", "learning_rate", "momentum", "weight_decay", "num_layers", "max_units",
			"max_dropout"},
		choices: []string{"OpenML_task_id"}, output: 1, loss: func(v float64) float64 { return 100 - v },
		instance: "OpenML_task_id", fixed: map[string]float64{"epoch": 52},
	},
	{
		name: "rbv2_xgboost", // 1 − acc
		numbers: []string{"nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight",
			"colsample_bytree", "colsample_bylevel", "rate_drop", "skip_drop", "trainsize", "repl"},
		choices: []string{"task_id", "booster", "num.impute.selected.cpo"}, loss: complement,
		instance: "task_id", fixed: map[string]float64{"trainsize": 1, "repl": 10},
	},
	{
		name:    "rbv2_rpart", // 1 − acc
		numbers: []string{"cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"},
		choices: []string{"task_id", "num.impute.selected.cpo"}, loss: complement,
		instance: "task_id", fixed: map[string]float64{"trainsize": 1, "repl": 10},
	},
	{
		name:    "iaml_glmnet", // mmce
		numbers: []string{"alpha", "s", "trainsize"}, choices: []string{"task_id"},
		loss:     func(v float64) float64 { return v },
		instance: "task_id", fixed: map[string]float64{"trainsize": 1},
	},
}

func complement(v float64) float64 { return 1 - v }

// Half is a part of the data sets of each scenario, sorted by number.
type Half int

// The first, third, ... data set is for developing, the second, fourth, ... for judging.
const (
	Developing Half = iota
	Judging
)

// Objectives are the surrogates of a checkout's four scenarios lcbench, rbv2_xgboost, rbv2_rpart
// and iaml_glmnet, on up to so many data sets of a half of each, evenly spaced. What is to be
// minimized is the validation error, in percent in lcbench and a share in the others.
func Objectives(checkout string, half Half, sets int) ([]problems.Objective, error) {
	var out []problems.Objective
	for _, s := range scenarios {
		some, err := s.objectives(filepath.Join(checkout, s.name), half, sets)
		if err != nil {
			return nil, fmt.Errorf("scenario %s of YAHPO: %w", s.name, err)
		}
		out = append(out, some...)
	}
	return out, nil
}

// configSpace is a config_space.json.
type configSpace struct {
	Hyperparameters []struct {
		Name, Type   string
		Log          bool
		Lower, Upper float64
		Choices      []string
	}
	Conditions []struct {
		Child, Parent string
		Value         string
		Values        []string
	}
}

func readJSON(path string, into any) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(src, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func (s scenario) objectives(dir string, half Half, sets int) ([]problems.Objective, error) {
	n, err := readNetwork(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	var codes map[string]map[string]int
	if err := readJSON(filepath.Join(dir, "encoding.json"), &codes); err != nil {
		return nil, err
	}
	var c configSpace
	if err := readJSON(filepath.Join(dir, "config_space.json"), &c); err != nil {
		return nil, err
	}
	space, instances, err := s.space(c)
	if err != nil {
		return nil, err
	}
	if err := s.check(codes, space, instances); err != nil {
		return nil, err
	}
	var part []string
	for i := int(half); i < len(instances); i += 2 {
		part = append(part, instances[i])
	}
	step := max(1, len(part)/max(sets, 1))
	var out []problems.Objective
	for i := 0; i < len(part) && len(out) < sets; i += step {
		data := part[i]
		eval := func(v spaces.Values) float64 {
			y, err := s.evaluate(n, codes, data, v)
			if err != nil { // not after a success: no shape depends on a value
				return math.NaN()
			}
			return y
		}
		o := problems.Objective{Name: s.name + " " + data, Space: space, Eval: eval}
		if _, err := s.evaluate(n, codes, data, o.Sample(rand.New(rand.NewPCG(0, 0)))); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// space lists what is tuned, what is conditional last, and the data sets by their numbers.
func (s scenario) space(c configSpace) (*spaces.Space, []string, error) {
	var params []spaces.Param
	var instances []string
	for _, h := range c.Hyperparameters {
		p := spaces.Param{Name: clean(h.Name), Min: h.Lower, Max: h.Upper}
		if _, fixed := s.fixed[h.Name]; fixed {
			continue
		}
		switch {
		case h.Name == s.instance:
			instances = slices.Clone(h.Choices)
			continue
		case h.Type == "categorical":
			p = spaces.Param{Name: p.Name, Kind: spaces.KindChoice}
			for _, name := range h.Choices {
				p.Choices = append(p.Choices, spaces.String(name))
			}
		case h.Type == "uniform_int":
			p.Kind = spaces.KindInt
		case h.Type == "uniform_float":
			p.Kind = spaces.KindFloat
		default:
			return nil, nil, fmt.Errorf("hyperparameter %s is of the unknown type %q", h.Name, h.Type)
		}
		if h.Log {
			p.Scale = spaces.Log
		}
		for _, when := range c.Conditions {
			if when.Child != h.Name {
				continue
			}
			values := when.Values
			if len(values) == 0 {
				values = []string{when.Value}
			}
			for i, v := range values {
				values[i] = fmt.Sprintf("%s == '%s'", clean(when.Parent), v)
			}
			p.When = strings.Join(values, " or ")
		}
		params = append(params, p)
	}
	slices.SortStableFunc(params, func(a, b spaces.Param) int { return cmp.Compare(min(len(a.When), 1), min(len(b.When), 1)) })
	for _, i := range instances {
		if _, err := strconv.Atoi(i); err != nil {
			return nil, nil, fmt.Errorf("data set %q is not a number", i)
		}
	}
	slices.SortFunc(instances, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	})
	space, err := spaces.New(params...)
	return space, instances, err
}

// check finds a code for everything that the network can be told.
func (s scenario) check(codes map[string]map[string]int, space *spaces.Space, instances []string) error {
	for _, name := range s.choices {
		levels := append(slices.Clone(instances), absent)
		if p, tuned := space.Lookup(clean(name)); tuned {
			levels = []string{absent}
			for _, v := range p.Choices {
				levels = append(levels, v.Text())
			}
		}
		for _, level := range levels {
			if _, known := codes[name][level]; !known {
				return fmt.Errorf("%s has no code for %s", name, level)
			}
		}
	}
	return nil
}

// absent is the level of a choice that a configuration does not have.
const absent = "#na#"

// clean makes a name of R one of lbotune's, which have no dots.
func clean(name string) string { return strings.ReplaceAll(name, ".", "_") }

// evaluate is the loss of a configuration on a data set. What a configuration does not have is
// 0, and a choice the code of its absence, as in YAHPO Gym.
func (s scenario) evaluate(n *network, codes map[string]map[string]int, data string, v spaces.Values) (float64, error) {
	cat, cont := newTensor(int32s, 1, len(s.choices)), newTensor(float32s, 1, len(s.numbers))
	for i, name := range s.choices {
		level := absent
		if name == s.instance {
			level = data
		} else if value, exists := v.Get(clean(name)); exists {
			level = value.Text()
		}
		cat.data[i] = float64(codes[name][level])
	}
	for i, name := range s.numbers {
		if fixed, ok := s.fixed[name]; ok {
			cont.data[i] = fixed
		} else if value, exists := v.Get(clean(name)); exists {
			cont.data[i], _ = value.Number()
		}
	}
	out, err := n.run(map[string]tensor{"x_cat": cat, "x_cont": cont.round()})
	if err != nil {
		return 0, err
	}
	if s.output >= len(out.data) {
		return 0, fmt.Errorf("the network has %d outputs; want more than %d", len(out.data), s.output)
	}
	return s.loss(out.data[s.output]), nil
}
