// Mnist-logreg trains a multinomial logistic regression on digits by stochastic
// gradient descent and prints the loss on the fifth of the images that it was
// not trained on. It is an ordinary training program and knows nothing of
// lbotune.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mnist-logreg:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	var c logreg.Config
	flags := flag.NewFlagSet("mnist-logreg", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Float64Var(&c.Rate, "lr", 0.002, "learning rate")
	flags.Float64Var(&c.L2, "l2", 1e-4, "strength of the ℓ2 penalty")
	flags.IntVar(&c.Epochs, "epochs", 5, "passes over the training images")
	flags.Uint64Var(&c.Seed, "seed", 1, "order of the images in each pass")
	data := flags.String("data", logreg.DrawnData, "`directory` with the four files of MNIST or of a set like it, or drawn")
	n := flags.Int("n", 0, fmt.Sprintf("images to use (default: all, or %d drawn digits)", logreg.DefaultDrawn))
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *n < 0 {
		return fmt.Errorf("--n=%d: give a number of images", *n)
	}

	set, err := logreg.Load(*data, *n)
	if err != nil {
		return err
	}
	train, test := set.Split(*n)
	fmt.Fprintf(stdout, "%d images to train on, %d to test on\n", train.Len(), test.Len())
	last, err := logreg.Train(train, test, c, func(r logreg.Report) error {
		_, err := fmt.Fprintf(stdout, "epoch=%d train_loss=%.6f test_loss=%.6f accuracy=%.4f\n",
			r.Epoch, r.TrainLoss, r.TestLoss, r.Accuracy)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "test_loss=%.6f accuracy=%.4f\n", last.TestLoss, last.Accuracy)
	return err
}
