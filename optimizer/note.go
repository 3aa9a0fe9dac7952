package optimizer

import (
	"encoding/json"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

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

// memory is what lbo keeps of the making of a proposal, in Note.State.
type memory struct {
	// Fit is the model that the proposal rests on. The next fit starts from it.
	Fit *modelFit `json:"fit,omitempty"`
	// Fits are the same of each of several objectives.
	Fits []*modelFit `json:"fits,omitempty"`
	// Step is the trust region that the proposal was made in.
	Step *trustStep `json:"step,omitempty"`
	// Finished are the trials around which the search found nothing left to gain.
	Finished []int `json:"finished,omitempty"`
}

// modelFit is a fitted model: enough to build it again from the told trials.
type modelFit struct {
	// N is the number of successes that the hyper-parameters were fitted to.
	N int `json:"n"`
	// Warp is the transformation of the values, chosen at WarpN successes.
	Warp  string `json:"warp"`
	WarpN int    `json:"warp_n"`
	// Hyper are the hyper-parameters, in units of warped, standardized values.
	Hyper gp.Hyper `json:"hyper"`
	// Samples are draws from the posterior of the hyper-parameters, where the
	// acquisition is averaged over them; Hyper is the last.
	Samples []gp.Hyper `json:"samples,omitempty"`
}

// trustStep is one step of a trust region. Lengths are in the unit cube.
type trustStep struct {
	// Centre is the trial in its middle.
	Centre int `json:"centre"`
	// New says that the step starts in another basin than the steps before.
	New bool `json:"new,omitempty"`
	// Radius is half the width of the quadratic's region, the width of a box, 0 in a valley's frame.
	Radius float64 `json:"radius"`
	// Gain is the improvement on the centre's value that the step promised.
	Gain float64 `json:"gain"`
	// Told is how many observations had been told when it was made.
	Told int `json:"told"`
}

// write returns the state of a note; none if there is nothing to keep.
func (m memory) write() json.RawMessage {
	if m.Fit == nil && m.Fits == nil && m.Step == nil && m.Finished == nil {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("optimizer: a proposal's memory is no JSON: " + err.Error()) // finite numbers and words
	}
	return b
}

// recall reads the state of a note. A proposal of another method or program has
// another, or none: then there is nothing to remember.
func recall(n Note) memory {
	var m memory
	if len(n.State) == 0 || json.Unmarshal(n.State, &m) != nil {
		return memory{}
	}
	return m
}
