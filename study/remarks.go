package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

const (
	leastTied   = 3    // trials that share the best value
	leastAtEdge = 10   // successes, before the best at the end of a range is said
	leastSplit  = 5    // failures, and others, before it is said where failures begin
	splitPurity = 0.9  // share of failures on one side, and of others on the other
	fewLevels   = 3    // of an int: one of them is always at an end
	tiedShare   = 0.05 // of the successes that the tied ones must be
)

// Remarks are what a person would want to be told of a study, and would see with the whole
// table before them: values that are all equal, a stated constant that does not hold, what may be left to gain, a best value that several trials share, a best
// trial at the end of a range, failures that begin at some value, and workers that are idle.
func (s *State) Remarks() []string {
	var out []string
	for about, text := range s.Mistakes {
		if out = append(out, text); about == "constant" {
			return out
		}
	}
	more := []string{s.Refuted, s.leftOver(), s.tied(), s.atEdge(), s.failuresBegin(), s.Idle()}
	return append(out, slices.DeleteFunc(more, func(text string) bool { return text == "" })...)
}

// equalBest lists the trials that share the best value and hold the limits as well, the best among
// them; it is empty where there is but one.
func (s *State) equalBest() []*Trial {
	best := s.Best()
	if best == nil || s.Config.Several() || len(s.Confirmations()) > 0 {
		return nil
	}
	out := s.those(func(t *Trial) bool { return t.Succeeded() && s.Compare(t, best) == 0 })
	if len(out) < 2 {
		return nil
	}
	return out
}

func (s *State) tied() string {
	tied := s.equalBest()
	if len(tied) < leastTied || len(tied) == s.counts[optimizer.Succeeded] || float64(len(tied)) < tiedShare*float64(s.counts[optimizer.Succeeded]) {
		return ""
	}
	why := "the first of them is named"
	if c := s.Closed; c != nil && c.Recommended != nil && c.Recommended.Trial == s.Best().Number {
		why = fmt.Sprintf("the model expects most of trial %d", s.Best().Number)
	}
	return fmt.Sprintf("%d trials have the best value, %v; %s", len(tied), s.Best().Value, why)
}

// atEdge says that the best trial lies at the end of a range.
func (s *State) atEdge() string {
	best := s.Best()
	if best == nil || s.counts[optimizer.Succeeded] < leastAtEdge || s.Config.Several() || len(s.equalBest()) >= leastTied {
		return ""
	}
	values := best.Values()
	for _, p := range s.Config.Params {
		v, _ := values.Get(p.Name)
		x, number := v.Number()
		levels, finite := p.Levels()
		if few := finite && levels <= fewLevels; few || !number || !numeric(p) || p.Name == s.Search.resource {
			continue
		}
		switch x {
		case p.Min:
			return fmt.Sprintf("the best has %s = %v, the lower end of its range: better values may lie below", p.Name, v)
		case p.Max:
			return fmt.Sprintf("the best has %s = %v, the upper end of its range: better values may lie above", p.Name, v)
		}
	}
	return ""
}

// failuresBegin says where nearly all trials beyond a value of one parameter failed, and
// nearly none of the others.
func (s *State) failuresBegin() string {
	text, purest := "", 0
	if s.counts[optimizer.Failed] < leastSplit {
		return ""
	}
	numbers := lists.Map(s.Trials, func(t *Trial) []float64 {
		values := t.Values()
		return lists.Map(s.Config.Params, func(p spaces.Param) float64 { return values.Float(p.Name) })
	})
	for i, p := range s.Config.Params {
		at := func(t *Trial) float64 { return numbers[t.Number-1][i] }
		var all []*Trial
		total := 0 // of them that failed
		for _, k := range s.Order {
			if t := s.Trials[k-1]; numeric(p) && t.Teaches() && !math.IsNaN(at(t)) {
				all = append(all, t)
				total += failed(t)
			}
		}
		slices.SortStableFunc(all, func(a, b *Trial) int { return cmp.Compare(at(a), at(b)) })
		for _, side := range []string{">", "<"} {
			if side == "<" {
				slices.Reverse(all)
			}
			some := 0 // failures up to and with i
			for i, t := range all {
				if some += failed(t); i+1 == len(all) || at(all[i+1]) == at(t) {
					continue
				}
				here, there, beyond := i+1, len(all)-i-1, total-some
				if right := beyond + here - some; beyond >= leastSplit && here-some >= leastSplit && float64(beyond) >= splitPurity*float64(there) && float64(some) <= (1-splitPurity)*float64(here) && right > purest {
					between := func(x float64) bool { // where the side begins, but for the last digits
						share := (x - at(t)) / (at(all[i+1]) - at(t))
						return -1e-9 < share && share < 1
					}
					purest, text = right, fmt.Sprintf("%d of the %d trials with %s %s %s failed, and %d of the %d others", beyond, there, p.Name, side, shortest(at(t), 4, between), some, here)
				}
			}
		}
	}
	return text
}

func failed(t *Trial) int {
	if t.Status == optimizer.Failed {
		return 1
	}
	return 0
}

const (
	idleWindow = time.Minute
	leastIdle  = 0.25 // share of it that slots were empty, before it is said
	fewEnded   = 20   // trials in it, before anything is
)

// Idle says that in the last minute slots were empty for more than a quarter of the time, though
// the budget had trials for them: they waited for proposals. It is empty otherwise, and where
// slots wait for something else, too.
func (s *State) Idle() string {
	slots := s.Config.Run.SlotCount()
	if n := len(s.inSession); s.Closed != nil || n == 0 || s.Room() < slots || s.Config.Safety != nil || s.shares {
		return ""
	}
	from, ended, whole := s.inSession[len(s.inSession)-1].Finished.Add(-idleWindow), 0, false
	var busy, took time.Duration
	count := func(t *Trial) {
		for _, a := range t.Attempts {
			begun, done := a.Queued, idleWindow
			if begun.IsZero() {
				begun = a.Started
			}
			if !a.Ended.IsZero() {
				done = min(done, a.Ended.Sub(from))
			}
			if !a.Started.IsZero() {
				busy += max(done-max(begun.Sub(from), 0), 0)
			}
		}
	}
	for _, t := range slices.Backward(s.inSession) {
		if whole = !t.Finished.After(from); whole {
			break
		}
		if t.Hand {
			return ""
		}
		ended++
		took += t.Took
		count(t)
	}
	for _, t := range s.Pending() {
		count(t)
	}
	share := 1 - busy.Seconds()/(float64(slots)*idleWindow.Seconds())
	if !whole || ended < fewEnded || share < leastIdle {
		return ""
	}
	return fmt.Sprintf("workers are idle %.0f %% of the time: trials are short, %.2gs each, and the next ones are not proposed as fast", min(100*share, 99), took.Seconds()/float64(ended))
}
