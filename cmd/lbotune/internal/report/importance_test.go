package report

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// The Shapley values of a game agree with their definition as a mean over all orders.
func TestShapleyIsTheMeanOverAllOrders(t *testing.T) {
	const d = 4
	rng := rand.New(rand.NewPCG(1, 2))
	coalitions, terms := shapley(d, rng)
	game := func(in func(int) bool) float64 {
		v := 0.0
		for i := range d {
			if in(i) {
				v += float64(i + 1)
			}
			if in(i) && in((i+1)%d) {
				v += 0.5 * float64(i)
			}
		}
		return v*v/7 - v
	}
	var v []float64
	for _, c := range coalitions {
		v = append(v, game(func(i int) bool { return c[i] }))
	}
	want := make([]float64, d)
	orders := 0
	var walk func(order []int)
	walk = func(order []int) {
		if len(order) == d {
			orders++
			for k, i := range order {
				before := func(j int) bool { return slices.Contains(order[:k], j) }
				after := func(j int) bool { return slices.Contains(order[:k+1], j) }
				want[i] += game(after) - game(before)
			}
			return
		}
		for i := range d {
			if !slices.Contains(order, i) {
				walk(append(slices.Clone(order), i))
			}
		}
	}
	walk(nil)
	for i, g := range sum(d, terms, v) {
		if math.Abs(g-want[i]/float64(orders)) > 1e-12 {
			t.Errorf("player %d: %v; want %v", i, g, want[i]/float64(orders))
		}
	}
}

