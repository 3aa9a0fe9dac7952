package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lbotune/lbotune/spaces"
)

func squareSpace(t *testing.T) *spaces.Space {
	t.Helper()
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// hill has its top at (a, b).
func hill(a, b float64) func([]float64) float64 {
	return func(p []float64) float64 {
		return math.Exp(-4*(p[0]-a)*(p[0]-a)-4*(p[1]-b)*(p[1]-b)) + 0.1*math.Sin(5*p[0])
	}
}

// earlierOf are results of an earlier study of f.
func earlierOf(space *spaces.Space, n int, f func([]float64) float64) Earlier {
	var e Earlier
	rng := rand.New(rand.NewPCG(5, 6))
	for range n {
		p := space.Draw(rng)
		e.Points, e.Values = append(e.Points, p), append(e.Values, f(p))
	}
	return e
}

func heir(t *testing.T, earlier ...Earlier) *lbo {
	t.Helper()
	o, err := New(squareSpace(t), 3, Settings{}, earlier...)
	if err != nil {
		t.Fatal(err)
	}
	return o.(*lbo)
}

// study tells n random points with their values.
func study(t *testing.T, l *lbo, n int, f func([]float64) float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	for k := 1; k <= n; k++ {
		p := l.past.space.Draw(rng)
		o := Observation{Trial: k, Proposal: Proposal{Point: p, Origin: OriginGiven}, Status: Succeeded, Values: []float64{f(p)}}
		if err := l.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAgreement(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	if got, want := agreement(a, a), 1-2*math.Sqrt(2*21.0/(9*8*7)); math.Abs(got-want) > 1e-15 {
		t.Errorf("of equal ranks: %v, want %v", got, want)
	}
	if got := agreement(a, []float64{2, 1, 4, 3, 6, 5, 8, 7}); math.Abs(got-(20.0/28-2*math.Sqrt(2*21.0/(9*8*7)))) > 1e-15 {
		t.Errorf("with four pairs swapped: %v", got)
	}
	for _, b := range [][]float64{{8, 7, 6, 5, 4, 3, 2, 1}, {4, 1, 5, 8, 2, 7, 6, 3}, {1, 1, 1, 1, 1, 1, 1, 1}} {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			if got := agreement(a, b); got != 0 {
				t.Errorf("with %v: %v, want 0", b, got)
			}
		})
	}
}

func TestPriorMeanFollowsWhoAgrees(t *testing.T) {
	space := squareSpace(t)
	like := earlierOf(space, 100, hill(0.3, 0.6))
	unlike := earlierOf(space, 40, func(p []float64) float64 { return -hill(0.3, 0.6)(p) })
	target := func(p []float64) float64 { return 100 * hill(0.35, 0.55)(p) }

	l := heir(t, unlike, like, earlierOf(space, 200, hill(0.3, 0.6)))
	study(t, l, 12, target)
	s, err := l.surrogate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, ok := l.priorMean(t.Context(), s.z).(*blend)
	if !ok {
		t.Fatal("there is no prior mean")
	}
	if len(b.of) != 2 || b.of[0] != l.kin[1].mean || b.of[1] != l.kin[2].mean || b.weights[0] <= 0 {
		t.Errorf("%d studies have the weights %v; want those of the last two", len(b.of), b.weights)
	}
	// The model knows the way to the top, where nothing was tried.
	alone := heir(t)
	study(t, alone, 12, target)
	plain, err := alone.surrogate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rng, with, without := rand.New(rand.NewPCG(9, 9)), 0.0, 0.0
	for range 200 {
		p := space.Draw(rng)
		with += math.Abs(s.value(s.model.Predictor().Mean(p)) - target(p))
		without += math.Abs(plain.value(plain.model.Predictor().Mean(p)) - target(p))
	}
	if with > without/2 {
		t.Errorf("the error of the model is %.3g with an earlier study and %.3g without", with/200, without/200)
	}

	l = heir(t, unlike)
	study(t, l, 12, target)
	if s, err = l.surrogate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := l.priorMean(t.Context(), s.z); m != nil {
		t.Errorf("a study whose ranks disagree has the prior mean %v", m)
	}
	p := []float64{0.2, 0.9}
	if got, want := s.model.Predictor().Mean(p), plain.model.Predictor().Mean(p); got != want {
		t.Errorf("it changes the model from %v to %v", want, got)
	}
}

func TestGradientOfThePriorMean(t *testing.T) {
	space := squareSpace(t)
	l := heir(t, earlierOf(space, 20, hill(0.3, 0.6)), earlierOf(space, 30, hill(0.5, 0.4)))
	l.kin[0].agreed, l.kin[1].agreed = true, true
	study(t, l, 15, hill(0.4, 0.5))
	b, ok := l.priorMean(t.Context(), l.past.y).(*blend)
	if !ok || len(b.of) != 2 || floats.Norm(b.by[0], 1) == 0 {
		t.Fatalf("the prior mean is %v; want a blend of two", b)
	}
	rng, grad := rand.New(rand.NewPCG(1, 1)), make([]float64, 2)
	for range 20 {
		p := []float64{rng.Float64(), rng.Float64()}
		if v := b.ValueGrad(p, grad); math.Abs(v-b.Value(p)) > 1e-12 {
			t.Errorf("ValueGrad says %v, Value %v", v, b.Value(p))
		}
		for j := range p {
			const h = 1e-6
			up, down := slices.Clone(p), slices.Clone(p)
			up[j], down[j] = p[j]+h, p[j]-h
			if want := (b.Value(up) - b.Value(down)) / (2 * h); math.Abs(grad[j]-want) > 1e-5*math.Max(1, math.Abs(want)) {
				t.Errorf("∂%d at %v is %v, want %v", j, p, grad[j], want)
			}
		}
	}
}

// After the centre come the best of earlier studies that agree with each other, and the rest
// of the design is what it always was. So is all of it if they do not agree.
func TestPortfolio(t *testing.T) {
	space := squareSpace(t)
	a, b, c := earlierOf(space, 200, hill(0.8, 0.2)), earlierOf(space, 300, hill(0.82, 0.21)), earlierOf(space, 200, hill(0.3, 0.9))
	l, apart, alone := heir(t, a, b), heir(t, a, c), heir(t)
	half := len(alone.first) / 2
	if len(l.first) != len(alone.first) || half < 2 {
		t.Fatalf("a design of %d points, and %d without", len(l.first), len(alone.first))
	}
	for i, p := range l.first {
		if same := slices.Equal(p, alone.first[i]); same != (i == 0 || i > half) {
			t.Errorf("point %d of the design is %v, and %v without", i+1, p, alone.first[i])
		}
		if at := apart.first[i]; !slices.Equal(at, alone.first[i]) {
			t.Errorf("point %d of the design is %v after studies that disagree, and %v without", i+1, at, alone.first[i])
		}
	}
	for _, p := range l.first[1 : half+1] {
		if math.Hypot(p[0]-0.81, p[1]-0.2) > 0.15 {
			t.Errorf("%v is in the portfolio", p)
		}
	}
}

// Studies that agree have a say until this one's ranks are others, and one that nobody agrees
// with from when its ranks are this one's.
func TestWhoHasASay(t *testing.T) {
	space := squareSpace(t)
	a, b, c := earlierOf(space, 200, hill(0.8, 0.2)), earlierOf(space, 300, hill(0.82, 0.21)), earlierOf(space, 200, hill(0.3, 0.9))
	l := heir(t, a, b, c)
	study(t, l, 12, hill(0.3, 0.9))
	for n, want := range map[int][]*kin{0: l.kin[:2], 3: l.kin[:2], 12: l.kin[2:]} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := l.related(n); !slices.Equal(got, want) {
				t.Errorf("after %d trials %d studies have a say; want %d others", n, len(got), len(want))
			}
		})
	}
}

