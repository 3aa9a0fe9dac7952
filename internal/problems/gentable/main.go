// Gentable trains the logistic regression of examples/mnist-logreg on a grid of
// learning rates and penalties and writes the test loss after each epoch. From
// the table, package problems interpolates the objective in microseconds where
// training takes half a second. It runs for about ten minutes on one core:
//
//	go run ./internal/problems/gentable > internal/problems/logreg.txt
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
)

// The grid covers the paper's ranges, evenly in logarithms.
const (
	rates, lowRate, highRate           = 33, 1e-7, 0.05
	penalties, lowPenalty, highPenalty = 25, 1e-7, 0.9
	epochs                             = 15
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gentable:", err)
		os.Exit(1)
	}
}

func run() error {
	train, test := logreg.Drawn(logreg.DefaultDrawn).Split(0)
	var losses [rates * penalties][epochs]float64
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for cell := range losses {
		group.Go(func() error {
			c := logreg.Config{
				Rate:   between(lowRate, highRate, cell/penalties, rates),
				L2:     between(lowPenalty, highPenalty, cell%penalties, penalties),
				Epochs: epochs,
				Batch:  logreg.DefaultBatch,
				Seed:   1,
			}
			_, err := logreg.Train(train, test, c, func(r logreg.Report) { losses[cell][r.Epoch-1] = r.TestLoss })
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, rates, lowRate, highRate)
	fmt.Fprintln(out, penalties, lowPenalty, highPenalty)
	fmt.Fprintln(out, epochs)
	for _, row := range losses {
		for i, v := range row {
			if i > 0 {
				fmt.Fprint(out, " ")
			}
			fmt.Fprintf(out, "%.5f", v)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// between is point i of n, evenly spaced in logarithms.
func between(low, high float64, i, n int) float64 {
	return low * math.Exp(math.Log(high/low)*float64(i)/float64(n-1))
}
