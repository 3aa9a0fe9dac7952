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

// Outcome is what became of one trial.
type Outcome struct {
	Local     bool    // proposed by the quadratic model
	Predicted float64 // the gain that the model predicted; Local only
	Gain      float64 // the trial's value minus the incumbent's before it; NaN or -Inf if it failed
	Distance  float64 // distance to that incumbent in the infinity norm
}

// Start gives a region that has none a radius for a model whose farthest point
// lies far away.
func (r Region) Start(far float64) Region {
	if r.Radius == 0 {
		r.Radius = math.Min(0.95*far, FirstRadius)
	}
	return r
}

// Next returns the region after a trial. One of the model doubles the radius if it
// gained more than 3/4 of what was predicted and halves it for less than 1/4. A
// better point found by other means outside the region starts it anew there.
func (r Region) Next(o Outcome) Region {
	if !o.Local {
		if o.Gain > 0 && o.Distance > r.Radius {
			return Region{}
		}
		return r
	}
	switch ratio := o.Gain / o.Predicted; {
	case ratio > 0.75:
		r.Radius = math.Min(2*r.Radius, MaxRadius)
	case !(ratio >= 0.25):
		r.Radius /= 2
	}
	return r
}

// Collapsed reports whether the radius has become too small to go on.
func (r Region) Collapsed() bool { return r.Radius > 0 && r.Radius < MinRadius }
