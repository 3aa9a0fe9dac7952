package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
)

// grid is the table of the paper's third task: its ranges, evenly in logarithms.
const (
	rates, lowRate, highRate           = 33, 1e-7, 0.05
	penalties, lowPenalty, highPenalty = 25, 1e-7, 0.9
	epochs                             = 15
)

func logisticCommand() *cobra.Command {
	var data, out string
	var images int
	cmd := &cobra.Command{
		Use:   "logistic",
		Short: "train the table of the logistic regression",
		Long: `Trains the logistic regression of examples/mnist-logreg at 825 pairs of a learning rate and a
penalty, and writes the test loss after each of 15 epochs, in the format of problems/logreg.txt.
A line is written when its training has ended, and trainings that the file holds are not
repeated: interrupt it whenever you like, and start it again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := logreg.Load(data, images)
			if err != nil {
				return err
			}
			return trainTable(cmd.Context(), out, set, images, func(done int) {
				fmt.Fprintf(cmd.ErrOrStderr(), "\r%d of %d trainings", done, rates*penalties)
			})
		},
	}
	cmd.Flags().StringVar(&data, "data", logreg.DrawnData, "directory with the files of MNIST, or drawn")
	cmd.Flags().IntVar(&images, "n", 0, "images to use; 0: all")
	cmd.Flags().StringVar(&out, "out", "logreg.txt", "file of the table")
	return cmd
}

// trainTable completes the table in a file: as many trainings at a time as there are cores,
// written in order once all of them have ended.
func trainTable(ctx context.Context, path string, set *logreg.Set, images int, progress func(done int)) error {
	head := fmt.Sprintln(rates, lowRate, highRate) + fmt.Sprintln(penalties, lowPenalty, highPenalty) + fmt.Sprintln(epochs)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the table: %w", err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // without a torn last line
	if len(text) == 0 {
		text = []byte(head)
	}
	rows, ours := strings.CutPrefix(string(text), head)
	if !ours {
		return fmt.Errorf("%s holds another table", path)
	}
	train, test := set.Split(images)
	for done := strings.Count(rows, "\n"); done < rates*penalties; {
		batch := make([]bytes.Buffer, min(runtime.GOMAXPROCS(0), rates*penalties-done))
		group, ctx := errgroup.WithContext(ctx)
		for i := range batch {
			group.Go(func() error { return trainRow(ctx, &batch[i], train, test, done+i) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i := range batch {
			text = append(text, batch[i].Bytes()...)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
		done += len(batch)
		progress(done)
	}
	return nil
}

// trainRow trains at one node, learning rate by learning rate, and writes the losses as a line.
func trainRow(ctx context.Context, row *bytes.Buffer, train, test *logreg.Set, node int) error {
	c := logreg.Config{
		Rate:   between(lowRate, highRate, node/penalties, rates),
		L2:     between(lowPenalty, highPenalty, node%penalties, penalties),
		Epochs: epochs, Seed: 1,
	}
	_, err := logreg.Train(train, test, c, func(r logreg.Report) error {
		if row.Len() > 0 {
			row.WriteByte(' ')
		}
		fmt.Fprintf(row, "%.5f", r.TestLoss)
		return ctx.Err()
	})
	row.WriteByte('\n')
	return err
}

// between is node i of n, evenly in logarithms.
func between(low, high float64, i, n int) float64 {
	return low * math.Exp(float64(i)/float64(n-1)*math.Log(high/low))
}
