package pruner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	known "github.com/lbotune/lbotune/study"
)

// The simulated study: trials of up to maxEpochs epochs on asynchronous
// workers, each of its own speed.
const (
	simTrials  = 100
	maxEpochs  = 81
	simWorkers = 4
	simSeeds   = 10
	simNoise   = 0.01 // standard deviation of a reading
	// simTolerance is by how much a final loss may be worse than that of full
	// runs and still count as the same: a standard deviation of a reading, where
	// the losses of all trials have one of about 0.12.
	simTolerance = simNoise
)

// program is a training program: loss(t) = a + b t^-c at epoch t, plus noise.
type program struct {
	a, b, c, speed float64
	noise          *rand.Rand
}

// newProgram draws the configuration of a trial. u is like a learning rate: the
// larger, the faster the loss falls, but beyond 0.35 it falls less deep, so that
// curves cross.
func newProgram(seed uint64, trial int) *program {
	rng := rand.New(rand.NewPCG(seed, uint64(trial)))
	u, v, w := rng.Float64(), rng.Float64(), rng.Float64()
	return &program{
		a:     0.1 + 0.8*(u-0.35)*(u-0.35) + 0.3*(v-0.6)*(v-0.6) + 0.3*(w-0.4)*(w-0.4),
		b:     0.8 + 0.8*v,
		c:     0.4 + 0.8*u,
		speed: 0.5 + rng.Float64(),
		noise: rng,
	}
}

func (p *program) loss(epoch int) float64 { return p.a + p.b*math.Pow(float64(epoch), -p.c) }

// measured is the reading at an epoch, turned so that larger is better.
func (p *program) measured(epoch int) float64 { return -p.loss(epoch) - simNoise*p.noise.NormFloat64() }

// judge stops trials.
type judge interface {
	Read(pruner.Reading) pruner.Decision
	Finish(trial int, value float64)
}

// nobody stops no trial.
type nobody struct{}

func (nobody) Read(pruner.Reading) pruner.Decision { return pruner.Decision{} }
func (nobody) Finish(int, float64)                 {}

// upsideDown is a broken rule: it likes what is bad.
type upsideDown struct{ *pruner.Pruner }

func (u upsideDown) Read(r pruner.Reading) pruner.Decision {
	r.Value = -r.Value
	return u.Pruner.Read(r)
}

// study is what came of a simulated study.
type study struct {
	epochs int     // in total
	loss   float64 // without noise, of the trial with the best last reading of a full run
	best   float64 // that reading
	// until is how many epochs had been spent when each full run ended, with its
	// loss.
	until []spent
}

type spent struct {
	epochs int
	loss   float64
}

func (s *study) complete(p *program, last float64) {
	s.until = append(s.until, spent{s.epochs, p.loss(maxEpochs)})
	if len(s.until) == 1 || last > s.best {
		s.best, s.loss = last, p.loss(maxEpochs)
	}
}

// toReach is how many epochs it took to a final loss no worse than target; +Inf
// if it never came.
func (s *study) toReach(target float64) float64 {
	for _, u := range s.until {
		if u.loss <= target {
			return float64(u.epochs)
		}
	}
	return math.Inf(1)
}

// place is a worker with the trial that it runs.
type place struct {
	trial, epoch, end int
	program           *program
	clock             float64
}

// soonest is the index of the place whose epoch ends first.
func soonest(places []*place) int {
	first := 0
	for i, p := range places {
		if p.clock < places[first].clock {
			first = i
		}
	}
	return first
}

