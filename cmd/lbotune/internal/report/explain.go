package report

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Reason says why a trial was proposed, and how much of a surprise its result was. Values
// are in the objective's units, as the program prints it.
type Reason struct {
	Trial  int              `json:"trial"`
	Origin optimizer.Origin `json:"origin"`
	Why    string           `json:"why,omitempty"`
	Values spaces.Values    `json:"params"`
	// Told is how many finished trials the optimizer knew, Pending which ones ran.
	Told    int      `json:"told"`
	Pending []int    `json:"pending"`
	Value   *float64 `json:"value"`              // that came out: none of a trial that was stopped early
	NoModel string   `json:"no_model,omitempty"` // why the rest is missing
	Before  *Belief  `json:"before,omitempty"`   // what was believed of the trial before it ran
	Model   *Model   `json:"model,omitempty"`    // its numbers alone
}

// Belief is an optimizer.Belief. A bound that is infinite is missing.
type Belief struct {
	Best    Number  `json:"best"` // what there was to improve upon
	Mean    Number  `json:"mean"`
	SD      Number  `json:"sd"`
	Low     Number  `json:"low"`
	High    Number  `json:"high"`
	Success float64 `json:"success"`
	// AtBest and AtWorst are the Lipschitz bounds.
	AtBest  *float64 `json:"at_best,omitempty"`
	AtWorst *float64 `json:"at_worst,omitempty"`
	// ExcludedBelow is the Lipschitz constant below which the bounds would have excluded
	// the trial, as a share of the one that was used.
	ExcludedBelow *float64 `json:"excluded_below,omitempty"`
	Acquisition   *float64 `json:"acquisition,omitempty"` // the logarithm of what proposals maximize, up to a constant
	// Surprise is how far the value is from the mean, in standard deviations of the belief
	// and the noise together.
	Surprise *float64 `json:"surprise,omitempty"`
}

// errFound ends reading a journal.
var errFound = errors.New("found")

// Explain reads the study in dir up to the proposal of a trial, and asks an optimizer that
// knows what the study's optimizer knew then.
func Explain(ctx context.Context, dir string, t *study.Trial) (Reason, error) {
	r := Reason{Trial: t.Number, Origin: t.Origin, Why: t.Note.Why, Values: t.Values(), Told: t.Told, Pending: t.Pending}
	if t.HasValue() && (t.Status == optimizer.Succeeded || t.Cut == nil || t.Cut.Attempt < t.Attempt) {
		r.Value = ifFinite(t.Value)
	}
	_, err := study.Load(dir, func(before *study.State, rec study.Record) error {
		p, ok := rec.Event.(study.Proposed)
		if !ok || p.Trial != t.Number {
			return nil
		}
		if err := r.believe(ctx, before, t, p.Values); err != nil {
			r.NoModel = err.Error()
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return r, err
}

// believe fills in what was believed when the trial was proposed with these values, before others were added.
func (r *Reason) believe(ctx context.Context, st *study.State, t *study.Trial, values spaces.Values) (err error) {
	defer caught(&err)
	s := &Study{Direction: st.Config.Objective().Direction, state: st}
	observations := lists.Map(slices.DeleteFunc(st.Knew(t), func(t *study.Trial) bool { return !t.Teaches() }), st.Observation)
	model, err := s.told(observations)
	if err != nil {
		return err
	}
	q := optimizer.Query{Trial: t.Number}
	q.Pending = lists.Map(t.Pending, func(n int) optimizer.Pending { return optimizer.Pending{Trial: n, Point: st.Trials[n-1].Point} })
	point, err := st.Search.Encode(values)
	if err != nil {
		return err
	}
	e, err := model.Explain(ctx, q, slices.Values([]spaces.Point{point}))
	if err != nil {
		return err
	}
	b := e.Beliefs[0]
	low, high := s.good(b.Low), s.good(b.High)
	r.Before = &Belief{Best: Number(s.good(e.Best)), Mean: Number(s.good(b.Mean)), SD: Number(b.SD), Low: Number(min(low, high)), High: Number(max(low, high)), Success: b.Success,
		AtBest: ifFinite(s.good(b.Upper)), AtWorst: ifFinite(s.good(b.Lower)), Acquisition: ifFinite(b.Acquisition)}
	if l := e.Lipschitz; l != nil {
		r.Before.ExcludedBelow = ifFinite(b.ExcludedBelow / l.Constant)
	}
	if r.Value != nil {
		r.Before.Surprise = ifFinite((*r.Value - s.good(b.Mean)) / math.Hypot(b.SD, e.Noise))
	}
	r.Model = &Model{Told: len(observations), Warp: e.Warp, Noise: e.Noise, Lengths: e.Lengths, Lipschitz: e.Lipschitz}
	return nil
}

// Number is one of a model's. JSON has null for one that is infinite: an interval may have no
// end, where the transformation of the values has no inverse.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) { return json.Marshal(ifFinite(float64(n))) }

// Numbers are several.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (ns Numbers) MarshalJSON() ([]byte, error) {
	return json.Marshal(lists.Map(ns, ifFinite))
}

func ifFinite(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}
