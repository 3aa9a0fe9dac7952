package optimizer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// slopes is a function of the cube that is as steep as its constant nearly everywhere:
// the least of some cones, above 0 at the start.
func slopes(rng *rand.Rand, constant float64, start []float64) func([]float64) float64 {
	tips, heights := make([][]float64, 12), make([]float64, 12)
	for k := range tips {
		tips[k] = make([]float64, len(start))
		for j := range start {
			tips[k][j] = rng.Float64()
		}
		heights[k] = constant * rng.Float64()
	}
	f := func(x []float64) float64 {
		least := math.Inf(1)
		for k, tip := range tips {
			least = math.Min(least, heights[k]+constant*spaces.Distance(x, tip))
		}
		return least
	}
	shift := f(start) - constant*(0.05+0.2*rng.Float64())
	return func(x []float64) float64 { return f(x) - shift }
}

// Whatever makes a proposal, and whatever is pending: no trial breaks a safety limit whose
// constant holds, and the safe set grows. LBOTUNE_SAFE=FROM-TO makes these runs.
func TestSafetyIsNeverViolated(t *testing.T) {
	origins := map[string]int{}
	broken, better := 0, 0
	first, last := 0, effort.Sequential(4, 8, 40)-1
	if which := os.Getenv("LBOTUNE_SAFE"); which != "" {
		if _, err := fmt.Sscanf(which, "%d-%d", &first, &last); err != nil {
			t.Fatalf("LBOTUNE_SAFE=%s: want FROM-TO: %v", which, err)
		}
	}
	runs := last - first + 1
	for run := first; run <= last; run++ {
		rng := rand.New(rand.NewPCG(uint64(run), 16))
		params := []spaces.Param{
			{Name: "a", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(0.5)},
			{Name: "b", Kind: spaces.KindFloat, Min: 1e-3, Max: 1, Scale: spaces.Log, Default: spaces.Float(0.1)},
			{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 40, Default: spaces.Int(20)},
			{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("x"), spaces.String("y"), spaces.String("z")}, Default: spaces.String("y")},
		}[:2+rng.IntN(3)]
		space, err := spaces.New(params...)
		if err != nil {
			t.Fatal(err)
		}
		constant := math.Pow(10, 4*rng.Float64()-2)
		set := []Settings{{}, {}, {}, {Acquisition: "ts"}, {Acquisition: "ucb", Explore: "random"}, {Preset: presetPaper}, {Local: off, Design: "sobol"}}[rng.IntN(7)]
		set.SafetyConstant = constant
		opt, err := New(space, uint64(run), set)
		if err != nil {
			t.Fatal(err)
		}
		today, _ := space.Default()
		start, err := space.Encode(today)
		if err != nil {
			t.Fatal(err)
		}
		margin := slopes(rng, constant, start)
		value := margin // the limit is on the objective itself
		if rng.IntN(2) == 0 {
			value = slopes(rng, 1, start)
		}
		if _, err := opt.Ask(t.Context(), Query{Trial: 1}); !errors.Is(err, ErrNothingSafe) || !errors.Is(err, ErrExhausted) {
			t.Fatalf("run %d: before anything is known: %v", run, err)
		}
		first, best := value(start), math.Inf(-1)
		workers := []int{1, 1, 3, 40}[rng.IntN(4)]
		waiting := []Proposal{{Point: start, Origin: OriginDefault}}
		var trials []int
		tell := func() {
			p := waiting[0]
			number := 1
			if len(trials) > 0 {
				number, trials = trials[0], trials[1:]
			}
			waiting = waiting[1:]
			o := Observation{Trial: number, Proposal: p, Status: Succeeded, Values: []float64{value(p.Point)}, Margin: margin(p.Point)}
			if o.Margin < 0 {
				broken++
				t.Errorf("run %d, trial %d, %s (%s): %.3g below the limit", run, number, p.Origin, p.Note.Why, -o.Margin)
			}
			best = math.Max(best, o.Value())
			if number > 1 && rng.IntN(20) == 0 {
				o = Observation{Trial: number, Proposal: p, Status: Failed}
			}
			if err := opt.Tell(o); err != nil {
				t.Fatal(err)
			}
		}
		tell()
		for k := 2; k <= 24; k++ {
			q := Query{Trial: k}
			for i, p := range waiting {
				q.Pending = append(q.Pending, Pending{Trial: trials[i], Point: p.Point})
			}
			p, err := opt.Ask(t.Context(), q)
			if errors.Is(err, ErrNothingSafe) && len(waiting) > 0 {
				tell()
				continue
			}
			if err != nil {
				t.Fatalf("run %d, trial %d: %v", run, k, err)
			}
			what, _, _ := strings.Cut(p.Note.Why, ":")
			origins[fmt.Sprint(p.Origin, ", ", what)]++
			waiting, trials = append(waiting, p), append(trials, k)
			if len(waiting) >= workers {
				tell()
			}
		}
		for len(waiting) > 0 {
			tell()
		}
		if best > first+1e-9*math.Abs(first) {
			better++
		}
	}
	t.Logf("%d runs, %d trials broke the limit, %d runs found better values; %v", runs, broken, better, origins)
	if better < runs*9/10 || len(origins) < 8 {
		t.Errorf("only %d of %d runs found better values, by %v", better, runs, origins)
	}
}

