package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Safety is a limit that no trial may break: only configurations are proposed of which it
// is known, by a constant that a person has stated.
type Safety struct {
	Metric string  `json:"metric"` // the objective, or another
	At     float64 `json:"at"`
	Least  bool    `json:"least,omitempty"` // the metric must be at least At; else at most
	// Constant is how much the metric can change at most, in its own units, between
	// configurations one apart in the unit cube of the parameters.
	Constant float64 `json:"constant"`
	// Slopes, where the change along each parameter is stated, are those in the cube, of
	// which Constant is the length.
	Slopes map[string]float64 `json:"slopes,omitempty"`
	// Noise is how far a measured value may be from the truth.
	Noise float64 `json:"noise,omitempty"`
}

// Stretch is the factor from a constant for the ranges, whose ends are 1 apart, to one for
// the cube.
func Stretch(params []spaces.Param) float64 {
	most := 1.0
	for _, p := range params {
		most = math.Max(most, p.Stretch())
	}
	return most
}

// margin is by how much the trial is safe, 0 and less if nothing says so.
func (s *Safety) margin(t *Trial) float64 {
	v, ok := t.Metrics.Get(s.Metric)
	if !ok || t.Status != optimizer.Succeeded || math.IsNaN(v) {
		return 0
	}
	return -s.over(v) - s.Noise
}

// over is by how much a value breaks the limit; 0 and less if it does not.
func (s *Safety) over(v float64) float64 {
	if s.Least {
		return s.At - v
	}
	return v - s.At
}

func (s *Safety) limit() Limit { return Limit{Metric: s.Metric, At: s.At, Least: s.Least} }

// Breaks reports whether the trial breaks the safety limit.
func (s *State) Breaks(t *Trial) bool {
	return s.Config.Safety != nil && s.Config.Safety.limit().Over(t.Metrics) > 0
}

// MayRun reports whether an attempt at the trial may be started: what the optimizer has
// proposed must be known to be safe under the limit as it is now.
func (s *State) MayRun(t *Trial) bool {
	c := s.Config.Safety
	if c == nil || t.Origin == optimizer.OriginGiven || t.Origin == optimizer.OriginDefault && s.shown.breach != t.Number {
		return true
	}
	return s.Unsafe() == "" && !t.Outside && slices.ContainsFunc(s.Trials, func(u *Trial) bool {
		return u.Succeeded() && c.margin(u) > 0 && c.margin(u) >= c.Constant*spaces.Distance(u.Point, t.Point)
	})
}

// shown is what the trials have shown of a safety limit and its constant.
type shown struct {
	breach int     // the first that the optimizer has proposed and that breaks the limit
	broke  float64 // by this value
	pair   [2]int  // those between which the metric was steepest
	values [2]float64
	slope  float64 // there, in the cube; infinite between equal values
	noise  float64 // that the constant needs to hold
	near   bool    // the two that need it are next to each other, so that it may be chance
	varies int     // the trial whose runs differ most, by more than the noise allows
	runs   [2]float64
	excess float64 // by so much
}

const (
	// printed is how far a value with six digits, as awk and C print it, may be from its
	// truth, as a share of it.
	printed = 5e-6
	// nearby is the distance in the cube within which a difference may well be chance.
	nearby = 0.05
)

