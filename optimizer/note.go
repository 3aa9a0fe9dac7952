package optimizer

import "github.com/lbotune/lbotune/optimizer/gp"

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
	// Lipschitz is what the bounds were, when there were any.
	Lipschitz *LipschitzNote `json:"lipschitz,omitempty"`
	// Fit is the model that the proposal rests on. The next fit starts from it.
	Fit *Fit `json:"fit,omitempty"`
	// Step is the trust region that the proposal was made in.
	Step *Step `json:"step,omitempty"`
	// Finished are the trials around which the search found nothing left to
	// gain.
	Finished []int `json:"finished,omitempty"`
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
	// Gap is how far, in the objective's units, the largest upper bound exceeds the
	// best value. Under a stated constant that holds, nothing more is left to gain.
	// Under an estimated one it is a guess: of the largest bound that was seen. There
	// is none if the trials refute a stated constant.
	Gap *float64 `json:"gap,omitempty"`
	// Stated says that the constant was given by a person.
	Stated bool `json:"stated,omitempty"`
}

// Fit is a fitted model: enough to build it again from the told trials.
type Fit struct {
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

// Step is one step of a trust region.
type Step struct {
	// Centre is the trial in its middle.
	Centre int `json:"centre"`
	// New says that the step starts in another basin than the steps before.
	New bool `json:"new,omitempty"`
	// Radius is half its width.
	Radius float64 `json:"radius"`
	// Gain is the improvement on the centre's value that the step promised.
	Gain float64 `json:"gain"`
	// Told is how many observations had been told when it was made.
	Told int `json:"told"`
}
