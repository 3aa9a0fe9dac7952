package session_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Successive halving against full runs, both with the default optimizer, on
// training programs that are pretended. A seed is one program of each kind.
const (
	learnSeeds     = 60
	learnFirst     = 100 // the first of them: the method was chosen on seeds 0 to 9
	learnEpochs    = 81
	learnFull      = 25    // full runs, in which the goal is found
	learnNoise     = 0.005 // standard deviation of a reading
	learnTolerance = 0.01  // by which a loss may be worse and count as the same
)

// misses has the programs measured too on which nothing is expected of successive
// halving: they take most of the time.
var misses = flag.Bool("misses", false, "measure also where successive halving need not save epochs")

// training is a kind of training program: its loss, without noise, after some
// epochs at a point of the unit cube.
type training struct {
	dim   int
	saves bool // successive halving must need at most half of the epochs; else it may fail
	loss  func(seed uint64, u []float64, epochs float64) float64
}

// optimum is where a program's bowl has its middle.
func optimum(seed uint64, dim int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 77))
	o := make([]float64, dim)
	for i := range o {
		o[i] = 0.15 + 0.7*rng.Float64()
	}
	return o
}

// waves is a smooth random function with values around 1/2: many cosines.
func waves(seed, which uint64, u []float64, frequency float64) float64 {
	const n = 24
	rng := rand.New(rand.NewPCG(seed, which))
	sum := 0.0
	for range n {
		phase := 2 * math.Pi * rng.Float64()
		for _, x := range u {
			phase += frequency * rng.NormFloat64() * x
		}
		sum += math.Cos(phase)
	}
	return 0.5 + sum/math.Sqrt(2*n)/2
}

func square(x float64) float64 { return x * x }

// trainings are curves a + b/t^c. In the bowl and at the edge fast learners are
// not the best ones; in the waves a, b and c have nothing to do with each other.
// Of the slow starters, a + b exp(-ct), the best are the slowest: what successive
// halving cannot know.
func trainings() map[string]training {
	waving := func(seed uint64, u []float64, t float64) float64 {
		d := uint64(10 * len(u))
		a, b, c := waves(seed, d, u, 5), waves(seed, d+1, u, 4), waves(seed, d+2, u, 4)
		return 0.5*a + (0.5+b)*math.Pow(t, -(0.4+0.8*c))
	}
	return map[string]training{
		"bowl, 3 parameters": {3, true, func(seed uint64, u []float64, t float64) float64 {
			o := optimum(seed, 3)
			a := 0.1 + 0.8*square(u[0]-o[0]) + 0.5*square(u[1]-o[1]) + 0.5*square(u[2]-o[2])
			return a + (0.8+0.8*u[1])*math.Pow(t, -(0.4+0.8*u[0]))
		}},
		"edge, 4 parameters": {4, true, func(seed uint64, u []float64, t float64) float64 {
			o := optimum(seed, 4)
			a := 0.1 + 0.5*square(u[0]-o[0])*(1+3*square(u[1]-o[1])) + 0.5*square(u[1]-o[1]) + 0.4*math.Abs(u[2]-o[2]) + 0.2*square(u[3]-o[3])
			return a + (0.4+0.4*u[3])*math.Pow(t, -(0.5+0.5*u[0]))
		}},
		"slow starters, 4 parameters": {4, false, func(seed uint64, u []float64, t float64) float64 {
			o := optimum(seed, 4)
			end := 0.1 + 0.25*square(u[0]-0.2) + 0.1*u[0] + 0.6*square(u[1]-o[1]) + 0.5*square(u[2]-o[2]) + 0.4*square(u[3]-o[3])
			return end + 0.8*math.Exp(-t*(0.02+0.05*u[0]+0.25*u[0]*u[0]))
		}},
		"waves, 2 parameters": {2, true, waving},
		"waves, 3 parameters": {3, false, waving},
	}
}

// learned is what came of a study.
type learned struct {
	epochs []int     // trained in all when each trial with all epochs had ended
	losses []float64 // without noise, of the best trial until then
}

// until is how many epochs it took to a loss, +Inf if it never came.
func (l learned) until(goal float64) float64 {
	for i, loss := range l.losses {
		if loss <= goal {
			return float64(l.epochs[i])
		}
	}
	return math.Inf(1)
}

