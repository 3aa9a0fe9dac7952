package study

import (
	"math"

	"github.com/lbotune/lbotune/optimizer"
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
}

// margin is by how much the trial is safe, 0 if nothing says so.
func (s *Safety) margin(t *Trial) float64 {
	v, ok := t.Metrics.Get(s.Metric)
	switch {
	case !ok || t.Status != optimizer.Succeeded || math.IsNaN(v):
		return 0
	case s.Least:
		return v - s.At
	}
	return s.At - v
}
