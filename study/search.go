package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// A study whose pruner names a resource (an int parameter such as epochs) runs
// every configuration with little of it first. Those that deserve more (Li et al.
// 2020) are continued by a trial of their own, with the resource of the next rung.
// So each trial has one value, at a point of its own, and the optimizer learns
// from all of them: it sees the resource as one more parameter, that counts rungs.
// What it proposes for it is not followed.

// Search translates between the values of trials and the space that the
// optimizer searches. The two differ by the resource, if there is one.
type Search struct {
	Space *spaces.Space
	// Settings are those of the optimizer. With a resource the first proposals are cheap, and
	// unless the config says how many of them there are, there are η times as many.
	Settings optimizer.Settings
	// Model are the settings of who looks at the study with a model: those, or the default ones
	// where the method has none.
	Model optimizer.Settings

	resource string
	rungs    []int // amounts of the resource, the smallest first; none without one
}

// spaces returns the space of trials' values and the optimizer's view of it. A
// resource without rungs, of which a session complains, is a parameter like others.
func (c *Config) spaces() (*spaces.Space, *Search, error) {
	if err := c.checkMetrics(); err != nil {
		return nil, nil, err
	}
	search, searchErr := c.Search()
	if searchErr == nil && search.resource == "" { // relations take their time, and the two are equal
		return search.Space, search, nil
	}
	space, err := c.Space()
	if err != nil {
		return nil, nil, err
	}
	if searchErr != nil {
		search = &Search{Space: space, Settings: c.Optimizer, Model: c.Optimizer}
	}
	return space, search, nil
}

// Search returns the optimizer's view of the parameters.
func (c *Config) Search() (*Search, error) {
	s := &Search{Settings: c.Optimizer}
	if c.Safety != nil {
		s.Settings.SafetyConstant = c.Safety.Constant
	}
	var err error
	if s.rungs, err = c.rungs(); err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	params := slices.Clone(c.Params)
	for i, p := range params {
		if len(s.rungs) > 0 && p.Name == c.Resource() {
			s.resource = p.Name
			params[i] = spaces.Param{Name: p.Name, Kind: spaces.KindInt, Min: 0, Max: float64(len(s.rungs) - 1)}
		}
	}
	if s.Space, err = c.related(params); err != nil {
		return nil, err
	}
	if o := &s.Settings; s.resource != "" && o.DesignSize == 0 && o.Preset != "paper" {
		o.DesignSize = int(math.Ceil(c.Prune.Reduction * float64(o.Resolved(len(params)).DesignSize)))
	}
	if o := &s.Settings; o.Design == "walk" && (s.resource != "" || c.Several()) {
		o.Design = "" // a walk follows one value, and trials that continue others would break it off
	}
	if m := s.Settings.Method; m == "" || m == "lbo" {
		s.Model = s.Settings
	}
	return s, nil
}

// rungs lists the amounts of the resource, the smallest first; the last is the
// parameter's maximum. A config without a resource has none.
func (c *Config) rungs() ([]int, error) {
	i := slices.Index(namesOf(c.Params), c.Resource())
	if i < 0 || c.Resource() == "" {
		return nil, nil
	}
	return c.Prune.Rungs(int(c.Params[i].Min), int(c.Params[i].Max))
}

// Decode returns what a trial is run with that the optimizer proposes: the
// resource is that of the first rung.
func (s *Search) Decode(p spaces.Point) spaces.Values { return s.on(0, s.Space.Decode(p)) }

// Default returns what the first trial is run with, if the parameters say what their
// values are today, and false if none does.
func (s *Search) Default(space *spaces.Space) (spaces.Values, bool) {
	v, known := space.Default()
	return s.upwards(v), known
}

// Encode returns the optimizer's point of a trial's values.
func (s *Search) Encode(v spaces.Values) (spaces.Point, error) {
	if s.resource == "" {
		return s.Space.Encode(v)
	}
	rung := s.rung(v)
	if rung < 0 {
		return nil, fmt.Errorf("parameter %s has none of the values %v of its rungs", s.resource, s.rungs)
	}
	return s.Space.Encode(set(v, s.resource, int64(rung)))
}

// on returns the values with the resource of a rung.
func (s *Search) on(rung int, v spaces.Values) spaces.Values {
	if s.resource == "" {
		return v
	}
	return set(v, s.resource, int64(s.rungs[rung]))
}

// rung is that of the values, -1 if their resource is of none.
func (s *Search) rung(v spaces.Values) int {
	amount, _ := v.Get(s.resource)
	n, _ := amount.Any().(int64)
	return slices.Index(s.rungs, int(n))
}

// upwards returns values with the resource of the first rung that has at least as
// much, the last one if none has.
func (s *Search) upwards(v spaces.Values) spaces.Values {
	amount, ok := v.Get(s.resource)
	if !ok {
		return v
	}
	n, _ := amount.Any().(int64)
	rung := slices.IndexFunc(s.rungs, func(r int) bool { return int64(r) >= n })
	if rung < 0 {
		rung = len(s.rungs) - 1
	}
	return s.on(rung, v)
}

func (s *Search) top() int { return len(s.rungs) - 1 }

// Partial says which part of the resource values have that do not have all of it; empty if they do.
func (s *Search) Partial(v spaces.Values) string {
	rung := s.rung(v)
	if s.resource == "" || rung >= s.top() {
		return ""
	}
	return fmt.Sprintf("at %s=%d of %d", s.resource, s.rungs[rung], s.rungs[s.top()])
}

