package study

import (
	"sync"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// originContinued is the origin of trials that continue others.
const originContinued optimizer.Origin = "continued"

// Unasked is the next trial if the optimizer need not be asked for it: one that
// continues another, today's values, or values that a person enqueued.
func (s *State) Unasked() (Proposed, bool) {
	if from, rung := s.owed(); from != nil {
		return Proposed{Origin: originContinued, Values: s.Search.on(rung, from.Values), Continues: from.Number}, true
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
	ran.mu.Lock()
	defer ran.mu.Unlock()
	if ran.first == nil {
		ran.first = map[string]int{}
	}
	for _, t := range s.Trials[ran.upTo:] {
		if key := search.on(0, t.Values).String(); ran.first[key] == 0 {
			ran.first[key] = t.Number
		}
	}
	ran.upTo = trials
	return func(p spaces.Point) bool {
		ran.mu.Lock()
		defer ran.mu.Unlock()
		first := ran.first[search.Decode(p).String()]
		return first > 0 && first <= trials
	}
}

// configurations knows which were run, for as long as their space stays as it is.
type configurations struct {
	mu    sync.Mutex
	first map[string]int // the first trial of each
	upTo  int            // of so many trials
}
