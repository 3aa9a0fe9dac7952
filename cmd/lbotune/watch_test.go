package main

import (
	"strings"
	"testing"
)

func TestSparkline(t *testing.T) {
	levels := []rune("01234567")
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{[]float64{8, 4, 4, 0}, 10, "7440"},
		{[]float64{0, 4, 8}, 10, "047"},
		{[]float64{1000, 10, 1}, 10, "720"}, // a logarithmic scale
		{[]float64{2, 2}, 10, "00"},
		{[]float64{7, 6, 5, 4, 3, 2, 1, 0}, 4, "6420"}, // the last of those that share one
	} {
		if got := sparkline(c.values, c.width, levels); got != c.want {
			t.Errorf("%v in %d: %s, want %s", c.values, c.width, got, c.want)
		}
	}
}

func TestWindow(t *testing.T) {
	text := "first line\nsecond\nüüüüüü\nfourth\n"
	for _, c := range []struct {
		columns, rows int
		want          string
	}{
		{0, 0, text},
		{80, 24, text},
		{6, 24, "first\nsecon\nüüüüü\nfourt\n"},
		{80, 3, "first line\nsecond\n"},
	} {
		if got := window(text, c.columns, c.rows); got != c.want {
			t.Errorf("in %d × %d: %q, want %q", c.columns, c.rows, got, c.want)
		}
	}
	if got := strings.Count(window(text, 80, 4), "\n"); got != 3 {
		t.Errorf("%d lines of 4 rows, the last of which is the cursor's", got)
	}
}