// With the curvature of a study of the same function, moved and scaled, the quadratic needs
// fewer trials than it has coefficients.
func TestQuadraticLikeAnEarlierOne(t *testing.T) {
	space := guessed(t, -1) // of four dimensions
	bowl := func(at, scale float64) func([]float64) float64 {
		return func(p []float64) float64 {
			sum, before := 0.0, 0.0
			for j, x := range p {
				d := x - at
				sum, before = sum+float64(1+10*j)*d*d+4*d*before, d
			}
			return -scale * sum
		}
	}
	o, err := New(space, 3, Settings{}, earlierOf(space, 60, bowl(0.5, 1)))
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for k := 1; k <= 14; k++ {
		p, err := o.Ask(t.Context(), Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		y := bowl(0.54, 7)(p.Point)
		best = math.Max(best, y)
		if err := o.Tell(Observation{Trial: k, Proposal: p, Status: Succeeded, Values: []float64{y}}); err != nil {
			t.Fatal(err)
		}
	}
	if best < -1e-6 {
		t.Errorf("after 14 trials the regret is %.3g", -best)
	}
}

// A mean that is the objective moved and scaled is moved back.
func TestAlign(t *testing.T) {
	space := squareSpace(t)
	l := heir(t, earlierOf(space, 60, hill(0.3, 0.6)))
	bare := func(a, b float64) func([]float64) float64 {
		return func(p []float64) float64 { return 5 * hill(0.3, 0.6)([]float64{p[0] - a, p[1] - b}) }
	}
	study(t, l, 20, bare(0.08, -0.06))
	by := l.align(t.Context(), l.kin[0].mean, l.past.y)
	if math.Abs(by[0]-0.08) > 0.02 || math.Abs(by[1]+0.06) > 0.02 {
		t.Errorf("moved by %v, want about [0.08 -0.06]", by)
	}
}
