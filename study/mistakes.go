package study

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// The thresholds were chosen on the studies for developing of mistakes_test.go.
const (
	few           = 5    // values that are all equal, courses of trials, and readings of one, before anything is said
	lookedAt      = 200  // trials, the first, in which mistakes are sought
	lookedThrough = 1e5  // values of parameters in these, at most
	leastPairs    = 3    // of trials that differ in one parameter alone
	byChance      = 1e-3 // how likely all of them may have equal values though it counts
	leastTimed    = 8    // trials, before their values are compared with how long they took
	likeTime      = 0.9  // correlation of the two
	roughly       = 0.1  // relative deviation of a duration that counts as noise
	leastAgain    = 3    // degrees of freedom of that
	mostWorsen    = 0.9  // share of the courses that do
	flatten       = 0.6  // share of them that change more in their first half, as learning does
)

// Mistakes are what seems wrong in the spec, each with what it is about: a key that has no effect, the metric is
// another number or a duration that disturbs itself, its direction is the other one, or a parameter changes nothing.
// Of a state without trials they are what the configuration alone says.
func (s *State) Mistakes(yield func(about, text string) bool) {
	trials := lists.Map(s.Order[:min(len(s.Order), lookedAt)], func(n int) *Trial { return s.Trials[n-1] })
	trials = slices.DeleteFunc(trials, func(t *Trial) bool { return !t.Teaches() })
	for _, m := range [][2]string{{"combine", s.Config.uncombined()}, {"threshold", s.Config.unneeded()}, {"constant", s.constant()}, {"direction", s.inverted(trials)}, {"duration", s.timed(trials)}, {"unused", s.unused(trials)}} {
		if m[1] != "" && !yield(m[0], m[1]) {
			return
		}
	}
}

// uncombined says that combine has no effect, if so.
func (c *Config) uncombined() string {
	if c.Run.Combine != "median" || c.Run.Repeats > 1 {
		return ""
	}
	return `combine = "median" says how repeats become one value, and there are none; the runs of confirm count by their mean`
}

// unneeded says that threshold has no effect, if so.
func (c *Config) unneeded() string {
	if o := c.Objective(); o.Threshold != nil && !c.Several() {
		return fmt.Sprintf("threshold changes nothing for %s, which is the only objective", o.Name)
	}
	return ""
}

// constant says that all values so far are equal, if they are and there are enough of them.
func (s *State) constant() string {
	var first *Trial
	n, others := 0, false
	for _, k := range s.Order {
		t := s.Trials[k-1]
		switch {
		case !t.Succeeded():
			continue
		case first == nil:
			first = t
		case t.Value != first.Value:
			return ""
		case !others && !t.Values().Equal(first.Values()):
			others = true
		}
		n++
	}
	if n < few || !others || s.Config.Several() {
		return ""
	}
	return fmt.Sprintf("all %d values of %s are %v: is it the metric, and does the program use its parameters?", n, s.Config.Objective().Name, first.Value)
}

// Words in the names of metrics. Those in qualifiers say nothing of the direction, and those in
// turned that the others do not mean what they mean elsewhere.
const (
	more       = " acc accuracy auc auroc auprc f1 r2 mcc iou miou dice bleu rouge ndcg mrr psnr ssim recall reward rewards score "
	less       = " loss losses error errors err rmse mse mae mape smape nll logloss perplexity ppl crossentropy regret brier fid latency "
	durations  = " time times seconds second sec secs ms millis milliseconds minutes latency runtime walltime elapsed duration wall "
	turned     = " neg negative negated minus inverse inv one reduction improvement drop decrease saved savings attack adversarial "
	qualifiers = " val valid validation test dev train eval cv holdout oof mean avg average best final last total f1 r2 model macro micro weighted max min "
)

// wordRE finds the words of a metric's name: val and acc in valAcc as in val/acc_1.
var wordRE = pattern.Lazy(`[A-Z]?[a-z][a-z0-9]*|[A-Z][A-Z0-9]*`)

func inWords(name string) []string {
	return strings.Fields(strings.ToLower(strings.Join(wordRE().FindAllString(name, -1), " ")))
}

func oneOf(list string, name []string) bool {
	return slices.ContainsFunc(name, func(w string) bool { return strings.Contains(list, " "+w+" ") })
}

// meant is the direction that a metric's name speaks of, empty if it speaks of none or of both. A
// score is of many kinds, and counts where nothing but a qualifier stands beside it.
func meant(name string) Direction {
	all := inWords(name)
	up, down := oneOf(more, all), oneOf(less, all)
	plain := !slices.Contains(all, "score") || !slices.ContainsFunc(all, func(w string) bool { return !oneOf(qualifiers+more, []string{w}) })
	switch begins := strings.IndexFunc(name, unicode.IsLetter); {
	case begins != 0 || up == down || oneOf(turned, all):
		return ""
	case down:
		return Minimize
	case plain:
		return Maximize
	}
	return ""
}

