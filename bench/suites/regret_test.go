package suites_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// waves is a sum of plane waves, close to a draw from a Gaussian process with that length scale:
// a new one for each seed. Its least value is the least that local searches find.
func waves(d int, length float64, seed uint64) problems.Problem {
	r := rand.New(rand.NewPCG(seed, 77))
	const n = 100
	w, phase := make([][]float64, n), make([]float64, n)
	for i := range w {
		for range d {
			w[i] = append(w[i], r.NormFloat64()/length)
		}
		phase[i] = 2 * math.Pi * r.Float64()
	}
	p := problems.Problem{Name: fmt.Sprintf("waves%d-%g", d, length), Low: make([]float64, d), High: slices.Repeat([]float64{1}, d),
		Eval: func(x []float64) float64 {
			sum := 0.0
			for i := range w {
				sum -= math.Cos(phase[i] + floats.Dot(w[i], x))
			}
			return sum * math.Sqrt(2.0/n)
		}}
	var starts [][]float64
	for range 2000 * d {
		starts = append(starts, p.Sample(r))
	}
	slices.SortFunc(starts, func(a, b []float64) int { return cmp.Compare(p.Eval(a), p.Eval(b)) })
	p.Min = math.Inf(1)
	for _, x := range starts[:20] {
		v, step := p.Eval(x), 0.05
		for k := 0; k < 2000 && step > 1e-8; k++ {
			y := slices.Clone(x)
			for j := range y {
				y[j] = math.Min(math.Max(y[j]+step*r.NormFloat64(), 0), 1)
			}
			if u := p.Eval(y); u < v {
				x, v, step = y, u, 1.5*step
			} else {
				step *= 0.93
			}
		}
		p.Min = math.Min(p.Min, v)
	}
	return p
}

// developing are functions on which the constants of what is left to gain were chosen.
func developing(seed uint64) []problems.Problem {
	out := []problems.Problem{problems.Branin(), problems.Camel(), problems.Hartmann3(), problems.Michalewicz(2), problems.Rosenbrock(2), problems.Rosenbrock(4)}
	for i, p := range out {
		out[i] = problems.Shifted(p, seed)
	}
	return append(out, problems.Ackley(2, seed), problems.Rastrigin(2, seed), problems.Griewank(3, seed), problems.Schwefel(2, seed),
		problems.BumpMaximum(1, seed), problems.BumpMaximum(2, seed), problems.BumpMaximum(3, seed), problems.BumpSum(1, seed), problems.BumpSum(2, seed), problems.BumpSum(4, seed),
		problems.TwoBasins(2, seed), problems.Langermann(2, seed), problems.Sphere(5, seed), problems.WrongCorner(2, seed), problems.WrongCorner(3, seed), problems.WrongCorner(4, seed),
		waves(1, 0.1, seed), waves(1, 0.3, seed), waves(2, 0.2, seed), waves(2, 0.5, seed), waves(3, 0.4, seed), waves(5, 0.8, seed))
}

// classics are smooth functions of the literature in one to three dimensions [SB].
func classics(seed uint64) (out []problems.Problem) {
	sq, pi := func(v float64) float64 { return v * v }, math.Pi
	for _, c := range []struct {
		name      string
		low, high float64
		at        []float64 // a minimizer
		outside   bool      // the minimum is that of all space
		f         func(x []float64) float64
	}{
		{"forrester", 0, 1, []float64{0.757248757841856}, false, func(x []float64) float64 { return sq(6*x[0]-2) * math.Sin(12*x[0]-4) }},
		{"gramacy-lee", 0.5, 2.5, []float64{0.548563444114526}, false, func(x []float64) float64 { return math.Sin(10*pi*x[0])/(2*x[0]) + sq(sq(x[0]-1)) }},
		{"mccormick", -2, 4, []float64{0.5 - pi/3, -0.5 - pi/3}, false, func(x []float64) float64 { return math.Sin(x[0]+x[1]) + sq(x[0]-x[1]) - 1.5*x[0] + 2.5*x[1] + 1 }},
		{"booth", -10, 10, []float64{1, 3}, true, func(x []float64) float64 { return sq(x[0]+2*x[1]-7) + sq(2*x[0]+x[1]-5) }},
		{"beale", -4.5, 4.5, []float64{3, 0.5}, true, func(x []float64) float64 {
			y := x[1]
			return sq(1.5-x[0]+x[0]*y) + sq(2.25-x[0]+x[0]*y*y) + sq(2.625-x[0]+x[0]*y*y*y)
		}},
		{"three-hump", -5, 5, []float64{0, 0}, true, func(x []float64) float64 { t := sq(x[0]); return 2*t - 1.05*t*t + t*t*t/6 + x[0]*x[1] + sq(x[1]) }},
		{"matyas", -10, 10, []float64{0, 0}, true, func(x []float64) float64 { return 0.26*(sq(x[0])+sq(x[1])) - 0.48*x[0]*x[1] }},
		{"himmelblau", -5, 5, []float64{3, 2}, true, func(x []float64) float64 { return sq(sq(x[0])+x[1]-11) + sq(x[0]+sq(x[1])-7) }},
		{"bohachevsky", -50, 50, []float64{0, 0}, true, func(x []float64) float64 {
			return sq(x[0]) + 2*sq(x[1]) - 0.3*math.Cos(3*pi*x[0]) - 0.4*math.Cos(4*pi*x[1]) + 0.7
		}},
		{"drop-wave", -5.12, 5.12, []float64{0, 0}, true, func(x []float64) float64 {
			t := sq(x[0]) + sq(x[1])
			return -(1 + math.Cos(12*math.Sqrt(t))) / (0.5*t + 2)
		}},
		{"easom", -10, 10, []float64{pi, pi}, true, func(x []float64) float64 {
			return -math.Cos(x[0]) * math.Cos(x[1]) * math.Exp(-sq(x[0]-pi)-sq(x[1]-pi))
		}},
		{"zakharov", -5, 10, []float64{0, 0, 0}, true, func(x []float64) float64 {
			t := 0.5*x[0] + x[1] + 1.5*x[2]
			return floats.Dot(x, x) + sq(t) + sq(sq(t))
		}},
	} {
		d := len(c.at)
		p := problems.Problem{Name: c.name, Low: slices.Repeat([]float64{c.low}, d), High: slices.Repeat([]float64{c.high}, d), Min: c.f(c.at), Minimizers: [][]float64{c.at}, Eval: c.f}
		if c.outside {
			p = problems.Shifted(p, seed)
		}
		out = append(out, p)
	}
	return out
}

