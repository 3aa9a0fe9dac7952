package report

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// mixed is a space of all kinds of parameters, with conditions on two floors.
func mixed(t *testing.T) *spaces.Space {
	t.Helper()
	space, err := spaces.New(
		spaces.Param{Name: "kind", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a"), spaces.String("b"), spaces.String("c")}},
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-4, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "deep", Kind: spaces.KindBool, When: "kind != 'a'"},
		spaces.Param{Name: "layers", Kind: spaces.KindInt, Min: 1, Max: 5, Scale: spaces.Log, When: "deep == true"},
		spaces.Param{Name: "units", Kind: spaces.KindInt, Min: 8, Max: 512},
		spaces.Param{Name: "drop", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "layers >= 3"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// told is an ANOVA model of random places of a space, with values of some function.
func toldOf(t *testing.T, space *spaces.Space, n int, value func(spaces.Point) float64) (*anova, *evidence) {
	t.Helper()
	a := newANOVA(space, make([]bool, len(space.Params())))
	rng := rand.New(rand.NewPCG(1, 2))
	var points []spaces.Point
	var y []float64
	for range n {
		points = append(points, space.Draw(rng))
		y = append(y, value(points[len(points)-1]))
	}
	return a, a.tell(points, y)
}

func anything(d int) weights {
	rng := rand.New(rand.NewPCG(3, 4))
	w := make(weights, 2*d+2)
	for i := range d {
		w[i], w[d+i] = math.Log(0.5)+0.3*rng.NormFloat64(), 2+0.3*rng.NormFloat64()
	}
	w[2*d], w[2*d+1] = -0.3, -2
	return w
}

func TestFunctionsAreOrthonormal(t *testing.T) {
	space := mixed(t)
	for i, p := range space.Params() {
		b := basisOf(p)
		at, odds := b.places(grid)
		for k := range b.n {
			for l := -1; l < b.n; l++ {
				sum := 0.0
				for q, u := range at {
					v := b.at(u)
					if l < 0 {
						sum += odds[q] * v[k]
					} else {
						sum += odds[q] * v[k] * v[l]
					}
				}
				want := 0.0
				if k == l {
					want = 1
				}
				if math.Abs(sum-want) > 1e-6 {
					t.Errorf("%s: functions %d and %d: %v; want %v", space.Params()[i].Name, k, l, sum, want)
				}
			}
		}
	}
}

func TestPosteriorGradient(t *testing.T) {
	a, e := toldOf(t, mixed(t), 20, func(p spaces.Point) float64 { return p[0] + math.Sin(3*p[3]) + p[4]*p[5] })
	w := anything(len(a.bases))
	s, ok := a.at(e, w)
	if !ok {
		t.Fatal("no posterior")
	}
	for i := range w {
		const h = 1e-5
		up, down := append(weights{}, w...), append(weights{}, w...)
		up[i] += h
		down[i] -= h
		su, _ := a.at(e, up)
		sd, _ := a.at(e, down)
		if want := (su.lp - sd.lp) / (2 * h); math.Abs(s.grad[i]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("derivative by weight %d: %v; by a difference %v", i, s.grad[i], want)
		}
	}
}

// Functions that are drawn go through the values, as far apart as the noise says, and
// their mean is that of the process.
func TestDraws(t *testing.T) {
	a, e := toldOf(t, mixed(t), 25, func(p spaces.Point) float64 { return p[0] - 0.5 + math.Sin(3*p[3]) })
	s, ok := a.at(e, anything(len(a.bases)))
	if !ok {
		t.Fatal("no posterior")
	}
	again := func(f *surface) *surface { return a.draw(e, s, rand.New(rand.NewPCG(7, 8)), f) }
	if !reflect.DeepEqual(again(again(nil)), again(nil)) {
		t.Error("a function in the place of another is another one")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 400
	noise := s.w.noise()*s.w.noise() + leastNoise
	for at := range e.y {
		row := make([][]float64, len(a.bases))
		for i := range row {
			for k := range e.phi[i] {
				row[i] = append(row[i], e.phi[i][k][at])
			}
		}
		mean, square := 0.0, 0.0
		for range n {
			v := a.draw(e, s, rng, nil).of(row)
			mean += v / n
			square += v * v / n
		}
		// The mean and the variance at a place that was told (Rasmussen and Williams 2006,
		// eq. 2.25 and 2.26): y − σ² α, σ² − σ⁴ K⁻¹.
		want, variance := e.y[at]-noise*s.alpha[at], noise-noise*noise*s.inverse.At(at, at)
		if math.Abs(mean-want) > 4*math.Sqrt(variance/n) || math.Abs((square-mean*mean)/variance-1) > 0.35 {
			t.Errorf("place %d: mean %v, variance %v; want %v, %v", at, mean, square-mean*mean, want, variance)
		}
		if at == 5 {
			break
		}
	}
}

// The shares in closed form are those that many places show, and Shapley values those of
// the game of all parameters.
func TestSharesAndShapleyOfADraw(t *testing.T) {
	space := mixed(t)
	a, e := toldOf(t, space, 12, func(p spaces.Point) float64 { return p[0] + 3*p[3] })
	s, ok := a.at(e, anything(len(a.bases)))
	if !ok {
		t.Fatal("no posterior")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	f := a.draw(e, s, rng, nil)
	d := space.Len()
	main, total := f.sobol(a.settings(rng))
	n := effort.Of(5000, 20000, 20000)
	var values []float64
	for _, p := range pickFreeze(space, n, rng) {
		values = append(values, f.of(a.features(p)))
	}
	wantMain, wantTotal := sobolIndices(values, n, d)
	for i := range d {
		if math.Abs(main[i]-wantMain[i]) > 0.03 || math.Abs(total[i]-wantTotal[i]) > 0.03 {
			t.Errorf("parameter %d: %.3f alone, %.3f in all; many places say %.3f, %.3f", i, main[i], total[i], wantMain[i], wantTotal[i])
		}
	}

	from, to := space.FromUniform([]float64{0.1, 0.2, 0.1, 0.3, 0.4, 0.1}), space.FromUniform([]float64{0.9, 0.7, 0.9, 0.9, 0.8, 0.9})
	coalitions, terms := shapley(d, rng)
	var v []float64
	for _, in := range coalitions {
		p := append(spaces.Point{}, from...)
		for i := range d {
			if in[i] {
				copyParam(space, i, p, to)
			}
		}
		v = append(v, f.of(a.features(p)))
	}
	got := f.shapley(from, to)
	for i, want := range sum(d, terms, v) {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("parameter %d: a Shapley value of %v; want %v", i, got[i], want)
		}
	}
}

// copyParam copies the coordinates of one parameter.
func copyParam(space *spaces.Space, i int, to, from spaces.Point) {
	end := space.Dim()
	if i+1 < space.Len() {
		end = space.Offset(i + 1)
	}
	copy(to[space.Offset(i):end], from[space.Offset(i):end])
}

// The doubt is none where the trials represent the space, be they random or all that there are, and large
// after a search.
func TestDoubtOfTheWholeSpace(t *testing.T) {
	space, err := spaces.New(floats01(4)...)
	if err != nil {
		t.Fatal(err)
	}
	few, err := spaces.New(yesno("a"), choice("b", 3))
	if err != nil {
		t.Fatal(err)
	}
	anywhere := func(_ int, rng *rand.Rand) spaces.Point { return space.Draw(rng) }
	for _, test := range []struct {
		name      string
		space     *spaces.Space
		at        func(k int, rng *rand.Rand) spaces.Point
		low, high float64
	}{
		{"random", space, anywhere, 1, 1.4},
		{"a crowd and few others", space, func(k int, rng *rand.Rand) spaces.Point {
			p := space.Draw(rng)
			for i := range p {
				if k >= 10 {
					p[i] = 0.3 + 0.05*(p[i]-0.3)
				}
			}
			return p
		}, 1.8, 5},
		{"all, and two far more often", few, func(k int, _ *rand.Rand) spaces.Point {
			return few.FromUniform([]float64{float64(k%2)*0.5 + 0.2, float64(min(k/2, 2))/3 + 0.1})
		}, 1, 1},
	} {
		rng := rand.New(rand.NewPCG(9, 10))
		m := &fitted{anova: newANOVA(test.space, make([]bool, test.space.Len()))}
		var points []spaces.Point
		for k := range 2000 {
			points = append(points, m.anywhere(rng))
			if k < 40 {
				m.places = append(m.places, test.at(k, rng))
				m.values = append(m.values, rng.NormFloat64())
			}
		}
		if got := m.doubt(points); got < test.low || got > test.high {
			t.Errorf("%s: a doubt of %.2f; want between %v and %v", test.name, got, test.low, test.high)
		}
	}
}

// A wider interval is one of a share still.
func TestWiderIntervals(t *testing.T) {
	v := Interval{0.2, 0.1, 0.4}
	if got := v.wider(1); math.Abs(got.Low-0.1) > 1e-12 || math.Abs(got.High-0.4) > 1e-12 {
		t.Errorf("as wide: %v", got)
	}
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	got := v.wider(2)
	if math.Abs(logit(got.Low)-(2*logit(0.1)-logit(0.2))) > 1e-9 || math.Abs(logit(got.High)-(2*logit(0.4)-logit(0.2))) > 1e-9 || got.Value != 0.2 {
		t.Errorf("twice as wide: %v", got)
	}
	for _, v := range []Interval{{0, 0, 0}, {1, 1, 1}, {0.5, 0, 1}, {0.5, 0, math.Nextafter(1, 2)}, {1e-300, 0, 1e-299}} {
		if got := v.wider(9); !(0 <= got.Low && got.Low <= got.Value && got.Value <= got.High && got.High <= 1) {
			t.Errorf("%v becomes %v", v, got)
		}
	}
}
