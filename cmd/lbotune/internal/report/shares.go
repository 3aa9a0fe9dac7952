package report

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
)

// setting is one way to set the switches of a space, its probability, their features, those of
// all other parameters being 0, and which parameters exist.
type setting struct {
	point spaces.Point
	odds  float64
	row   [][]float64
	on    []bool
}

const (
	settingsUpTo = 64 // of the switches; of more, as many random ones
	floatPlaces  = 8  // that stand for a float
)

// places are those that stand for all of a parameter's, and their probabilities.
func (b *basis) places(most int) (at, odds []float64) {
	if b.levels != nil {
		return b.levels, b.odds
	}
	for k := range most {
		at, odds = append(at, (float64(k)+0.5)/float64(most)), append(odds, 1/float64(most))
	}
	return at, odds
}

func (a *anova) set(p spaces.Point, odds float64) setting {
	out := setting{point: p, odds: odds, on: a.exists(p), row: a.zeros()}
	for i, decides := range a.decides {
		if decides && out.on[i] {
			out.row[i] = a.bases[i].at(place(a.space, i, p))
		}
	}
	return out
}

// settings are all of the switches, if they are few, else random ones.
func (a *anova) settings(rng *rand.Rand) (out []setting) {
	out = []setting{{point: a.space.Center(), odds: 1}}
	for j, decides := range a.decides {
		if !decides || len(out) > settingsUpTo*floatPlaces {
			continue
		}
		at, of := a.bases[j].places(floatPlaces)
		var more []setting
		for _, s := range out {
			for l, u := range at {
				more = append(more, setting{point: moved(a.space, s.point, j, u), odds: s.odds * of[l]})
			}
		}
		out = more
	}
	if len(out) > settingsUpTo {
		out = nil
		for range settingsUpTo {
			out = append(out, setting{point: a.anywhere(rng), odds: 1.0 / settingsUpTo})
		}
	}
	for i, s := range out {
		out[i] = a.set(s.point, s.odds)
	}
	return out
}

// effects are what a function is for one setting of the switches: C its mean over all other
// parameters, and B the coefficients of each of these, pairs among them aside.
func (f *surface) effects(s setting) (mean float64, b [][]float64) {
	b = f.a.zeros()
	for i := range b {
		if s.on[i] && !f.a.decides[i] {
			b[i] = f.along(i, s.row)
		}
	}
	return f.of(s.row), b
}

// sobol are the first-order and total indices of a function (Sobol 1993; Homma and Saltelli
// 1996). Given the switches, the others' parts are orthogonal, and with C and B of effects and
// the squares Q_ij of the pairs,
//
//	V = Var C + Σ_i E|B_i|² + Σ_{i<j} Q_ij P(i and j exist),
//	V_i = |E B_i|², T_i = E|B_i|² + Σ_j Q_ij P(i and j exist)
//
// of one that is no switch; a switch has V_i = Var E(C|x_i) and as T_i the mean over the other
// switches of the variance of all these as it alone varies.
func (f *surface) sobol(settings []setting) (main, total []float64) {
	d := len(f.main)
	main, total = make([]float64, d), make([]float64, d)
	q := make([][]float64, d)
	for i := range d {
		q[i] = make([]float64, d)
		for j := range i {
			if !f.a.decides[i] && !f.a.decides[j] {
				for _, b := range f.pair[j][i] {
					q[i][j] += b * b
				}
				q[j][i] = q[i][j]
			}
		}
	}
	var mean, square, rest float64
	expected := f.a.zeros()
	for _, s := range settings {
		c, b := f.effects(s)
		mean += s.odds * c
		square += s.odds * c * c
		for i := range d {
			for k, v := range b[i] {
				expected[i][k] += s.odds * v
				total[i] += s.odds * v * v
				rest += s.odds * v * v
			}
			for j := range d {
				if s.on[i] && s.on[j] {
					total[i] += s.odds * q[i][j]
					rest += s.odds * q[i][j] / 2
				}
			}
		}
	}
	whole := square - mean*mean + rest
	for i := range d {
		for _, v := range expected[i] {
			main[i] += v * v
		}
		if f.a.decides[i] {
			main[i], total[i] = f.switched(i, settings, q)
		}
		if whole > 0 {
			main[i], total[i] = main[i]/whole, total[i]/whole
		} else {
			main[i], total[i] = 0, 0
		}
	}
	return main, total
}

// switched are V_j and T_j of a switch.
func (f *surface) switched(j int, settings []setting, q [][]float64) (main, total float64) {
	at, of := f.a.bases[j].places(floatPlaces)
	alone := make([]float64, len(at)) // E(C|x_j)
	for _, s := range settings {
		var first, second []float64 // moments of all parts as j varies
		for l, u := range at {
			other := f.a.set(moved(f.a.space, s.point, j, u), s.odds)
			c, b := f.effects(other)
			alone[l] += s.odds * c
			parts := append([]float64{c}, slices.Concat(b...)...)
			for i := range q {
				for k := range i {
					if q[i][k] > 0 {
						exist := 0.0
						if other.on[i] && other.on[k] {
							exist = math.Sqrt(q[i][k])
						}
						parts = append(parts, exist)
					}
				}
			}
			if first == nil {
				first, second = make([]float64, len(parts)), make([]float64, len(parts))
			}
			for k, v := range parts {
				first[k] += of[l] * v
				second[k] += of[l] * v * v
			}
		}
		for k := range first {
			total += s.odds * math.Max(second[k]-first[k]*first[k], 0)
		}
	}
	mean := 0.0
	for l, v := range alone {
		mean += of[l] * v
		main += of[l] * v * v
	}
	return math.Max(main-mean*mean, 0), total
}

