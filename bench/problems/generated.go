package problems

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	"github.com/lbotune/lbotune/spaces"
)

// Generated lists 200 surfaces for one question: is a search anywhere worse than random search? They
// are of twenty kinds, most of which are meant to mislead, in 1 to 30 parameters. Each seed draws
// others. Those that are not wanted, by name and number of parameters, are left out.
func Generated(seed uint64, wanted func(name string, d int) bool) []Objective {
	var out []Objective
	for _, kind := range generators() {
		for _, d := range GeneratedSizes {
			if name := kind.name + strconv.Itoa(d); wanted(name, d) {
				o := kind.make(d, seed)
				o.Name = name
				out = append(out, o)
			}
		}
	}
	return out
}

// GeneratedSizes are the numbers of parameters that each kind of Generated comes in.
var GeneratedSizes = []int{1, 2, 3, 4, 6, 8, 12, 16, 22, 30}

// generator makes the surfaces of one kind.
type generator struct {
	name string
	make func(d int, seed uint64) Objective
}

func generators() []generator {
	onFloats := func(f func(d int, seed uint64) Problem) func(int, uint64) Objective {
		return func(d int, seed uint64) Objective { return f(d, seed).Objective() }
	}
	return []generator{
		{"constant", onFloats(func(d int, _ uint64) Problem { return Constant(d) })},
		{"steps", onFloats(Steps)}, {"needle", onFloats(Needle)}, {"cliff", onFloats(Cliff)}, {"corner", onFloats(WrongCorner)},
		{"flat", onFloats(FlatCenter)}, {"twobasins", onFloats(TwoBasins)}, {"holes", onFloats(Holes)},
		{"langermann", onFloats(Langermann)}, {"cosines", onFloats(CosineMixture)}, {"rastrigin", onFloats(Rastrigin)},
		{"border", onFloats(borderSlope)}, {"noisy", onFloats(noisyBowl)}, {"wild", onFloats(wild)}, {"scrambled", onFloats(scrambled)},
		{"categories", decisive}, {"conditional", conditional}, {"mixed", mixedBowl},
		{"hidden", func(d int, seed uint64) Objective { return hidden("", seed, mixedParams(d)...) }},
		{"rare", func(d int, seed uint64) Objective { return rare(d, 4, seed) }},
	}
}

// borderSlope is a plane, whose least value is in a corner.
func borderSlope(d int, seed uint64) Problem {
	r := stream(seed, 0xb0)
	slopes, at := make([]float64, d), make([]float64, d)
	for i := range slopes {
		slopes[i] = math.Exp(r.NormFloat64())
		at[i] = float64(r.IntN(2))
	}
	return onCube("border", d, 0, 1, at, sum(func(i int, v float64) float64 { return slopes[i] * math.Abs(v-at[i]) }))
}

// noisyBowl has noise of a fifth of what the middle and the best place differ by.
func noisyBowl(d int, seed uint64) Problem {
	at := randomPoint(stream(seed, 0xb1), d, 0.1, 0.9)
	p := onCube("noisy", d, 0, 1, at, func(x []float64) float64 { return distance2(x, at) })
	return WithNoise(p, 0.2*distance2(at, constant(d, 0.5)), seed)
}

// wild has values over thirty orders of magnitude.
func wild(d int, seed uint64) Problem {
	at := randomPoint(stream(seed, 0xb2), d, 0.1, 0.9)
	return onCube("wild", d, 0, 1, at, func(x []float64) float64 {
		return math.Expm1(70 * math.Sqrt(distance2(x, at)/float64(d)))
	})
}

// scrambled has a value at each point that says nothing about those around it.
func scrambled(d int, seed uint64) Problem {
	return onCube("scrambled", d, 0, 1, nil, func(x []float64) float64 { return chance(seed, x) })
}

// chance is a number of [0, 1) that belongs to what it is given.
func chance(seed uint64, of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, of) // a hash takes everything
	return stream(h.Sum64(), seed).Float64()
}

// mixedParams are parameters of every kind, in turn.
func mixedParams(d int) []spaces.Param {
	var out []spaces.Param
	for i := range d {
		name := fmt.Sprintf("p%d", i+1)
		out = append(out, [...]spaces.Param{
			logFloat(name, 1e-5, 1), choice(name, "a", "b", "c", "d"), integer(name, 1, 10),
			float(name, 0, 1), boolean(name), logInteger(name, 8, 1024),
		}[i%6])
	}
	return out
}

// mixedBowl is a bowl over parameters of every kind.
func mixedBowl(d int, seed uint64) Objective {
	r, params := stream(seed, 0xb3), mixedParams(d)
	s, scaled := space(params...), scaling(params, r.Perm)
	best := sample(s, r)
	at := scaled(best)
	return Objective{Space: s, Best: best, Eval: func(v spaces.Values) float64 { return distance2(scaled(v), at) }}
}

// decisive has two choices whose combination decides, and says where floats are best; further choices
// and bools count a tenth as much.
func decisive(d int, seed uint64) Objective {
	levels := []string{"a", "b", "c", "d", "e", "f"}
	var params []spaces.Param
	for i := range d {
		name := fmt.Sprintf("p%d", i+1)
		switch {
		case i < 2 || i%4 == 3:
			params = append(params, choice(name, levels[:3+i%4]...))
		case i%8 == 4:
			params = append(params, boolean(name))
		default:
			params = append(params, float(name, 0, 1))
		}
	}
	return Objective{Space: space(params...), Eval: func(v spaces.Values) float64 {
		both := v[0].Value.Text()
		if d > 1 {
			both += v[1].Value.Text()
		}
		y := chance(seed, both)
		for i, a := range v[min(2, d):] {
			if x, number := a.Value.Number(); number {
				y += math.Pow(x-chance(seed, both, i), 2) / float64(d)
			} else {
				y += 0.1 * chance(seed, i, a.Value.Text()) / float64(d)
			}
		}
		return y
	}}
}

// conditional has a choice of three kinds, each with parameters of its own.
func conditional(d int, seed uint64) Objective {
	kinds := []string{"a", "b", "c"}
	params := []spaces.Param{choice("kind", kinds...)}
	for i := 1; i < d; i++ {
		p := float(fmt.Sprintf("p%d", i+1), 0, 1)
		if i%4 > 0 {
			p.When = fmt.Sprintf("kind == '%s'", kinds[i%3])
		}
		params = append(params, p)
	}
	return Objective{Space: space(params...), Eval: func(v spaces.Values) float64 {
		kind := v[0].Value.Text()
		y := 0.2 * chance(seed, kind)
		for _, a := range v[1:] {
			x, _ := a.Value.Number()
			y += math.Pow(x-chance(seed, kind, a.Name), 2) / float64(d)
		}
		return y
	}}
}
