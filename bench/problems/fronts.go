package problems

import (
	"math"

	"github.com/lbotune/lbotune/spaces"
)

// Fronts lists problems with two or three objectives, each to be minimized: ZDT1, 2, 3
// and 6 in six dimensions (Zitzler, Deb and Thiele 2000, Comparison of Multiobjective
// Evolutionary Algorithms, Evolutionary Computation 8(2)), DTLZ2 with three objectives in
// six (Deb et al. 2002, Scalable Multi-objective Optimization Test Problems), and Kursawe's
// in three (Kursawe 1990, A Variant of Evolution Strategies for Vector Optimization).
func Fronts() []Objective {
	unit := func(d int) [][2]float64 {
		box := make([][2]float64, d)
		for j := range box {
			box[j][1] = 1
		}
		return box
	}
	// The volume below (11, 11) is that below (1.1, 1.1) and two rectangles.
	far := func(volume, least1, least2 float64) float64 {
		return volume + 9.9*(11-least2) + 9.9*(1.1-least1)
	}
	first := func(x []float64) float64 { return x[0] }
	linear := func(x []float64) float64 { return 1 + 9*mean(x[1:]) }
	return []Objective{
		front("zdt1", unit(6), []float64{11, 11}, far(0.11+0.1+2.0/3, 0, 0),
			zdt(first, linear, func(r, _ float64) float64 { return 1 - math.Sqrt(r) })),
		front("zdt2", unit(6), []float64{11, 11}, far(0.11+0.1+1.0/3, 0, 0),
			zdt(first, linear, func(r, _ float64) float64 { return 1 - r*r })),
		front("zdt3", unit(6), []float64{11, 11}, 128.7781, // by points of the front
			zdt(first, linear, func(r, f float64) float64 { return 1 - math.Sqrt(r) - r*math.Sin(10*math.Pi*f) })),
		front("zdt6", unit(6), []float64{11, 11}, 117.5182, // by points of the front
			zdt(func(x []float64) float64 { return 1 - math.Exp(-4*x[0])*math.Pow(math.Sin(6*math.Pi*x[0]), 6) },
				func(x []float64) float64 { return 1 + 9*math.Pow(mean(x[1:]), 0.25) },
				func(r, _ float64) float64 { return 1 - r*r })),
		front("dtlz2", unit(6), []float64{1.1, 1.1, 1.1}, 1.1*1.1*1.1-math.Pi/6, dtlz2),
		front("kursawe3", [][2]float64{{-5, 5}, {-5, 5}, {-5, 5}}, []float64{-10, 2}, 97.8440, kursawe), // by a search of 24 million points,
	}
}

// front is a problem with several objectives, of which the volume below the reference
// point counts: whole at the front itself.
func front(name string, box [][2]float64, reference []float64, whole float64, f func(x []float64) []float64) Objective {
	return Objective{
		Name: name, Space: boxed(box), Min: -1, Reference: reference, Whole: whole,
		Eval:    func(v spaces.Values) float64 { return f(vector(v))[0] },
		Outputs: func(v spaces.Values) []float64 { return f(vector(v)) },
	}
}

// zdt is f1(x) and g(x) h(f1/g, f1).
func zdt(f1, g func(x []float64) float64, h func(r, f float64) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		f, k := f1(x), g(x)
		return []float64{f, k * h(f/k, f)}
	}
}

func dtlz2(x []float64) []float64 {
	r := 1.0
	for _, v := range x[2:] {
		r += (v - 0.5) * (v - 0.5)
	}
	a, b := x[0]*math.Pi/2, x[1]*math.Pi/2
	return []float64{r * math.Cos(a) * math.Cos(b), r * math.Cos(a) * math.Sin(b), r * math.Sin(a)}
}

func kursawe(x []float64) []float64 {
	var f, g float64
	for j, v := range x {
		if j+1 < len(x) {
			f -= 10 * math.Exp(-0.2*math.Hypot(v, x[j+1]))
		}
		g += math.Pow(math.Abs(v), 0.8) + 5*math.Sin(v*v*v)
	}
	return []float64{f, g}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