// The indices of Ishigami's function with a = 7 and b = 0.1 are known in closed form
// (Sobol and Levitan 1999): S = 0.3139, 0.4424, 0; T = 0.5576, 0.4424, 0.2437.
func TestSobolIndicesOfIshigami(t *testing.T) {
	var params []spaces.Param
	for _, name := range []string{"a", "b", "c"} {
		params = append(params, spaces.Param{Name: name, Kind: spaces.KindFloat, Min: -math.Pi, Max: math.Pi})
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	var f []float64
	for _, p := range pickFreeze(space, n, rand.New(rand.NewPCG(5, 6))) {
		x := func(i int) float64 { return -math.Pi + 2*math.Pi*p[i] }
		f = append(f, math.Sin(x(0))+7*math.Pow(math.Sin(x(1)), 2)+0.1*math.Pow(x(2), 4)*math.Sin(x(0)))
	}
	main, total := sobolIndices(f, n, 3)
	for i, want := range [][2]float64{{0.3139, 0.5576}, {0.4424, 0.4424}, {0, 0.2437}} {
		if math.Abs(main[i]-want[0]) > 0.03 || math.Abs(total[i]-want[1]) > 0.03 {
			t.Errorf("parameter %d: %.4f and %.4f; want %v", i, main[i], total[i], want)
		}
	}
}

// Of a chain of conditions that has more coalitions than anybody can look at, the parts add up all the same.
func TestShapleyOfALongChain(t *testing.T) {
	if effort.Sequential(true, false, false) {
		t.Skip("goes through many combinations in one goroutine")
	}
	params := []spaces.Param{yesno("b0")}
	for i := range 25 {
		params = append(params, when(yesno(fmt.Sprint("b", i+1)), fmt.Sprintf("b%d", i)))
	}
	h := begin(t, params...)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		u := make([]float64, len(params))
		for i := range u {
			u[i] = math.Min(rng.Float64()+0.3, 1)
		}
		h.trialOf(u, float64(len(h.st.Space.Decode(h.st.Space.FromUniform(u))))+u[0])
	}
	s := of(Source{State: &h.st})
	m, err := s.fit(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	from, to := h.st.Trials[0].Point, h.st.Trials[1].Point
	for f := range m.draws {
		parts := f.shapley(from, to)
		if way := f.of(m.features(to)) - f.of(m.features(from)); math.Abs(floats.Sum(parts)-way) > 1e-9*(1+math.Abs(way)) {
			t.Errorf("the parts add up to %g of %g", floats.Sum(parts), way)
		}
		break
	}
}

// A function of many parameters is large, so that those that are drawn are not kept, and take the place of
// the one before: they are the same when they are drawn again.
func TestDrawnFunctionsAreNotKept(t *testing.T) {
	if effort.Sequential(true, false, false) {
		t.Skip("measures memory, of a model that takes seconds")
	}
	var params []spaces.Param
	for i := range 60 {
		params = append(params, float(fmt.Sprint("x", i)))
	}
	h := begin(t, params...)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		u := make([]float64, len(params))
		for i := range u {
			u[i] = rng.Float64()
		}
		h.trialOf(u, u[0])
	}
	s := of(Source{State: &h.st})
	memory := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := memory()
	m, err := s.fit(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if kept := memory() - before; kept > 5<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	var start, after runtime.MemStats
	runtime.ReadMemStats(&start)
	for range m.draws {
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-start.TotalAlloc > 10<<20 {
		t.Errorf("%d bytes are made anew", after.TotalAlloc-start.TotalAlloc)
	}
	next, stop := iter.Pull(m.draws)
	defer stop()
	for f := range m.draws {
		if again, ok := next(); !ok || again.c != f.c || !reflect.DeepEqual(again.pair, f.pair) {
			t.Fatal("drawn again they differ")
		}
	}
}

// A parameter that has one value wherever it exists is not said to matter.
func TestConditionalThatNeverVaried(t *testing.T) {
	h := begin(t, float("x"), choice("kind", 2), when(ints("n", 1, 64), `kind == "b"`))
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 30 {
		u := rng.Float64()
		h.trialOf([]float64{u, float64(k%2)*0.9 + 0.05, 0.5}, 0.1*u+float64(k%2))
	}
	if im := h.of(false).Model.Importance; !im.Params[2].Never || !strings.HasPrefix(im.said("")[0], "kind matters most") {
		t.Errorf("%s %+v", im.said(""), im.Params)
	}
}

// That a parameter changes nothing is said once, by pairs of trials or else by the model.
func TestNothingIsSaidTwice(t *testing.T) {
	h := begin(t, float("x"), float("y"))
	for k := range 40 {
		x := float64(k/2) / 20
		h.trialOf([]float64{x, float64(k%2)*0.8 + 0.1}, x)
	}
	s := h.of(false)
	if n := strings.Count(strings.Join(s.Remarks, "\n"), "y seems to change nothing"); n != 1 || len(s.Model.remarks) != 1 {
		t.Errorf("it is said %d times: %q, and by the model %q", n, s.Remarks, s.Model.remarks)
	}
}

func TestRanks(t *testing.T) {
	if got := ranks([]float64{3, 1, 2, 1}); !slices.Equal(got, []float64{3, 0.5, 2, 0.5}) {
		t.Errorf("ranks %v", got)
	}
}

// What a study's importance says of a function that is known: y has a 16th of
// the variance of x, z none; all of the way is explained; and of noise nothing is said.
func TestImportance(t *testing.T) {
	h := begin(t, float("x"), float("y"), float("z"))
	rng := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		u := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		h.trialOf(u, 0.5+4*(u[0]-0.3)*(u[0]-0.3)+(u[1]-0.3)*(u[1]-0.3))
	}
	s := h.of(false)
	if s.Model == nil || s.Model.Poor != "" {
		t.Fatalf("no model: %s %+v", s.NoModel, s.Model)
	}
	im := s.Model.Importance
	if order := s.Model.order(3); !slices.Equal(order, []int{0, 1, 2}) || math.Abs(im.Params[0].Main.Value-16.0/17) > 0.05 || im.Params[2].Total.Value > 0.05 {
		t.Errorf("%+v", im.Params)
	}
	total := 0.0
	for _, r := range im.Params {
		total += r.Gain.Value
		if r.Total.Low > r.Total.High || math.IsNaN(r.Gain.Value) {
			t.Errorf("%+v", r)
		}
	}
	if whole := im.Start - im.End; math.Abs(total-whole) > 1e-9*math.Abs(whole) || im.Log {
		t.Errorf("the parts add up to %v of %v", total, whole)
	}

	few := begin(t, float("x"), float("y"), float("z"))
	for range 16 {
		u := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		few.trialOf(u, u[0]+0.5*u[1]*u[1]+0.05*rng.NormFloat64())
	}
	for _, r := range few.of(false).Model.Importance.Params {
		for _, share := range []Interval{r.Main, r.Total} {
			if share.Value < share.Low || share.Value > share.High {
				t.Errorf("%s: a share outside its own interval: %+v", r.Param, share)
			}
		}
	}

	still := begin(t, float("x"), float("y"), float("z")) // of which z was added, and never varied
	for range 20 {
		u := []float64{rng.Float64(), rng.Float64(), 0.1}
		still.trialOf(u, 4*(u[0]-0.3)*(u[0]-0.3)+u[1])
	}
	params := still.of(false).Model.Importance.Params
	if z := params[2]; !z.Never || z.Total != (Interval{}) || z.Gain != (Interval{}) || params[0].Never || params[1].Never || params[0].Total.Value+params[1].Total.Value < 0.9 {
		t.Errorf("%+v", params)
	}

	noise := begin(t, float("x"), float("y"))
	for range 30 {
		noise.trialOf([]float64{rng.Float64(), rng.Float64()}, rng.NormFloat64())
	}
	if s := noise.of(false); s.Model == nil || s.Model.Poor == "" || s.Model.Importance != nil {
		t.Errorf("pure noise has a good model: %+v", s.Model)
	}
}

const (
	exactUpTo    = 12 // parameters: 2^12 places
	permutations = 32 // beyond, each also backwards
)

// term is a part of a player's Shapley value: weight · (v(with) − v(without)).
type term struct {
	player, with, without int
	weight                float64
}

// shapley returns the coalitions at which a game of d players is to be evaluated, the
// empty one first and that of all last, and the terms of the Shapley values (1953)
//
//	φ_i = Σ_{S∌i} |S|! (d−|S|−1)! / d! · (v(S∪i) − v(S)).
//
// Of many players they are means over random orders and their reverses (Mitchell et al.
// 2022). In both ways the values add up to v(all) − v(none).
func shapley(d int, rng *rand.Rand) (coalitions [][]bool, terms []term) {
	at := func(in []bool) int {
		coalitions = append(coalitions, slices.Clone(in))
		return len(coalitions) - 1
	}
	if d <= exactUpTo {
		for mask := range 1 << d {
			in := make([]bool, d)
			for i := range d {
				in[i] = mask>>i&1 == 1
				if !in[i] {
					n := bits.OnesCount(uint(mask))
					terms = append(terms, term{i, mask | 1<<i, mask, 1 / (float64(d) * combin.GeneralizedBinomial(float64(d-1), float64(n)))})
				}
			}
			at(in)
		}
		return coalitions, terms
	}
	for range permutations {
		order := rng.Perm(d)
		for range 2 {
			in := make([]bool, d)
			before := at(in)
			for _, i := range order {
				in[i] = true
				after := at(in)
				terms = append(terms, term{i, after, before, 1.0 / (2 * permutations)})
				before = after
			}
			slices.Reverse(order)
		}
	}
	return coalitions, terms
}

// sum adds up the terms of each of d players in a game with these values.
func sum(d int, terms []term, v []float64) []float64 {
	out := make([]float64, d)
	for _, t := range terms {
		out[t.player] += t.weight * (v[t.with] - v[t.without])
	}
	return out
}

// pickFreeze returns the places from which sobolIndices are estimated: n random ones (A),
// n others (B), and for each parameter those of A with this parameter from B.
func pickFreeze(space *spaces.Space, n int, rng *rand.Rand) []spaces.Point {
	d := space.Len()
	us := make([][]float64, 2*n)
	points := make([]spaces.Point, 0, n*(d+2))
	for k := range us {
		us[k] = make([]float64, d)
		for i := range d {
			us[k][i] = rng.Float64()
		}
		points = append(points, space.FromUniform(us[k]))
	}
	for i := range d {
		for k := range n {
			u := slices.Clone(us[k])
			u[i] = us[n+k][i]
			points = append(points, space.FromUniform(u))
		}
	}
	return points
}

// sobolIndices estimates the first-order and the total indices of d parameters from the
// values at pickFreeze's places, after Saltelli et al. (2010) and Jansen (1999):
//
//	S_i = 1/n Σ f(B) (f(A_B^i) − f(A)) / V,   T_i = 1/2n Σ (f(A) − f(A_B^i))² / V,
//
// with f less its mean, and 0 ≤ S_i ≤ T_i ≤ 1, which estimates can miss.
func sobolIndices(f []float64, n, d int) (main, total []float64) {
	main, total = make([]float64, d), make([]float64, d)
	mean, variance := stat.MeanVariance(f[:2*n], nil)
	if !(variance > 0) {
		return main, total
	}
	for i := range d {
		for k, v := range f[(2+i)*n : (3+i)*n] {
			main[i] += (f[n+k] - mean) * (v - f[k]) / (float64(n) * variance)
			total[i] += (v - f[k]) * (v - f[k]) / (2 * float64(n) * variance)
		}
		total[i] = math.Min(total[i], 1)
		main[i] = math.Min(math.Max(main[i], 0), total[i])
	}
	return main, total
}

// The way leads to the best trial that is shown everywhere else: the one that was confirmed, and its mean.
func TestGainOfTheConfirmed(t *testing.T) {
	h := scattered(beginAs(t, func(c *study.Config) { c.Run.Confirm = 2 }, float("x"), float("y")), 16)
	lucky := h.st.Best().Number
	second := h.st.Ranked()[2].Number
	for k := range 2 {
		h.record(study.Confirmed{Trial: lucky, Attempt: k + 2, Metrics: metrics(0.9)}, study.Confirmed{Trial: second, Attempt: k + 2, Metrics: metrics(0.6)})
	}
	s := h.of(false)
	if im := s.Model.Importance; s.Best != second || im.Trial != second || math.Abs(im.End-0.6) > 1e-9 {
		t.Errorf("the way leads to %v, trial %d; want 0.6, trial %d, as the best is %d", im.End, im.Trial, second, s.Best)
	}
}

// Where nothing is better than what the study began with, no parameter contributes to what was gained. Shares
// that round to nothing have no sign.
func TestNothingGained(t *testing.T) {
	h := begin(t, float("x"), float("y"))
	h.trial(0.3, 0.3)
	s := scattered(h, 14).of(false)
	if s.ablation() != nil || s.sensitivity() == nil {
		t.Errorf("%d pictures of what was gained, %d of what matters", len(s.ablation()), len(s.sensitivity()))
	}
	if im := s.Model.Importance; im.Start != 0.5 || im.End != 0.5 {
		t.Errorf("from %v to %v; want what was measured, 0.5", im.Start, im.End)
	}
	if got := (Interval{-0.001, -0.004, -0}).percent(); got != "0 % (0 to 0)" {
		t.Error(got)
	}
}

// The median that is drawn of several seeds is the one that is said.
func TestMedianOfSeeds(t *testing.T) {
	one := scattered(begin(t, float("x")), 6).of(false)
	for _, c := range []struct {
		bests  []float64
		median float64
	}{{[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{5, 4, 3, 2, 1}, 3}, {[]float64{7, 1, 3, 5}, 4}} {
		t.Run(fmt.Sprint(c.bests), func(t *testing.T) {
			drawn := overlay(one, []group{
				{courses: lists.Map(c.bests, func(best float64) []float64 { return []float64{10, best} })},
				{courses: [][]float64{{10, c.median}}},
			})
			lines := regexp.MustCompile(`class="series s\d" d="([^"]*)"`).FindAllStringSubmatch(drawn, -1)
			if len(lines) != 2 || lines[0][1] != lines[1][1] {
				t.Errorf("%v: %q are not one line", c.bests, lines)
			}
		})
	}
}
