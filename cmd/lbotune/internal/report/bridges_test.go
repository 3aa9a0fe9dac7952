package report

import (
	"fmt"
	"math"
	"testing"
)

// A line of the parallel picture reaches the value over the axes of parameters that a trial
// does not have.
func TestBridges(t *testing.T) {
	no := math.NaN()
	for want, at := range map[string][]float64{
		"[]":                            {0.5, 0.25, 1},
		"[[[1 0.25] [3 1]]]":            {0.5, 0.25, no, 1},
		"[[[0 0.5] [3 1]]]":             {0.5, no, no, 1},
		"[[[0 1] [2 1]] [[2 1] [4 0]]]": {1, no, 1, no, 0},
	} {
		t.Run(want, func(t *testing.T) {
			var places [][2]float64
			for i, y := range at {
				places = append(places, [2]float64{float64(i), y})
			}
			if got := fmt.Sprint(bridges(places)); got != want {
				t.Errorf("over %v: %s; want %s", at, got, want)
			}
		})
	}
}
