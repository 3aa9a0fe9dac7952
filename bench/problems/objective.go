package problems

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lbotune/lbotune/spaces"
)

// Objective is a function over any parameter space, to be minimized. Its fields
// mean what those of Problem of the same name mean. Fails tells whether a trial breaks
// down; its value must then not be used. Nil means that none does.
type Objective struct {
	Name  string
	Space *spaces.Space
	Min   float64
	Best  spaces.Values // a configuration with the value Min; nil where none is known

	Eval  func(spaces.Values) float64
	Noisy func(v spaces.Values, trial uint64) float64
	Fails func(spaces.Values) bool

	// Over is by how much a trial breaks each limit, above 0 if it does. Nil without limits.
	Over func(spaces.Values) []float64
	// Outputs are the values of several objectives; nil for one. What counts then is the
	// volume that trials dominate below Reference, as a share of Whole, that of the front:
	// Min is −1.
	Outputs   func(spaces.Values) []float64
	Reference []float64
	Whole     float64
}

// Observe is what a trial with these values sees, and whether it succeeds.
func (o Objective) Observe(v spaces.Values, trial uint64) (y float64, ok bool) {
	if o.Fails != nil && o.Fails(v) {
		return math.NaN(), false
	}
	if o.Noisy != nil {
		return o.Noisy(v, trial), true
	}
	return o.Eval(v), true
}

// Sample draws a configuration with every parameter uniform on its scale.
func (o Objective) Sample(r *rand.Rand) spaces.Values { return sample(o.Space, r) }

func sample(s *spaces.Space, r *rand.Rand) spaces.Values {
	u := make([]float64, s.Len())
	for i := range u {
		u[i] = r.Float64()
	}
	return s.Decode(s.FromUniform(u))
}

// Objective is the problem over a space of floats x1, x2 and so on.
func (p Problem) Objective() Objective {
	params := make([]spaces.Param, p.Dim())
	for i := range params {
		params[i] = float(fmt.Sprintf("x%d", i+1), p.Low[i], p.High[i])
	}
	o := Objective{
		Name: p.Name, Space: space(params...), Min: p.Min,
		Eval: func(v spaces.Values) float64 { return p.Eval(vector(v)) },
	}
	if len(p.Minimizers) > 0 {
		for i, x := range p.Minimizers[0] {
			o.Best = append(o.Best, spaces.Assignment{Name: params[i].Name, Value: spaces.Float(x)})
		}
	}
	if p.Noisy != nil {
		o.Noisy = func(v spaces.Values, trial uint64) float64 { return p.Noisy(vector(v), trial) }
	}
	return o
}

// vector lists the values of parameters that are all numbers.
func vector(v spaces.Values) []float64 {
	x := make([]float64, len(v))
	for i, a := range v {
		x[i], _ = a.Value.Number()
	}
	return x
}

// number is the value of a numeric parameter, or 0 while it is inactive.
func number(v spaces.Values, name string) float64 {
	value, _ := v.Get(name)
	x, _ := value.Number()
	return x
}

func has(v spaces.Values, name string, want spaces.Value) bool {
	value, _ := v.Get(name)
	return value == want
}

// space makes a space of parameters that are written in this package, so that
// an error is a mistake here.
func space(params ...spaces.Param) *spaces.Space {
	s, err := spaces.New(params...)
	if err != nil {
		panic("problems: " + err.Error())
	}
	return s
}

func float(name string, low, high float64) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: low, Max: high}
}

func logFloat(name string, low, high float64) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: low, Max: high, Scale: spaces.Log}
}

func integer(name string, low, high float64) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindInt, Min: low, Max: high}
}

func logInteger(name string, low, high float64) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindInt, Min: low, Max: high, Scale: spaces.Log}
}

func boolean(name string) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindBool}
}

func choice(name string, levels ...string) spaces.Param {
	p := spaces.Param{Name: name, Kind: spaces.KindChoice}
	for _, l := range levels {
		p.Choices = append(p.Choices, spaces.String(l))
	}
	return p
}