// unseen are functions on which nothing of it was chosen.
func unseen(seed uint64) []problems.Problem {
	out := []problems.Problem{problems.GoldsteinPrice(), problems.Hartmann6(), problems.Michalewicz(5), problems.Rosenbrock(3), problems.Rosenbrock(5)}
	for i, p := range out {
		out[i] = problems.Shifted(p, seed)
	}
	return append(append(out, classics(seed)...), problems.Levy(4), problems.StyblinskiTang(5), problems.DixonPrice(4), problems.Shekel(), problems.Eggholder(),
		problems.Sphere(1, seed), problems.Sphere(3, seed), problems.Ellipsoid(2, seed), problems.Ellipsoid(4, seed), problems.Ellipsoid(6, seed),
		problems.Rotated(problems.Rosenbrock(2), seed), problems.Rotated(problems.Rastrigin(3, seed), seed), problems.Rotated(problems.Ellipsoid(3, seed), seed),
		problems.Ackley(5, seed), problems.Needle(2, seed), problems.FlatCenter(2, seed), problems.FlatCenter(4, seed),
		problems.Holes(2, seed), problems.CosineMixture(2, seed), problems.CosineMixture(4, seed),
		problems.AsymmetricValley(2, seed), problems.AsymmetricValley(4, seed), problems.FlatValley(3, seed), problems.Steps(2, seed), problems.Cliff(2, seed), problems.Cliff(3, seed))
}

// regretTrials is how many a study has that nothing ends before.
func regretTrials(d int) int { return 50 + 16*max(d-2, 0) }

// tally sums up the studies that a rule has ended.
type tally struct{ ended, trials, held, within float64 }

// regretOf studies a problem until every rule has ended it, and tells of each end: what the rule
// says is left to gain, what it calls enough, and what is left.
func regretOf(t *testing.T, p problems.Problem, seed uint64, noise float64, told func(rule string, trial int, said, enough, left float64)) {
	t.Helper()
	space, f := objective(t, p)
	rng := rand.New(rand.NewPCG(seed, 12))
	var values, typical, ys, truths []float64
	var points []spaces.Point
	for range 400 {
		values = append(values, f(space.Draw(rng)))
	}
	sd := stat.PopStdDev(values, nil)
	opt := newOptimizer(t, space, seed)
	ended, lefts := map[string]bool{}, []float64{math.Inf(1), math.Inf(1), math.Inf(1)} // those of the last proposals
	end := func(rule string, said, enough float64) {
		if ended[rule] || !(said <= enough) {
			return
		}
		r, err := opt.(optimizer.Recommender).Recommend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ended[rule] = true
		told(rule, len(ys), said, enough, -p.Min-truths[r.Trial-1])
	}
	last, explored := 0, 0 // the last improvement, and trials that ignored the model
	for trial := 1; trial <= regretTrials(space.Len()); trial++ {
		scale := 0.0
		if n := len(typical); n > 0 {
			slices.Sort(typical)
			scale = math.Max(slices.Max(ys)-typical[n/2], 0)
		}
		enough := 0.0
		if explored >= max(2, space.Len()) {
			enough = math.Max(0.05*scale, 0.02*sd)
		}
		a, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial, Enough: enough})
		if err != nil {
			t.Fatal(err)
		}
		lefts = append(lefts[1:], math.Inf(1))
		if a.Note.Left != nil {
			lefts[2] = *a.Note.Left
		}
		said := slices.Max(lefts)
		end("regret, 2 % of a deviation", said, 0.02*sd)
		var bound, ei float64
		if trial > 10 && trial%3 == 0 {
			bound, ei = byConfidence(t, opt, space, trial, points, rng)
		} else {
			bound, ei = math.Inf(1), math.Inf(1)
		}
		for _, share := range []float64{0.01, 0.05} {
			name := func(rule string) string { return fmt.Sprintf("%s, %g %%", rule, 100*share) }
			end(name("regret"), said, share*scale)
			end(name("confidence bounds"), bound, share*scale)
			if ei <= share*scale/10 {
				end(name("a tenth by expected improvement"), share*scale, share*scale)
			}
			if len(ys)-last >= 20 {
				end(name("patience 20"), share*scale, share*scale)
			}
		}
		if len(ended) == 9 {
			return
		}
		truth := f(a.Point)
		y := truth + noise*sd*rng.NormFloat64()
		if len(ys) == 0 || y > slices.Max(ys) {
			last = len(ys) + 1
		}
		truths, ys, points = append(truths, truth), append(ys, y), append(points, a.Point)
		if a.Origin == optimizer.OriginInitial || a.Origin == optimizer.OriginExplore {
			typical = append(typical, y)
		}
		if a.Origin == optimizer.OriginExplore {
			explored++
		}
		if err := opt.Tell(evaluated(trial, a, func(spaces.Point) float64 { return y })); err != nil {
			t.Fatal(err)
		}
	}
}

