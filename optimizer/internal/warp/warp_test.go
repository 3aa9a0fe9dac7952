package warp_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/warp"
)

// skewed returns n values with a heavy bad tail, as a loss negated.
func skewed(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	ys := make([]float64, n)
	for i := range ys {
		ys[i] = 5 - math.Exp(2*rng.NormFloat64())
	}
	return ys
}

func fit(t *testing.T, kind warp.Kind, ys []float64, o warp.Options) warp.Warp {
	t.Helper()
	w, err := warp.Fit(kind, ys, o)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return w
}

func alike(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func TestRoundTripOrderAndJacobian(t *testing.T) {
	for seed := range uint64(10) {
		ys := skewed(seed, 30)
		best, worst := slices.Max(ys), slices.Min(ys)
		probes := append(slices.Clone(ys), best+0.3, best+2, worst-5, (best+worst)/2)
		slices.Sort(probes)
		for _, kind := range warp.Kinds() {
			w := fit(t, kind, ys, warp.Options{})
			before := math.Inf(-1)
			for _, y := range probes {
				z := w.Apply(y)
				if !(z > before) {
					t.Errorf("%s: Apply is not increasing at %v", kind, y)
				}
				before = z
				if back := w.Inverse(z); !alike(back, y, 1e-8) {
					t.Errorf("%s: Inverse(Apply(%v)) = %v", kind, y, back)
				}
				h := 1e-6 * math.Max(1, math.Abs(y))
				if math.Abs(y-best) < 2*h { // the log shape is only C¹ there
					continue
				}
				slope := (w.Apply(y+h) - w.Apply(y-h)) / (2 * h)
				if got := w.LogJacobian(y); !alike(got, math.Log(slope), 1e-4) {
					t.Errorf("%s: LogJacobian(%v) = %v, by differences %v", kind, y, got, math.Log(slope))
				}
			}
		}
	}
}

func TestTransformedValuesAreStandardized(t *testing.T) {
	ys := skewed(1, 41)
	for _, kind := range warp.Kinds() {
		w := fit(t, kind, ys, warp.Options{Winsor: 5})
		var mean, square float64
		zs := w.ApplyAll(ys)
		for _, z := range zs {
			mean += z / 41
		}
		for _, z := range zs {
			square += (z - mean) * (z - mean) / 41
		}
		if math.Abs(mean) > 1e-12 || math.Abs(square-1) > 1e-12 {
			t.Errorf("%s: mean %v, variance %v", kind, mean, square)
		}
	}
}

func TestShapesFollowTheirFormulas(t *testing.T) {
	ys := []float64{1, 2, 4, 8, 9} // best 9, median 4, MAD 3
	raw := func(w warp.Warp, y float64) float64 { return w.Apply(y)*w.SD + w.Mean }
	for _, c := range []struct {
		kind    warp.Kind
		y, want float64
	}{
		{warp.Identity, 2, 2},
		{warp.Log, 9, -math.Log(0.1)},
		{warp.Log, 4, -math.Log(1.1)},
		{warp.Log, 9.5, -math.Log(0.1) + 0.5/(0.1*5)}, // tangent above the best
		{warp.Asinh, 4, 0},
		{warp.Asinh, 7, math.Asinh(1)},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			w := fit(t, c.kind, ys, warp.Options{})
			if got := raw(w, c.y); !alike(got, c.want, 1e-14) {
				t.Errorf("%s(%v) = %v, want %v", c.kind, c.y, got, c.want)
			}
		})
	}
}