// Where all that is safe was tried, that is said, and nothing else is tried.
func TestSafetyEnds(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 0, Max: 9, Default: spaces.Int(4)})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := New(space, 1, Settings{SafetyConstant: 10})
	if err != nil {
		t.Fatal(err)
	}
	today, _ := space.Default()
	point, err := space.Encode(today)
	tried := map[int64]bool{}
	for k := 1; err == nil; k++ {
		n, _ := space.Decode(point)[0].Value.Any().(int64)
		tried[n] = true
		// Safe are 2 to 6: the margin falls by 1 from one to the next, and by 10 at most
		// from one end to the other.
		o := Observation{Trial: k, Proposal: Proposal{Point: point, Origin: OriginGiven}, Status: Succeeded, Values: []float64{float64(n)}, Margin: 2.5 - math.Abs(float64(n-4))}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
		var p Proposal
		p, err = opt.Ask(t.Context(), Query{Trial: k + 1})
		point = p.Point
	}
	if !errors.Is(err, ErrNothingSafe) || len(tried) != 5 || !tried[2] || !tried[6] {
		t.Errorf("tried %v, then %v", tried, err)
	}
}

// A trial makes safe what is as near as its margin divided by the constant, and not a bit more.
func TestReachOfASafeTrial(t *testing.T) {
	s := newSafety(Settings{SafetyConstant: 4})
	margins := []float64{0.5, 1, 0, -1}
	for k, margin := range margins {
		s.tell(Observation{Proposal: Proposal{Point: []float64{float64(k), 0.5}}, Margin: margin}) // far from each other
	}
	for k, margin := range margins {
		t.Run(fmt.Sprint(margin), func(t *testing.T) {
			x := float64(k)
			if margin <= 0 {
				if s.allows([]float64{x, 0.5}) {
					t.Errorf("a trial with the margin %v is safe itself", margin)
				}
				return
			}
			reach := margin / 4
			if got := s.reach(k); got > reach || got < reach*(1-1e-8) {
				t.Errorf("with the margin %v all is safe as far as %v; want %v", margin, got, reach)
			}
			for share, safe := range map[float64]bool{0: true, 0.999: true, 1.001: false} {
				if got := s.allows([]float64{x - share*reach, 0.5}); got != safe {
					t.Errorf("with the margin %v, at %v times the reach: safe %v", margin, share, got)
				}
			}
		})
	}
}

// A trial whose point is between two values ran at the nearer one, and it is there that it was safe.
func TestSafeWhereItRan(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 0, Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := New(space, 1, Settings{SafetyConstant: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := opt.(*lbo)
	o := Observation{Trial: 1, Proposal: Proposal{Point: []float64{0.54}, Origin: OriginGiven}, Status: Succeeded, Values: []float64{1}, Margin: 0.18}
	if err := l.Tell(o); err != nil {
		t.Fatal(err)
	}
	for n := range 11 {
		p, err := space.Encode(spaces.Values{{Name: "n", Value: spaces.Int(int64(n))}})
		if err != nil {
			t.Fatal(err)
		}
		if safe := n >= 4 && n <= 6; l.past.safe.allows(p) != safe { // it ran at 5, and 7 is 0.2 away
			t.Errorf("n = %d is safe: %v", n, !safe)
		}
	}
}
