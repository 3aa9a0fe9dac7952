package report

import "encoding/json"

// Number is one of a model's. JSON has null for one that is infinite: an interval may have no
// end, where the transformation of the values has no inverse.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) { return json.Marshal(ifFinite(float64(n))) }

// Numbers are several.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (ns Numbers) MarshalJSON() ([]byte, error) {
	if ns == nil {
		return []byte("null"), nil
	}
	out := make([]*float64, len(ns))
	for i, n := range ns {
		out[i] = ifFinite(n)
	}
	return json.Marshal(out)
}
