package study

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
)

// What a state keeps of its trials as they end is what it would find if it looked at all of them anew,
// whatever happens in what order; and every look at it has an answer.
func TestFoundFromScratch(t *testing.T) {
	for seed := range uint64(effort.Of(40, 300, 5000)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s, story := &State{}, &strings.Builder{}
		events := []Event{Created{ID: "id", Config: drawnConfig(rng)}}
		for at := 0; len(events) > 0; at++ {
			if err := s.Apply(Record{At: time.Unix(int64(at), 0), Elapsed: time.Duration(at) * time.Second, Event: events[0]}); err != nil {
				t.Fatalf("seed %d: %v after%s", seed, err, story)
			}
			fmt.Fprintf(story, "\n%T%+v", events[0], events[0])
			look(s)
			if at%8 == 7 {
				_ = s.WriteOptuna(io.Discard) // which takes as long as all other looks
			}
			anew := *s
			anew.findBest()
			if was, now := found(s), found(&anew); was != now {
				t.Fatalf("seed %d: kept %s, found anew %s, after%s", seed, was, now, story)
			}
			if best := s.Best(); best != nil && !best.Succeeded() || best == nil && slices.ContainsFunc(s.Trials, (*Trial).Succeeded) {
				t.Fatalf("seed %d: the best is %+v after%s", seed, best, story)
			}
			if events = events[1:]; len(events) == 0 && at < 50 {
				events = drawnEvents(s, rng)
			}
		}
	}
}

// found is what findBest finds, trials by their numbers.
func found(s *State) string {
	number := func(t *Trial) int {
		if t == nil {
			return 0
		}
		return t.Number
	}
	var front []int
	for _, t := range s.Front() {
		front = append(front, t.Number)
	}
	next, _ := s.continued(s.lastRun())
	return fmt.Sprint("best ", number(s.best), " goal ", number(s.goal), " since ", s.sinceBest, " front ", front, " owed ", next.Continues, next.Values, " refuted ", s.Refuted, " unsafe ", s.Unsafe())
}

// look asks a state everything.
func look(s *State) {
	s.Confirmations()
	s.Unconfirmed()
	s.Remarks()
	s.Mended(nil)
	s.Hypervolumes()
	s.Query(len(s.Trials) + 1)
	s.Ending(0)
	for _, t := range s.Trials {
		s.Knew(t)
		s.StandingOf(t)
		s.Key(t)
		s.MayRun(t)
		if t.Done() {
			s.Observation(t)
		}
	}
}

func oneIn(rng *rand.Rand, n int) bool { return rng.IntN(n) == 0 }

func oneFrom[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func drawnConfig(rng *rand.Rand) Config {
	limit, goal := 5.0, 2.0
	c := Config{Name: "drawn", Command: command.Command{Shell: "x {x} {n}"}, Dir: "/", Budget: Budget{Trials: 12}, Run: Run{Workers: oneFrom(rng, 1, 3)},
		Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}, {Name: "n", Kind: spaces.KindInt, Min: 1, Max: 8}},
		Metrics: []Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: oneFrom(rng, Minimize, Maximize)}, {Name: "size", Rule: parser.Rule{Metric: "size"}}}}
	for _, set := range []func(){
		func() { c.Metrics[1].Max = &limit },
		func() { c.Metrics[1].Direction = Minimize },
		func() { c.Run.Confirm = 2 },
		func() { c.Run.Repeats = 2 },
		func() { c.Run.FailureGuard = 3 },
		func() { c.Budget.Patience = 3 },
		func() { c.Budget.Goal = &goal },
		func() { c.Budget.Regret = 0.5 },
		func() { c.Budget.Gap, c.Optimizer.LipschitzConstant = 0.5, 20 },
		func() { c.Safety = &Safety{Metric: "size", At: 6, Constant: 30} },
		func() { c.Prune = &Prune{Method: "asha", Resource: "n", MinResource: 1, Reduction: 2} },
	} {
		if oneIn(rng, 3) {
			set()
		}
	}
	return c
}

