// Package warp transforms objective values before a Gaussian process models
// them: a strictly increasing shape (identity, log, asinh or Yeo-Johnson), then
// standardization to mean 0 and standard deviation 1. Values are maximized:
// larger is better, and the bad tail is the lower one.
//
// With Choose, the shape is the one under which the model predicts the values
// best, densities being compared in the units of the untransformed values.
package warp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Kind names a shape.
type Kind string

// The shapes. Symbols: b best value, s = b − median, MAD median absolute
// deviation from the median, u = (y − mean)/sd.
const (
	Identity   Kind = "identity"    // y
	Log        Kind = "log"         // −ln((b − y)/s + δ), δ = 0.1
	Asinh      Kind = "asinh"       // asinh((y − median)/MAD)
	YeoJohnson Kind = "yeo-johnson" // Yeo and Johnson (2000) of u, λ by maximum likelihood
)

// Kinds returns all shapes, Identity first.
func Kinds() []Kind { return []Kind{Identity, Log, Asinh, YeoJohnson} }

// Options of Fit.
type Options struct {
	// Winsor, if positive, raises values below median − Winsor·MAD to that
	// bound. It has no effect when MAD is 0.
	Winsor float64
	// Raw leaves out the standardization: Mean is 0 and SD 1.
	Raw bool
}

// Warp is a fitted transform z = (shape(max(y, Floor)) − Mean)/SD. The zero
// value is not valid: make one with Fit.
type Warp struct {
	Kind   Kind
	Centre float64 // what the shape measures from: b, median or mean
	Scale  float64 // in what unit: s, MAD or sd
	Lambda float64 // of Yeo-Johnson
	Floor  float64 // bound of the bad tail, −∞ if it is not winsorized
	Mean   float64 // of the shaped values
	SD     float64 // of the shaped values, divisor n; 1 if they are equal
}

// logDelta is δ of the log shape: the best value is 0.1·s away from the pole.
const logDelta = 0.1

// Fit fits a shape to values, which are finite and at least one.
func Fit(kind Kind, values []float64, o Options) (Warp, error) {
	if len(values) == 0 {
		return Warp{}, errors.New("warp: no values")
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Warp{}, fmt.Errorf("warp: value %d is %v", i, v)
		}
	}
	w := Warp{Kind: kind, Scale: 1, SD: 1, Floor: math.Inf(-1)}
	ys := slices.Clone(values)
	if o.Winsor > 0 {
		if median, mad := medianMAD(ys); mad > 0 {
			w.Floor = median - o.Winsor*mad
			for i, y := range ys {
				ys[i] = w.clamp(y)
			}
		}
	}
	switch kind {
	case Identity:
	case Log:
		w.Centre = slices.Max(ys)
		mean, _ := moments(ys)
		w.Scale = cmp.Or(w.Centre-Median(ys), max(w.Centre-mean, 0), 1)
	case Asinh:
		median, mad := medianMAD(ys)
		deviation := 0.0 // from it, on average
		for _, y := range ys {
			deviation += math.Abs(y-median) / float64(len(ys))
		}
		w.Centre, w.Scale = median, cmp.Or(mad, deviation, 1)
	case YeoJohnson:
		w.Centre, w.Scale = moments(ys)
		for i, y := range ys {
			ys[i] = (y - w.Centre) / w.Scale
		}
		w.Lambda = fitLambda(ys)
		for i, u := range ys {
			ys[i] = yeoJohnson(u, w.Lambda)
		}
	default:
		return Warp{}, fmt.Errorf("warp: unknown kind %q: allowed are %q", kind, Kinds())
	}
	if kind != YeoJohnson {
		for i, y := range ys {
			ys[i] = w.shape(y)
		}
	}
	if !o.Raw {
		w.Mean, w.SD = moments(ys)
	}
	for _, z := range w.ApplyAll(values) {
		if math.IsInf(z, 0) || math.IsNaN(z) {
			return Warp{}, fmt.Errorf("warp: %s: the values spread beyond the range of float64", kind)
		}
	}
	return w, nil
}