// inverted says that an objective seems to have the wrong direction, by its name or since it gets
// worse while trials learn.
func (s *State) inverted(trials []*Trial) string {
	other, better := map[Direction]Direction{Minimize: Maximize, Maximize: Minimize}, map[Direction]string{Minimize: "less", Maximize: "more"}
	for _, o := range s.Config.Objectives() {
		if m := meant(o.Name); m == other[o.Direction] {
			return fmt.Sprintf("%s has direction = %q, and its name says that %s is better: should it be %q?", o.Name, o.Direction, better[m], m)
		}
	}
	o := s.Config.Objective()
	if meant(o.Name) != "" || oneOf(durations, inWords(o.Name)) {
		return ""
	}
	all, worsen, flat := 0.0, 0.0, 0.0
	for _, t := range trials {
		var course []float64
		for _, m := range t.Measurements {
			if v, ok := m.Metrics.Get(o.Name); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
				course = append(course, s.worth(v))
			}
		}
		n := len(course) / 3
		if len(course) < few {
			continue
		}
		begin, middle, end := stat.Mean(course[:n], nil), stat.Mean(course[n:len(course)-n], nil), stat.Mean(course[len(course)-n:], nil)
		all++
		if begin > middle && middle > end {
			worsen++
			if begin-middle > middle-end {
				flat++
			}
		}
	}
	if all < few || worsen < mostWorsen*all || flat < flatten*worsen {
		return ""
	}
	rises := map[Direction]string{Minimize: "rises", Maximize: "falls"}[o.Direction]
	return fmt.Sprintf("%s %s with the steps in %.0f of %.0f trials, and has direction = %q: should it be %q?", o.Name, rises, worsen, all, o.Direction, other[o.Direction])
}

// timed says that the objective is a duration that trials side by side, or other noise, disturb.
func (s *State) timed(trials []*Trial) string {
	c, o := &s.Config, s.Config.Objective()
	if c.Several() || o.Measure == PeakMemory || o.Measure == "" && !oneOf(durations, inWords(o.Name)) {
		return ""
	}
	var values, took []float64
	runs, repeats, squares, freedom := map[string][]float64{}, float64(max(c.Run.Repeats, 1)), 0.0, 0.0
	for _, t := range trials {
		if !t.Succeeded() {
			continue
		}
		values, took = append(values, t.Value), append(took, t.Took.Seconds())
		key := t.Values().String()
		for _, m := range slices.Concat(t.Repeats, t.Confirms) {
			runs[key] = append(runs[key], m[o.Name])
		}
		if repeats == 1 {
			runs[key] = append(runs[key], t.Value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(runs)) {
		if of := runs[key]; len(of) > 1 {
			mean, variance := stat.MeanVariance(of, nil)
			freedom += float64(len(of) - 1)
			squares += float64(len(of)-1) * variance / (mean * mean * repeats)
		}
	}
	known, apart := freedom >= leastAgain, math.Sqrt(squares/freedom)
	steady := known && apart < roughly/2
	sure := o.Measure == Seconds && len(trials) == 0 || len(values) >= leastTimed && stat.Correlation(values, took, nil) >= likeTime
	switch n := c.Run.SlotCount(); {
	case known && apart >= roughly:
		return fmt.Sprintf("%s is a duration, and the same values repeat it within ± %.0f %% only: %sset %srepeats in [run]", o.Name, 100*apart,
			map[bool]string{true: "run one trial at a time, and "}[n > 1], map[bool]string{true: "more "}[repeats > 1])
	case sure && !steady && n > 1 && repeats == 1 && c.Launcher == nil:
		return fmt.Sprintf("%s looks like the duration of a trial, and %d of them run side by side, which may slow each other down: run one at a time, or set repeats in [run]", o.Name, n)
	}
	return ""
}

// unused names a parameter that seems to change nothing: trials that differ in it alone have equal
// values, over all its choices or half its range, where other trials have not.
func (s *State) unused(trials []*Trial) string {
	params := s.Config.Params
	if s.Config.Several() || len(s.Config.AllLimits()) > 0 {
		return "" // it may count for these
	}
	type rest struct {
		param int
		hash  uint64
	}
	seed, first, whole := maphash.MakeSeed(), map[rest]*Trial{}, map[uint64]*Trial{}
	pairs, changes, values := make([][]*Trial, len(params)), make([]bool, len(params)), map[float64]float64{}
	n, chance := 0.0, 0.0 // how likely two trials are equal
	for _, t := range trials[:min(len(trials), lookedThrough/max(len(params), 1))] {
		sum, hashes, set := uint64(0), make([]uint64, len(params)), t.Values()
		for i, p := range params {
			if v, ok := set.Get(p.Name); ok {
				hashes[i] = maphash.Comparable(seed, spaces.Assignment{Name: p.Name, Value: v})
				sum += hashes[i]
			}
		}
		differs := func(u *Trial) bool { return u.Status != t.Status || u.Value != t.Value }
		if u := whole[sum]; u != nil && differs(u) {
			return "" // there is noise
		} else if u != nil {
			continue
		}
		whole[sum] = t
		for i, h := range hashes {
			u := first[rest{i, sum - h}]
			switch {
			case h == 0: // it does not exist
			case u == nil:
				first[rest{i, sum - h}] = t
			case differs(u):
				changes[i] = true
			case t.Succeeded():
				pairs[i] = append(pairs[i], t, u)
			}
		}
		if t.Succeeded() {
			chance += 2 * values[t.Value]
			values[t.Value]++
			n++
		}
	}
	chance /= n * (n - 1)
	for i, p := range params {
		if k := len(pairs[i]) / 2; !changes[i] && k >= leastPairs && math.Pow(chance, float64(k)) <= byChance && p.Name != s.Search.resource && s.spans(pairs[i], i) {
			return fmt.Sprintf("%s seems to change nothing: %d pairs of trials that differ in it alone have equal values of %s", p.Name, k, s.Config.Objective().Name)
		}
	}
	return ""
}

// spans reports whether trials have all choices of a parameter, or values over half of its range.
func (s *State) spans(trials []*Trial, param int) bool {
	low, high, levels := math.Inf(1), math.Inf(-1), map[spaces.Value]bool{}
	p, c := s.Config.Params[param], s.Search.Space.Offset(param)
	for _, t := range trials {
		low, high = min(low, t.Point[c]), max(high, t.Point[c])
		if v, _ := t.Values().Get(p.Name); slices.Contains(p.Choices, v) {
			levels[v] = true
		}
	}
	return high-low >= 0.5 && len(levels) == len(p.Choices)
}
