package spelling_test

import (
	"testing"

	"github.com/lbotune/lbotune/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "loss", 4},
		{"loss", "loss", 0},
		{"loss", "los", 1},
		{"loss", "lass", 1},
		{"loss", "lsos", 1}, // a swap
		{"trails", "trials", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3}, // no letter is moved twice
		{"é", "e", 2},    // bytes
	} {
		t.Run(c.a, func(t *testing.T) {
			if got := spelling.Distance(c.a, c.b); got != c.want {
				t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
			}
			if got := spelling.Distance(c.b, c.a); got != c.want {
				t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
			}
		})
	}
}

func TestNearestCommand(t *testing.T) {
	for name, want := range map[string]string{"trails": "trials", "trial": "trials", "bets": "best", "wrokers": "workers", "work": "workers", "prun": "prune", "Explore": "explore", "zzz": ""} {
		t.Run(name, func(t *testing.T) {
			if got, ok := spelling.Nearest(name, []string{"best", "trials", "workers", "run", "prune", "explore_every", "explore"}); got != want || ok != (want != "") {
				t.Errorf("nearest to %q is %q", name, got)
			}
		})
	}
}