// byConfidence is the bound of Makarova et al. 2022 on the regret, the largest upper confidence
// bound of 500 points less the largest lower one of what was tried, with the β of Optuna; and the
// largest expected improvement there.
func byConfidence(t *testing.T, opt optimizer.Optimizer, space *spaces.Space, trial int, tried []spaces.Point, rng *rand.Rand) (bound, ei float64) {
	t.Helper()
	n, d := float64(trial-1), float64(space.Len())
	beta := math.Sqrt(2 * math.Log(d*n*n*math.Pi*math.Pi/(6*0.1)) / 5)
	var points []spaces.Point
	for range 500 {
		points = append(points, space.Draw(rng))
	}
	points = append(points, tried...)
	x, err := opt.(optimizer.Explainer).Explain(t.Context(), optimizer.Query{Trial: trial}, slices.Values(points))
	if err != nil {
		t.Fatal(err)
	}
	upper, lower := math.Inf(-1), math.Inf(-1)
	for i, b := range x.Beliefs {
		upper = math.Max(upper, b.Mean+beta*b.SD)
		if i >= 500 {
			lower = math.Max(lower, b.Mean-beta*b.SD)
		}
		if z := (b.Mean - x.Best) / b.SD; b.SD > 0 {
			ei = math.Max(ei, b.SD*(z*distuv.UnitNormal.CDF(z)+distuv.UnitNormal.Prob(z)))
		}
	}
	return upper - lower, ei
}

// Where a study ends for what the model leaves to gain, no more is left than it says in 95 of 100.
func TestRegretHolds(t *testing.T) {
	for name, c := range map[string]struct {
		problems func(uint64) []problems.Problem
		first    uint64
		seeds    uint64
	}{"developing": {developing, 900, effort.Sequential[uint64](0, 0, 8)}, "judged": {unseen, 2000, effort.Sequential[uint64](0, 0, 24)}} {
		t.Run(name, func(t *testing.T) {
			var lock sync.Mutex
			var group sync.WaitGroup
			rules, studies := map[string]tally{}, 0.0
			slots := make(chan struct{}, runtime.GOMAXPROCS(0))
			for seed := range c.seeds {
				for _, p := range c.problems(c.first + seed) {
					studies++
					slots <- struct{}{}
					group.Go(func() {
						defer func() { <-slots }()
						noise := []float64{0, 0, 0.02, 0.1}[seed%4]
						regretOf(t, p, c.first+seed, noise, func(rule string, trial int, said, enough, left float64) {
							lock.Lock()
							defer lock.Unlock()
							t.Logf("%s %d %g %d: %s: %d trials, said %.3g enough %.3g left %.3g", p.Name, p.Dim(), noise, seed, rule, trial, said, enough, left)
							s := rules[rule]
							s.ended, s.trials = s.ended+1, s.trials+float64(trial)
							if slack := 1e-12 * math.Abs(p.Min); left <= said+slack {
								s.held++
							}
							if left <= enough {
								s.within++
							}
							rules[rule] = s
						})
					})
				}
			}
			group.Wait()
			for _, rule := range slices.Sorted(maps.Keys(rules)) {
				s := rules[rule]
				t.Logf("| %s | %.0f | %.1f | %.1f | %.1f |", rule, 100*s.ended/studies, s.trials/s.ended, 100*s.held/s.ended, 100*s.within/s.ended)
				if strings.HasPrefix(rule, "regret") && (s.ended < 0.05*studies || s.held < 0.95*s.ended) {
					t.Errorf("%s: of %.0f studies %.0f end, and %.1f %% have no more left to gain than is said", rule, studies, s.ended, 100*s.held/s.ended)
				}
			}
		})
	}
}
