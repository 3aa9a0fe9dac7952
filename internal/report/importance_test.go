package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/spaces"
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

// Of many players the sampled values still add up to the whole, are exact for a game
// without interactions, and near it for one with some.
func TestSampledShapleyValues(t *testing.T) {
	const d = 14
	coalitions, terms := shapley(d, rand.New(rand.NewPCG(3, 4)))
	for _, pair := range []float64{0, 2} {
		var v []float64
		for _, in := range coalitions {
			whole := 0.0
			for i := range d {
				if in[i] {
					whole += float64(i)
				}
			}
			if in[0] && in[13] {
				whole += pair
			}
			v = append(v, whole)
		}
		total := 0.0
		for i, g := range sum(d, terms, v) {
			total += g
			want := float64(i)
			if i == 0 || i == 13 {
				want += pair / 2
			}
			if math.Abs(g-want) > 1e-9 { // a pair is split evenly by an order and its reverse
				t.Errorf("player %d: %v; want %v", i, g, want)
			}
		}
		if math.Abs(total-(91+pair)) > 1e-9 {
			t.Errorf("they add up to %v; want %v", total, 91+pair)
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

func TestRanks(t *testing.T) {
	if got := ranks([]float64{3, 1, 2, 1}); !slices.Equal(got, []float64{3, 0, 2, 1}) {
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
	if order := im.order(3); !slices.Equal(order, []int{0, 1, 2}) || math.Abs(im.Params[0].Main.Value-16.0/17) > 0.05 || im.Params[2].Total.Value > 0.05 {
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
