package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study"
)

// A budget that was lowered since is not shown as if it held.
func TestProgressBeyondTheBudget(t *testing.T) {
	p := newProgress(io.Discard)
	p.cfg = &study.Config{Budget: study.Budget{Trials: 10}}
	for trial, want := range map[int]string{3: " 3/10", 10: "10/10", 12: "  12"} {
		t.Run(fmt.Sprint(trial), func(t *testing.T) {
			if got := p.number(trial); got != want {
				t.Errorf("trial %d is shown as %q; want %q", trial, got, want)
			}
		})
	}
}

func TestFolded(t *testing.T) {
	for _, c := range []struct {
		text          string
		indent, width int
		want          string
	}{
		{"12  0.5  a=1 b=2", 9, 40, "12  0.5  a=1 b=2"},
		{"12  0.5  alpha=1000 beta=2000 gamma=3000 d=4", 9, 36, "12  0.5  alpha=1000 beta=2000\n         gamma=3000 d=4"},
		{"12  0.5  alpha=1000 b=2", 9, 16, "12  0.5\n    alpha=1000\n    b=2"},
		{"12  0.5  " + strings.Repeat("x", 40), 9, 36, "12  0.5  " + strings.Repeat("x", 27) + "\n         " + strings.Repeat("x", 13)},
		{"12  0.5  ééééé ééééé", 9, 33, "12  0.5  ééééé ééééé"},
		{"12  0.5", 9, 3, "12  0.5"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := folded(c.text, c.indent, c.width)
			if got != c.want {
				t.Errorf("%q in %d columns:\n%s\nwant\n%s", c.text, c.width, got, c.want)
			}
		})
	}
}

// A value has its place, however large or small it is, and is rounded for that alone.
func TestFitted(t *testing.T) {
	for x, want := range map[float64]string{
		0.25: "0.25", 1.95028123: "1.95028", 6.19794e+114: "6.198e+114", -6.19794e-114: "-6.2e-114", 123456789: "123456789",
		1234567890123: "1.2346e+12", math.MaxFloat64: "1.798e+308", -1e-300: "-1e-300",
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if got := fitted(x); got != want || len(got) > valueWidth {
				t.Errorf("%v is shown as %q; want %q", x, got, want)
			}
		})
	}
}

// What cannot be drawn in proportion, such as a hypervolume beyond all numbers, is drawn all the same.
func TestSparklineOfAnInfiniteSpan(t *testing.T) {
	levels := []rune("_.-:=+*#")
	for _, values := range [][]float64{{math.MaxFloat64, -math.MaxFloat64}, {0, math.Inf(1)}, {1, math.Inf(1), math.Inf(1)}} {
		t.Run(fmt.Sprint(values), func(t *testing.T) {
			if got := sparkline(values, 10, levels); len(got) != len(values) {
				t.Errorf("%v is drawn as %q; want %d letters", values, got, len(values))
			}
		})
	}
}
