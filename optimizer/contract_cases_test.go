package optimizer_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// contractCase is a space with an objective on it, to be maximized, that fails where
// it is NaN.
type contractCase struct {
	name  string
	space *spaces.Space
	f     func(spaces.Point) float64
}

// contractCases are the spaces on which the contract is tested.
func contractCases(t *testing.T) []contractCase {
	unit := func(name string) spaces.Param { return float(name, 0, 1) }
	rate := spaces.Param{Name: "rate", Kind: spaces.KindFloat, Min: 1e-6, Max: 1, Scale: spaces.Log}
	depth := spaces.Param{Name: "depth", Kind: spaces.KindInt, Min: 1, Max: 12}
	width := spaces.Param{Name: "width", Kind: spaces.KindInt, Min: 1, Max: 1024, Scale: spaces.Log}
	bias := spaces.Param{Name: "bias", Kind: spaces.KindBool}
	kind := spaces.Param{Name: "kind", Kind: spaces.KindChoice,
		Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam"), spaces.String("lion")}}
	momentum := unit("momentum")
	momentum.When = "kind == 'sgd'"
	steps := spaces.Param{Name: "steps", Kind: spaces.KindInt, Min: 1, Max: 5, When: "bias == true and kind in ['sgd', 'adam']"}

	batch := spaces.Param{Name: "batch", Kind: spaces.KindOrdered,
		Choices: []spaces.Value{spaces.Int(16), spaces.Int(32), spaces.Int(64), spaces.Int(128)}}
	units := spaces.Param{Name: "units", Kind: spaces.KindInt, Min: 32, Max: 512, Step: 32}
	share := spaces.Param{Name: "share", Kind: spaces.KindFloat, Min: 1e-3, Max: 0.999, Scale: spaces.Logit}
	fine := spaces.Param{Name: "fine", Kind: spaces.KindFloat, Min: 0, Max: 1, Step: 0.005}

	// Relations whose border the offCentre's top lies beyond, among kinds of all sorts and where
	// one parameter may not exist.
	tight := spaces.Relation{Text: "x + y <= 0.5", Params: []string{"x", "y"}, Holds: func(v spaces.Values) bool {
		return numberOf(v, "x")+numberOf(v, "y") <= 0.5
	}}
	wide := spaces.Relation{Text: "depth >= log2(width)", Params: []string{"depth", "width"}, Holds: func(v spaces.Values) bool {
		return math.Exp2(numberOf(v, "depth")) >= numberOf(v, "width")
	}}
	slow := spaces.Relation{Text: "momentum + rate <= 0.4", Params: []string{"momentum", "rate"}, Holds: func(v spaces.Values) bool {
		return numberOf(v, "momentum")+numberOf(v, "rate") <= 0.4
	}}
	even := spaces.Relation{Text: "units a multiple of batch", Holds: func(v spaces.Values) bool {
		return math.Mod(numberOf(v, "units"), numberOf(v, "batch")) == 0
	}}

	spacesByName := []struct {
		name   string
		params []spaces.Param
		where  []spaces.Relation
	}{
		{"one float", []spaces.Param{unit("x")}, nil},
		{"five floats", []spaces.Param{unit("a"), unit("b"), rate, unit("c"), unit("d")}, nil},
		{"int", []spaces.Param{width}, nil},
		{"mixed", []spaces.Param{rate, depth, kind, bias, width}, nil},
		{"conditional", []spaces.Param{kind, bias, momentum, steps, rate}, nil},
		{"levels", []spaces.Param{batch, units, share, fine}, nil},
		{"related floats", []spaces.Param{unit("x"), unit("y"), rate}, []spaces.Relation{tight}},
		{"related mixed", []spaces.Param{rate, depth, kind, bias, width}, []spaces.Relation{wide}},
		{"related conditional", []spaces.Param{kind, bias, momentum, steps, rate}, []spaces.Relation{slow}},
		{"related levels", []spaces.Param{batch, units, share, fine}, []spaces.Relation{even}},
	}
	var out []contractCase
	for _, s := range spacesByName {
		space, err := newSpace(t, s.params...).Where(s.where...)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, contractCase{s.name, space, offCentre})
		if s.where == nil && (s.name == "mixed" || !testing.Short()) {
			out = append(out, contractCase{s.name + ", failing", space, func(p spaces.Point) float64 {
				if p[0] > 0.6 {
					return math.NaN()
				}
				return offCentre(p)
			}})
		}
	}
	return out
}

func newSpace(t *testing.T, params ...spaces.Param) *spaces.Space {
	t.Helper()
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func float(name string, low, high float64) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: low, Max: high}
}

func numberOf(v spaces.Values, name string) float64 {
	value, _ := v.Get(name)
	x, _ := value.Number()
	return x
}

// offCentre has its maximum, 0, off the centre.
func offCentre(p spaces.Point) float64 {
	sum := 0.0
	for j, x := range p {
		d := x - 0.3 - 0.05*float64(j)
		sum -= d * d
	}
	return sum
}

func eachSpace(t *testing.T, f func(*testing.T, contractCase)) {
	for _, c := range contractCases(t) {
		t.Run(c.name, func(t *testing.T) { f(t, c) })
	}
}
