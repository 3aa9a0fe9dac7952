package warp

import (
	"errors"
	"math"
)

// Score returns the log density that a model gives to transformed values, for
// instance the leave-one-out density of a fitted Gaussian process. It counts all
// the values, as the Jacobian does that Choose adds: the density of a part of
// them, m of n, must be multiplied by n/m.
type Score func(w Warp, z []float64) (float64, error)

// Choose fits each kind to the values and returns the one with the largest
//
//	score(z) + Σ_i ln dz/dy(y_i),
//
// the log density of the untransformed values; the earlier kind in a tie. A
// kind that cannot be fitted or scored is passed over; when none can, the
// errors are returned.
func Choose(kinds []Kind, values []float64, o Options, score Score) (Warp, error) {
	var (
		best  Warp
		found bool
		top   = math.Inf(-1)
		errs  []error
	)
	for _, kind := range kinds {
		w, err := Fit(kind, values, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		total, err := score(w, w.ApplyAll(values))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, y := range values {
			total += w.LogJacobian(y)
		}
		if !math.IsNaN(total) && (!found || total > top) {
			best, top, found = w, total, true
		}
	}
	if !found {
		return Warp{}, errors.Join(append(errs, errors.New("warp: no kind could be fitted and scored"))...)
	}
	return best, nil
}
