package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/spec"
)

func newInit(g *global) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "init [-- COMMAND ...]",
		Short: "Write a commented spec for a command line",
		Long: `Init writes a spec for the command as you run it by hand: every option whose value
looks like a hyperparameter becomes one, with a range around today's value. Epochs,
seeds, ports and the like are left as they are. Read it through and correct the guesses.`,
		Example: "  lbotune init -- python train.py --lr 0.01 --layers 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
				return &hinted{usagef("found %q before --", args[0]), "write the command after --: lbotune init -- python train.py --lr 0.01"}
			}
			if len(args) == 0 {
				args = []string{"./train", "--lr", "0.01", "--layers", "3"}
			}
			text := spec.Draft{Argv: args}.TOML()
			if file == "-" {
				_, err := g.out.Write(text)
				return err
			}
			if err := writeNew(file, text); err != nil {
				return err
			}
			_, err := fmt.Fprintf(g.err, "wrote %s; look through it, then: lbotune check %s\n", file, file)
			return err
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "spec.toml", "write to `FILE`, - for standard output")
	return cmd
}