// learn runs a study of a training program until its best trial has reached a
// goal. Without a pruner every trial has all epochs. A trial costs the epochs that
// it adds to its checkpoint.
func learn(t *testing.T, kind training, seed uint64, trials int, prune *study.Prune, goal float64) learned {
	t.Helper()
	dir := t.TempDir()
	var out learned
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Seed, c.Budget.Trials, c.Prune = seed, trials, prune
		c.Params, c.Command.Argv = nil, []string{"train", strconv.Itoa(learnEpochs), "{checkpoint_dir}"}
		for i := range kind.dim {
			name := string(rune('a' + i))
			c.Params = append(c.Params, spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 1})
			c.Command.Argv = append(c.Command.Argv, "{"+name+"}")
		}
		if prune != nil {
			c.Params = append(c.Params, spaces.Param{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: learnEpochs})
			c.Command.Argv[1] = "{epochs}"
		}
		spent, done, best := 0, map[string]int{}, math.Inf(1)
		stop := make(chan session.Stop, trials)
		f := &fakeLauncher{program: func(job runner.Job) ending {
			u := make([]float64, kind.dim)
			epochs, err := strconv.Atoi(job.Argv[1])
			for i, text := range job.Argv[3:] {
				var perr error
				u[i], perr = strconv.ParseFloat(text, 64)
				err = errors.Join(err, perr)
			}
			if err != nil {
				t.Error(err)
			}
			spent += epochs - done[job.Argv[2]]
			done[job.Argv[2]] = epochs
			key := fnv.New64a()
			fmt.Fprint(key, job.Argv[1], job.Argv[3:])
			loss := kind.loss(seed, u, float64(epochs))
			reading := loss + learnNoise*rand.New(rand.NewPCG(seed, key.Sum64())).NormFloat64()
			if epochs == learnEpochs && reading < best {
				best = reading
				out.epochs, out.losses = append(out.epochs, spent), append(out.losses, loss)
				if loss <= goal {
					stop <- session.StopAsking
				}
			}
			return ending{stdout: fmt.Sprintf("loss=%v\n", reading)}
		}}
		s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), stop); err != nil && !errors.Is(err, session.ErrStopped) {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if b := s.State().Best(); b == nil || b.Value != best {
			t.Errorf("seed %d: the best trial is %+v, the best reading with all epochs %v", seed, b, best)
		}
	})
	return out
}

// Successive halving finds what full runs find in at most half of the epochs that
// these need to it, in the median over the seeds, on three of five kinds of program.
// The few seeds of every day may need more.
// All five, by -misses, are the table of docs/pruning.md.
func TestHalvingSavesEpochs(t *testing.T) {
	for name, kind := range trainings() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() || effort.Raced && kind.dim > 2 {
				t.Skip("runs dozens of studies of dozens of trials")
			}
			if !kind.saves && !*misses {
				t.Skip("nothing is expected of it")
			}
			var shares, fulls []float64
			for seed := uint64(learnFirst); seed < learnFirst+effort.Of[uint64](0, 3, learnSeeds); seed++ {
				full := learn(t, kind, seed, learnFull, nil, math.Inf(-1))
				goal := full.losses[len(full.losses)-1] + learnTolerance
				halving := learn(t, kind, seed, 150, &study.Prune{Method: "asha", MinResource: 3, Reduction: 3, Resource: "epochs"}, goal)
				share := halving.until(goal) / full.until(goal)
				t.Logf("seed %d: within %.2f of the best of %d full runs after %.0f epochs, with successive halving after %.0f (%.0f %%)",
					seed, learnTolerance, learnFull, full.until(goal), halving.until(goal), 100*share)
				shares, fulls = append(shares, share), append(fulls, full.until(goal))
			}
			slices.Sort(shares)
			slices.Sort(fulls)
			middle := func(xs []float64) float64 { return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2 }
			t.Logf("median share of the epochs %.2f; full runs need %.0f", middle(shares), middle(fulls))
			if kind.saves && middle(shares) > effort.Of(0, 0.75, 0.5) {
				t.Errorf("the median share of the epochs is %.2f", middle(shares))
			}
		})
	}
}