// span is the least and the largest value of the metric in the complete runs of a trial, and in all of
// them together; the least is above the largest where there is none.
func (s *Safety) span(t *Trial) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	add := func(v float64, ok bool) {
		if ok && !math.IsNaN(v) {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	if t.Status == optimizer.Succeeded {
		add(t.Metrics.Get(s.Metric))
	}
	for _, runs := range [][]Metrics{t.Repeats, t.Confirms} {
		for _, m := range runs {
			add(m.Get(s.Metric))
		}
	}
	return least, most
}

// watchSafety notes what the runs of a trial say of the safety limit, as soon as each of them has ended.
func (s *State) watchSafety(t *Trial) {
	c, o := s.Config.Safety, &s.shown
	if c == nil || t.Excluded || t.Outside {
		return
	}
	breach := func(v float64, ok bool) {
		first := o.breach == 0 || t.Number < o.breach || t.Number == o.breach && c.over(v) > c.over(o.broke)
		if ok && first && c.over(v)-c.Noise-printed*math.Abs(v) > 0 {
			o.breach, o.broke = t.Number, v
		}
	}
	if !t.before && t.Origin != optimizer.OriginGiven {
		if t.Cut != nil { // stopped at a reading, in whichever attempt
			breach(t.Cut.Reading.Value, t.Cut.Metric == c.Metric)
		}
		breach(t.Metrics.Get(c.Metric))
		for _, m := range t.Repeats {
			breach(m.Get(c.Metric))
		}
	}
	for _, m := range t.Confirms[t.waived:] {
		breach(m.Get(c.Metric))
	}
	for _, u := range s.Trials {
		if !u.Excluded && !u.Outside {
			if u.Number < t.Number {
				s.compareSafety(u, t)
			} else {
				s.compareSafety(t, u)
			}
		}
	}
}

// apart is by how much two values differ for certain.
func (s *Safety) apart(v, w float64) float64 {
	return math.Abs(v-w) - 2*s.Noise - printed*(math.Abs(v)+math.Abs(w))
}

// compareSafety notes what two trials say of the constant, and the runs of one of the noise.
func (s *State) compareSafety(t, u *Trial) {
	c, o := s.Config.Safety, &s.shown
	v, high := c.span(t)
	low, w := c.span(u)
	if v > high || low > w {
		return
	}
	apart := c.apart(v, w)
	if down := c.apart(high, low); down > apart {
		v, w, apart = high, low, down
	}
	if !(apart > 1e-9*c.Constant) {
		return
	}
	if t == u {
		if apart > o.excess || apart == o.excess && t.Number < o.varies {
			o.varies, o.runs, o.excess = t.Number, [2]float64{v, w}, apart
		}
		return
	}
	d := spaces.Distance(t.Point, u.Point)
	if slope := apart / d; slope > o.slope || slope == o.slope && (t.Number < o.pair[0] || t.Number == o.pair[0] && u.Number <= o.pair[1]) {
		o.pair, o.values, o.slope = [2]int{t.Number, u.Number}, [2]float64{v, w}, slope
	}
	if noise := c.Noise + (apart-c.Constant*d)/2; noise > o.noise || noise == o.noise && d >= nearby {
		o.noise, o.near = noise, d < nearby
	}
}

// Unsafe says how the trials have shown that the safety limit is not kept, and what to do;
// empty if they have not.
func (s *State) Unsafe() string {
	c, o := s.Config.Safety, s.shown
	if c == nil {
		return ""
	}
	var out []string
	if o.breach > 0 {
		out = append(out, fmt.Sprintf("trial %d broke the safety limit: %s", o.breach, c.limit().Broken(Metrics{c.Metric: o.broke})))
	}
	if o.slope > c.Constant*(1+1e-9) {
		out = append(out, s.disproof())
	}
	if o.varies > 0 {
		out = append(out, fmt.Sprintf("noise = %v of [safety] does not hold: %s is %.6g and %.6g in two runs of trial %d; say noise = %v or more", c.Noise, c.Metric, o.runs[0], o.runs[1], o.varies, upwards(c.Noise+o.excess/2)))
	}
	if out == nil {
		return ""
	}
	return strings.Join(append(out, "to go on, change [safety] (a larger constant, another limit) or take it out, and run the same command again; or leave it at that"), "; ")
}

// disproof says which trials disprove the constant, and which the least is that they allow.
func (s *State) disproof() string {
	c, o := s.Config.Safety, s.shown
	what, takes := "change", fmt.Sprintf("slopes at least %v times as large", upwards(o.slope/c.Constant))
	if stretch := Stretch(s.Config.Params); c.Slopes == nil {
		what, takes = fmt.Sprintf("constant = %.6g", c.Constant/stretch), fmt.Sprintf("at least %v", upwards(o.slope/stretch))
	}
	if math.IsInf(o.slope, 0) {
		takes = "more than any"
	}
	text := fmt.Sprintf("%s of [safety] does not hold: %s is %.6g in trial %d and %.6g in trial %d, which takes %s", what, c.Metric, o.values[0], o.pair[0], o.values[1], o.pair[1], takes)
	if o.near {
		text += fmt.Sprintf(", or the metric varies by chance: say noise = %v or more", upwards(o.noise))
	}
	return text
}

// upwards rounds up to three digits.
func upwards(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) {
		return x
	}
	unit := math.Floor(math.Log10(x)) - 2
	return math.Ceil(x*math.Pow10(-int(unit))*(1-1e-12)) / math.Pow10(-int(unit))
}

