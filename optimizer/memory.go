package optimizer

import (
	"encoding/json"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

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
