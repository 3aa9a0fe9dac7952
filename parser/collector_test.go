package parser_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

func TestManyMetricsInOnePass(t *testing.T) {
	var seen []string
	emit := func(r parser.Reading) {
		seen = append(seen, fmt.Sprintf("%d: %v at %v", r.Metric, r.Value, r.Step))
	}
	collector := parser.NewCollector(compile([]parser.Rule{
		{Metric: "loss", Step: "epoch"},
		{Metric: "loss", Step: "epoch", Pick: "min"},
		{JSON: "size", Source: parser.File},
		{JSON: "size", Source: parser.File},
		{Metric: "seconds", Source: parser.Stderr},
	})...)
	for _, s := range []struct {
		text    string
		scanner *parser.Scanner
	}{
		{"epoch 1 loss 0.5\nepoch 2 loss 0.75\n", collector.Scanner(parser.Stdout, emit)},
		{"seconds: many\n", collector.Scanner(parser.Stderr, emit)},
		{`{"size": 3}`, collector.Scanner(parser.File, emit, 2)},
		{`{"size": 4}`, collector.Scanner(parser.File, emit, 3)},
	} {
		t.Run(s.text, func(t *testing.T) {
			feed(t, s.scanner, s.text, 5)
		})
	}
	if want := []string{"0: 0.5 at 1", "1: 0.5 at 1", "0: 0.75 at 2", "1: 0.75 at 2", "2: 3 at 0", "3: 4 at 0"}; !slices.Equal(seen, want) {
		t.Errorf("emitted %q, want %q", seen, want)
	}
	for i, want := range []float64{0.75, 0.5, 3, 4} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			result, err := collector.Result(i)
			if err != nil || result.Value != want || result.Reading.Metric != i {
				t.Errorf("metric %d: got %+v, %v, want %v", i, result, err, want)
			}
		})
	}
	var none *parser.NoValueError
	if _, err := collector.Result(4); !errors.As(err, &none) || none.Reason != "no match" {
		t.Errorf("got %v, want no match", err)
	}
}
