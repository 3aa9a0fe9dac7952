package problems

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

func everyObjective() []Objective {
	var all []Objective
	for seed := range uint64(2) {
		all = append(all, Mixed(seed)...)
		all = append(all, Hidden(seed)...)
		all = append(all, Rare(seed)...)
	}
	return append(all, Branin().Objective())
}

func TestObjectiveMinima(t *testing.T) {
	r := stream(5, 6)
	for _, o := range everyObjective() {
		p, err := o.Space.Encode(o.Best)
		if err != nil {
			t.Fatalf("%s: the best configuration: %v", o.Name, err)
		}
		if y, ok := o.Observe(o.Space.Decode(p), 0); !ok || math.Abs(y-o.Min) > 1e-9 {
			t.Errorf("%s: %v, %v at the best configuration, want %v", o.Name, y, ok, o.Min)
		}
		for range 500 {
			v := o.Sample(r)
			if y, ok := o.Observe(v, 0); ok && y < o.Min {
				t.Errorf("%s: %v at %v is below the minimum %v", o.Name, y, v, o.Min)
			}
		}
	}
}

// The generated surfaces are 200 of all sizes, and no point is below what is said to be the least value.
func TestGenerated(t *testing.T) {
	r, names, sizes := stream(8, 9), map[string]bool{}, map[int]int{}
	for _, o := range Generated(1, func(string, int) bool { return true }) {
		d := o.Space.Len()
		names[o.Name] = true
		sizes[d]++
		if !strings.HasSuffix(o.Name, strconv.Itoa(d)) {
			t.Errorf("%s has %d parameters", o.Name, d)
		}
		for range 30 {
			v := o.Sample(r)
			if o.Fails == nil || !o.Fails(v) {
				if y := o.Eval(v); y < o.Min || math.IsNaN(y) || math.IsInf(y, 0) || y != o.Eval(v) {
					t.Errorf("%s: %v at %v, and the least is %v", o.Name, y, v, o.Min)
				}
			}
		}
	}
	if len(names) != 200 || len(sizes) != len(GeneratedSizes) {
		t.Errorf("%d surfaces, %v by their number of parameters", len(names), sizes)
	}
}

// Another seed draws other surfaces, of every kind that has something to draw.
func TestGeneratedBySeed(t *testing.T) {
	r := stream(8, 9)
	for _, kind := range generators() {
		t.Run(kind.name, func(t *testing.T) {
			a, b, differ := kind.make(3, 1), kind.make(3, 2), false
			for range 200 {
				v := a.Sample(r)
				x, okX := a.Observe(v, 1)
				y, okY := b.Observe(v, 1)
				differ = differ || okX != okY || okX && x != y
			}
			if differ == (kind.name == "constant") {
				t.Errorf("another seed draws another one: %v", differ)
			}
		})
	}
}

func TestDozenIsTwelve(t *testing.T) {
	n, better := 0, 0
	o := Dozen()
	o.Space.Enumerate(func(v spaces.Values) bool {
		n++
		if o.Eval(v) <= o.Min {
			better++
		}
		return true
	})
	if n != 12 || better != 1 {
		t.Errorf("%d configurations, %d of them with the minimum", n, better)
	}
}

func TestIntegersIsBestAtItsBest(t *testing.T) {
	o := Integers(1)
	best := 0
	// Whole neighbourhoods: no single or double step may help.
	at := vector(o.Best)
	for i := range at {
		for j := range at {
			for _, a := range []int64{-2, -1, 0, 1, 2} {
				for _, b := range []int64{-2, -1, 0, 1, 2} {
					v := append(spaces.Values(nil), o.Best...)
					v[i].Value = spaces.Int(int64(at[i]) + a)
					v[j].Value = spaces.Int(int64(vector(v)[j]) + b)
					if o.Eval(v) <= 0 && !v.Equal(o.Best) {
						best++
					}
				}
			}
		}
	}
	if best > 0 {
		t.Errorf("%d neighbours are as good as the best", best)
	}
}

func TestHiddenFailsInAThird(t *testing.T) {
	for seed := range uint64(3) {
		r := stream(seed, 99)
		for _, o := range Hidden(seed) {
			const n = 3000
			fails := 0
			for range n {
				if _, ok := o.Observe(o.Sample(r), 0); !ok {
					fails++
				}
			}
			if share := float64(fails) / n; math.Abs(share-1.0/3) > 0.03 {
				t.Errorf("%s, seed %d: %v of the space fails", o.Name, seed, share)
			}
		}
	}
	for i, d := range []int{2, 5, 9} {
		if o := Hidden(0)[i]; o.Space.Len() != d {
			t.Errorf("%s has %d parameters, want %d", o.Name, o.Space.Len(), d)
		}
	}
}

