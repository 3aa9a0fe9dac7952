package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Ending says why the study should ask for no more trials, nil if it should go on.
func (s *State) Ending(elapsed time.Duration) *Closed {
	b, unsafe, guard, left := s.Config.Budget, s.Unsafe(), s.guard(), ""
	if n := len(s.Queue); n > 0 {
		left = fmt.Sprintf("; enqueued and not tried: %d", n)
	}
	switch {
	case unsafe != "":
		return &Closed{Why: EndUnsafe, Detail: unsafe}
	case (b.Goal != nil || !s.Config.Several()) && s.best != nil && s.Feasible(s.best) && s.reached(s.best):
		return &Closed{Why: endGoal, Detail: fmt.Sprintf("trial %d reached the goal %v", s.best.Number, *cmp.Or(b.Goal, s.Config.Objective().Goal))}
	case s.goal != nil:
		return &Closed{Why: endGoal, Detail: fmt.Sprintf("trial %d reached the goals", s.goal.Number)}
	case guard != nil && s.best == nil: // also if the budget is spent: a mistake is to be mended
		return guard
	case s.spent():
		detail := fmt.Sprintf("all %d trials are finished", len(s.Order))
		if len(s.Order) > b.Trials {
			detail += fmt.Sprintf(", and the budget is %d", b.Trials)
		}
		return &Closed{Why: EndTrials, Detail: detail + left}
	case b.Time > 0 && elapsed >= time.Duration(b.Time):
		return &Closed{Why: endTime, Detail: fmt.Sprintf("the study has run for %v", b.Time) + left}
	case b.WorkerTime > 0 && s.Worked >= time.Duration(b.WorkerTime):
		detail := fmt.Sprintf("the runs have taken %v together, all of worker_time", b.WorkerTime)
		return &Closed{Why: endTime, Detail: detail + left}
	case s.Config.Overdue(elapsed) != nil:
		return s.Config.Overdue(elapsed)
	case b.TimeHard > 0 && elapsed >= s.Config.lastCall()-s.confirmTime():
		return &Closed{Why: endTime, Detail: fmt.Sprintf("what is left of %v is for the runs that confirm the best", b.TimeHard)}
	}
	return cmp.Or(s.impatient(), guard)
}

// impatient ends a study which has not become better for too long.
func (s *State) impatient() *Closed {
	patience, several := s.Config.Budget.Patience, s.Config.Several()
	switch {
	case patience == 0:
	case s.best != nil && s.sinceBest >= patience && several:
		return &Closed{Why: EndPatience, Detail: fmt.Sprintf("no trial on the front in %d", s.sinceBest)}
	case s.best != nil && s.sinceBest >= patience:
		return &Closed{Why: EndPatience, Detail: fmt.Sprintf("no better trial in %d", s.sinceBest)}
	case several && s.gain() < leastGain:
		return &Closed{Why: EndPatience, Detail: fmt.Sprintf("the last %d trials have added less than %g %% to the hypervolume", patience, 100*leastGain)}
	}
	return nil
}

func (s *State) spent() bool {
	return s.Config.Budget.Trials > 0 && len(s.Order) >= s.Config.Budget.Trials
}

// lastCall is when what runs is asked to end, so that nothing runs when the hard limit of time
// is over.
func (c *Config) lastCall() time.Duration {
	return time.Duration(c.Budget.TimeHard) - time.Duration(c.Run.Grace)
}

// Overdue ends a study, and all that runs of it, after the last call; before, it is nil.
func (c *Config) Overdue(elapsed time.Duration) *Closed {
	if c.Budget.TimeHard == 0 || elapsed < c.lastCall() {
		return nil
	}
	return &Closed{Why: endTime, Detail: fmt.Sprintf("time_hard, %v, is over", c.Budget.TimeHard)}
}

// confirmTime is how long it takes, by the longest of the trials that have succeeded and a
// twentieth more, until those that run have ended and the best are confirmed: of each trial one run
// after the other.
func (s *State) confirmTime() time.Duration {
	run := &s.Config.Run
	if run.Confirm == 0 {
		return 0
	}
	best := Contenders
	if s.today() != nil {
		best++
	}
	if s.Config.Several() {
		best = len(s.Front())
	}
	slots := s.atOnce()
	runs := max(run.Repeats, 1) + (best+slots-1)/slots*run.Confirm
	return time.Duration(runs) * s.longest * 21 / 20
}

// lately is how many trials tell how many of the slots that others may have a study gets.
const lately = 16

// atOnce is how many runs a study has at a time: one for each of its slots, or, where it shares them
// with others, as many as its last trials had on average.
func (s *State) atOnce() int {
	slots := max(s.Config.Run.SlotCount(), 1)
	if !s.shares || len(s.inSession) == 0 {
		return slots
	}
	last := s.inSession[max(len(s.inSession)-lately, 0):]
	end := last[len(last)-1].Finished
	begin, took := end, time.Duration(0)
	for _, t := range last {
		took += t.Took
		if b := t.Finished.Add(-t.Took); b.Before(begin) {
			begin = b
		}
	}
	return min(max(int(took/max(end.Sub(begin), 1)), 1), slots)
}

