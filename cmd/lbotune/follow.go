package main

import (
	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/study"
)

func newFollow(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "follow STUDY",
		Short: "Print the records of a study as they are written",
		Long: `Follow prints every record of a study's journal as JSON, one per line, and continues
with those that another process writes until the study has ended.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := studyDir(args[0])
			if err != nil {
				return err
			}
			err = study.Follow(cmd.Context(), dir, func(_ *study.State, r study.Record) error { return printLine(g.out, r) }, nil)
			return hintStudy(args[0], err)
		},
	}
}
