package problems

import (
	"math"
	"slices"

	"github.com/lbotune/lbotune/spaces"
)

// Hidden lists objectives of which a third of the space fails, with 2, 5 and 9
// parameters of mixed kinds. The optimum lies near the border of what fails, so
// that a search which only drops its failures is drawn across it.
func Hidden(seed uint64) []Objective {
	return []Objective{
		hidden("hidden2", seed, logFloat("lr", 1e-5, 1), float("momentum", 0, 1)),
		hidden("hidden5", seed, logFloat("lr", 1e-5, 1), float("dropout", 0, 0.8), integer("layers", 1, 10),
			choice("activation", "relu", "tanh", "gelu"), boolean("norm")),
		hidden("hidden9", seed, logFloat("lr", 1e-5, 1), logFloat("decay", 1e-8, 1e-1), float("dropout", 0, 0.8),
			float("clip", 0.1, 10), integer("layers", 1, 10), logInteger("units", 8, 1024),
			choice("activation", "relu", "tanh", "gelu"), choice("optimizer", "sgd", "adam", "lamb", "lion"), boolean("norm")),
	}
}

// hidden puts a bowl and a border into a space. With t the parameters' values
// scaled to [0, 1], levels of a choice in a drawn order,
//
//	value = Σ (t − o)²,   fails where   Σ aᵢtᵢ + 0.25·sin(2π·Σ bᵢtᵢ) > c
//
// and c is the upper third of the left side over the space.
func hidden(name string, seed uint64, params ...spaces.Param) Objective {
	r := stream(seed, uint64(len(params)))
	s := space(params...)
	scaled := scaling(params, r.Perm)
	// The border crosses every parameter, the first two more than the rest.
	slope, bend := make([]float64, len(params)), make([]float64, len(params))
	for i := range params {
		slope[i] = 0.2 + 0.8*r.Float64()
		if i < 2 {
			slope[i]++
		}
		if r.IntN(2) == 0 {
			slope[i] = -slope[i]
		}
		bend[i] = r.Float64() / math.Sqrt(float64(len(params)))
	}
	danger := func(v spaces.Values) float64 {
		t := scaled(v)
		return dot(slope, t) + 0.25*math.Sin(2*math.Pi*dot(bend, t))
	}

	const samples = 6_000
	seen := make([]float64, samples)
	for i := range seen {
		seen[i] = danger(sample(s, r))
	}
	slices.Sort(seen)
	border, near := seen[samples*2/3], seen[samples*9/20]
	best := sample(s, r)
	for d := danger(best); d < near || d > border; d = danger(best) {
		best = sample(s, r)
	}
	at := scaled(best)
	return Objective{
		Name: name, Space: s, Best: best,
		Eval:  func(v spaces.Values) float64 { return distance2(scaled(v), at) },
		Fails: func(v spaces.Values) bool { return danger(v) > border },
	}
}

// scaling maps the values of unconditional parameters to [0, 1] each; perm
// draws the order of a choice's levels.
func scaling(params []spaces.Param, perm func(int) []int) func(spaces.Values) []float64 {
	order := make([][]int, len(params))
	for i, p := range params {
		if p.Kind == spaces.KindChoice {
			order[i] = perm(len(p.Choices))
		}
	}
	return func(v spaces.Values) []float64 {
		t := make([]float64, len(params))
		for i, p := range params {
			value := v[i].Value
			switch p.Kind {
			case spaces.KindBool:
				if value == spaces.Bool(true) {
					t[i] = 1
				}
			case spaces.KindChoice:
				level := slices.Index(p.Choices, value)
				t[i] = float64(order[i][level]) / float64(len(p.Choices)-1)
			default:
				x, _ := value.Number()
				low, high := p.Min, p.Max
				if p.Scale == spaces.Log {
					x, low, high = math.Log(x), math.Log(low), math.Log(high)
				}
				t[i] = (x - low) / (high - low)
			}
		}
		return t
	}
}