// simulate runs a study whose trials a judge may stop.
func simulate(seed uint64, j judge) study {
	var s study
	trials := 0
	begin := func(p *place) bool {
		trials++
		*p = place{trial: trials, program: newProgram(seed, trials), clock: p.clock}
		p.clock += p.program.speed
		return trials <= simTrials
	}
	var places []*place
	for range simWorkers {
		p := &place{}
		begin(p)
		places = append(places, p)
	}
	for len(places) > 0 {
		i := soonest(places)
		p := places[i]
		p.epoch++
		s.epochs++
		v := p.program.measured(p.epoch)
		d := j.Read(pruner.Reading{Trial: p.trial, Step: float64(p.epoch), Value: v})
		if p.epoch == maxEpochs {
			s.complete(p.program, v)
		}
		if p.epoch < maxEpochs && !d.Stop {
			p.clock += p.program.speed
			continue
		}
		j.Finish(p.trial, math.NaN())
		if !begin(p) {
			places = slices.Delete(places, i, i+1)
		}
	}
	return s
}

// simulatePromotions runs a study of trials that continue from checkpoints:
// whenever a worker is free, the highest rung with a trial that deserves more
// gives it, and else a new trial begins.
func simulatePromotions(t *testing.T, seed uint64, l pruner.Settings, sign float64) study {
	resources, err := l.Rungs(1, maxEpochs)
	if err != nil {
		t.Fatal(err)
	}
	var s study
	direction := map[float64]known.Direction{1: known.Maximize, -1: known.Minimize}[sign]
	state := &known.State{}
	apply := func(e known.Event) {
		if err := state.Apply(known.Record{Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	l.Method, l.Resource = pruner.ASHA, "epochs"
	apply(known.Created{ID: "id", Config: known.Config{Metrics: []known.Metric{{Name: "v", Direction: direction}}, Prune: &l,
		Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}, {Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: maxEpochs}}}})
	programs, at := []*program{nil}, []int{0}      // epochs trained
	program, rungs := map[int]int{}, map[int]int{} // by trial
	var busy []*place
	clock := 0.0
	next := func() int {
		p, more := state.Unasked(false)
		if !more && len(programs) > simTrials {
			return 0
		}
		p.Trial = len(state.Trials) + 1
		if more {
			program[p.Trial], rungs[p.Trial] = program[p.Continues], rungs[p.Continues]+1
		} else {
			program[p.Trial] = len(programs)
			p.Values = spaces.Values{{Name: "x", Value: spaces.Float(float64(len(programs)) / (simTrials + 1))}, {Name: "epochs", Value: spaces.Int(int64(resources[0]))}}
			programs, at = append(programs, newProgram(seed, len(programs))), append(at, 0)
		}
		apply(p)
		return p.Trial
	}
	for {
		for len(busy) < simWorkers {
			trial := next()
			if trial == 0 {
				break
			}
			n, end := program[trial], resources[rungs[trial]]
			busy = append(busy, &place{trial: trial, end: end, program: programs[n], clock: clock + programs[n].speed*float64(end-at[n])})
		}
		if len(busy) == 0 {
			return s
		}
		i := soonest(busy)
		p := busy[i]
		busy = slices.Delete(busy, i, i+1)
		clock = p.clock
		n := program[p.trial]
		s.epochs += p.end - at[n]
		at[n] = p.end
		v := p.program.measured(p.end)
		apply(known.Finished{Trial: p.trial, Attempt: 1, Status: optimizer.Succeeded, Metrics: known.Metrics{"v": v}})
		if p.end == maxEpochs {
			s.complete(p.program, v)
		}
	}
}

// outcome compares studies with full runs of the same trials, seed by seed.
type outcome struct {
	share []float64 // of the epochs
	lost  []float64 // final loss above that of full runs
	wrong int       // studies in which the trial that would have been the best was stopped
	reach []float64 // epochs to within the tolerance of it, over those of full runs
}

func compare(run func(seed uint64) study) outcome {
	var o outcome
	for seed := range uint64(simSeeds) {
		full, s := simulate(seed, nobody{}), run(seed)
		o.share = append(o.share, float64(s.epochs)/float64(full.epochs))
		lost := math.Inf(1)
		if len(s.until) > 0 {
			lost = s.loss - full.loss
		}
		o.lost = append(o.lost, lost)
		if s.best != full.best {
			o.wrong++
		}
		target := full.loss + simTolerance
		o.reach = append(o.reach, s.toReach(target)/full.toReach(target))
	}
	return o
}

func (o outcome) same() int {
	n := 0
	for _, l := range o.lost {
		if l <= simTolerance {
			n++
		}
	}
	return n
}

func (o outcome) String() string {
	return fmt.Sprintf("epochs %4.1f %%, best stopped in %2d, same best in %2d of %d seeds, loss %+.4f (worst %+.4f), epochs until there %5.1f %%",
		100*middle(o.share), o.wrong, o.same(), simSeeds, middle(o.lost), slices.Max(o.lost), 100*middle(o.reach))
}

func middle(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func judged(t *testing.T, s pruner.Settings, broken bool) outcome {
	return compare(func(seed uint64) study {
		p := start(t, s)
		if broken {
			return simulate(seed, upsideDown{p})
		}
		return simulate(seed, p)
	})
}

func promoted(t *testing.T, l pruner.Settings, sign float64) outcome {
	o := compare(func(seed uint64) study { return simulatePromotions(t, seed, l, sign) })
	o.wrong = -1 // not known: the readings of full runs have other noise
	return o
}

// The figures of docs/pruning.md. The rules at their defaults, from epoch 3 on,
// must save what they should without losing the best trial, and broken ones must
// not pass.
func TestSimulation(t *testing.T) {
	median := pruner.Settings{Method: pruner.Median, MinTrials: 4, Warmup: 3}
	percentile := pruner.Settings{Method: pruner.Percentile, Percentile: 25, MinTrials: 4, Warmup: 3}
	asha := pruner.Settings{Method: pruner.ASHA, MinResource: 3, Reduction: 3, MinTrials: 4}
	reach := pruner.Settings{Method: pruner.Reachable, Factor: 2, MaxStep: maxEpochs, MinTrials: 4, Warmup: 3}
	from3 := pruner.Settings{MinResource: 3, Reduction: 3}
	from9 := pruner.Settings{MinResource: 9, Reduction: 3}
	for _, c := range []struct {
		name  string
		got   outcome
		share float64 // of the epochs, at most, in the median
		good  bool
	}{
		{"median", judged(t, median, false), 0.9, true},
		{"percentile, 25", judged(t, percentile, false), 0.9, true},
		{"asha", judged(t, asha, false), 0.5, true},
		{"reachable", judged(t, reach, false), 1, true},
		{"asha, resource", promoted(t, from3, 1), 0.5, true},
		{"asha, resource from 9", promoted(t, from9, 1), 0.5, true},
		{"median upside down", judged(t, median, true), 0.9, false},
		{"asha upside down", judged(t, asha, true), 0.5, false},
		{"asha, resource, upside down", promoted(t, from3, -1), 0.5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Logf("%-27s %v", c.name, c.got)
			good := middle(c.got.share) <= c.share && middle(c.got.lost) <= simTolerance && c.got.same() >= simSeeds*7/10
			if good != c.good {
				t.Errorf("%s: at most %v of the epochs and the same best in most seeds: %v, want %v", c.name, c.share, good, c.good)
			}
		})
	}
}

// Curves must cross for the simulation to be a test: the order at the first
// rung is not the final one.
func TestSimulatedCurvesCross(t *testing.T) {
	crossed, pairs := 0, 0
	for i := 1; i <= 200; i += 2 {
		p, q := newProgram(0, i), newProgram(0, i+1)
		pairs++
		if (p.loss(3) < q.loss(3)) != (p.loss(maxEpochs) < q.loss(maxEpochs)) {
			crossed++
		}
	}
	t.Logf("%d of %d pairs cross between epochs 3 and %d", crossed, pairs, maxEpochs)
	if crossed < pairs/6 {
		t.Errorf("only %d of %d pairs of curves cross", crossed, pairs)
	}
}
