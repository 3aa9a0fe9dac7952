package optimizer_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// several are objectives to minimize over the unit cube.
type several struct {
	name string
	d    int
	ref  []float64 // the volume below it is measured
	at   func(x []float64) []float64
}

func zdt(g func(x []float64) float64, h func(f, g float64) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		k := g(x)
		return []float64{x[0], k * h(x[0], k)}
	}
}

func zdtG(x []float64) float64 {
	sum := 0.0
	for _, v := range x[1:] {
		sum += v
	}
	return 1 + 9*sum/float64(len(x)-1)
}

var severalProblems = []several{
	{"zdt1", 4, []float64{1.1, 1.1}, zdt(zdtG, func(f, g float64) float64 { return 1 - math.Sqrt(f/g) })}, // Zitzler, Deb and Thiele 2000
	{"zdt3", 3, []float64{1.1, 1.1}, zdt(zdtG, func(f, g float64) float64 {
		return 1 - math.Sqrt(f/g) - f/g*math.Sin(10*math.Pi*f)
	})},
	{"dtlz2", 4, []float64{1.1, 1.1, 1.1}, func(x []float64) []float64 { // Deb et al. 2002, with three objectives
		g := 0.0
		for _, v := range x[2:] {
			g += (v - 0.5) * (v - 0.5)
		}
		a, b := x[0]*math.Pi/2, x[1]*math.Pi/2
		return []float64{(1 + g) * math.Cos(a) * math.Cos(b), (1 + g) * math.Cos(a) * math.Sin(b), (1 + g) * math.Sin(a)}
	}},
	{"four", 3, []float64{1, 1, 1, 1}, func(x []float64) []float64 { // squared distances from four corners
		out := make([]float64, 4)
		for j, corner := range [][]float64{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
			for i, v := range x {
				out[j] += (v - corner[i]) * (v - corner[i])
			}
		}
		return out
	}},
}

// volumeOf returns the hypervolume after so many trials, of those that hold the limit.
func volumeOf(t *testing.T, c several, set optimizer.Settings, seed uint64, trials int, limit func(x []float64) float64) float64 {
	t.Helper()
	opt, err := optimizer.New(cube(c.d), seed, set)
	if err != nil {
		t.Fatal(err)
	}
	var points [][]float64
	for k := 1; k <= trials; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		o := optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: c.at(p.Point)}
		for j := range o.Values {
			o.Values[j] *= -1
		}
		if limit != nil {
			o.Constraints = []float64{limit(p.Point)}
		}
		if limit == nil || o.Constraints[0] <= 0 {
			points = append(points, o.Values)
		}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	ref := slices.Clone(c.ref)
	for j := range ref {
		ref[j] *= -1
	}
	return pareto.Volume(points, ref)
}

// The volume of the front grows faster than at random, with two, three and four
// objectives, and under a limit.
func TestFrontIsFound(t *testing.T) {
	effort.Quality(t)
	for _, c := range severalProblems {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const trials = 40
			times := 4 // as many random points
			if len(c.ref) > 3 {
				times = 2 // most of the cube is on the front
			}
			var model, random []float64
			for seed := uint64(1); seed <= effort.Of[uint64](0, 3, 5); seed++ {
				model = append(model, volumeOf(t, c, optimizer.Settings{}, seed, trials, nil))
				random = append(random, volumeOf(t, c, optimizer.Settings{Method: "random"}, seed, times*trials, nil))
			}
			slices.SortFunc(model, cmp.Compare[float64])
			slices.SortFunc(random, cmp.Compare[float64])
			t.Logf("volume %.4g, of %d times as many random points %.4g", model, times, random)
			if n := len(model) / 2; !(model[n] > random[n]) {
				t.Errorf("median volume %.4g, and of %d times as many random points %.4g", model[n], times, random[n])
			}
		})
	}
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		limit := func(x []float64) float64 { return 0.4 - x[0] } // the left part of the front is out of bounds
		model := volumeOf(t, severalProblems[0], optimizer.Settings{}, 1, 40, limit)
		random := volumeOf(t, severalProblems[0], optimizer.Settings{Method: "random"}, 1, 160, limit)
		if !(model > random) {
			t.Errorf("volume %v, and of four times as many random points %v", model, random)
		}
	})
}

// A study asks with a threshold of −∞ for each objective without one: the search is that without thresholds.
func TestNoThresholdIsMinusInfinity(t *testing.T) {
	c := severalProblems[0]
	none := []float64{math.Inf(-1), math.Inf(-1)}
	plain, bounded := newOptimizer(t, cube(c.d), 1, optimizer.Settings{}), newOptimizer(t, cube(c.d), 1, optimizer.Settings{})
	for k := 1; k <= 15; k++ {
		p, err := plain.Ask(t.Context(), optimizer.Query{Trial: k})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := bounded.Ask(t.Context(), optimizer.Query{Trial: k, Thresholds: none}); err != nil || !slices.Equal(p.Point, q.Point) {
			t.Fatalf("trial %d: %v, and with thresholds of −∞ %v (%v)", k, p.Point, q.Point, err)
		}
		values := c.at(p.Point)
		o := optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-values[0], -values[1]}}
		tellAll(t, plain, o)
		tellAll(t, bounded, o)
	}
}

