package spaces_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

func value(v spaces.Values, name string) float64 {
	x, _ := v.Get(name)
	n, _ := x.Number()
	return n
}

// related is the square of two floats and a choice in which f holds.
func related(t *testing.T, f func(x, y float64) bool) (*spaces.Space, error) {
	t.Helper()
	s, err := spaces.New(
		spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 1e-4, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a"), spaces.String("b"), spaces.String("c")}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Where(spaces.Relation{Text: "f", Params: []string{"y", "x"},
		Holds: func(v spaces.Values) bool { return f(value(v, "x"), value(v, "y")) }})
}

// Further relations hold beside those that a space has.
func TestWhereTwice(t *testing.T) {
	once, err := related(t, func(x, _ float64) bool { return x <= 0.5 })
	if err != nil {
		t.Fatal(err)
	}
	twice, err := once.Where(spaces.Relation{Text: "g", Params: []string{"c"}, Holds: func(v spaces.Values) bool { return v.Text("c") == "b" }})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := twice.Share(), once.Share()/3; math.Abs(got-want) > 0.02 || twice.Allows(spaces.Point{0.9, 0.5, 0, 1, 0}) {
		t.Errorf("%v is allowed, want %v", got, want)
	}
	_, err = once.Where(spaces.Relation{Text: "g", Params: []string{"c"}, Holds: func(spaces.Values) bool { return false }})
	if empty := (*spaces.EmptyError)(nil); !errors.As(err, &empty) || empty.Relation != 0 {
		t.Errorf("nothing is left: %v", err)
	}
}

