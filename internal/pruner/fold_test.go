package pruner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/internal/testing/effort"
)

// every rule, with settings under which it stops about half of the trials.
func every() map[string]pruner.Settings {
	all := comparing()
	all["patience"] = pruner.Settings{Method: pruner.Patience, Patience: 3}
	all["threshold"] = pruner.Settings{Method: pruner.Threshold, Threshold: bound(-1.5)}
	all["reachable"] = pruner.Settings{Method: pruner.Reachable, Factor: 0.01, MaxStep: 30}
	return all
}

// entry is a line of a journal as a study would write it: a reading to keep,
// or an ending.
type entry struct {
	reading        pruner.Reading
	finish, forget int
}

// studying plays trials in four slots. Its journal holds what must be stored.
type studying struct {
	t       *testing.T
	rng     *rand.Rand
	pruner  *pruner.Pruner
	journal []entry
	slots   [4]struct {
		trial   int
		printed []pruner.Reading // of the attempt
	}
	trials int
}

// turn makes one slot read or end, and returns the decision on a reading.
func (s *studying) turn() pruner.Decision {
	slot := &s.slots[s.rng.IntN(len(s.slots))]
	if slot.trial == 0 {
		s.trials++
		slot.trial, slot.printed = s.trials, nil
	}
	switch x := s.rng.Float64(); {
	case x < 0.02: // fails; every other time it is tried again
		s.pruner.Forget(slot.trial)
		s.journal = append(s.journal, entry{forget: slot.trial})
		slot.printed = nil
		if x < 0.01 {
			slot.trial = 0
		}
		return pruner.Decision{}
	case len(slot.printed) == 30:
		s.pruner.Finish(slot.trial, math.NaN())
		s.journal = append(s.journal, entry{finish: slot.trial})
		slot.trial = 0
		return pruner.Decision{}
	}
	r := pruner.Reading{Trial: slot.trial, Step: float64(len(slot.printed) + 1 - s.rng.IntN(2)), Value: s.rng.NormFloat64()}
	if s.rng.IntN(50) == 0 {
		r.Value = math.NaN()
	}
	slot.printed = append(slot.printed, r)
	d := s.pruner.Read(r)
	if d.Keep {
		s.journal = append(s.journal, entry{reading: r})
	}
	if d.Stop {
		s.pruner.Finish(slot.trial, math.NaN())
		s.journal = append(s.journal, entry{finish: slot.trial})
		slot.trial = 0
	}
	return d
}

// crash replaces the pruner by one that knows the journal, and then reads what
// the running attempts have printed once more.
func (s *studying) crash(settings pruner.Settings) {
	s.pruner = start(s.t, settings)
	for _, e := range s.journal {
		switch {
		case e.finish > 0:
			s.pruner.Finish(e.finish, math.NaN())
		case e.forget > 0:
			s.pruner.Forget(e.forget)
		default:
			s.pruner.Restore(e.reading)
		}
	}
	for _, slot := range s.slots {
		for _, r := range slot.printed {
			if d := s.pruner.Read(r); d.Stop && slot.trial > 0 {
				s.t.Errorf("trial %d had gone on at step %v and is now stopped: %s", r.Trial, r.Step, d.Why)
			}
		}
	}
}

// A study that crashes again and again decides as one that never does.
func TestCrashesChangeNoDecision(t *testing.T) {
	const turns = 1500
	for name, settings := range every() {
		for seed := range uint64(3) {
			calm := &studying{t: t, rng: rand.New(rand.NewPCG(seed, 1)), pruner: start(t, settings)}
			rough := &studying{t: t, rng: rand.New(rand.NewPCG(seed, 1)), pruner: start(t, settings)}
			crashes := rand.New(rand.NewPCG(seed, 2))
			stops := 0
			for turn := range turns {
				if crashes.IntN(100) == 0 {
					rough.crash(settings)
				}
				a, b := calm.turn(), rough.turn()
				if a != b {
					t.Fatalf("%s, seed %d, turn %d: %+v without crashes, %+v with them", name, seed, turn, a, b)
				}
				if a.Stop {
					stops++
				}
			}
			if stops < 10 {
				t.Errorf("%s, seed %d: %d stops test little", name, seed, stops)
			}
		}
	}
}

// Of a million readings few are kept, and the others cost no memory.
func TestAMillionReadings(t *testing.T) {
	effort.Thorough(t, "the smaller tests show what is kept")
	most := map[string]int{"median": 370, "percentile": 370, "asha": 13, "patience": 0, "threshold": 0, "reachable": 370}
	for name, s := range every() {
		p := start(t, s)
		kept, step := 0, 0.0
		for range 1_000_000 {
			step++
			if d := p.Read(pruner.Reading{Trial: 1, Step: step, Value: step}); d.Keep {
				kept++
			}
		}
		if kept > most[name] || kept < most[name]*9/10 {
			t.Errorf("%s keeps %d readings of a million, want about %d", name, kept, most[name])
		}
		if n := testing.AllocsPerRun(100, func() {
			step++
			p.Read(pruner.Reading{Trial: 1, Step: step, Value: step})
		}); n > 0 {
			t.Errorf("%s: a reading allocates %v times", name, n)
		}
	}
}

// Whatever the readings are, there is a decision, and no running average leaves
// the numbers: the best trial of all is never stopped.
func FuzzReadings(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Add(uint64(2), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, method uint8) {
		names := []string{pruner.Median, pruner.Percentile, pruner.ASHA}
		p := start(t, pruner.Settings{Method: names[int(method)%3], Percentile: 10, MinResource: 1e-3, Reduction: 2})
		rng := rand.New(rand.NewPCG(seed, 3))
		odd := []float64{0, -1e308, 1e308, math.NaN(), math.Inf(-1), 5e-324, -1 << 53, 1 << 53}
		draw := func() float64 {
			if rng.IntN(3) == 0 {
				return odd[rng.IntN(len(odd))]
			}
			return rng.NormFloat64() * 10
		}
		var c pruner.Counter
		for range 300 {
			r := pruner.Reading{Trial: rng.IntN(5), Step: c.Step(draw(), true), Value: draw()}
			if rng.IntN(4) == 0 {
				r.Trial, r.Value = 9, math.MaxFloat64
			}
			if d := p.Read(r); d.Stop && (r.Trial == 9 || d.Why == "") {
				t.Fatalf("%+v: %+v", r, d)
			}
			if rng.IntN(20) == 0 {
				p.Finish(rng.IntN(5), math.NaN())
			}
		}
	})
}

// A trial of 50 readings costs the same however many have ended.
func BenchmarkTrial(b *testing.B) {
	for name, settings := range map[string]pruner.Settings{
		"median": {Method: pruner.Median}, "reachable": {Method: pruner.Reachable, MaxStep: 50, Factor: 1},
		"asha": {Method: pruner.ASHA, MinResource: 1, Reduction: 3},
	} {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				p, err := pruner.New(settings)
				if err != nil {
					b.Fatal(err)
				}
				read := func(trial int, read func(pruner.Reading)) {
					at := rng.Float64()
					for step := range 50 {
						read(pruner.Reading{Trial: trial, Step: float64(step + 1), Value: at - 1/float64(step+1)})
					}
					p.Finish(trial, math.NaN())
				}
				for trial := range n {
					read(trial, p.Restore)
				}
				for trial := n; b.Loop(); trial++ {
					read(trial, func(r pruner.Reading) { p.Read(r) })
				}
			})
		}
	}
}
