package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newBest(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "best STUDY",
		Short: "Print the best values so far and the command line to use them",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			if err := summarize(g, st, l); err != nil {
				return err
			}
			switch {
			case st.Best() != nil && st.Feasible(st.Best()):
				return nil
			case st.Best() != nil && st.Closed == nil:
				return fmt.Errorf("%w yet", session.ErrInfeasible)
			case st.Best() != nil:
				return session.ErrInfeasible
			case st.Closed == nil:
				return fmt.Errorf("%w yet", session.ErrNoSuccess)
			}
			return session.ErrNoSuccess
		},
	}
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