// guard ends a study in which nothing has ever succeeded once the first trials
// of this session have all failed, or all that there are, and any other once its trials fail and fail for one reason.
func (s *State) guard() *Closed {
	n, all := s.Config.Run.FailureGuard, len(s.inSession)
	if n <= 0 || all == 0 || all < n && (s.best != nil || !s.spent()) {
		return nil
	}
	if s.best != nil {
		return s.breakdown(4*n + s.Config.Run.SlotCount() - 1)
	}
	first, trials, how := s.inSession[0], fmt.Sprintf("first %d trials all", all), ""
	if all == 1 {
		trials = "first trial"
	}
	for _, t := range s.inSession {
		if t.Status != optimizer.Failed || t.Failure == nil || first.Failure == nil {
			return nil
		}
		if !t.Failure.alike(first.Failure) {
			how = ", not all for the same reason"
		}
	}
	return &Closed{Why: EndGuard, Detail: fmt.Sprintf("the %s failed%s: %s", trials, how, first.Failure.Text)}
}

// unlikely is how improbable a row of failures must be to end a study that has succeeded before.
const unlikely = 1e-6

// breakdown ends a study whose last trials of this session, at least so many, have all failed for
// one reason, where so long a row was not to be expected of the trials before it: with f of m of
// them failed, ((f+1)/(m+2))^n < unlikely for a row of n (Laplace's rule of succession). A
// grid goes through regions that fail in order.
func (s *State) breakdown(least int) *Closed {
	last, row := s.inSession[len(s.inSession)-1].Failure, 0
	for _, t := range slices.Backward(s.inSession) {
		if t.Status != optimizer.Failed || t.Failure == nil || last == nil || !t.Failure.alike(last) {
			break
		}
		row++
	}
	before := float64(s.Count(optimizer.Failed)-row+1) / float64(len(s.Order)-row+2)
	if row < least || math.Pow(before, float64(row)) >= unlikely || s.Config.Optimizer.Method == "grid" {
		return nil
	}
	return &Closed{Why: EndGuard, Detail: fmt.Sprintf("the last %d trials all failed: %s", row, last.Text)}
}

// GapEnding ends a study that has less left to gain than the budget cares for, if that is
// certain: under a constant that a person has stated. By an estimated one every sixth study
// without noise ended too early, and every second with noise. By the model it ends one that
// asks for it, see agreed.
func (s *State) GapEnding(n optimizer.Note) *Closed {
	if most, ok := s.agreed(n); ok && s.best != nil {
		return &Closed{Why: endRegret, Over: s.best.Number, Detail: fmt.Sprintf("at most %.3g (%.3g %%) is left to gain by the model, with 95 %%", upwards(most), upwards(100*most/s.progress()))}
	}
	l := n.Lipschitz
	certain := l != nil && l.Stated && l.Gap != nil && s.Refuted == ""
	if !certain || s.Config.Budget.Gap <= 0 || s.best == nil || !s.Feasible(s.best) {
		return nil
	}
	lead, begun := s.lead()
	left, also := *l.Gap+lead, ""
	if left > s.Config.Budget.Gap {
		return nil
	}
	if begun {
		also = ", and the results that it began with are its own"
	}
	return &Closed{Why: endGap, Over: s.best.Number, Detail: fmt.Sprintf("at most %.3g is left to gain over trial %d if the objective has no noise and the stated Lipschitz constant %v%s",
		upwards(left), s.best.Number, s.Config.Optimizer.LipschitzConstant, also)}
}

// lead is by how much the best result of the same objective that the study began with is better
// than its own best: the optimizer compares with either. It also says whether there is one.
func (s *State) lead() (lead float64, begun bool) {
	for _, e := range s.Inherited() {
		if !e.Same {
			continue
		}
		for _, v := range e.Values {
			if begun = begun || !math.IsNaN(v); v-s.worth(s.best.Value) > lead {
				lead = v - s.worth(s.best.Value)
			}
		}
	}
	return lead, begun
}

// refute notes whether a trial disproves the stated Lipschitz constant beside one before it. Beside a
// resource, as early studies may state one, it is of no use: distances count rungs there.
func (s *State) refute(t *Trial) {
	stated := s.Config.Optimizer.LipschitzConstant
	if stated > 0 && s.Search.resource != "" {
		s.Refuted = fmt.Sprintf("lipschitz_constant = %v is of no use beside resource = %q, whose rungs count as distances; nothing is certain of what is left to gain", stated, s.Search.resource)
	}
	if stated <= 0 || s.Refuted != "" || !t.Succeeded() {
		return
	}
	noise, _ := strconv.ParseFloat(string(s.Config.Optimizer.Noise), 64) // 0 of a word
	for _, n := range s.Order {
		u := s.Trials[n-1]
		if u == t {
			return
		}
		apart := math.Abs(u.Value-t.Value) - 4*noise - printed*(math.Abs(u.Value)+math.Abs(t.Value))
		if u.Succeeded() && apart > stated*(1+1e-9)*spaces.Distance(u.Point, t.Point) {
			s.Refuted = fmt.Sprintf("lipschitz_constant = %v does not hold: %s is %.6g in trial %d and %.6g in trial %d, %.3g apart; nothing is certain of what is left to gain",
				stated, s.Config.Objective().Name, u.Value, u.Number, t.Value, t.Number, spaces.Distance(u.Point, t.Point))
			return
		}
	}
}
