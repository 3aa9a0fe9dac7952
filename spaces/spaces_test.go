package spaces_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

func mixed(t testing.TB) *spaces.Space {
	t.Helper()
	s, err := spaces.New(
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-7, Max: 0.05, Scale: spaces.Log},
		spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: -3, Max: 11},
		spaces.Param{Name: "depth", Kind: spaces.KindInt, Min: 1, Max: 12},
		spaces.Param{Name: "width", Kind: spaces.KindInt, Min: 1, Max: 4096, Scale: spaces.Log},
		spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam"), spaces.Int(3)}},
		spaces.Param{Name: "bn", Kind: spaces.KindBool},
		spaces.Param{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 0.99, When: "opt == 'sgd' and depth >= 2"},
		spaces.Param{Name: "nesterov", Kind: spaces.KindBool, When: "momentum > 0.5"},
		spaces.Param{Name: "decay", Kind: spaces.KindFloat, Min: 1e-6, Max: 0.1, Scale: spaces.Log, Format: ".2e"},
		spaces.Param{Name: "shift", Kind: spaces.KindFloat, Min: -5, Max: 5, Format: ".3g"},
		spaces.Param{Name: "beta", Kind: spaces.KindFloat, Min: 1e-6, Max: 1 - 1e-6, Scale: spaces.Logit},
		spaces.Param{Name: "rate", Kind: spaces.KindFloat, Min: 0.1, Max: 0.9, Step: 0.1},
		spaces.Param{Name: "pause", Kind: spaces.KindFloat, Min: 0.25, Max: 100, Step: 0.25, Scale: spaces.Log},
		spaces.Param{Name: "units", Kind: spaces.KindInt, Min: 32, Max: 512, Step: 32},
		spaces.Param{Name: "batch", Kind: spaces.KindOrdered, Choices: []spaces.Value{spaces.Int(16), spaces.Int(32), spaces.Int(64), spaces.Int(128)}},
		spaces.Param{Name: "size", Kind: spaces.KindOrdered, Choices: []spaces.Value{spaces.String("small"), spaces.String("large")}, When: "batch >= 64"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func uniform(rng *rand.Rand, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = rng.Float64()
	}
	return u
}

func TestRoundTripsAreExact(t *testing.T) {
	s := mixed(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range effort.Sequential(4_000, 20_000, 20_000) {
		v := s.Decode(s.FromUniform(uniform(rng, s.Len())))
		p, err := s.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if back := s.Decode(p); !back.Equal(v) {
			t.Fatalf("%v became %v", v, back)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var read spaces.Values
		if err := json.Unmarshal(b, &read); err != nil || !read.Equal(v) {
			t.Fatalf("%v became %v in JSON (%s): %v", v, read, b, err)
		}
		slices.Reverse(read) // in any order
		q, err := s.Encode(read)
		if err != nil || spaces.Distance(p, q) != 0 {
			t.Fatalf("the point of %s moved by %v: %v", b, spaces.Distance(p, q), err)
		}
	}
}

func TestEndsAreExact(t *testing.T) {
	for _, p := range []spaces.Param{
		{Name: "a", Kind: spaces.KindFloat, Min: 1e-7, Max: 0.05, Scale: spaces.Log},
		{Name: "a", Kind: spaces.KindFloat, Min: 3e-300, Max: 7e300, Scale: spaces.Log},
		{Name: "a", Kind: spaces.KindFloat, Min: -0.1, Max: 0.3},
		{Name: "a", Kind: spaces.KindInt, Min: 1, Max: 1 << 40, Scale: spaces.Log},
		{Name: "a", Kind: spaces.KindInt, Min: -(1 << 53), Max: 1 << 53},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			s, err := spaces.New(p)
			if err != nil {
				t.Fatal(err)
			}
			for u, want := range map[float64]float64{0: p.Min, 1: p.Max, -2: p.Min, 5: p.Max} {
				v, _ := s.Decode(spaces.Point{u})[0].Value.Number()
				if v != want {
					t.Errorf("%+v at %v: got %v, want %v", p, u, v, want)
				}
			}
		})
	}
}