// Draws are uniform in what is allowed, be that much or next to nothing: their mean and
// variance are those of the triangle u < v·width, where v is the coordinate of y.
func TestDrawsAreUniform(t *testing.T) {
	for _, width := range []float64{1, 0.5, 0.01} {
		s, err := related(t, func(x, y float64) bool { return x < width*(1+math.Log10(y)/4) })
		if err != nil {
			t.Fatal(err)
		}
		if share, sd := s.Share(), math.Sqrt(width/2/1e4); math.Abs(share-width/2) > 5*sd {
			t.Errorf("width %v: share %v", width, share)
		}
		const n = 4000
		rng := rand.New(rand.NewPCG(1, 2))
		var x, v, vv, levels float64
		for range n {
			p := s.Draw(rng)
			if !s.Allows(p) {
				t.Fatalf("%v is not allowed", p)
			}
			x, v, vv = x+p[0]/width/n, v+p[1]/n, vv+p[1]*p[1]/n
			if p[3] > 0 {
				levels += 1.0 / n
			}
		}
		// E u/width = 1/3, E v = 2/3, E v² = 1/2; the standard errors are below 0.004.
		for _, c := range [][2]float64{{x, 1.0 / 3}, {v, 2.0 / 3}, {vv, 0.5}, {levels, 1.0 / 3}} {
			if math.Abs(c[0]-c[1]) > 0.03 {
				t.Errorf("width %v: moments %v %v %v, level %v", width, x, v, vv, levels)
				break
			}
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	_, err := related(t, func(x, y float64) bool { return x == y })
	var empty *spaces.EmptyError
	if !errors.As(err, &empty) || empty.Relation != 0 || empty.All {
		t.Error(err)
	}
	s, err := spaces.New(spaces.Param{Name: "a", Kind: spaces.KindInt, Min: 1, Max: 9}, spaces.Param{Name: "b", Kind: spaces.KindInt, Min: 1, Max: 9})
	if err != nil {
		t.Fatal(err)
	}
	less := func(x, y string) spaces.Relation {
		return spaces.Relation{Text: x + " < " + y, Holds: func(v spaces.Values) bool { return value(v, x) < value(v, y) }}
	}
	if _, err := s.Where(less("a", "b"), less("b", "a")); !errors.As(err, &empty) || empty.Relation != -1 || !empty.All || empty.Tried != 81 {
		t.Error(err)
	}
	if _, err := s.Where(spaces.Relation{Text: "z", Params: []string{"z"}}); err == nil || err.Error() != `relation "z": there is no parameter z` {
		t.Error(err)
	}
}

// What is not said is chosen such that the relations hold, near the middle and the defaults.
func TestCompletionsObey(t *testing.T) {
	s, err := related(t, func(x, y float64) bool { return x+y >= 1.2 })
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Center(); !s.Allows(p) || spaces.Distance(p, spaces.Point{0.5, 0.5, math.Sqrt2 / 2, 0, 0}) > 0.6 {
		t.Error(s.Decode(p))
	}
	v, err := s.Complete(spaces.Values{{Name: "y", Value: spaces.Float(0.5)}})
	if err != nil || value(v, "y") != 0.5 || value(v, "x") < 0.7 || value(v, "x") > 0.72 {
		t.Error(v, err)
	}
	if v, err := s.Complete(spaces.Values{{Name: "y", Value: spaces.Float(0.1)}}); err == nil || !strings.Contains(err.Error(), "is not allowed: it breaks") {
		t.Error(v, err)
	}
	for _, v := range s.Cover() {
		if p, err := s.Encode(v); err != nil {
			t.Error(p, err)
		}
	}
	if n := len(s.Cover()); n != 3 {
		t.Errorf("%d configurations cover three choices", n)
	}
}

// Of a space that is looked at whole, the middle is next to that of all that is allowed.
func TestMiddleOfAll(t *testing.T) {
	s, err := spaces.New(spaces.NewInt("a", 1, 21), spaces.NewInt("b", 1, 21), spaces.NewInt("c", 1, 21))
	if err != nil {
		t.Fatal(err)
	}
	rule, err := spaces.ParseRelation("c >= 12", s.Params())
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Where(rule); err != nil {
		t.Fatal(err)
	}
	if v := s.Decode(s.Center()); v.String() != "a=11 b=11 c=12" {
		t.Errorf("the middle is %s", v)
	}
}

// A default stays what it is where other parameters can make room for it.
func TestDefaultsStay(t *testing.T) {
	for _, c := range []struct{ x, y, wantX, wantY any }{
		{0.9, nil, 0.9, nil}, {nil, 0.9, nil, 0.9}, {0.7, 0.2, 0.7, 0.2}, {0.9, 0.8, nil, nil},
	} {
		t.Run(fmt.Sprint(c.x, c.y), func(t *testing.T) {
			x, y := spaces.NewFloat("x", 0, 1), spaces.NewFloat("y", 0, 1)
			if c.x != nil {
				x = x.Today(c.x)
			}
			if c.y != nil {
				y = y.Today(c.y)
			}
			s, err := spaces.New(x, y)
			if err != nil {
				t.Fatal(err)
			}
			rule, err := spaces.ParseRelation("x + y <= 1", s.Params())
			if err != nil {
				t.Fatal(err)
			}
			if s, err = s.Where(rule); err != nil {
				t.Fatal(err)
			}
			v, ok := s.Default()
			if _, err := s.Encode(v); !ok || err != nil || c.wantX != nil && v.Float("x") != c.wantX || c.wantY != nil && v.Float("y") != c.wantY {
				t.Errorf("found %v, %v", v, err)
			}
		})
	}
}

// Listing stops early where the first parameters decide, and skips what is forbidden.
func TestEnumerationObeys(t *testing.T) {
	var params []spaces.Param
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		params = append(params, spaces.Param{Name: name, Kind: spaces.KindInt, Min: 1, Max: 1000})
	}
	s, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Where(
		spaces.Relation{Text: "a == 7", Params: []string{"a"}, Holds: func(v spaces.Values) bool { return value(v, "a") > 900 }},
		spaces.Relation{Text: "a >= b", Params: []string{"b", "a"}, Holds: func(v spaces.Values) bool { return value(v, "a") >= value(v, "b") }},
	); err != nil {
		t.Fatal(err)
	}
	n := 0
	s.Enumerate(func(v spaces.Values) bool {
		n++
		if value(v, "a") <= 900 || value(v, "a") < value(v, "b") {
			t.Fatal(v)
		}
		return n < 100
	})
	if n != 100 {
		t.Errorf("%d were listed", n)
	}
}

// A condition that never holds says why, and is no error: studies that have one go on.
func TestNever(t *testing.T) {
	n := spaces.NewInt("n", 1, 9)
	for text, want := range map[string]string{
		"n > 9": "n > 9", "n >= 9": "", "not (n > 9)": "", "n > 9 or n > 5": "", "n > 9 or (n < 1)": "n > 9", "n < 5 and 1 > n": "1 > n",
	} {
		t.Run(text, func(t *testing.T) {
			r, err := spaces.ParseRelation(text, []spaces.Param{n})
			if err != nil || (r.Never == nil) != (want == "") || r.Never != nil && text[r.Never.Offset:][:r.Never.Len] != want {
				t.Errorf("%s: %v, %v", text, r.Never, err)
			}
			if _, err := spaces.New(n, spaces.Param{Name: "b", Kind: spaces.KindBool, When: text}); err != nil {
				t.Error(err)
			}
		})
	}
}
