package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// Gain is by how much a trial is better than another, without the noise.
type Gain struct {
	Trial  int     `json:"trial"`
	Over   int     `json:"over"` // that with today's values, or else the first
	By     float64 `json:"by"`
	Margin float64 `json:"margin"`         // of a 95 % interval; 0 where there is no noise
	Sure   bool    `json:"sure"`           // the interval lies above 0
	Runs   int     `json:"runs,omitempty"` // how often both were run again to tell them apart
	today  bool
}

const (
	bestOfThree = 0.85 // by how much, in deviations, the mean of the best of three equal trials is too good
	unsureOf    = 1.5  // factor of the variance of the noise, which trials show too little of
)

// GainOf is that of the optimizer's choice, or of the best trial where it and today's values were
// confirmed. It is nil as long as the study goes on, and where it is not known how noisy the metric is, or
// today's values break a limit: who gives up a little for it has gained.
func GainOf(st *study.State) *Gain {
	if st.Closed == nil || st.Closed.Recommended == nil || st.Closed.Recommended.Gain == nil {
		return nil
	}
	r := *st.Closed.Recommended
	over, err := st.Trial(r.Gain.Over)
	if err != nil || st.Search.Partial(over.Values()) != "" || !st.Feasible(over) { // it had a part of the resource, or breaks a limit
		return nil
	}
	g, sd := &Gain{Trial: r.Trial, Over: over.Number, By: r.Gain.By, today: over.Origin == optimizer.OriginDefault}, r.Gain.SD
	if cs := st.Confirmations(); len(cs) > 0 {
		i := slices.IndexFunc(cs, func(c study.Confirmation) bool { return c.Trial == over })
		if i <= 0 || st.Config.Several() {
			return nil // they are not confirmed, or the best themselves
		}
		noise := (r.Gain.SD*r.Gain.SD - r.SD*r.SD) / 2 * unsureOf // the deviation has a factor √2, see lbo.md
		one := noise * float64(max(st.Config.Run.Repeats, 1))     // of a run, where a value is a mean of several
		good := st.Config.Objective().Direction.Maximized
		best, today := cs[0], cs[i]
		at := good(best.Mean) - bestOfThree*math.Sqrt(one/unsureOf/float64(best.N))
		variance := one / float64(best.N)
		if best.Trial.Number == r.Trial && r.SD > 0 {
			at, variance = together(at, variance, good(r.Mean), r.SD*r.SD)
		}
		from, of := together(good(today.Mean), one/float64(today.N), good(over.Value), noise)
		g.Trial, g.By, g.Runs, sd = best.Trial.Number, at-from, min(best.N, today.N), math.Sqrt(variance+of)
	}
	g.Margin = 1.96 * sd
	g.Sure = g.By > g.Margin
	return g
}

// together is what two estimates say with their variances.
func together(a, ofA, b, ofB float64) (mean, variance float64) {
	if ofA+ofB == 0 {
		return a, 0
	}
	return (a*ofB + b*ofA) / (ofA + ofB), ofA * ofB / (ofA + ofB)
}

// Text says it in words.
func (g *Gain) Text() string {
	from, confirmed := beginnings[g.today], ""
	if g.Runs > 0 {
		confirmed = fmt.Sprintf("; confirmed by %d runs of each", g.Runs)
	}
	beats := map[bool]string{true: "beats " + from + " by", false: "can't be told apart from " + from + ":"}[g.Sure]
	return fmt.Sprintf("trial %d %s %s (95 %% interval, without the noise%s)", g.Trial, beats, Around(g.By, g.Margin), confirmed)
}

// beginnings are what a study began with, in words.
var beginnings = map[bool]string{true: "today's values", false: "the first trial"}
