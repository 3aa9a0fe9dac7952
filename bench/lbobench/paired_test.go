package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// By counting: of the 32 signs of five differences one gives the sum 0, and ten a sum of at
// most 5; two of eight are as extreme as all of three.
func TestSignedRank(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 2.0 / 32}, {[]float64{1, 2, 3, 4, -5}, 20.0 / 32}, {[]float64{-2, -2, 0, -2}, 2.0 / 8},
		{[]float64{1, 1, -1}, 1}, {nil, 1}, {[]float64{0, 0}, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := signedRank(c.d); !near(got, c.want) {
				t.Errorf("%v: p = %v, want %v", c.d, got, c.want)
			}
		})
	}
}

// Wilson's interval of 8 in 10 is 0.490 to 0.943.
func TestPair(t *testing.T) {
	a, b := []float64{1, 1, 1, 1, 1, 1, 1, 5, 3, 3}, []float64{2, 2, 2, 2, 2, 2, 2, 1, 3, 3}
	if c := pair(a, b); c.wins != 7 || c.ties != 2 || !near(c.better, 0.8) || !near(c.low, 0.490) || !near(c.high, 0.943) {
		t.Errorf("%+v", c)
	}
	if c := pair([]float64{1, 1}, []float64{100, math.MaxFloat64}); c.wins != 2 || c.decades != 2 {
		t.Errorf("two are better, and one of them by decades that can be counted: %+v", c)
	}
	even := make([]float64, 200)
	for i := range even {
		even[i] = 1 + float64(i%2)
	}
	if c := pair(even, append(even[1:], 1)); c.says(c.p) != "equivalent" {
		t.Errorf("a hundred wins and as many losses: %+v are %s", c, c.says(c.p))
	}
}

// A tiny experiment: the constant that is divided twice goes to the centre, the printed one
// does not.
func TestGains(t *testing.T) {
	r := reproduction{common: common{seeds: 1, evals: 12, only: "rosenbrock3-cited", out: filepath.Join(t.TempDir(), "runs.csv")}, part: "gains"}
	jobs := slices.DeleteFunc(r.gainsJobs(), func(j job) bool {
		return !slices.Contains([]string{"random", "ucb-bo", "ucb-10tL-first", "ucb-twice-first"}, j.variant)
	})
	s, err := openStore(r.out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.complete(context.Background(), jobs, io.Discard); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.writeGains(&b, s, jobs)
	if row := "| 2 (1:0 / 2.0) |\n"; !strings.Contains(b.String(), row) || !strings.Contains(b.String(), "| problem | random search | no bounds | 10tL-first | twice-first |") {
		t.Errorf("the table has no cell %q:\n%s", row, b.String())
	}
}
