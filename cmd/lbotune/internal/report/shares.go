package report

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/lbotune/lbotune/spaces"
)

// setting is one way to set the switches of a space: their features, those of all other
// parameters being 0, and which parameters exist.
type setting struct {
	point spaces.Point
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

// decided are the parameters that decide whether others exist.
func (a *anova) decided() []int {
	all := slices.Concat(a.switches...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *anova) set(p spaces.Point) setting {
	out := setting{point: p, on: a.exists(p), row: a.zeros()}
	for _, i := range a.decided() {
		if out.on[i] {
			out.row[i] = a.bases[i].at(place(a.space, i, p))
		}
	}
	return out
}

// settings are all of the switches, if they are few, else random ones; with their
// probabilities.
func (a *anova) settings(rng *rand.Rand) (out []setting, odds []float64) {
	points, odds := []spaces.Point{a.space.Center()}, []float64{1}
	for _, j := range a.decided() {
		at, of := a.bases[j].places(floatPlaces)
		var more []spaces.Point
		var chances []float64
		for k, p := range points {
			for l, u := range at {
				more, chances = append(more, moved(a.space, p, j, u)), append(chances, odds[k]*of[l])
			}
		}
		points, odds = more, chances
		if len(points) > settingsUpTo*floatPlaces {
			break
		}
	}
	if len(points) > settingsUpTo {
		points, odds = nil, nil
		u := make([]float64, len(a.params))
		for range settingsUpTo {
			for i := range u {
				u[i] = rng.Float64()
			}
			points, odds = append(points, a.space.FromUniform(u)), append(odds, 1.0/settingsUpTo)
		}
	}
	for _, p := range points {
		out = append(out, a.set(p))
	}
	return out, odds
}

// effects are what a function is for one setting of the switches: C its mean over all other
// parameters, and B the coefficients of each of these, pairs among them aside.
func (f *surface) effects(s setting) (mean float64, b [][]float64) {
	b = f.a.zeros()
	decided := f.a.decided()
	for i := range b {
		if s.on[i] && !slices.Contains(decided, i) {
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
func (f *surface) sobol(settings []setting, odds []float64) (main, total []float64) {
	d := len(f.main)
	main, total = make([]float64, d), make([]float64, d)
	decided := f.a.decided()
	q := make([][]float64, d)
	for i := range d {
		q[i] = make([]float64, d)
		for j := range i {
			if !slices.Contains(decided, i) && !slices.Contains(decided, j) {
				for _, b := range f.pair[j][i] {
					q[i][j] += b * b
				}
				q[j][i] = q[i][j]
			}
		}
	}
	var mean, square, rest float64
	expected := f.a.zeros()
	for s, set := range settings {
		c, b := f.effects(set)
		mean += odds[s] * c
		square += odds[s] * c * c
		for i := range d {
			for k, v := range b[i] {
				expected[i][k] += odds[s] * v
				total[i] += odds[s] * v * v
				rest += odds[s] * v * v
			}
			for j := range d {
				if set.on[i] && set.on[j] {
					total[i] += odds[s] * q[i][j]
					rest += odds[s] * q[i][j] / 2
				}
			}
		}
	}
	whole := square - mean*mean + rest
	for i := range d {
		for _, v := range expected[i] {
			main[i] += v * v
		}
	}
	for _, j := range decided {
		main[j], total[j] = f.switched(j, settings, odds, q)
	}
	for i := range d {
		if whole > 0 {
			main[i], total[i] = main[i]/whole, total[i]/whole
		} else {
			main[i], total[i] = 0, 0
		}
	}
	return main, total
}

// switched are V_j and T_j of a switch.
func (f *surface) switched(j int, settings []setting, odds []float64, q [][]float64) (main, total float64) {
	at, of := f.a.bases[j].places(floatPlaces)
	alone := make([]float64, len(at)) // E(C|x_j)
	for s, set := range settings {
		var first, second []float64 // moments of all parts as j varies
		for l, u := range at {
			other := f.a.set(moved(f.a.space, set.point, j, u))
			c, b := f.effects(other)
			alone[l] += odds[s] * c
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
			total += odds[s] * math.Max(second[k]-first[k]*first[k], 0)
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
	var good []float64
	for _, t := range order {
		good = append(good, values[t])
	}
	out := make([]float64, len(f.main))
	whole := stat.PopVariance(good, nil) // of few: a line may have more
	if !(whole > 0) {
		return out
	}
	decided := f.a.decided()
	for i := range out {
		at, odds := f.a.bases[i].places(lines)
		table := make([][]float64, len(at))
		for l, u := range at {
			table[l] = f.a.bases[i].at(u)
		}
		isSwitch := slices.Contains(decided, i)
		for _, t := range order {
			if !slices.ContainsFunc(rows[t][i], func(v float64) bool { return v != 0 }) {
				continue // it does not exist here
			}
			value := func(l int) float64 { return f.of(f.a.features(moved(f.a.space, points[t], i, at[l]))) }
			if !isSwitch {
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
		key, p := make([]byte, d), from
		for _, i := range switches {
			if in[i] {
				key[i] = 1
				p = moved(f.a.space, p, i, place(f.a.space, i, to))
			}
		}
		if _, ok := exist[string(key)]; !ok {
			exist[string(key)] = f.a.exists(p)
		}
		return exist[string(key)]
	}
	side, rng := map[bool]int{true: 1}, rand.New(rand.NewPCG(17, 6))
	term := func(i, j int, value func(a, b [][]float64) float64) {
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
			return value(raw[side[in[i]]], raw[side[in[j]]])
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
		term(i, i, func(a, _ [][]float64) (sum float64) {
			for k, x := range a[i] {
				sum += f.main[i][k] * x
			}
			return sum
		})
		for j := i + 1; j < d; j++ {
			term(i, j, func(a, b [][]float64) (sum float64) {
				for k, x := range a[i] {
					for l, y := range b[j] {
						sum += f.pair[i][j][k*len(b[j])+l] * x * y
					}
				}
				return sum
			})
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
