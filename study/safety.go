package study

import (
	"math"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Safety is a limit that no trial may break: only configurations are proposed of which it
// is known, by a constant that a person has stated.
type Safety struct {
	Metric string  `json:"metric"` // the objective, or another
	At     float64 `json:"at"`
	Least  bool    `json:"least,omitempty"` // the metric must be at least At; else at most
	// Constant is how much the metric can change at most, in its own units, between
	// configurations one apart in the unit cube of the parameters.
	Constant float64 `json:"constant"`
	// Slopes, where the change along each parameter is stated, are those in the cube, of
	// which Constant is the length.
	Slopes map[string]float64 `json:"slopes,omitempty"`
	// Noise is how far a measured value may be from the truth.
	Noise float64 `json:"noise,omitempty"`
}

// Stretch is the factor from a constant for the ranges, whose ends are 1 apart, to one for
// the cube.
func Stretch(params []spaces.Param) float64 {
	most := 1.0
	for _, p := range params {
		most = math.Max(most, p.Stretch())
	}
	return most
}

// margin is by how much the trial is safe, 0 and less if nothing says so.
func (s *Safety) margin(t *Trial) float64 {
	v, ok := t.Metrics.Get(s.Metric)
	switch {
	case !ok || t.Status != optimizer.Succeeded || math.IsNaN(v):
		return 0
	case s.Least:
		return v - s.At - s.Noise
	}
	return s.At - v - s.Noise
}