func TestStepsAreWritten(t *testing.T) {
	s, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1, Step: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s.Enumerate(func(v spaces.Values) bool { got = append(got, v[0].Value.Text()); return true })
	if want := "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	for text, ok := range map[string]bool{"0.3": true, "0.30000000000000004": true, "0.35": false, "1.1": false} {
		t.Run(text, func(t *testing.T) {
			if _, err := s.Params()[0].Parse(text); (err == nil) != ok {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}

// Small steps far from 0 are as many different values as anywhere.
func TestStepsFarFromZero(t *testing.T) {
	for _, p := range []spaces.Param{
		{Min: 1.7e9, Max: 1.7e9 + 1, Step: 0.001}, {Min: -1e12, Max: -1e12 + 5, Step: 0.5}, {Min: 1e6, Max: 1e6 + 0x1p-10, Step: 0x1p-20},
	} {
		t.Run(fmt.Sprint(p.Min), func(t *testing.T) {
			p.Name, p.Kind = "x", spaces.KindFloat
			s, err := spaces.New(p)
			if err != nil {
				t.Fatal(err)
			}
			n, last := 0, math.Inf(-1)
			s.Enumerate(func(v spaces.Values) bool {
				q, err := s.Encode(v)
				if x := v.Float("x"); err != nil || x <= last || !s.Decode(q).Equal(v) {
					t.Errorf("%v after %v: %v, %v", x, last, s.Decode(q), err)
				}
				n, last = n+1, v.Float("x")
				return true
			})
			if levels, _ := p.Levels(); float64(n) != levels {
				t.Errorf("%d values of %v", n, levels)
			}
		})
	}
}

func TestNearestStepIsNamed(t *testing.T) {
	_, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 1.7e9, Max: 1.7e9 + 0.01, Step: 0.003})
	if want := "the nearest below is 1700000000.009"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, want %s", err, want)
	}
}

// Half of a logit scale lies above ½, and as much below.
func TestLogitIsSymmetric(t *testing.T) {
	s, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 1e-4, Max: 1 - 1e-4, Scale: spaces.Logit})
	if err != nil {
		t.Fatal(err)
	}
	at := func(u float64) float64 {
		x, _ := s.Decode(spaces.Point{u})[0].Value.Number()
		return x
	}
	if at(0.5) != 0.5 {
		t.Errorf("the middle is %v", at(0.5))
	}
	for _, u := range []float64{0.01, 0.1, 0.25, 0.4} {
		t.Run(fmt.Sprint(u), func(t *testing.T) {
			if a, b := at(u), at(1-u); math.Abs(a+b-1) > 1e-12 {
				t.Errorf("at %v and %v: %v and %v", u, 1-u, a, b)
			}
			if a := at(u); math.Abs(math.Log(a/(1-a))-(1-2*u)*math.Log(1e-4/(1-1e-4))) > 1e-6 {
				t.Errorf("at %v: %v", u, a)
			}
		})
	}
}

func TestNear(t *testing.T) {
	list := []spaces.Value{spaces.Int(16), spaces.Int(32), spaces.Int(64), spaces.Int(128)}
	for _, c := range []struct {
		p     spaces.Param
		v     spaces.Value
		reach int
		want  string
	}{
		{spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 5}, spaces.Int(3), 1, "[2 4]"},
		{spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 5}, spaces.Int(5), 2, "[3 4]"},
		{spaces.Param{Kind: spaces.KindInt, Min: 32, Max: 128, Step: 32}, spaces.Int(64), 9, "[32 96 128]"},
		{spaces.Param{Kind: spaces.KindFloat, Min: 0, Max: 1, Step: 0.25}, spaces.Float(0), 1, "[0.25]"},
		{spaces.Param{Kind: spaces.KindFloat, Min: 0, Max: 1}, spaces.Float(0), 1, "[]"},
		{spaces.Param{Kind: spaces.KindOrdered, Choices: list}, spaces.Int(64), 1, "[32 128]"},
		{spaces.Param{Kind: spaces.KindChoice, Choices: list}, spaces.Int(64), 4, "[16 32 128]"},
		{spaces.Param{Kind: spaces.KindBool}, spaces.Bool(true), 1, "[false]"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := fmt.Sprint(c.p.Near(c.v, c.reach)); got != c.want {
				t.Errorf("%d places around %v of %s: %s, want %s", c.reach, c.v, c.p.Kind, got, c.want)
			}
		})
	}
}

