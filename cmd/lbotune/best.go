package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newBest(g *global) *cobra.Command {
	var prefer []string
	cmd := &cobra.Command{
		Use:   "best STUDY",
		Short: "Print the best values so far and the command line to use them",
		Long: `Best prints the best trial. Of several objectives it prints the front: the trials that no
other is at least as good as in all objectives. --prefer prints one of them: --prefer
latency=1 that with the best latency; --prefer error=2,latency=1 weighs two, each from 0
for the worst of the front to 1 for its best; --prefer 'latency<=20' leaves out what is
slower, and --prefer 'latency<=20,error=1' takes the one with the least error of the rest.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			if prefer != nil {
				return preferred(g, st, l, prefer)
			}
			if err := summarize(g, st, l, nil); err != nil {
				return err
			}
			if err = session.Judge(st); errors.Is(err, session.ErrNoSuccess) && st.Closed == nil {
				return fmt.Errorf("%w yet", err)
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&prefer, "prefer", nil, "of several objectives, print the trial preferred by `NAME=WEIGHT` or NAME<=BOUND")
	return cmd
}

// load reads the study that an argument names.
func load(arg string) (*study.State, study.Layout, error) {
	dir, err := studyDir(arg)
	if err != nil {
		return nil, "", err
	}
	st, _, err := study.Load(dir)
	if err != nil {
		return nil, "", hintStudy(arg, err)
	}
	return st, study.LayoutOf(dir), nil
}
