package study

import (
	"encoding/json"
	"fmt"

	"github.com/lbotune/lbotune/journal"
)

// Reading is an intermediate value of the objective.
type Reading struct {
	Step, Value float64
	// Others are, of several objectives, the values of those after the first.
	Others []float64
}

// MarshalJSON writes [step, value, others...].
func (r Reading) MarshalJSON() ([]byte, error) {
	out := []journal.Float{journal.Float(r.Step), journal.Float(r.Value)}
	for _, v := range r.Others {
		out = append(out, journal.Float(v))
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reading) UnmarshalJSON(b []byte) error {
	var all []journal.Float
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if len(all) < 2 {
		return fmt.Errorf("reading: found %d numbers; want a step and a value", len(all))
	}
	*r = Reading{Step: float64(all[0]), Value: float64(all[1])}
	for _, v := range all[2:] {
		r.Others = append(r.Others, float64(v))
	}
	return nil
}
