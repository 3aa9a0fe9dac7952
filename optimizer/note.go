package optimizer

import "encoding/json"

// Note is what the making of a proposal revealed. It is kept with the
// proposal in a study's journal. Lengths are in the unit cube; values in the
// objective's units unless a field says otherwise.
type Note struct {
	// Why says in a few words which rule made the proposal.
	Why string `json:"why,omitempty"`
	// Expected is the model's median of the value at the point.
	Expected *float64 `json:"expected,omitempty"`
	// Success is the probability that a trial there succeeds, when some failed.
	Success float64 `json:"success,omitempty"`
	// Feasible is the probability that a trial there holds every limit, when there are
	// some.
	Feasible float64 `json:"feasible,omitempty"`
	// Lipschitz is what the bounds were, when there were any.
	Lipschitz *LipschitzNote `json:"lipschitz,omitempty"`
	// Left is how much better than the best trial any can be, with 95 %, by the model and without
	// noise: where the query asks for it, and it is no more than that calls enough.
	Left *float64 `json:"left,omitempty"`
	// Contradicted are the earlier studies, counted from 0, whose results were said to be those
	// of this objective and are not: they count as related.
	Contradicted []int `json:"contradicted,omitempty"`
	// Fitted is the number of values that the model behind the proposal was fitted to, 0 without one.
	Fitted int `json:"-"`
	// State is what the method keeps for itself, in a form of its own, until the
	// proposal comes back with its observation. To everybody else it means nothing.
	State json.RawMessage `json:"state,omitempty"`
}

// LipschitzNote describes the Lipschitz bounds, in the units of the model:
// warped, standardized values, and distances divided by the length scales.
type LipschitzNote struct {
	// Slope is the estimate of the constant, before the schedule.
	Slope float64 `json:"slope"`
	// Constant is the constant that was used.
	Constant float64 `json:"constant"`
	// Excluded is the share of the cube where the upper bound allows no
	// improvement.
	Excluded float64 `json:"excluded"`
	// Gap is how far, in the objective's units, the largest upper bound exceeds the best value:
	// under a stated constant that holds, nothing more is left to gain. There is none under an
	// estimated one, and if the trials refute it.
	Gap *float64 `json:"gap,omitempty"`
	// Stated says that the constant was given by a person.
	Stated bool `json:"stated,omitempty"`
}
