package parser_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// Where a part of the output is missing (here: at each |) the value is what it would
// be with all of it, or there is none.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		pick   string
		stdout string
		value  float64
		reason string // why there is no value
	}{
		{"last", "loss=1\n|x\nloss=2\n", 2, ""},
		{"last", "loss=1\n|x\nloss=2", 2, ""},
		{"last", "loss=1\n|x\n", 0, "incomplete"},
		{"last", "loss=1\n|", 0, "incomplete"},
		{"last", "|x\nloss=2\n", 2, ""},
		{"last", "|x\nloss=2\n|", 0, "incomplete"},
		{"last", "loss=1|5\n", 0, "incomplete"},
		{"last", "loss=1|5\nloss=2\n", 2, ""},
		{"last", "loss=1\n|loss=7\n", 0, "incomplete"}, // perhaps val_loss=7
		{"last", "loss=1\n|loss=7\rloss=2\r", 2, ""},
		{"last", "|x\n", 0, "incomplete"},
		{"last", "|x\nloss=nan\n", 0, "not finite"},
		{"first", "loss=1\n|x\nloss=2\n", 1, ""},
		{"first", "loss=1|5\nloss=2\n", 0, "not a number"},
		{"first", "|x\nloss=2\n", 0, "incomplete"},
		{"min", "loss=1\nloss=2\n", 1, ""},
		{"min", "loss=1\n|x\nloss=2\n", 0, "incomplete"},
		{"max", "loss=1\n|x\nloss=2\n", 0, "incomplete"},
		{"mean", "loss=1\n|x\nloss=2\n", 0, "incomplete"},
	} {
		for _, size := range []int{1, 1000} {
			t.Run(fmt.Sprintf("%s %q by %d", c.pick, c.stdout, size), func(t *testing.T) {
				pattern, err := parser.Compile(parser.Rule{Metric: "loss", Pick: c.pick})
				if err != nil {
					t.Fatal(err)
				}
				collector := parser.NewCollector(pattern)
				feed(t, collector.Scanner(parser.Stdout, nil), c.stdout, size)
				feed(t, collector.Scanner(parser.Stderr, nil), "what is not read may | have gaps\n", size)
				checkResult(t, collector, c.value, c.reason)
			})
		}
	}
}

// Behind a gap the number of a line is not known.
func TestLineBehindAGap(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		t.Fatal(err)
	}
	collector := parser.NewCollector(pattern)
	feed(t, collector.Scanner(parser.Stdout, nil), "x\n|x\nloss=nan\n", 1000)
	_, err = collector.Result(0)
	if want := `metric "loss" is nan on a line behind the part of stdout that was not kept`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// feed writes text by so many bytes at a time.
func feed(t *testing.T, s *parser.Scanner, text string, size int) {
	t.Helper()
	for i, part := range strings.Split(text, "|") {
		if i > 0 {
			s.Gap()
		}
		for len(part) > 0 {
			n := min(size, len(part))
			if _, err := s.Write([]byte(part[:n])); err != nil {
				t.Fatal(err)
			}
			part = part[n:]
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkResult(t *testing.T, c *parser.Collector, value float64, reason string) {
	t.Helper()
	result, err := c.Result(0)
	var none *parser.NoValueError
	switch {
	case reason == "" && (err != nil || result.Value != value):
		t.Errorf("got %v, %v; want %v", result.Value, err, value)
	case reason != "" && (!errors.As(err, &none) || none.Reason != reason || none.Detail == ""):
		t.Errorf("got %v, %v; want %q", result.Value, err, reason)
	}
}

// With two streams a gap in either leaves the value open, unless the pick is known.
func TestGapsInTwoStreams(t *testing.T) {
	for _, c := range []struct {
		pick           string
		stdout, stderr string
		value          float64
		reason         string
	}{
		{"last", "loss=1\n", "x\n", 1, ""},
		{"last", "loss=1\n", "x\n|", 0, "incomplete"},
		{"min", "loss=1\n", "loss=2\n", 1, ""},
		{"min", "loss=1\n", "|\nloss=2\n", 0, "incomplete"},
	} {
		t.Run(c.pick, func(t *testing.T) {
			pattern, err := parser.Compile(parser.Rule{Metric: "loss", Pick: c.pick, Source: "both"})
			if err != nil {
				t.Fatal(err)
			}
			collector := parser.NewCollector(pattern)
			feed(t, collector.Scanner(parser.Stdout, nil), c.stdout, 1000)
			feed(t, collector.Scanner(parser.Stderr, nil), c.stderr, 1000)
			checkResult(t, collector, c.value, c.reason)
		})
	}
}
