package optimizer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// function is one of the literature over a box, to be minimized. The module bench has the same
// ones, with their sources and tests of them, and whole suites of others.
type function struct {
	name      string
	low, high []float64
	min       float64
	minimizer []float64
	eval      func(x []float64) float64
}

func (f function) fromUnit(u []float64) []float64 {
	x := make([]float64, len(u))
	for i := range u {
		x[i] = f.low[i] + u[i]*(f.high[i]-f.low[i])
	}
	return x
}

func (f function) regret(y float64) float64 { return y - f.min }

func (f function) sample(r *rand.Rand) []float64 {
	x := make([]float64, len(f.low))
	for i := range x {
		x[i] = f.low[i] + r.Float64()*(f.high[i]-f.low[i])
	}
	return x
}

// objective is a function as a maximization over the encoded cube.
func objective(t *testing.T, f function) (*spaces.Space, func(spaces.Point) float64) {
	t.Helper()
	var params []spaces.Param
	for j := range f.low {
		params = append(params, spaces.Param{Name: fmt.Sprintf("x%d", j), Kind: spaces.KindFloat, Min: f.low[j], Max: f.high[j]})
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	return space, func(u spaces.Point) float64 { return -f.eval(f.fromUnit(u)) }
}

func branin() function {
	const pi = math.Pi
	return function{
		name: "branin2", low: []float64{-5, 0}, high: []float64{10, 15}, min: 10 / (8 * pi),
		eval: func(x []float64) float64 {
			a := x[1] - 5.1/(4*pi*pi)*x[0]*x[0] + 5/pi*x[0] - 6
			return a*a + 10*(1-1/(8*pi))*math.Cos(x[0]) + 10
		},
	}
}

func camel() function {
	return function{
		name: "camel2", low: []float64{-3, -2}, high: []float64{3, 2}, min: -1.0316284534898774,
		eval: func(x []float64) float64 {
			a, b := x[0]*x[0], x[1]*x[1]
			return (4-2.1*a+a*a/3)*a + x[0]*x[1] + (4*b-4)*b
		},
	}
}

func goldsteinPrice() function {
	return function{
		name: "goldstein2", low: []float64{-2, -2}, high: []float64{2, 2}, min: 3,
		eval: func(x []float64) float64 {
			s, t := x[0]+x[1], 2*x[0]-3*x[1]
			return (1 + (s+1)*(s+1)*(19-14*s+3*s*s)) * (30 + t*t*(18-16*t+3*t*t))
		},
	}
}

func rosenbrock(d int) function {
	return function{
		name: fmt.Sprintf("rosenbrock%d", d), low: slices.Repeat([]float64{-5}, d), high: slices.Repeat([]float64{10}, d),
		eval: func(x []float64) float64 {
			total := 0.0
			for i, v := range x[:d-1] {
				a, b := x[i+1]-v*v, 1-v
				total += 100*a*a + b*b
			}
			return total
		},
	}
}

// michalewicz is without its minimum, which no test here asks for.
func michalewicz(d int) function {
	return function{
		name: fmt.Sprintf("michalewicz%d", d), low: make([]float64, d), high: slices.Repeat([]float64{math.Pi}, d), min: math.NaN(),
		eval: func(x []float64) float64 {
			total := 0.0
			for i, v := range x {
				s := math.Sin(float64(i+1) * v * v / math.Pi)
				s *= s
				s4 := s * s * s * s
				total += -math.Sin(v) * s4 * s4 * s * s
			}
			return total
		},
	}
}

func hartmann3() function {
	return hartmann("hartmann3", -3.8627797869493365, []float64{0.114614, 0.555649, 0.852547}, [][]float64{
		{3, 10, 30},
		{0.1, 10, 35},
		{3, 10, 30},
		{0.1, 10, 35},
	}, [][]float64{
		{0.3689, 0.1170, 0.2673},
		{0.4699, 0.4387, 0.7470},
		{0.1091, 0.8732, 0.5547},
		{0.0381, 0.5743, 0.8828},
	})
}

func hartmann6() function {
	return hartmann("hartmann6", -3.322368011415511, []float64{0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054}, [][]float64{
		{10, 3, 17, 3.5, 1.7, 8},
		{0.05, 10, 17, 0.1, 8, 14},
		{3, 3.5, 1.7, 10, 17, 8},
		{17, 8, 0.05, 10, 0.1, 14},
	}, [][]float64{
		{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
		{0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
		{0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
		{0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381},
	})
}

func hartmann(name string, least float64, minimizer []float64, a, at [][]float64) function {
	c := [...]float64{1, 1.2, 3, 3.2}
	d := len(minimizer)
	return function{
		name: name, low: make([]float64, d), high: slices.Repeat([]float64{1}, d), min: least, minimizer: minimizer,
		eval: func(x []float64) float64 {
			sum := 0.0
			for i := range c {
				e := 0.0
				for j, v := range x {
					d := v - at[i][j]
					e += a[i][j] * d * d
				}
				sum -= c[i] * math.Exp(-e)
			}
			return sum
		},
	}
}

// The minima are where they are said to be: what a test calls a regret is one.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		f function
		x []float64
	}{
		{branin(), []float64{math.Pi, 2.275}}, {camel(), []float64{0.08984201, -0.7126564}}, {goldsteinPrice(), []float64{0, -1}},
		{hartmann3(), hartmann3().minimizer}, {hartmann6(), hartmann6().minimizer}, {rosenbrock(5), slices.Repeat([]float64{1}, 5)},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if r := c.f.regret(c.f.eval(c.x)); math.Abs(r) > 1e-10 {
				t.Errorf("%s: %g above the minimum at %v", c.f.name, r, c.x)
			}
		})
	}
}