// widened says that the constant of a changed config is the one that was stated for ranges
// which were not as wide; empty if it is not.
func widened(was, now Config) string {
	a, b := was.Safety, now.Safety
	if a != nil && b != nil && b.Slopes != nil {
		return flattened(was, now)
	}
	stated, left := 0.0, ""
	if a != nil && b != nil && a.Slopes == nil && b.Slopes == nil {
		before := a.Constant / Stretch(was.Params)
		switch stated = b.Constant / Stretch(now.Params); {
		case b.Constant == a.Constant: // kept by a program that has changed the ranges
			stated = before
		case math.Abs(stated-before) > 1e-9*stated && stated != a.Constant: // that of an early lbotune, which did not stretch it
			stated = 0
		}
	}
	gap := stated == 0 && now.Budget.Gap > 0
	if gap {
		stated = now.Optimizer.LipschitzConstant
	}
	if stated == 0 {
		return ""
	}
	most := 1.0
	var lines []string
	for i, p := range now.Params {
		if i >= len(was.Params) {
			lines, most = append(lines, p.Name+" is new"), math.NaN()
		} else if w := was.Params[i].Widening(p); !(w <= 1+1e-9) {
			lines, most = append(lines, fmt.Sprintf("%s was %s and is %s", p.Name, rangeText(was.Params[i]), rangeText(p))), math.Max(most, w)
		}
	}
	switch {
	case lines == nil:
		return ""
	case gap:
		left = "leave gap out, or begin a new study"
	case math.IsNaN(most):
		left = "restate it, or state change in its place"
	default:
		left = fmt.Sprintf("restate it (%v has the same slope), or state change in its place", upwards(stated*most))
	}
	what := map[bool]string{false: "constant of [safety]", true: "lipschitz_constant of [optimizer]"}[gap]
	return fmt.Sprintf("the %s, %.6g, is for the whole range, and the ranges have become wider: %s; %s", what, stated, strings.Join(lines, "; "), left)
}

// flattened says along which parameter a slope was stated for a range that was not as wide.
func flattened(was, now Config) string {
	for i, p := range now.Params {
		if i >= len(was.Params) || p.Kind == spaces.KindChoice || p.Kind == spaces.KindBool { // of which no unit could be named
			continue
		}
		old, w := was.Params[i], was.Params[i].Widening(p)
		whole, before := now.Safety.Slopes[p.Name]/p.Stretch(), was.Safety.Slopes[p.Name]/old.Stretch()
		if now.Safety.Slopes[p.Name] == was.Safety.Slopes[p.Name] { // kept by a program that has changed the ranges
			whole = before
		}
		if whole > 0 && !(w <= 1+1e-9) && math.Abs(whole-before) <= 1e-9*whole {
			return fmt.Sprintf("the change of [safety] along %s, %.6g, is for the whole range, and that was %s and is %s; restate it, or state it by its unit: %[1]s = \"... per unit\"",
				p.Name, whole, rangeText(old), rangeText(p))
		}
	}
	return ""
}

func rangeText(p spaces.Param) string {
	if p.Scale != "" && p.Scale != spaces.Linear {
		return fmt.Sprintf("%s (%s)", p.Describe(), p.Scale)
	}
	return p.Describe()
}
