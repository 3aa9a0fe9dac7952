package parser_test

import (
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
