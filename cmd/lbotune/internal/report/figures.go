package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// Figures are what is said of a study as a whole, in whatever place: by run, status, best and
// ls, on the page, in the report and as JSON. There is no other source for them.
type Figures struct {
	// Proposed are all trials. Each of the finished is counted once, by its standing. Infeasible are those
	// of the succeeded that break a limit.
	Proposed, Finished, Succeeded, Failed, Pruned, Infeasible, Excluded, Outside int
	Unfinished                                                                   []int // their numbers

	Best *study.Trial // nil if none has succeeded
	// Value is that of the best: the mean of its repeats, if it has some that the choice did
	// not depend on. Runs is then their number, and Margin half of a 95 % interval of it.
	Value, Margin float64
	Runs          int
	// Feasible says whether the best holds every limit, as far as is known: then some trial
	// does. Broken are those that it breaks.
	Feasible bool
	Broken   []string
	// Holds is, where the metrics with limits are noisy, the probability that without noise
	// the best holds them all; nil where they are not, and where its repeats have settled it.
	Holds *float64
	// Front are, of several objectives, the trials that no other dominates.
	Front       []*study.Trial
	Hypervolume float64

	// Bounds are those of the last proposal that had some; nil if none had, and where the trials
	// disprove their constant. Their gap is how much better than the best of now any value can be:
	// none unless the constant is stated and the best allows it, since from an estimated one
	// nothing follows.
	Bounds *optimizer.LipschitzNote

	Elapsed time.Duration // of a running study until now
	Left    time.Duration // of a running study, estimated; 0 if nothing is known
}

// FiguresOf are those of a study on which a process works, or not.
func FiguresOf(st *study.State, running bool) Figures {
	f := Figures{Proposed: len(st.Trials), Finished: len(st.Order), Unfinished: []int{},
		Best: st.Best(), Elapsed: st.Elapsed}
	for _, t := range st.Trials {
		switch st.StandingOf(t) {
		case unfinished:
			f.Unfinished = append(f.Unfinished, t.Number)
		case excluded:
			f.Excluded++
		case outside:
			f.Outside++
		case string(optimizer.Failed):
			f.Failed++
		case string(optimizer.Pruned):
			f.Pruned++
		case infeasible:
			f.Infeasible++
			fallthrough
		default:
			f.Succeeded++
		}
	}
	if b := f.Best; b != nil {
		f.Prefer(st, b)
		if st.Closed != nil && len(b.Confirms) < 2 {
			f.Holds = st.Closed.Holds
		}
	}
	if st.Config.Several() {
		f.Front, f.Hypervolume = st.Front(), st.Hypervolume()
	}
	f.bound(st)
	if running {
		f.Elapsed += max(time.Since(st.Updated), 0)
		f.Left = timeLeft(st.Config.Budget, f.Finished, f.Elapsed, st.Worked)
	}
	return f
}

// HoldsText says how likely the best holds its limits, where that is not sure.
func (f Figures) HoldsText() string {
	if f.Holds == nil {
		return ""
	}
	const tiny = 1e-9 // a probability may be rounded to 0 or 1, and is neither sure
	return fmt.Sprintf("held with a probability of %s %% without their noise", Percent(min(max(*f.Holds, tiny), 1-tiny)))
}

// Prefer takes another trial for the best: of several objectives there is no one best.
func (f *Figures) Prefer(st *study.State, t *study.Trial) {
	f.Best, f.Value, f.Holds = t, t.Value, nil
	f.Feasible, f.Broken = st.Feasible(t), st.Config.Broken(st.Means(t))
	cs := st.Confirmations()
	i := slices.IndexFunc(cs, func(c study.Confirmation) bool { return c.Trial == t })
	if i == 0 || i > 0 && st.Config.Several() { // of one objective only the best mean is told for the value
		f.Value, f.Margin, f.Runs = cs[i].Mean, cs[i].Margin, cs[i].N
	}
}

