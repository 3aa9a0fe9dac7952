package journal

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Float is a float64 for the fields of records. It is written as the shortest decimal that reads back
// to the same bits, -0 included, and as "NaN", "Infinity" or "-Infinity" where JSON has no number.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(v)
	}
}

// UnmarshalJSON implements json.Unmarshaler. Unlike a float64, it refuses null, which would pass for 0.
func (f *Float) UnmarshalJSON(data []byte) error {
	switch text := string(data); text {
	case `"NaN"`:
		*f = Float(math.NaN())
	case `"Infinity"`:
		*f = Float(math.Inf(1))
	case `"-Infinity"`:
		*f = Float(math.Inf(-1))
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || text[0] == '"' {
			return fmt.Errorf(`%s is neither a number nor "NaN", "Infinity" or "-Infinity"`, text)
		}
		*f = Float(v)
	}
	return nil
}

// Seconds is d as records have it, in thousandths.
func Seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}
