package problems

import (
	"math"

	"github.com/lbotune/lbotune/spaces"
)

// Network imitates the validation loss of a neural network in its
// hyperparameters: the best learning rate depends on the optimizer, on its
// momentum (a parameter that exists only for sgd) and on batch normalization;
// dropout must grow with the width; deep networks need normalization; far too
// large a learning rate diverges steeply. The minimum is 0.1.
func Network() Objective {
	sgd := spaces.String("sgd")
	return Objective{
		Name: "network",
		Space: space(
			choice("optimizer", "sgd", "adam", "rmsprop"),
			logFloat("lr", 1e-5, 1),
			spaces.Param{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 0.99, When: "optimizer == 'sgd'"},
			integer("layers", 1, 8),
			logInteger("units", 8, 1024),
			float("dropout", 0, 0.7),
			boolean("batchnorm"),
		),
		Min: 0.1,
		Best: spaces.Values{
			{Name: "optimizer", Value: sgd},
			{Name: "lr", Value: spaces.Float(0.01)},
			{Name: "momentum", Value: spaces.Float(0.9)},
			{Name: "layers", Value: spaces.Int(4)},
			{Name: "units", Value: spaces.Int(128)},
			{Name: "dropout", Value: spaces.Float(0.26)},
			{Name: "batchnorm", Value: spaces.Bool(true)},
		},
		Eval: networkLoss,
	}
}

func networkLoss(v spaces.Values) float64 {
	loss := 0.1
	rate, best := math.Log10(number(v, "lr")), 0.0
	switch {
	case has(v, "optimizer", spaces.String("sgd")):
		m := number(v, "momentum")
		rate -= math.Log10(1 - m) // steps add up
		best = -1.3
		loss += 0.3 * (m - 0.9) * (m - 0.9)
	case has(v, "optimizer", spaces.String("adam")):
		best = -2.8
		loss += 0.02
	default:
		best = -3.1
		loss += 0.05
	}
	layers := number(v, "layers")
	if has(v, "batchnorm", spaces.Bool(true)) {
		best += 0.3
	} else {
		loss += 0.02 + 0.05*max(0, layers-2)
	}
	off := rate - best
	loss += 0.25*off*off + 2*max(0, off-1)
	loss += 0.02 * (layers - 4) * (layers - 4)
	width := math.Log2(number(v, "units"))
	loss += 0.04 * (width - 7) * (width - 7)
	drop := number(v, "dropout") - (0.1 + 0.08*(width-5))
	return loss + 0.5*drop*drop
}

// Categories has a value for every combination of two unordered choices and a
// bool, drawn from the seed, and two floats whose best place differs from
// combination to combination.
func Categories(seed uint64) Objective {
	r := stream(seed, 0xca)
	colours := []string{"red", "green", "blue", "cyan", "pink", "gold", "grey", "lime"}
	shapes := []string{"disc", "ring", "star", "bar", "cone"}
	type cell struct {
		base, x, y float64
	}
	var cells []cell
	for range len(colours) * len(shapes) * 2 {
		cells = append(cells, cell{0.1 + 0.9*r.Float64(), r.Float64(), r.Float64()})
	}
	best := r.IntN(len(cells))
	cells[best].base = 0
	o := Objective{
		Name: "categories",
		Space: space(choice("colour", colours...), choice("shape", shapes...), boolean("filled"),
			float("x", 0, 1), float("y", 0, 1)),
	}
	index := map[string]int{}
	for i, c := range colours {
		index[c] = i
	}
	for i, s := range shapes {
		index[s] = i
	}
	o.Eval = func(v spaces.Values) float64 {
		colour, _ := v.Get("colour")
		shape, _ := v.Get("shape")
		i := (index[colour.Text()]*len(shapes) + index[shape.Text()]) * 2
		if has(v, "filled", spaces.Bool(true)) {
			i++
		}
		c := cells[i]
		dx, dy := number(v, "x")-c.x, number(v, "y")-c.y
		return c.base + dx*dx + dy*dy
	}
	o.Best = spaces.Values{
		{Name: "colour", Value: spaces.String(colours[best/(2*len(shapes))])},
		{Name: "shape", Value: spaces.String(shapes[best/2%len(shapes)])},
		{Name: "filled", Value: spaces.Bool(best%2 == 1)},
		{Name: "x", Value: spaces.Float(cells[best].x)},
		{Name: "y", Value: spaces.Float(cells[best].y)},
	}
	return o
}

// Integers is a curved valley over four ints, after Dixon and Price's function
// but with its minimum at whole numbers.
func Integers(seed uint64) Objective {
	r := stream(seed, 0x17)
	at := [4]float64{}
	o := Objective{Name: "integers"}
	names := [4]string{"a", "b", "c", "d"}
	var params []spaces.Param
	for i, n := range names {
		at[i] = float64(r.IntN(31) - 15)
		params = append(params, integer(n, -20, 20))
		o.Best = append(o.Best, spaces.Assignment{Name: n, Value: spaces.Int(int64(at[i]))})
	}
	o.Space = space(params...)
	o.Eval = func(v spaces.Values) float64 {
		x := vector(v)
		z := x[0] - at[0]
		sum := z * z
		for i := 1; i < len(x); i++ {
			before := z
			z = x[i] - at[i]
			bend := z*z/20 - before
			sum += bend*bend + 0.1*z*z
		}
		return sum
	}
	return o
}

// Dozen has twelve configurations in all.
func Dozen() Objective {
	return Objective{
		Name:  "dozen",
		Space: space(choice("kernel", "linear", "poly", "rbf"), integer("degree", 1, 4)),
		Best: spaces.Values{
			{Name: "kernel", Value: spaces.String("poly")},
			{Name: "degree", Value: spaces.Int(3)},
		},
		Eval: func(v spaces.Values) float64 {
			d := number(v, "degree") - 3
			switch {
			case has(v, "kernel", spaces.String("poly")):
				return 0.1 * d * d
			case has(v, "kernel", spaces.String("rbf")):
				return 0.15 + 0.02*d*d
			}
			return 0.5
		},
	}
}

// Mixed lists the objectives over ints, choices, bools and conditional
// parameters.
func Mixed(seed uint64) []Objective {
	return []Objective{Network(), Categories(seed), Integers(seed), Dozen()}
}
