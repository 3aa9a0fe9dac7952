package optimizer_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func TestHypervolumeOfWhatIsNoFront(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		values    [][]float64
		reference []float64
		want      float64
	}{
		{"two points", [][]float64{{1, 2}, {2, 1}}, []float64{0, 0}, 3},
		{"no point", nil, []float64{0, 0}, 0},
		{"below the reference", [][]float64{{1, 2}}, []float64{0, 3}, 0},
		{"beyond all bounds", [][]float64{{1, inf}}, []float64{0, 0}, inf},
		{"ragged", [][]float64{{1, 2}, {1}}, []float64{0, 0}, nan},
		{"too many values", [][]float64{{1, 2, 3}}, []float64{0, 0}, nan},
		{"short reference", [][]float64{{1, 2}, {2, 1}}, []float64{0}, nan},
		{"no reference", [][]float64{{1, 2}, {2, 1}}, nil, nan},
		{"nothing at all", nil, nil, nan},
		{"NaN in a value", [][]float64{{1, 2}, {nan, 5}}, []float64{0, 0}, nan},
		{"NaN in the reference", [][]float64{{1, 2}}, []float64{0, nan}, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := optimizer.Hypervolume(c.values, c.reference); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("volume %v, want %v", got, c.want)
			}
		})
	}
}

func TestFrontOfWhatCannotBeCompared(t *testing.T) {
	nan := math.NaN()
	if got := optimizer.Front([][]float64{{1, 2}, {nan, 9}, {0, 1}, {9, nan}, {2, 1}, {1}}); !slices.Equal(got, []int{0, 4, 5}) {
		t.Errorf("front %v, want 0, 4 and 5", got)
	}
	for _, pair := range [][2][]float64{{{1, 2}, {0}}, {{1}, {0, 0}}, {{1, nan}, {0, 0}}, {{1, 1}, {0, nan}}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			if optimizer.Dominates(pair[0], pair[1]) || optimizer.Dominates(pair[1], pair[0]) {
				t.Errorf("%v and %v: one dominates", pair[0], pair[1])
			}
		})
	}
}

func TestNewNeedsASpace(t *testing.T) {
	for _, method := range []string{optimizer.MethodLBO, optimizer.MethodRandom, optimizer.MethodSobol, optimizer.MethodGrid, optimizer.MethodLipschitz} {
		t.Run(method, func(t *testing.T) {
			for name, space := range map[string]*spaces.Space{"nil": nil, "empty": {}} {
				if _, err := optimizer.New(space, 1, optimizer.Settings{Method: method}); err == nil || !strings.Contains(err.Error(), "at least one parameter") {
					t.Errorf("%s, %s: %v", method, name, err)
				}
			}
		})
	}
}

func TestEarlierResultsAreChecked(t *testing.T) {
	good := []spaces.Point{{0.1, 0.2}, {0.4, 0.5}, {0.7, 0.9}}
	for _, c := range []struct {
		name   string
		points []spaces.Point
		values []float64
		want   string
	}{
		{"short point", []spaces.Point{{0.1, 0.2}, {0.4}, {0.7, 0.9}}, []float64{1, 2, 3}, "earlier study 1, result 2: the point has 1 coordinates, the space 2"},
		{"outside", []spaces.Point{{0.1, 0.2}, {0.4, 0.5}, {0.7, 1.9}}, []float64{1, 2, 3}, "earlier study 1, result 3: coordinate 1 of the point is 1.9, outside [0,1]"},
		{"infinite", good, []float64{1, math.Inf(1), 3}, "earlier study 1, result 2: the value is +Inf"},
		{"values missing", good, []float64{1}, "earlier study 1: 3 points but 1 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, same := range []bool{false, true} {
				_, err := optimizer.New(cube(2), 1, optimizer.Settings{}, optimizer.Earlier{Points: c.points, Values: c.values, Same: same})
				if err == nil || err.Error() != c.want {
					t.Errorf("%s, same %v: error %v, want %s", c.name, same, err, c.want)
				}
			}
		})
	}
}

// Of several values the one is named that cannot be.
func TestWhichValueIsNotFinite(t *testing.T) {
	opt, err := optimizer.New(newSpace(t, float("x", 0, 1)), 1, optimizer.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	o := optimizer.Observation{Trial: 1, Status: optimizer.Succeeded, Values: []float64{1, math.Inf(-1)}, Proposal: optimizer.Proposal{Point: spaces.Point{0.5}}}
	if err := opt.Tell(o); err == nil || err.Error() != "telling trial 1: a trial that succeeded needs a finite value; found -Inf" {
		t.Error(err)
	}
}