func TestRareSucceedsRarely(t *testing.T) {
	r := stream(3, 99)
	for i, o := range Rare(1) {
		const n = 5000
		succeeds := 0
		for range n {
			if _, ok := o.Observe(o.Sample(r), 0); ok {
				succeeds++
			}
		}
		want := []float64{0.01, 0.04, 0.10}[i%3]
		if share := float64(succeeds) / n; math.Abs(share-want) > 0.5*want {
			t.Errorf("%s: %v of the space succeeds, want %v", o.Name, share, want)
		}
	}
}

// The border must be near: close to the best configuration something fails.
func TestHiddenBorderIsNearTheBest(t *testing.T) {
	r := stream(1, 1)
	for _, o := range Hidden(2) {
		nearest := math.Inf(1)
		for range 4000 {
			if v := o.Sample(r); o.Fails(v) {
				nearest = min(nearest, o.Eval(v))
			}
		}
		total := 0.0
		const n = 2000
		for range n {
			total += o.Eval(o.Sample(r)) / n
		}
		if nearest > total/2 {
			t.Errorf("%s: the nearest failure has the value %v, the mean is %v", o.Name, nearest, total)
		}
	}
}

func TestNetworkRewardsItsCouplings(t *testing.T) {
	o := Network()
	set := func(name string, value spaces.Value) spaces.Values {
		var v spaces.Values
		for _, a := range o.Best {
			if a.Name == name {
				a.Value = value
			}
			v = append(v, a)
		}
		return v
	}
	for _, c := range []struct {
		name  string
		value spaces.Value
	}{
		{"lr", spaces.Float(0.1)}, {"momentum", spaces.Float(0.5)}, {"layers", spaces.Int(8)},
		{"units", spaces.Int(16)}, {"dropout", spaces.Float(0.6)}, {"batchnorm", spaces.Bool(false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if y := o.Eval(set(c.name, c.value)); y < o.Min+0.03 {
				t.Errorf("%s = %v costs only %v", c.name, c.value, y-o.Min)
			}
		})
	}
	if y := o.Eval(set("lr", spaces.Float(1))); y < 2 {
		t.Errorf("a far too large learning rate gives %v", y)
	}
}

func TestRobotPushNoise(t *testing.T) {
	goal := Goal(3)
	if again := Goal(3); again != goal || math.Abs(goal.X) > 5 || math.Abs(goal.Y) > 5 {
		t.Fatalf("goals %v and %v", goal, again)
	}
	for _, p := range []Problem{RobotPush3(goal, 1), RobotPush4(goal, 1)} {
		x := p.FromUnit([]float64{0.1, 0.2, 0.7, 0.3}[:p.Dim()])
		a, b := p.Noisy(x, 1), p.Noisy(x, 2)
		if again := p.Noisy(x, 1); again != a {
			t.Errorf("%s: trial 1 gives %v, then %v", p.Name, a, again)
		}
		if a == b || a == p.Eval(x) {
			t.Errorf("%s: %v and %v in two trials, %v without noise", p.Name, a, b, p.Eval(x))
		}
		if y := p.Objective().Eval(p.Objective().Space.Decode(spaces.Point(p.ToUnit(x)))); math.Abs(y-p.Eval(x)) > 0.2 {
			t.Errorf("%s: %v as an objective, %v as a problem", p.Name, y, p.Eval(x))
		}
	}
}

func TestLargestSlope(t *testing.T) {
	p := Branin()
	if l := LargestSlope(p.Objective(), 1500, 1); l > p.Lipschitz || l < 0.6*p.Lipschitz {
		t.Errorf("slope %v between random points, the constant is %v", l, p.Lipschitz)
	}
	// Choices and ints: the two worst of twelve configurations, by hand.
	worst := 0.0
	o := Dozen()
	o.Space.Enumerate(func(a spaces.Values) bool {
		return o.Space.Enumerate(func(b spaces.Values) bool {
			p, _ := o.Space.Encode(a)
			q, _ := o.Space.Encode(b)
			if d := spaces.Distance(p, q); d > 0 {
				worst = max(worst, math.Abs(o.Eval(a)-o.Eval(b))/d)
			}
			return true
		})
	})
	if l := LargestSlope(o, 300, 1); math.Abs(l-worst) > 1e-12 || worst == 0 {
		t.Errorf("slope %v, the steepest pair has %v", l, worst)
	}
}

func ExampleObjective_Observe() {
	o := Branin().Objective()
	y, ok := o.Observe(o.Space.Decode(spaces.Point{1. / 3, 0}), 1)
	fmt.Printf("%.4f %v\n", y, ok)
	// Output: 55.6021 true
}
