package warp

import (
	"errors"
	"math"
)

// Choose fits each kind to the values and returns the one with the largest
//
//	score(z) + Σ_i ln dz/dy(y_i),
//
// the log density of the untransformed values, and the model by which it was scored; the
// earlier kind in a tie. A kind that cannot be fitted or scored is passed over; when none
// can, the errors are returned.
//
// Score returns a model of transformed values and the log density that it gives to them,
// for instance the leave-one-out density of a fitted Gaussian process. It counts all the
// values, as the Jacobian does: the density of a part of them, m of n, must be multiplied
// by n/m.
func Choose[Model any](kinds []Kind, values []float64, o Options, score func(w Warp, z []float64) (Model, float64, error)) (Warp, Model, error) {
	var best Warp
	var by Model
	var errs []error
	found, top := false, math.Inf(-1)
	for _, kind := range kinds {
		var model Model
		var total float64
		w, err := Fit(kind, values, o)
		if err == nil {
			model, total, err = score(w, w.ApplyAll(values))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, y := range values {
			total += w.LogJacobian(y)
		}
		if !math.IsNaN(total) && (!found || total > top) {
			best, by, top, found = w, model, total, true
		}
	}
	if !found {
		return Warp{}, by, errors.Join(append(errs, errors.New("warp: no kind could be fitted and scored"))...)
	}
	return best, by, nil
}
