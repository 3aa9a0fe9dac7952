package main

import (
	"encoding/csv"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// families are kinds of functions in which one simple method or another is strong.
var families = map[string][]string{
	"smooth":  {"branin2", "camel2", "goldstein2", "hartmann3", "hartmann6", "ellipsoid6"},
	"valleys": {"rosenbrock2", "rosenbrock3", "rosenbrock4", "rosenbrock5", "rosenbrock4-rotated", "dixonprice4"},
	"rugged": {"michalewicz2", "michalewicz5", "michalewicz10", "ackley5", "griewank5", "levy4", "styblinski5", "shekel4",
		"eggholder2", "rastrigin5-rotated"},
}

// The safety net: on no family of functions, neither of the shifted nor of the standard suite,
// is the optimizer significantly worse than a simple method that was recorded there, and it is
// better than random search on each. The runs are paired: a seed is an instance.
func TestNeverWorseThanSimpleMethods(t *testing.T) {
	seeds := effort.Sequential(0, 1, 6)
	if seeds == 0 {
		t.Skip("-short: no runs to compare")
	}
	const first = 50
	simple := recordedRuns(t)
	var jobs []job
	for _, name := range []string{"shifted", "standard"} {
		for seed := first; seed < first+seeds; seed++ {
			for _, o := range suites()[name].make(uint64(seed)) {
				for _, v := range []variant{{name: "lbotune"}, randomSearch()} {
					jobs = append(jobs, job{variant: v.name, settings: v.settings, objective: o, seed: seed, evals: 100, workers: 1})
				}
			}
		}
	}
	runs := make([]run, len(jobs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		group.Go(func() (err error) {
			runs[i], err = j.run(t.Context())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for at, evals := range checkpoints[1:] {
		for family, functions := range families {
			ours, theirs := []float64{}, map[string][]float64{}
			for i, j := range jobs {
				name := strings.TrimSuffix(j.objective.Name, "-shifted")
				if !slices.Contains(functions, name) {
					continue
				}
				regret := func(best float64) float64 { return math.Max(best-j.objective.Min, floor) }
				best := runs[i].points[evals-1].Best
				recorded := simple[j.objective.Name][j.seed]
				if j.variant == "random" {
					if was := recorded["random"][at]; math.Abs(best-was) > 1e-9*math.Abs(was) {
						t.Fatalf("%s, seed %d: random search has %v after %d evaluations, and %v is recorded: the instances differ", j.objective.Name, j.seed, best, evals, was)
					}
					continue
				}
				ours = append(ours, regret(best))
				for peer, values := range recorded {
					theirs[peer] = append(theirs[peer], regret(values[at]))
				}
			}
			for peer, values := range theirs {
				c := pair(ours, values)
				t.Logf("%s, %d evaluations, beside %s: better %.2f, %+.2f decades, p = %.2g", family, evals, peer, c.better, c.decades, c.p)
				switch {
				case c.p < 0.01 && c.better < 0.5:
					t.Errorf("%s: worse than %s after %d evaluations, in %d of %d runs", family, peer, evals, c.n-c.wins-c.ties, c.n)
				case peer == "random" && evals >= 50 && (c.p >= 0.05 || c.better < 0.5):
					t.Errorf("%s: not better than random search after %d evaluations", family, evals)
				}
			}
		}
	}
}

// recordedRuns are the best values of the simple methods at the checkpoints, by function, seed
// and method.
func recordedRuns(t *testing.T) map[string]map[int]map[string][]float64 {
	t.Helper()
	f, err := os.Open("testdata/simple.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[int]map[string][]float64{}
	for _, row := range rows[1:] {
		seed, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatal(err)
		}
		if out[row[1]] == nil {
			out[row[1]] = map[int]map[string][]float64{}
		}
		if out[row[1]][seed] == nil {
			out[row[1]][seed] = map[string][]float64{}
		}
		for _, text := range row[3:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[row[1]][seed][row[0]] = append(out[row[1]][seed][row[0]], v)
		}
	}
	return out
}