// drawnEvents are what may happen next.
func drawnEvents(s *State, rng *rand.Rand) []Event {
	left, n := 0.25, len(s.Trials)
	note := optimizer.Note{Left: &left, Lipschitz: &optimizer.LipschitzNote{Stated: true, Gap: &left}}
	value := func() float64 { return float64(rng.IntN(10)) }
	failure := func() *Failure {
		k := oneFrom(rng, FailExit, FailNoMetric, FailTimeout, FailLost)
		return &Failure{Kind: k, Text: string(k)}
	}
	session := Session{Number: s.Sessions + 1}
	t := &Trial{Status: optimizer.Failed}
	if n > 0 {
		t = oneFrom(rng, s.Trials...)
	}
	switch draw := rng.IntN(12); {
	case draw < 3 && s.Room() > 0:
		p, ok := s.Unasked(false)
		if !ok {
			p = Proposed{Origin: oneFrom(rng, optimizer.OriginInitial, optimizer.OriginModel, optimizer.OriginExplore), Note: note,
				Values: s.Fresh(s.Search.Decode(s.Search.Space.FromUniform([]float64{rng.Float64(), rng.Float64()})))}
		}
		p.Trial, p.Told, p.Pending, p.Hand = n+1, len(s.Order), []int{}, oneIn(rng, 8)
		return []Event{p}
	case draw < 7 && !t.Done():
		f := Finished{Trial: t.Number, Attempt: t.NextAttempt(), Status: oneFrom(rng, optimizer.Succeeded, optimizer.Succeeded, optimizer.Pruned, optimizer.Failed)}
		if f.Status != optimizer.Failed {
			f.Metrics = Metrics{"loss": value(), "size": value()}
		}
		if f.Status != optimizer.Succeeded {
			f.Failure = failure()
		}
		return []Event{f}
	case draw == 7 && !t.Done():
		return []Event{oneFrom[Event](rng, Ended{Trial: t.Number, Attempt: t.NextAttempt(), Failure: failure()}, Ended{Trial: t.Number, Attempt: t.NextAttempt(), Metrics: Metrics{"loss": value(), "size": value()}},
			Cut{Trial: t.Number, Attempt: t.NextAttempt(), Reading: Reading{Step: 1, Value: 9}, Metric: "size"})}
	case draw == 8 && len(s.Unconfirmed()) > 0:
		t := oneFrom(rng, s.Unconfirmed()...)
		return []Event{oneFrom(rng, Confirmed{Trial: t.Number, Attempt: t.NextAttempt(), Failure: failure()}, Confirmed{Trial: t.Number, Attempt: t.NextAttempt(), Metrics: Metrics{"loss": value(), "size": value()}})}
	case draw == 9:
		e, err := s.Event(oneFrom(rng, Request{Action: ActionExclude, Trial: t.Number}, Request{Action: ActionInclude, Trial: t.Number}, Request{Action: ActionRerun, Rerun: s.Failed()},
			Request{Action: ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5 * rng.Float64())}}}, Request{Action: ActionAdjust, Trials: 5 + rng.IntN(20)}))
		if err == nil {
			return []Event{e}
		}
	case draw == 10:
		now := s.Config
		now.Params = slices.Clone(now.Params)
		oneFrom(rng, func() { now.Params[0].Max = 0.5 + rng.Float64() }, func() { now.Command.Shell += " " }, func() { now.Run.Workers++ })()
		if change, err := s.Reconfigured(now); err == nil && change != nil {
			if mended := s.Mended(change); mended != nil {
				return []Event{*change, session, *mended}
			}
			return []Event{*change, session}
		}
	case draw == 11:
		end := s.GapEnding(note)
		if end == nil {
			end = s.Ending(0)
		}
		if end != nil {
			if best := s.Best(); best != nil && oneIn(rng, 2) {
				end.Doubtful, end.Recommended = []int{best.Number}, &Recommended{Trial: t.Number}
			}
			return []Event{*end}
		}
	}
	return []Event{session}
}