// bound finds the bounds, and what they leave to gain over today's best.
func (f *Figures) bound(st *study.State) {
	var at *study.Trial
	for _, t := range st.Trials {
		if t.Note.Lipschitz != nil {
			at = t
		}
	}
	if at == nil || !st.Holds(at) || boundsOf(st, at) == nil || st.Refuted != "" {
		return // until the next proposal
	}
	bounds := *at.Note.Lipschitz
	gain := leftToGain(&bounds)
	bounds.Gap, f.Bounds = nil, &bounds
	if gain == nil || f.Best == nil || st.Config.Several() {
		return
	}
	turn := st.Config.Objective().Direction.Maximized
	then := math.Inf(-1) // the best value that the bounds were made of
	for _, n := range st.Order[:min(at.Told, len(st.Order))] {
		t := st.Trials[n-1]
		if t.Succeeded() && len(st.Config.Broken(&t.Metrics)) == 0 {
			then = math.Max(then, turn(t.Value))
		}
	}
	for _, e := range st.Inherited() {
		if e.Same {
			then = slices.MaxFunc(append(e.Values, then), cmp.Compare[float64])
		}
	}
	if left := *gain + then - turn(f.Best.Value); left >= 0 && f.Feasible { // else the best disproves them
		bounds.Gap = &left
	}
}

// boundsOf are those that a trial was proposed with, nil if they are of no use, see State.Refuted.
func boundsOf(st *study.State, t *study.Trial) *optimizer.LipschitzNote {
	if l := t.Note.Lipschitz; l == nil || !l.Stated || st.Config.Resource() == "" {
		return l
	}
	return nil
}

// leftToGain is what bounds leave to gain over the best value that they were made of, if that
// follows from a stated constant.
func leftToGain(l *optimizer.LipschitzNote) *float64 {
	if l == nil || !l.Stated {
		return nil
	}
	return l.Gap
}

// timeLeft estimates how long a study will take in which so many trials have finished in
// the time spent, and their runs have worked so long, 0 if nothing is known.
func timeLeft(b study.Budget, finished int, spent, worked time.Duration) time.Duration {
	left := math.Inf(1)
	if b.Trials > 0 && finished > 0 {
		left = float64(spent) / float64(finished) * float64(max(b.Trials-finished, 0))
	}
	if limit := b.Limit(); limit > 0 {
		left = min(left, float64(max(limit-spent, 0)))
	}
	if limit := time.Duration(b.WorkerTime); limit > 0 && worked > 0 {
		left = min(left, float64(spent)/float64(worked)*float64(max(limit-worked, 0)))
	}
	if left > 1<<62 { // centuries
		return 0
	}
	return time.Duration(left)
}

// BestText is the value of the best, with its margin if that is known.
func (f Figures) BestText() string {
	if f.Runs > 0 {
		return Around(f.Value, f.Margin)
	}
	return Short(f.Value)
}

// Short is a number as people compare it: six significant digits.
func Short(x float64) string {
	if a := math.Abs(x); a >= 1e6 && a < 1e15 && x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Around is a number and half of an interval around it, with digits enough that it stays in the middle.
func Around(x, half float64) string {
	text := Short(x)
	for digits := 7; ; digits++ {
		if v, _ := strconv.ParseFloat(text, 64); !(math.Abs(v-x) > math.Max(half/10, 1e-12*math.Abs(x))) {
			return text + " ± " + Short(half)
		}
		text = strconv.FormatFloat(x, 'g', digits, 64)
	}
}

// Took writes a duration with the precision that people care for.
func Took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Failures are trials that failed for one reason.
type Failures struct {
	Reason string `json:"reason"`
	Trials []int  `json:"trials"`
}

// FailuresOf lists why trials that count failed, the most frequent reason first.
func FailuresOf(st *study.State) []Failures {
	out, at := []Failures{}, map[string]int{}
	for _, t := range st.Trials {
		if t.Status != optimizer.Failed || !t.Teaches() {
			continue
		}
		reason := t.Failure.String()
		i, known := at[reason]
		if !known {
			i, at[reason] = len(out), len(out)
			out = append(out, Failures{Reason: reason})
		}
		out[i].Trials = append(out[i].Trials, t.Number)
	}
	slices.SortStableFunc(out, func(a, b Failures) int { return len(b.Trials) - len(a.Trials) })
	return out
}
