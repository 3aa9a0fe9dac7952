package session

import (
	"context"
	"errors"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Model is what can be said of configurations after the trials of a study: in the units and
// the direction of the objective, as the program prints it.
type Model struct {
	state *study.State
	of    optimizer.Explainer
}

// Prediction is what a Model expects of one configuration. What the numbers mean exactly,
// optimizer.Belief says.
type Prediction struct {
	Mean, SD  float64 // of the objective without noise
	Low, High float64 // which are meant to enclose it with 95 %
	Success   float64 // the probability that a trial succeeds
}

// LoadModel learns from all that has finished in the study in dir, which another process may be
// working on. A method that has no model of its own is looked at with that of the default one.
func LoadModel(dir string) (*Model, error) {
	st, err := study.Load(dir)
	if err != nil {
		return nil, err
	}
	opt, err := taught(st, st.Search.Model, optimizer.New)
	if err != nil {
		return nil, err
	}
	of, ok := opt.(optimizer.Explainer)
	if !ok {
		return nil, errors.New("the optimizer has no model")
	}
	return &Model{st, of}, nil
}

// Predict says what is expected of a configuration. Parameters that are not named have their
// default, or the middle of their range. The error wraps optimizer.ErrNoModel while too few
// trials have succeeded; of several objectives there is no model.
func (m *Model) Predict(ctx context.Context, v spaces.Values) (Prediction, error) {
	whole, err := m.state.Complete(v)
	if err != nil {
		return Prediction{}, err
	}
	point, err := m.state.Search.Encode(whole)
	if err != nil {
		return Prediction{}, err
	}
	q := m.state.Query(len(m.state.Trials) + 1)
	q.Pending = nil // they would change what is proposed, and not what is expected
	e, err := m.of.Explain(ctx, q, slices.Values([]spaces.Point{point}))
	if err != nil {
		return Prediction{}, err
	}
	b, turn := e.Beliefs[0], m.state.Config.Objective().Direction.Maximized
	low, high := turn(b.Low), turn(b.High)
	return Prediction{Mean: turn(b.Mean), SD: b.SD, Low: min(low, high), High: max(low, high), Success: b.Success}, nil
}