// Apply returns the transformed value of y. It is strictly increasing above the
// floor and defined everywhere: above the best value the log shape goes on as
// its tangent.
func (w *Warp) Apply(y float64) float64 { return (w.shape(w.clamp(y)) - w.Mean) / w.SD }

// ApplyAll returns the transformed values.
func (w *Warp) ApplyAll(ys []float64) []float64 {
	zs := make([]float64, len(ys))
	for i, y := range ys {
		zs[i] = w.Apply(y)
	}
	return zs
}

// Inverse returns the y with Apply(y) = z. Yeo-Johnson is bounded above for
// λ < 0 and below for λ > 2: beyond its bounds the inverse is infinite.
func (w *Warp) Inverse(z float64) float64 {
	z = z*w.SD + w.Mean
	switch w.Kind {
	case Log:
		if top := -math.Log(logDelta); z > top {
			return w.Centre + (z-top)*logDelta*w.Scale
		}
		return w.Centre - (math.Exp(-z)-logDelta)*w.Scale
	case Asinh:
		return w.Centre + w.Scale*math.Sinh(z)
	case YeoJohnson:
		return w.Centre + w.Scale*yeoJohnsonInverse(z, w.Lambda)
	default:
		return z
	}
}

// LogJacobian returns ln dz/dy at y, with y raised to the floor first.
func (w *Warp) LogJacobian(y float64) float64 {
	y = w.clamp(y)
	v := -math.Log(w.SD)
	switch w.Kind {
	case Log:
		return v - math.Log(w.Scale) - math.Log(math.Max(w.Centre-y, 0)/w.Scale+logDelta)
	case Asinh:
		return v - math.Log(w.Scale) - math.Log(math.Hypot(1, (y-w.Centre)/w.Scale))
	case YeoJohnson:
		u := (y - w.Centre) / w.Scale
		return v - math.Log(w.Scale) + (w.Lambda-1)*math.Copysign(math.Log1p(math.Abs(u)), u)
	default:
		return v
	}
}

func (w *Warp) clamp(y float64) float64 { return max(y, w.Floor) }

func (w *Warp) shape(y float64) float64 {
	switch w.Kind {
	case Log:
		if y > w.Centre {
			return -math.Log(logDelta) + (y-w.Centre)/(logDelta*w.Scale)
		}
		return -math.Log((w.Centre-y)/w.Scale + logDelta)
	case Asinh:
		return math.Asinh((y - w.Centre) / w.Scale)
	case YeoJohnson:
		return yeoJohnson((y-w.Centre)/w.Scale, w.Lambda)
	default:
		return y
	}
}

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

// moments returns the mean and the standard deviation, with divisor n, and 1 if the values are
// equal. It is exact for these (their computed mean may differ from them in the last bit, which
// must not count as spread) and safe for values whose squares overflow.
func moments(v []float64) (mean, sd float64) {
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return low, 1
	}
	n := float64(len(v))
	scale := math.Max(math.Abs(low), math.Abs(high))
	sum, square := 0.0, 0.0
	for _, x := range v {
		sum += x / scale
	}
	centre := sum / n
	for _, x := range v {
		t := x/scale - centre
		square += t * t
	}
	return centre * scale, math.Sqrt(square/n) * scale
}

func medianMAD(v []float64) (median, mad float64) {
	median = Median(v)
	away := make([]float64, len(v))
	for i, x := range v {
		away[i] = math.Abs(x - median)
	}
	return median, Median(away)
}

// Median returns the median of at least one value.
func Median(v []float64) float64 {
	s := slices.Clone(v)
	half := len(s) / 2
	up := nth(s, half)
	if len(s)%2 == 1 {
		return up
	}
	return slices.Max(s[:half])/2 + up/2
}

// nth returns the element that would be at place k if s were sorted, puts it there, and none that is
// larger before it (Hoare, Algorithm 65: find, 1961).
func nth(s []float64, k int) float64 {
	for low, high := 0, len(s)-1; low < high; {
		pivot, i, j := s[low+(high-low)/2], low, high
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for pivot < s[j] {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		if j < k {
			low = i
		}
		if k < i {
			high = j
		}
	}
	return s[k]
}
