package quadratic

import "math"

// Limits of the trust region's radius, in the unit cube.
const (
	FirstRadius = 0.1  // the radius starts here, or at 0.95 times the farthest point if that is less
	MaxRadius   = 1    // and grows to here, where the region is the whole cube
	MinRadius   = 1e-7 // below it the region has collapsed
)

// Region is the trust region's state between proposals. It holds all that the
// rules need, so that replaying the same outcomes gives the same region. The zero
// value has no radius yet and gets one by Start.
type Region struct {
	Radius float64 // in the infinity norm; 0 means not started
}

// Start gives a region that has none a radius for a model whose farthest point
// lies far away.
func (r Region) Start(far float64) Region {
	if r.Radius == 0 {
		r.Radius = math.Min(0.95*far, FirstRadius)
	}
	return r
}

// Judged returns the region after a step for which the model predicted a gain: twice as
// large if it gained more than 3/4 of that, and half if it gained less than 1/4. The gain is
// NaN or -Inf if the trial failed.
func (r Region) Judged(predicted, gain float64) Region {
	switch ratio := gain / predicted; {
	case ratio > 0.75:
		r.Radius = math.Min(2*r.Radius, MaxRadius)
	case !(ratio >= 0.25):
		r.Radius /= 2
	}
	return r
}

// Moved returns the region after something else found a better point at that distance from
// the centre, in the infinity norm: outside of it, the region starts anew there.
func (r Region) Moved(distance float64) Region {
	if distance > r.Radius {
		return Region{}
	}
	return r
}

// Collapsed reports whether the radius has become too small to go on.
func (r Region) Collapsed() bool { return r.Radius > 0 && r.Radius < MinRadius }