// Every integer of a linear range is equally likely, the two ends included;
// on a log scale the share of n is ln((n+½)/(n−½)) of the whole.
func TestIntsHaveNoBias(t *testing.T) {
	for _, scale := range []spaces.Scale{spaces.Linear, spaces.Log} {
		s, err := spaces.New(spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 6, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		const steps = 600_000
		var count [7]float64
		for i := range steps {
			v, _ := s.Decode(spaces.Point{(float64(i) + 0.5) / steps})[0].Value.Number()
			count[int(v)]++
		}
		for n := 1.0; n <= 6; n++ {
			want := 1.0 / 6
			if scale == spaces.Log {
				want = math.Log((n+0.5)/(n-0.5)) / math.Log(13)
			}
			if got := count[int(n)] / steps; math.Abs(got-want) > 1e-5 {
				t.Errorf("%s: share of %v is %v, want %v", scale, n, got, want)
			}
		}
	}
}

func TestOneChangeOfAChoiceIsOneUnit(t *testing.T) {
	s := mixed(t)
	base := s.Decode(s.FromUniform([]float64{.5, .5, 0, .5, 0, 0, 0, 0, .5, .5, .5, .5, .5, .5, .5, .5}))
	change := func(name string, v spaces.Value) spaces.Point {
		w := append(spaces.Values(nil), base...)
		for i := range w {
			if w[i].Name == name {
				w[i].Value = v
			}
		}
		p, err := s.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, err := s.Encode(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []spaces.Point{
		change("opt", spaces.String("adam")), change("opt", spaces.Int(3)), change("bn", spaces.Bool(true)),
	} {
		if d := spaces.Distance(p, q); math.Abs(d-1) > 1e-15 {
			t.Errorf("one change is %v units of distance", d)
		}
	}
}

func TestSnapIsIdempotentAndHidesInactive(t *testing.T) {
	s := mixed(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		p := s.Snap(spaces.Point(uniform(rng, s.Dim())))
		if q := s.Snap(p); spaces.Distance(p, q) != 0 {
			t.Fatalf("snapping twice moved %v to %v", p, q)
		}
		v := s.Decode(p)
		_, has := v.Get("momentum")
		opt, _ := v.Get("opt")
		depth, _ := v.Get("depth")
		d, _ := depth.Number()
		if want := opt == spaces.String("sgd") && d >= 2; has != want {
			t.Fatalf("momentum present: %v in %v", has, v)
		}
		if at := p[s.Offset(6)]; !has && at != 0.5 {
			t.Fatalf("an inactive coordinate is %v, want the middle", at)
		}
		if _, nest := v.Get("nesterov"); nest && !has {
			t.Fatalf("nesterov without momentum in %v", v)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	s, err := spaces.New(
		spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "b", Kind: spaces.KindBool},
	)
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]spaces.Values{
		"parameter b has no value":                               {{"x", spaces.Float(0.5)}},
		"there is no parameter y":                                {{"x", spaces.Float(0.5)}, {"b", spaces.Bool(true)}, {"y", spaces.Int(1)}},
		"parameter x has two values":                             {{"x", spaces.Float(0.5)}, {"x", spaces.Float(0.5)}, {"b", spaces.Bool(true)}},
		`parameter x: found "1.5"; want a number from 0 to 1`:    {{"x", spaces.Float(1.5)}, {"b", spaces.Bool(true)}},
		`parameter b: found "1"; want true or false`:             {{"x", spaces.Float(0.5)}, {"b", spaces.Int(1)}},
		`parameter x: found "NaN"; want a number from 0 to 1`:    {{"x", spaces.Float(math.NaN())}, {"b", spaces.Bool(true)}},
		`parameter x: found "orange"; want a number from 0 to 1`: {{"x", spaces.String("orange")}, {"b", spaces.Bool(true)}},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := s.Encode(v); err == nil || err.Error() != want {
				t.Errorf("%v: got %v, want %s", v, err, want)
			}
		})
	}
}

func TestNewReportsEverything(t *testing.T) {
	_, err := spaces.New(
		spaces.Param{Name: "1x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "a", Kind: spaces.KindFloat, Min: 0, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "b", Kind: spaces.KindInt, Min: 4, Max: 4},
		spaces.Param{Name: "b", Kind: spaces.KindBool, Scale: spaces.Log},
		spaces.Param{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.Int(1), spaces.String("1")}},
		spaces.Param{Name: "d", Kind: spaces.KindBool, When: "later == 1"},
		spaces.Param{Name: "e", Kind: spaces.KindFloat, Min: math.Inf(-1), Max: 0},
		spaces.Param{Name: "f", Kind: spaces.KindInt, Min: 32, Max: 100, Step: 32},
		spaces.Param{Name: "g", Kind: spaces.KindFloat, Min: 0, Max: 1, Step: -1},
		spaces.Param{Name: "h", Kind: spaces.KindFloat, Min: 0.1, Max: 1, Scale: spaces.Logit},
		spaces.Param{Name: "i", Kind: spaces.KindFloat, Min: 0.1, Max: 1, Default: spaces.Float(2)},
		spaces.Param{Name: "j", Kind: spaces.KindBool, Step: 1},
		spaces.Param{Name: "k", Kind: spaces.KindFloat, Min: 0.1, Max: 1.1, Step: 0.5, Scale: spaces.Log, Format: ".0f"},
	)
	var prob spaces.Problem
	if !errors.As(err, &prob) {
		t.Fatalf("got %v, want Problems", err)
	}
	want := `parameter 1x: name: "1x" is not a name: want a letter or _ followed by letters, digits and _
parameter a: min: min = 0, but a log scale needs min > 0
parameter b: min: min = 4 must be smaller than max = 4
parameter b: scale: only float and int have a scale; this one is bool
parameter b: name: there are two parameters of this name
parameter c: choices: "1" is there twice
parameter d: when: "later" is not a parameter declared before this one
parameter e: min: found -Inf; want a finite number
parameter f: max: max = 100 is no whole number of steps of 32 from min = 32; the nearest below is 96
parameter g: step: found -1; want a positive number
parameter h: max: max = 1, but a logit scale needs max < 1
parameter i: default: found 2; want a number from 0.1 to 1
parameter j: step: only float and int have a step; this one is bool
parameter k: min: min = 0.1, but a log scale with step = 0.5 needs a larger one`
	if err.Error() != want {
		t.Errorf("found\n%v\nwant\n%s", err, want)
	}
	if _, err := spaces.New(); err == nil || err.Error() != "a study needs at least one parameter" {
		t.Error(err)
	}
}

func TestConditions(t *testing.T) {
	earlier := []spaces.Param{
		{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam")}},
		{Name: "n", Kind: spaces.KindInt, Min: -5, Max: 9},
		{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		{Name: "b", Kind: spaces.KindBool},
		{Name: "gone", Kind: spaces.KindBool, When: "opt == 'adam'"},
	}
	values := spaces.Values{{Name: "opt", Value: spaces.String("sgd")}, {Name: "n", Value: spaces.Int(3)},
		{Name: "x", Value: spaces.Float(0.5)}, {Name: "b", Value: spaces.Bool(true)}}
	with := func(text string) (*spaces.Space, error) {
		return spaces.New(append(slices.Clone(earlier), spaces.Param{Name: "last", Kind: spaces.KindBool, When: text})...)
	}
	for text, want := range map[string]bool{
		"opt == 'sgd'": true, `opt == "adam"`: false, "opt != 'adam'": true, "n == 3": true, "n==3.0": true,
		"n >= 3 and x < 1": true, "n > 3": false, "n <= 2": false, "b == true": true, "b == false": false,
		"opt in ['adam', 'sgd']": true, "n in [1, 2]": false, "x > -1e3": true, "n == -1": false,
		"n == 1 or x < 1": true, "b": true, "not b": false, "gone == true": false, "gone == true or b": false,
	} {
		t.Run(text, func(t *testing.T) {
			s, err := with(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			if got := s.Exists(len(earlier), values); got != want {
				t.Errorf("%s is %v, want %v", text, got, want)
			}
		})
	}
	const (
		signs    = "means nothing here; comparisons are == != < <= > >= and in"
		operand  = "want a parameter, a number or a text in quotes"
		unknown  = "is not a parameter declared before this one"
		notOfOpt = "opt is never 'lion'; it is one of sgd, adam"
	)
	for text, want := range map[string]string{
		"opt":           "it is no comparison, as x <= y is",
		"opt =":         `"=" ` + signs,
		"opt = 'a'":     `"=" ` + signs,
		"§ == 1":        `"§" ` + signs,
		"n == 'a":       "this ' is never closed",
		`opt in ["sgd]`: `this " is never closed`,
		"opt == sgd":    "sgd is a choice of opt: write it in quotes, 'sgd'",
		"last == true":  `"last" ` + unknown,
		"missing == 1":  `"missing" ` + unknown,
		"opt == 'lion'": notOfOpt,
		"== 1":          `found "=="; ` + operand,
		"n in []":       `found "]"; ` + operand,
		"n in [":        "found the end; " + operand,
		"n == 1 and":    "found the end; " + operand,
		"n in 1":        `found "1"; want [`,
		"n in [1":       "found the end; want a comma, or ]",
		"n == 10":       "n is never 10; it is a whole number from -5 to 9",
		"n == -6":       "n is never -6; it is a whole number from -5 to 9",
		"n == 2.5":      "n is never 2.5; it is a whole number from -5 to 9",
		"x in [0.5, 2]": "x is never 2; it is a number from 0 to 1",
		"opt < 3":       "opt is a text; want a number",
		"b == 1":        "1 is a number; want true or false",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := with(text); err == nil || err.Error() != "parameter last: when: "+want {
				t.Errorf("got %v; want %s", err, want)
			}
		})
	}
}

func TestParseValues(t *testing.T) {
	p := spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 9}
	if v, err := p.Parse("7"); err != nil || v != spaces.Int(7) {
		t.Errorf("got %v, %v", v, err)
	}
	for _, text := range []string{"", "x", "10", "1.5"} {
		t.Run(text, func(t *testing.T) {
			if _, err := p.Parse(text); err == nil || err.Error() != fmt.Sprintf("parameter n: found %q; want a whole number from 1 to 9", text) {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

// The empty choice is seen in errors, and can be written as it is shown there.
func TestEmptyChoiceIsShown(t *testing.T) {
	p := spaces.Param{Name: "o", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(""), spaces.String("--fast")}}
	if _, err := p.Parse("x"); err == nil || err.Error() != `parameter o: found "x"; want one of "", --fast` {
		t.Error(err)
	}
	for _, text := range []string{"", `""`} {
		if v, err := p.Parse(text); v != p.Choices[0] {
			t.Errorf("%q is %v, %v", text, v, err)
		}
	}
	p.Choices[1] = spaces.String(`""`)
	if v, err := p.Parse(`""`); v != p.Choices[1] {
		t.Errorf("two quotes that are a choice are %q, %v", v, err)
	}
}

// A whole number that is computed with as a neighbour of its own is none of the parameter's values.
func TestNoIntIsAnother(t *testing.T) {
	p := spaces.Param{Name: "n", Kind: spaces.KindInt, Min: -1 << 53, Max: 1 << 53}
	for text, want := range map[string]bool{
		"9007199254740992": true, "9007199254740993": false, "-9007199254740992": true, "-9007199254740993": false,
	} {
		if v, err := p.Parse(text); (err == nil) != want || want && v.Text() != text {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(1e-7, 0.05, true, 0.3, 40)
	f.Add(-1e300, 1e300, false, 0.999999, 40)
	f.Add(5e-324, 1.7e308, true, 1e-9, 40)
	f.Add(0.1, 0.3, false, 0.5, 40)
	f.Add(0.001, 100.0, true, 0.5, 3)
	f.Add(5.000000100000001, 5.6194444444444445, true, 0.9999999999999999, 40) // exp(log(max)) < max
	f.Fuzz(func(t *testing.T, lo, hi float64, log bool, u float64, places int) {
		p := spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: lo, Max: hi}
		if log {
			p.Scale = spaces.Log
		}
		if places >= 0 && places < 30 {
			p.Format = fmt.Sprintf(".%d%c", places, "efg"[places%3])
		}
		s, err := spaces.New(p)
		if err != nil {
			return
		}
		v := s.Decode(spaces.Point{u})
		x, _ := v[0].Value.Number()
		if !(x >= lo && x <= hi) {
			t.Fatalf("%v lies outside [%v, %v]", x, lo, hi)
		}
		q, err := s.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if back := s.Decode(q); !back.Equal(v) {
			t.Fatalf("%v became %v", v, back)
		}
	})
}