func TestWinsor(t *testing.T) {
	ys := []float64{1, 2, 3, 4, 5, -1e9} // median 2.5, MAD 1.5
	for _, kind := range warp.Kinds() {
		w := fit(t, kind, ys, warp.Options{Winsor: 5})
		if w.Floor != -5 {
			t.Fatalf("%s: floor %v, want -5", kind, w.Floor)
		}
		if a, b := w.Apply(-1e9), w.Apply(-5); a != b {
			t.Errorf("%s: %v below the floor, %v at it", kind, a, b)
		}
		if a, b := w.LogJacobian(-1e9), w.LogJacobian(-5); a != b {
			t.Errorf("%s: Jacobian %v below the floor, %v at it", kind, a, b)
		}
	}
	if w := fit(t, warp.Identity, []float64{1, 1, 1, 1, -9}, warp.Options{Winsor: 5}); !math.IsInf(w.Floor, -1) {
		t.Errorf("a MAD of 0 gave the floor %v", w.Floor)
	}
}

func TestDegenerateValues(t *testing.T) {
	for name, ys := range map[string][]float64{
		"one":               {3},
		"two":               {3, 4},
		"constant":          {0.1, 0.1, 0.1},
		"mostly the best":   {2, 2, 2, 2, 1},
		"mostly the median": {1, 2, 2, 2, 3},
		"large":             {1e300, -1e300, 3},
		"tiny":              {1e-300, 2e-300, 3e-300},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range warp.Kinds() {
				w := fit(t, kind, ys, warp.Options{})
				for _, y := range ys {
					z := w.Apply(y)
					if math.IsNaN(z) || math.Abs(z) > 10 {
						t.Errorf("%s of %s: Apply(%v) = %v", kind, name, y, z)
					}
					if j := w.LogJacobian(y); math.IsNaN(j) || math.IsInf(j, 0) {
						t.Errorf("%s of %s: LogJacobian(%v) = %v", kind, name, y, j)
					}
				}
				if name == "constant" && w.Apply(0.1) != 0 {
					t.Errorf("%s of a constant is %v, want 0", kind, w.Apply(0.1))
				}
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	for name, f := range map[string]func() error{
		"empty":    func() error { _, err := warp.Fit(warp.Log, nil, warp.Options{}); return err },
		"NaN":      func() error { _, err := warp.Fit(warp.Log, []float64{1, math.NaN()}, warp.Options{}); return err },
		"infinite": func() error { _, err := warp.Fit(warp.Log, []float64{math.Inf(-1)}, warp.Options{}); return err },
		"beyond range": func() error {
			_, err := warp.Fit(warp.Identity, []float64{1.7e308, -1.7e308, -1.7e308}, warp.Options{})
			return err
		},
		"unknown kind": func() error { _, err := warp.Fit("cubic", []float64{1}, warp.Options{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if f() == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// If u is a standard normal pushed through the inverse of a Yeo-Johnson
// transform, maximum likelihood must find its λ up to the standardization.
func TestYeoJohnsonLambda(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	normal := make([]float64, 400)
	lognormal := make([]float64, 400)
	for i := range normal {
		normal[i] = rng.NormFloat64()
		lognormal[i] = -math.Exp(normal[i])
	}
	if w := fit(t, warp.YeoJohnson, normal, warp.Options{}); math.Abs(w.Lambda-1) > 0.15 {
		t.Errorf("λ of normal values is %v, want about 1", w.Lambda)
	}
	w := fit(t, warp.YeoJohnson, lognormal, warp.Options{})
	if w.Lambda < 1.5 {
		t.Errorf("λ of a long lower tail is %v, want far above 1", w.Lambda)
	}
	// The profile likelihood, written out, has its maximum there.
	likelihood := func(lambda float64) float64 {
		v := w
		v.Lambda, v.Mean, v.SD = lambda, 0, 1
		zs := v.ApplyAll(lognormal)
		mean, square, jacobian := 0.0, 0.0, 0.0
		for i, z := range zs {
			mean += z / 400
			jacobian += v.LogJacobian(lognormal[i])
		}
		for _, z := range zs {
			square += (z - mean) * (z - mean) / 400
		}
		return -200*math.Log(square) + jacobian
	}
	at := likelihood(w.Lambda)
	for _, step := range []float64{-0.5, -0.01, 0.01, 0.5} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			if likelihood(w.Lambda+step) >= at {
				t.Errorf("λ = %v is more likely than %v", w.Lambda+step, w.Lambda)
			}
		})
	}
}

func TestYeoJohnsonBoundedInverse(t *testing.T) {
	w := warp.Warp{Kind: warp.YeoJohnson, Scale: 1, SD: 1, Lambda: -1, Floor: math.Inf(-1)} // bounded above by 1
	if v := w.Inverse(1.5); !math.IsInf(v, 1) {
		t.Errorf("inverse beyond the bound is %v", v)
	}
	for _, lambda := range []float64{0, 1e-12, 2, 2 - 1e-12, 1} {
		w.Lambda = lambda
		for _, y := range []float64{-3, -1e-9, 0, 1e-9, 3} {
			t.Run(fmt.Sprint(y), func(t *testing.T) {
				if back := w.Inverse(w.Apply(y)); !alike(back, y, 1e-12) {
					t.Errorf("λ = %v: %v came back as %v", lambda, y, back)
				}
			})
		}
	}
}

// normalScore is the log density of independent standard normal values.
func normalScore(_ warp.Warp, zs []float64) (model any, density float64, err error) {
	sum := 0.0
	for _, z := range zs {
		sum -= 0.5 * (z*z + math.Log(2*math.Pi))
	}
	return nil, sum, nil
}

func TestChooseComparesDensitiesOfRawValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	normal, sinh := make([]float64, 300), make([]float64, 300)
	for i := range normal {
		normal[i] = rng.NormFloat64()
		sinh[i] = 1e4 * math.Sinh(2.5*rng.NormFloat64())
	}
	for _, c := range []struct {
		ys   []float64
		want warp.Kind
	}{{sinh, warp.Asinh}, {skewed(4, 300), warp.Log}} {
		t.Run(string(c.want), func(t *testing.T) {
			w, _, err := warp.Choose(warp.Kinds(), c.ys, warp.Options{}, normalScore)
			if err != nil {
				t.Fatal(err)
			}
			if w.Kind != c.want {
				t.Errorf("chose %s, want %s", w.Kind, c.want)
			}
		})
	}
	w, _, err := warp.Choose([]warp.Kind{warp.Identity, warp.Log, warp.Asinh}, normal, warp.Options{}, normalScore)
	if err != nil || w.Kind != warp.Identity {
		t.Errorf("normal values: chose %s (%v), want identity", w.Kind, err)
	}
}

func TestChoosePassesOverWhatFails(t *testing.T) {
	ys := skewed(5, 20)
	failing := errors.New("no fit")
	w, _, err := warp.Choose(warp.Kinds(), ys, warp.Options{}, func(w warp.Warp, z []float64) (int, float64, error) {
		if w.Kind != warp.Asinh {
			return 0, 0, failing
		}
		return 0, 0, nil
	})
	if err != nil || w.Kind != warp.Asinh {
		t.Errorf("chose %v, %v", w.Kind, err)
	}
	_, _, err = warp.Choose(warp.Kinds(), ys, warp.Options{}, func(warp.Warp, []float64) (int, float64, error) { return 0, 0, failing })
	if !errors.Is(err, failing) {
		t.Errorf("error %v does not tell the cause", err)
	}
}

// The median is that of the sorted values, whatever their order and however many are equal.
func TestMedianIsThatOfSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := make([]float64, 1+rng.IntN(40))
		for i, few := 0, 1+rng.IntN(30); i < len(v); i++ {
			v[i] = float64(rng.IntN(few)) - 5
		}
		before, s := slices.Clone(v), slices.Sorted(slices.Values(v))
		want := s[len(s)/2]
		if len(s)%2 == 0 {
			want = s[len(s)/2-1]/2 + want/2
		}
		if got := warp.Median(v); got != want || !slices.Equal(v, before) {
			t.Fatalf("the median of %v is %v, want %v", before, got, want)
		}
	}
}
