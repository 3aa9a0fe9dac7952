package optimizer_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func TestNewNeedsASpace(t *testing.T) {
	for _, method := range []string{"lbo", "random", "sobol", "grid", "lipschitz"} {
		t.Run(method, func(t *testing.T) {
			for name, space := range map[string]*spaces.Space{"nil": nil, "empty": {}} {
				if _, err := optimizer.New(space, 1, optimizer.Settings{Method: method}); err == nil || err.Error() != "a space of at least one parameter is needed" {
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