// Thresholds are one for each objective, and how sure a guess is has one of three words.
func TestWhatMeansNothingIsRefused(t *testing.T) {
	opt := newOptimizer(t, cube(2), 1, optimizer.Settings{})
	ask := func(thresholds ...float64) error {
		_, err := opt.Ask(t.Context(), optimizer.Query{Trial: 2, Thresholds: thresholds})
		return err
	}
	if err := ask(0); err != nil {
		t.Errorf("before the objectives are known: %v", err)
	}
	tellAll(t, opt, optimizer.Observation{Trial: 1, Proposal: optimizer.Proposal{Point: spaces.Point{0.5, 0.5}}, Status: optimizer.Succeeded, Values: []float64{1, 2}})
	if err := ask(0); err == nil || err.Error() != "found 1 thresholds; the trials have 2 values" {
		t.Error(err)
	}
	if err := ask(0, 0); err != nil {
		t.Error(err)
	}
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Max: 1, Default: spaces.Float(0), Sure: "quite"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := optimizer.New(space, 1, optimizer.Settings{}); err == nil || err.Error() != `parameter x: sure: found "quite"; allowed are hardly, somewhat and very` {
		t.Error(err)
	}
}

// Asked anew, or beside pending trials and failures, the answers are the same; and there
// is no best trial to recommend.
func TestSeveralFollowFromWhatWasTold(t *testing.T) {
	c := severalProblems[1]
	make := func() optimizer.Optimizer {
		opt, err := optimizer.New(cube(c.d), 5, optimizer.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return opt
	}
	lived := make()
	var told []optimizer.Observation
	for k := 1; k <= 20; k++ {
		q := optimizer.Query{Trial: k, Thresholds: []float64{-1.1, math.Inf(-1)},
			Pending: []optimizer.Pending{{Trial: 100, Point: spaces.Point{0.4, 0.1, 0.1}}}}
		p, err := lived.Ask(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if k%5 == 0 {
			anew := make()
			for _, o := range told {
				if err := anew.Tell(o); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := anew.Ask(t.Context(), q); err != nil || !slices.Equal(again.Point, p.Point) {
				t.Fatalf("trial %d: %v, and asked anew %v (%v)", k, p.Point, again.Point, err)
			}
		}
		values := c.at(p.Point)
		o := optimizer.Observation{Trial: k, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-values[0], -values[1]}}
		if k%6 == 1 {
			o.Status, o.Values = optimizer.Failed, nil
		}
		if err := lived.Tell(o); err != nil {
			t.Fatal(err)
		}
		told = append(told, o)
	}
	const several = "of several objectives there is no one best trial"
	if _, err := lived.(optimizer.Recommender).Recommend(t.Context()); err == nil || err.Error() != several {
		t.Errorf("recommended: %v", err)
	}
	if _, err := lived.(optimizer.Explainer).Explain(t.Context(), optimizer.Query{Trial: 21}, nil); err == nil || err.Error() != several {
		t.Errorf("explained: %v", err)
	}
}

// Tell the values of several objectives, each to be maximized, and take the front at the
// end: here as near as can be to 0 and to 1.
// A constant that was stated in the objectives' units says nothing of their scalar, nor does their noise.
func TestScalarHasUnitsOfItsOwn(t *testing.T) {
	space, _ := objective(t, hartmann6())
	var got []optimizer.Proposal
	for _, set := range []optimizer.Settings{{}, {LipschitzConstant: 1e-6}, {LipschitzConstant: 0.3}} {
		opt := newOptimizer(t, space, 5, set)
		for trial := 1; trial < 25; trial++ {
			x := make(spaces.Point, space.Dim())
			for j := range x {
				x[j] = math.Mod(float64(trial)*math.Sqrt(float64(j+2)), 1)
			}
			tellAll(t, opt, optimizer.Observation{Trial: trial, Proposal: optimizer.Proposal{Point: x, Origin: optimizer.OriginGiven}, Status: optimizer.Succeeded, Values: []float64{x[0], x[1] - x[0], x[2] * x[0], -x[3]}})
		}
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: 25})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	for _, p := range got[1:] {
		if !slices.Equal(got[0].Point, p.Point) {
			t.Errorf("%v is proposed, and with a constant %v: %s", got[0].Point, p.Point, p.Note.Why)
		}
	}
}

func ExampleFront() {
	space := line()
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	var values [][]float64
	for trial := 1; trial <= 25; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			log.Fatal(err)
		}
		value, _ := space.Decode(p.Point).Get("x")
		x := value.Any().(float64)
		v := []float64{-x * x, -(x - 1) * (x - 1)}
		values = append(values, v)
		if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: v}); err != nil {
			log.Fatal(err)
		}
	}
	front := pareto.Front(values)
	volume := pareto.Volume(values, []float64{-1, -1})
	fmt.Println(len(front) > 15, math.Round(100*volume)/100)
	// Output: true 0.82
}
