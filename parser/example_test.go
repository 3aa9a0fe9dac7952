package parser_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/lbotune/lbotune/parser"
)

// One pass over an output finds the metrics of all patterns.
func Example() {
	loss, err := parser.Compile(parser.Rule{Metric: "test_loss"})
	if err != nil {
		log.Fatal(err)
	}
	size, err := parser.Compile(parser.Rule{Metric: "model_size"})
	if err != nil {
		log.Fatal(err)
	}
	collector := parser.NewCollector(loss, size)
	stdout := collector.Scanner(parser.Stdout, nil)
	output := "epoch 1: test_loss=0.61\nepoch 2: test_loss=0.48\nmodel_size: 1024 kB\n"
	if _, err := io.Copy(stdout, strings.NewReader(output)); err != nil {
		log.Fatal(err)
	}
	if err := stdout.Close(); err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		result, err := collector.Result(i)
		fmt.Println(result.Value, err)
	}
	// Output:
	// 0.48 <nil>
	// 1024 <nil>
}

// Readings come as soon as their lines have ended, each with its step.
func ExampleCollector_Scanner() {
	accuracy, err := parser.Compile(parser.Rule{JSON: "eval.accuracy", Step: "epoch", Pick: "max"})
	if err != nil {
		log.Fatal(err)
	}
	collector := parser.NewCollector(accuracy)
	stdout := collector.Scanner(parser.Stdout, func(r parser.Reading) {
		fmt.Printf("line %d, epoch %v: %v\n", r.Line, r.Step, r.Value)
	})
	fmt.Fprintln(stdout, `{"epoch": 1, "eval": {"accuracy": 0.91}}`)
	fmt.Fprintln(stdout, `{"epoch": 2, "eval": {"accuracy": 0.87}}`)
	if err := stdout.Close(); err != nil {
		log.Fatal(err)
	}
	result, err := collector.Result(0)
	fmt.Println(result.Value, err)
	// Output:
	// line 1, epoch 1: 0.91
	// line 2, epoch 2: 0.87
	// 0.91 <nil>
}

// What is wrong with a rule comes with a way to mend it.
func ExampleCompile() {
	_, err := parser.Compile(parser.Rule{Regex: `loss is [\d.]+`})
	var wrong *parser.RuleError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Problem)
		fmt.Println(wrong.Hint)
	}
	// Output:
	// has no group, so that it does not say which part of the match is the number
	// put the number in parentheses, as in loss is ([-+.\w]+)
}

// A rule can be tried on a saved log.
func ExamplePattern_Explain() {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		log.Fatal(err)
	}
	saved := "val_loss: 0.48\nval_loss: 0.35\n"
	_, err = pattern.Explain(strings.NewReader(saved), func(m parser.Match) { fmt.Println(m.Excerpt) })
	var none *parser.NoValueError
	if errors.As(err, &none) {
		fmt.Println(none)
		fmt.Println(none.Hint)
	}
	// Output:
	// no metric "loss" in 2 lines of stdout; the nearest name there is "val_loss" on line 1
	// write metric = "val_loss"
}

// Candidates are the rules that find something.
func ExampleCandidates() {
	saved := "epoch 1 loss 0.48\nepoch 2 loss 0.35\n{\"eval\": {\"auc\": 0.92}}\n"
	for _, c := range parser.Candidates([]byte(saved)) {
		how := c.Rule.Metric + c.Rule.JSON
		if c.Rule.LastNumber {
			how = "the last number"
		}
		fmt.Printf("%s: %d, at last %v\n", how, c.Result.Count, c.Result.Value)
	}
	// Output:
	// epoch: 2, at last 2
	// loss: 2, at last 0.35
	// eval.auc: 1, at last 0.92
	// the last number: 3, at last 0.92
}
