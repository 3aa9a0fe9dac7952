// Package optimizer proposes points and learns from their values. It knows no
// file, clock, process or study: a Go program asks and tells.
//
// Every optimizer maximizes. Proposal k is a pure function of the space, the
// settings, the seed, the observations told so far in their order, the pending
// set and k: asked again with the same, it answers the same, whatever was
// asked in between. What a proposal's making revealed (the rule, fitted
// hyper-parameters, predictions) travels in its Note and comes back with the
// observation, so that a study resumed from its journal goes on exactly as the
// uninterrupted one.
package optimizer

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
	"github.com/lbotune/lbotune/optimizer/internal/vector"
	"github.com/lbotune/lbotune/spaces"
)

// Optimizer is one method of black-box optimization, driven by ask and tell.
// It is not safe for concurrent use.
type Optimizer interface {
	// Tell adds one finished trial. It is an error if the observation's point
	// lies outside the space or a success has no finite value.
	Tell(Observation) error
	// Ask proposes what to try next. It returns ErrExhausted when a finite
	// space holds nothing new, and the context's error when that ends first.
	Ask(context.Context, Query) (Proposal, error)
}

// Recommender is an Optimizer that can name the best configuration more
// robustly than by the largest value it was told, which under noise is often
// only the luckiest.
type Recommender interface {
	// Recommend returns the told trial with the best expected value. It
	// returns ErrNoModel while no trial has succeeded.
	Recommend(context.Context) (Recommendation, error)
}

// Kernel names the kind of processor that this one is to the optimizers: those of one name
// make the same proposals to the last digit, and others may round differently.
func Kernel() string { return vector.Kernel() }

// Recommendation is the answer of a Recommender. Mean and SD are in the units
// of the told values. Mean ± 1.96 SD holds the noiseless value with a probability of 95 %
// where the trial is not the one with the largest value. Where it is, SD may be too small:
// few trials do not show how much noise there is.
type Recommendation struct {
	Trial int     // number of the recommended trial
	Mean  float64 // expected noiseless value there
	SD    float64 // standard deviation of that expectation
	// Gain ± 1.96 GainSD is by how much the trial is better than trial Over, that with today's
	// values or else the first, without noise and with a probability of 95 %. Over is 0 where there is
	// no such trial, where it is itself the recommended one, and where it is not known how much of what the
	// model takes for noise is.
	Over         int
	Gain, GainSD float64
	// Holds is, where measured constraints are noisy, for each success the probability that
	// without noise it holds all of them. It is nil where they are not, and for whoever
	// does not model them.
	Holds map[int]float64
	// Doubtful are the successes that hold them as they were measured, and are expected to
	// break one.
	Doubtful []int
}

// ErrExhausted means that every configuration of a finite space was tried or
// is pending.
var ErrExhausted = errors.New("every configuration of the space was tried")

// Query asks for the point of one trial.
type Query struct {
	// Trial is the number of the trial that the proposal is for, counted from 1.
	// It keys every random stream of the answer.
	Trial int
	// Pending are the trials that are running, in the order of their numbers.
	Pending []Pending
	// Thresholds, of several objectives, are the values above which each counts: the
	// reference point of the hypervolume. Where there are none, or one is −∞, it is found
	// from what was told.
	Thresholds []float64
	// Enough is how much may be left to gain, in the objective's units: a note says how much is,
	// if it is no more. At 0 nothing is said.
	Enough float64
}

// Pending is a trial without a result yet.
type Pending struct {
	Trial int
	Point spaces.Point
}

// Proposal is a point to try, snapped to what will really be run.
type Proposal struct {
	Point  spaces.Point
	Origin Origin
	Note   Note
}

// Origin says which rule made a proposal.
type Origin string

// The origins of proposals. Methods may refine them in Note.Why.
const (
	OriginInitial  Origin = "initial"  // the initial design
	OriginExplore  Origin = "explore"  // random, or inside the Lipschitz bounds
	OriginModel    Origin = "model"    // the global maximizer of the acquisition function
	originBox      Origin = "box"      // the acquisition inside a trust region
	originLocal    Origin = "local"    // the quadratic trust region
	originFallback Origin = "fallback" // the model could not be used
	OriginGiven    Origin = "given"    // values that a person enqueued
	OriginDefault  Origin = "default"  // today's values
)

// Status says how a trial ended.
type Status string

// The ways in which a trial ends.
const (
	Succeeded Status = "succeeded" // it has a value
	Failed    Status = "failed"    // it crashed, hung or diverged: no value
	Pruned    Status = "pruned"    // stopped early; its values are the last readings
)

// Observation is one finished trial.
type Observation struct {
	Trial int
	// Proposal is what Ask answered for the trial, or the point that somebody
	// else chose with OriginGiven.
	Proposal Proposal
	Status   Status
	// Values are those of the objectives, in the order of the study, each to be
	// maximized. They are finite for a success and, when pruned, the last readings
	// (an optimistic or pessimistic guess, never a result). A failure needs none. There
	// are as many in every trial.
	Values []float64
	// Constraints are by how much the trial breaks each of the study's limits, in any
	// unit of that limit's own, the same in all trials: above 0 it breaks it, and at 0 and
	// below it holds it by that margin. The trial counts only if it holds all. NaN is not
	// known, and +Inf means broken by an amount that is not known. A failure may have them
	// too: then they, and no hidden constraint, explain it.
	Constraints []float64
	// Margin is by how much the trial is safe, where Settings.SafetyConstant is set; 0 and
	// less if it is not, or if that is not known.
	Margin float64
}

// Value is the first of the values, that of the only objective; NaN if there is none.
func (o Observation) Value() float64 {
	if len(o.Values) == 0 {
		return math.NaN()
	}
	return o.Values[0]
}

// violation is by how much the observation breaks limits, each in its own unit; 0 if it
// holds them all. What is not known is broken.
func (o Observation) violation() float64 {
	sum := 0.0
	for _, c := range o.Constraints {
		if math.IsNaN(c) {
			return math.Inf(1)
		}
		sum += math.Max(c, 0)
	}
	return sum
}

// unexplained reports whether the trial failed for a reason that no constraint knows.
func (o Observation) unexplained() bool { return o.Status == Failed && len(o.Constraints) == 0 }

// stream returns the random stream of one purpose in the making of one
// proposal. Streams of different keys are independent for all that matters
// here; the same key always gives the same stream.
func stream(seed uint64, trial int, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	a := mix(seed ^ mix(h.Sum64()))
	b := mix(uint64(trial) + a)
	return rand.New(rand.NewPCG(a, b))
}

// mix is one step of SplitMix64.
func mix(z uint64) uint64 { return sobol.Mix(z + sobol.Golden) }
