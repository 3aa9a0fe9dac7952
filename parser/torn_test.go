package parser_test

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// Of a stream that was torn off the last line counts if it has an end, or if what it holds
// has one.
func TestCloseTorn(t *testing.T) {
	for _, c := range []struct {
		rule parser.Rule
		text string
		want float64 // 0 for none
	}{
		{parser.Rule{Metric: "loss"}, "loss=5\nloss=0.", 5},
		{parser.Rule{Metric: "loss"}, "loss=5\nloss=3\n", 3},
		{parser.Rule{Metric: "loss"}, "loss=5\rloss=3\r", 3},
		{parser.Rule{Metric: "loss"}, "loss=5", 0},
		{parser.Rule{Metric: "loss"}, "epoch | loss\n1 | 5\n2 | 0.", 5},
		{parser.Rule{LastNumber: true}, "loss 5\nloss 0.", 5},
		{parser.Rule{Regex: `loss=(\S+)`}, "loss=5\nloss=0.", 5},
		{parser.Rule{Dialect: "cost-status"}, "cost=5; status=SUCCESS\ncost=1", 5},
		{parser.Rule{JSON: "loss"}, "{\"loss\": 5}\n{\"loss\": 3}", 3},
		{parser.Rule{JSON: "loss"}, "{\"loss\": 5}\n{\"loss\": 3", 5},
		{parser.Rule{JSON: "loss"}, "{\n\"loss\": 5\n}", 5},
	} {
		t.Run(c.text, func(t *testing.T) {
			collector := parser.NewCollector(compile([]parser.Rule{c.rule})...)
			scanner := collector.Scanner(parser.Stdout, nil)
			if _, err := scanner.Write([]byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if err := scanner.CloseTorn(); err != nil {
				t.Fatal(err)
			}
			got, err := collector.Result(0)
			if (err == nil) != (c.want != 0) || got.Value != c.want {
				t.Errorf("%+v of %q: %v, %v, want %v", c.rule, c.text, got.Value, err, c.want)
			}
		})
	}
}

// What a full disk has cut is told from what is whole: by the line's end, or by that of a
// JSON text.
func TestUnended(t *testing.T) {
	for _, c := range []struct {
		rule parser.Rule
		text string
		want bool
	}{
		{parser.Rule{Metric: "loss"}, "loss=0.5", true},
		{parser.Rule{Metric: "loss"}, "loss=0.5\n ", true},
		{parser.Rule{Metric: "loss"}, "loss=0.5\n", false},
		{parser.Rule{Metric: "loss"}, "", false},
		{parser.Rule{JSON: "loss"}, `{"loss": 0.5}`, false},
		{parser.Rule{JSON: "loss"}, `{"loss": 0.5} `, false},
		{parser.Rule{JSON: "loss"}, "{\"loss\": 0.5}\n{\"loss\": 0.", true},
		{parser.Rule{JSON: "loss"}, "{\"loss\": 0.5}\nlog: {\"loss\": 0.", true},
		{parser.Rule{JSON: "loss"}, "{\n\"a\": {\"loss\": 0.5},\n", true},
		{parser.Rule{JSON: "loss"}, "{\n" + strings.Repeat("\"a\": {\"loss\": 0.5},\n", 4<<20/20+1000), true}, // too long
		{parser.Rule{JSON: "loss"}, "{\n\"loss\": 0.5\n}", false},
		{parser.Rule{Dialect: "tune-metric", Metric: "loss"}, `[tune-metric]: {"loss": 0.31}`, false},
		{parser.Rule{Dialect: "tune-metric", Metric: "loss"}, `[tune-metric]: {"loss": 0.3`, true},
	} {
		t.Run(c.text[:min(len(c.text), 50)], func(t *testing.T) {
			scanner := parser.NewCollector(compile([]parser.Rule{c.rule})...).Scanner(parser.Stdout, nil)
			if _, err := scanner.Write([]byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if err := scanner.Close(); err != nil {
				t.Fatal(err)
			}
			if got := scanner.Unended(0); got != c.want {
				t.Errorf("%+v of %q: %v, want %v", c.rule, c.text, got, c.want)
			}
		})
	}
}
