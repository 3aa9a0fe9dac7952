package optimizer_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Mean and deviation of many functions, at each point, are those of the belief there.
func TestDrawsFollowTheBeliefs(t *testing.T) {
	opt, _ := explainer(t, 12, optimizer.Settings{}, never)
	var points []spaces.Point
	for _, x := range []float64{0, 0.3, 0.6, 1} {
		points = append(points, spaces.Point{x, 0.7}, spaces.Point{0.3, x})
	}
	q := optimizer.Query{Trial: 13}
	e, err := opt.Explain(t.Context(), q, points)
	if err != nil {
		t.Fatal(err)
	}
	const n = 400
	draws, err := opt.(optimizer.Drawer).Draws(t.Context(), q, points, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range e.Beliefs {
		sum, square := 0.0, 0.0
		for _, d := range draws {
			sum += (d[i] - b.Mean) / b.SD
			square += (d[i] - b.Mean) * (d[i] - b.Mean) / (b.SD * b.SD)
		}
		// Five standard errors of a mean and of a variance; a warp bends them a little.
		if z := sum / math.Sqrt(n); math.Abs(z) > 5 {
			t.Errorf("at %v: the mean is %v standard errors off", points[i], z)
		}
		if ratio := square / n; ratio < 0.6 || ratio > 1.5 {
			t.Errorf("at %v: the variance is %v of the belief's", points[i], ratio)
		}
	}
	again, err := opt.(optimizer.Drawer).Draws(t.Context(), q, points, 2)
	if err != nil || !slices.Equal(again[1], draws[1]) {
		t.Errorf("drawn again: %v, %v; want %v", again[1], err, draws[1])
	}
}

func TestDrawsNothingWithoutAModel(t *testing.T) {
	opt, _ := explainer(t, 0, optimizer.Settings{}, never)
	if _, err := opt.(optimizer.Drawer).Draws(t.Context(), optimizer.Query{Trial: 1}, nil, 1); err != optimizer.ErrNoModel {
		t.Errorf("found %v; want ErrNoModel", err)
	}
}