func set(v spaces.Values, name string, n int64) spaces.Values {
	out := slices.Clone(v)
	for i := range out {
		if out[i].Name == name {
			out[i].Value = spaces.Int(n)
		}
	}
	return out
}

// lastRun reports whether the budget has room for one trial, and none was given
// all of the resource yet. A study must not end without having done so.
func (s *State) lastRun() bool { return s.Search.resource != "" && s.Room() == 1 && !s.whole() }

// whole reports whether a trial has a result with all of the resource, or runs with it. Today's values
// do not count: they say nothing of what was found.
func (s *State) whole() bool {
	return slices.ContainsFunc(s.Trials, func(t *Trial) bool {
		counts := t.Succeeded() || !t.Done() && t.Teaches()
		return counts && t.Origin != optimizer.OriginDefault && s.Search.rung(t.Values()) == s.Search.top()
	})
}

// layRungs lays the results of all trials on their rungs.
func (s *State) layRungs() {
	s.rungs = make([][]*Trial, len(s.Search.rungs))
	for _, t := range s.Trials {
		s.lay(t)
	}
}

// lay puts a trial on the rung on which it has a result, behind those that break the limits less or are
// better, and of equal ones that with the lower number.
func (s *State) lay(t *Trial) {
	k := s.rungOf(t)
	if k < 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.rungs[k], t, func(a, b *Trial) int {
		over := cmp.Compare(s.Config.violation(&a.Metrics), s.Config.violation(&b.Metrics))
		return cmp.Or(over, cmp.Compare(s.worth(b.Value), s.worth(a.Value)), cmp.Compare(a.Number, b.Number))
	})
	s.rungs[k] = slices.Insert(s.rungs[k], at, t)
}

// promotable is the best trial of a rung that was not continued yet, if it is among the ⌊n/η⌋ best of
// its n (Li et al. 2020, algorithm 2, get_job), and nil if there is none.
func (s *State) promotable(k int, reduction float64) *Trial {
	rank := slices.IndexFunc(s.rungs[k], func(t *Trial) bool { return t.next == 0 })
	if rank >= 0 && rank < int(float64(len(s.rungs[k]))/reduction) {
		return s.rungs[k][rank]
	}
	return nil
}

// rungOf is the rung on which a trial has a result, -1 if it has none. One whose
// continuation failed has none.
func (s *State) rungOf(t *Trial) int {
	failed := t.Status == optimizer.Failed || t.next > 0 && s.Trials[t.next-1].Status == optimizer.Failed
	if s.Search.resource == "" || !t.Done() || failed || !t.Teaches() || t.limited() {
		return -1
	}
	return s.Search.rung(t.Values())
}

// climb lays the result of a trial that has finished on its rung.
func (s *State) climb(t *Trial) {
	s.lay(t)
	if t.Continues > 0 && t.Status == optimizer.Failed {
		if k := s.Search.rung(s.Trials[t.Continues-1].Values()); k >= 0 {
			s.rungs[k] = slices.DeleteFunc(s.rungs[k], func(u *Trial) bool { return u.Number == t.Continues })
		}
	}
}

const originContinued optimizer.Origin = "continued"

// continued is the next trial if one should be continued now: from the highest rung with such a trial. The
// last run gets all of the resource, however few others its trial was compared with.
func (s *State) continued(last bool) (Proposed, bool) {
	for k := s.Search.top() - 1; k >= 0; k-- {
		reduction, rung := s.Config.Prune.Reduction, k+1
		if last {
			reduction, rung = 1, s.Search.top()
		}
		if t := s.promotable(k, reduction); t != nil {
			return Proposed{Origin: originContinued, Values: s.Search.on(rung, t.Values()), Continues: t.Number}, true
		}
	}
	return Proposed{}, false
}

// Unasked is the next trial if the optimizer need not be asked for it: one that
// continues another, today's values, or values that a person enqueued. If the optimizer has nothing
// else to propose and nothing runs (exhausted), it is the best trial with all of the resource, unless one
// is whole.
func (s *State) Unasked(exhausted bool) (Proposed, bool) {
	if p, ok := s.continued(s.lastRun() || exhausted && !s.whole()); ok {
		return p, true
	}
	if len(s.Trials) == 0 {
		if v, known := s.Search.Default(s.Space); known {
			return Proposed{Origin: optimizer.OriginDefault, Values: s.Fresh(v), Note: optimizer.Note{Why: "today's values"}}, true
		}
	}
	if len(s.Queue) > 0 {
		return Proposed{Origin: optimizer.OriginGiven, Values: s.Fresh(s.Search.upwards(s.Queue[0]))}, true
	}
	return Proposed{}, false
}

// Fresh returns what a configuration that was not run before is run with.
func (s *State) Fresh(v spaces.Values) spaces.Values {
	if s.lastRun() {
		return s.Search.on(s.Search.top(), v)
	}
	return v
}

// Known reports of the optimizer's points whether their configuration was run
// before, on whatever rung; nil without a resource. The answers are those of now, and may be
// asked for beside what changes the state.
func (s *State) Known() func(spaces.Point) bool {
	if s.Search.resource == "" {
		return nil
	}
	search, trials, ran := s.Search, len(s.Trials), s.ran
	for _, t := range s.Trials[ran.upTo:] {
		ran.first.LoadOrStore(search.on(0, t.Values()).String(), t.Number)
	}
	ran.upTo = trials
	return func(p spaces.Point) bool {
		first, ran := ran.first.Load(search.Decode(p).String())
		return ran && first.(int) <= trials
	}
}

// configurations knows which were run, for as long as their space stays as it is.
type configurations struct {
	first sync.Map // the first trial of each, by its values
	upTo  int      // of so many trials
}
