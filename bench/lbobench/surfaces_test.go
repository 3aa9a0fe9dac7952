package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
)

// By counting: of the ten choices of two of five ranks one has the largest sum, and two of {1,1,1,2}
// are the larger ones in half of the six.
func TestRankSum(t *testing.T) {
	for _, c := range []struct {
		a, b                   []float64
		below, smaller, larger float64
	}{
		{[]float64{8, 9}, []float64{1, 2, 3}, 0, 1, 1.0 / 10},
		{[]float64{1, 2}, []float64{7, 8, 9}, 1, 1.0 / 10, 1},
		{[]float64{1, 2}, []float64{1, 1}, 1.0 / 4, 1, 3.0 / 6},
		{[]float64{5, 5}, []float64{5, 5, 5}, 1.0 / 2, 1, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			below, smaller, larger := rankSum(c.a, c.b)
			if !near(below, c.below) || !near(smaller, c.smaller) || !near(larger, c.larger) {
				t.Errorf("%v and %v: %v, p = %v and %v", c.a, c.b, below, smaller, larger)
			}
		})
	}
}

// A surface on which every run is worse than those of random search is named, with both medians, and
// stays after correction; one on which they are alike is not.
func TestSurfacesNameWhatIsWorse(t *testing.T) {
	s, st := surfaces{common: common{seeds: 5, evals: 20}, random: 40}, &store{runs: map[key]run{}}
	var jobs []job
	for _, peer := range []string{"lbotune", "random"} {
		for _, o := range problems.Generated(1, func(name string, _ int) bool {
			return slices.Contains([]string{"constant2", "needle2", "steps3"}, name)
		}) {
			n := s.seeds
			if peer == "random" {
				n = s.random
			}
			for seed := range n {
				j := job{variant: peer, objective: o, seed: seed}
				y := 2 + float64(seed)/100
				switch {
				case o.Name == "constant2":
					y = 2
				case o.Name == "needle2" && peer == "lbotune":
					y = 7
				}
				jobs = append(jobs, j)
				st.runs[j.key()] = run{points: []point{{I: 1, Best: y}}}
			}
		}
	}
	var b strings.Builder
	s.write(&b, st, jobs)
	for _, want := range []string{"5 runs beside 40 of random search", "of 3 surfaces better than random search on 1, worse on 1 (",
		", and on 1 after Holm's correction.", "| needle2 | 8.2e-07 | 7 | 2.2 |", "| needle | 0.00 |", "| parameters | lbotune, 20 |", "\n| 3 | 0.94 |"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		})
	}
}

// The command runs a study of each surface that is wanted, of the default and of the walk.
func TestSurfaces(t *testing.T) {
	cmd := surfacesCommand()
	var out, progress bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SetArgs([]string{"--only", "rare1,constant2", "--seeds", "2", "--random", "3", "--evals", "20", "--out", filepath.Join(t.TempDir(), "surfaces.csv")})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lbotune after 20 evaluations: of 2 surfaces", "walk after 20 evaluations: of 2 surfaces",
		"Pairs of runs in which walk is better", "| 1e-08 | ", "| constant | 0.50 | 0.50 |"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		})
	}
}