const (
	goodShare = 0.1 // of the space
	lines     = 64  // places along a float

	mostPlayers = 9  // of a game whose coalitions are all looked at
	someOrders  = 64 // of the players, where they are more
)

// amongGood are the shares of the variance in the best tenth of the space: of each parameter
// how much is left, on average, of the variance among good configurations that agree in all
// others. It is the total index of a distribution that is uniform where f is good, and asks
// what PED-ANOVA does (Watanabe et al. 2023): which parameters matter still.
//
// order are those of the points that are looked at. Each function is given others, so that its interval
// holds also what so few points leave open.
func (f *surface) amongGood(points []spaces.Point, rows [][][]float64, order []int) []float64 {
	values := make([]float64, len(rows))
	for _, t := range order {
		values[t] = f.of(rows[t])
	}
	slices.SortFunc(order, func(s, t int) int { return cmp.Compare(values[t], values[s]) })
	order = order[:max(int(goodShare*float64(len(order))), 2)]
	least := values[order[len(order)-1]]
	good := lists.Map(order, func(t int) float64 { return values[t] })
	out := make([]float64, len(f.main))
	whole := stat.PopVariance(good, nil) // of few: a line may have more
	if !(whole > 0) {
		return out
	}
	for i := range out {
		at, odds := f.a.bases[i].places(lines)
		table := lists.Map(at, f.a.bases[i].at)
		for _, t := range order {
			if !slices.ContainsFunc(rows[t][i], func(v float64) bool { return v != 0 }) {
				continue // it does not exist here
			}
			value := func(l int) float64 { return f.of(f.a.features(moved(f.a.space, points[t], i, at[l]))) }
			if !f.a.decides[i] {
				along, here := f.along(i, rows[t]), values[t]
				for k, v := range rows[t][i] {
					here -= along[k] * v
				}
				value = func(l int) float64 {
					v := here
					for k, c := range along {
						v += c * table[l][k]
					}
					return v
				}
			}
			var sum, first, second float64
			for l := range at {
				if v := value(l); v >= least {
					sum += odds[l]
					first += odds[l] * v
					second += odds[l] * v * v
				}
			}
			if sum > 0 {
				out[i] += math.Max(second/sum-first*first/(sum*sum), 0) / (whole * float64(len(order)))
			}
		}
		out[i] = math.Min(out[i], 1)
	}
	return out
}

// shapley divides f(to) − f(from) among the parameters as Shapley (1953) does,
//
//	φ_i = Σ_{S∌i} |S|! (d−|S|−1)! / d! · (v(S∪i) − v(S)),
//
// where v(S) has the parameters of S from to. The values of a sum are sums of those of its
// terms, and a term is a game of its one or two parameters, and their switches, alone. Where
// these are many, as in a long chain of conditions, some random orders stand for all coalitions.
func (f *surface) shapley(from, to spaces.Point) []float64 {
	d := len(f.main)
	raw := [2][][]float64{}
	for side, p := range []spaces.Point{from, to} {
		for i := range d {
			raw[side] = append(raw[side], f.a.bases[i].at(place(f.a.space, i, p)))
		}
	}
	out := make([]float64, d)
	exist := map[string][]bool{} // what does where some switches are those of to
	there := func(switches []int, in []bool) []bool {
		key := make([]byte, d)
		for _, i := range switches {
			if in[i] {
				key[i] = 1
			}
		}
		if _, ok := exist[string(key)]; !ok {
			p := from
			for i, moves := range key {
				if moves == 1 {
					p = moved(f.a.space, p, i, place(f.a.space, i, to))
				}
			}
			exist[string(key)] = f.a.exists(p)
		}
		return exist[string(key)]
	}
	side, rng := map[bool]int{true: 1}, rand.New(rand.NewPCG(17, 6))
	term := func(i, j int, coefs []float64) {
		switches := slices.Concat(f.a.switches[i], f.a.switches[j])
		players := slices.Concat(switches, []int{i, j})
		slices.Sort(players)
		players = slices.Compact(players)
		in := make([]bool, d)
		worth := func() float64 {
			if len(switches) > 0 {
				if on := there(switches, in); !on[i] || !on[j] {
					return 0
				}
			}
			a, b := raw[side[in[i]]][i], []float64{1}
			if j != i {
				b = raw[side[in[j]]][j]
			}
			sum := 0.0
			for k, x := range a {
				for l, y := range b {
					sum += coefs[k*len(b)+l] * x * y
				}
			}
			return sum
		}
		if len(players) > mostPlayers {
			for range someOrders {
				clear(in)
				last := worth()
				for _, k := range rng.Perm(len(players)) {
					in[players[k]] = true
					next := worth()
					out[players[k]] += (next - last) / someOrders
					last = next
				}
			}
			return
		}
		v := make([]float64, 1<<len(players))
		for mask := range v {
			for k, p := range players {
				in[p] = mask>>k&1 == 1
			}
			v[mask] = worth()
		}
		for k, g := range game(v, len(players)) {
			out[players[k]] += g
		}
	}
	for i := range d {
		term(i, i, f.main[i])
		for j := i + 1; j < d; j++ {
			term(i, j, f.pair[i][j])
		}
	}
	return out
}

// game are the Shapley values of d players, with v of each coalition by its bits.
func game(v []float64, d int) []float64 {
	out := make([]float64, d)
	for mask := range v {
		n := bits.OnesCount(uint(mask))
		for i := range d {
			if mask>>i&1 == 0 {
				out[i] += (v[mask|1<<i] - v[mask]) / (float64(d) * combin.GeneralizedBinomial(float64(d-1), float64(n)))
			}
		}
	}
	return out
}
