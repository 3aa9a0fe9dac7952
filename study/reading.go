package study

import (
	"encoding/json"
	"fmt"

	"github.com/lbotune/lbotune/journal"
)

// Reading is an intermediate value of the metric.
type Reading struct{ Step, Value float64 }

// MarshalJSON writes [step, value].
func (r Reading) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]journal.Float{journal.Float(r.Step), journal.Float(r.Value)})
}

// UnmarshalJSON reads [step, value].
func (r *Reading) UnmarshalJSON(b []byte) error {
	var pair [2]journal.Float
	if err := json.Unmarshal(b, &pair); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	r.Step, r.Value = float64(pair[0]), float64(pair[1])
	return nil
}
