package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spec"
)

func newInit(g *global) *cobra.Command {
	var file, metric string
	var noRun bool
	cmd := &cobra.Command{
		Use:   "init [-- COMMAND ...]",
		Short: "Write a commented spec for a command line",
		Long: `Init writes a spec for the command as you run it by hand: every option whose value
looks like a hyperparameter becomes one, with a range around today's value; if there
are no options, the numbers in the command do. Epochs, seeds, ports and the like are left
as they are. It runs the command once to find the metric in what it prints, and with
--help if an option has a word for a value.
Read the spec through and correct the guesses.`,
		Example: "  lbotune init -- python train.py --lr 0.01 --layers 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
				return hinted(usagef("found %q before --", args[0]), "write the command after --: lbotune init -- python train.py --lr 0.01")
			}
			d := spec.Draft{Argv: args, Rule: parser.Rule{Metric: metric}}
			switch {
			case len(args) == 0:
				d.Argv = []string{"./train", "--lr", "0.01", "--layers", "3"}
			case !noRun && metric == "":
				if err := outsideStudies("-o", file); err != nil && file != "-" {
					return err
				}
				if _, err := os.Lstat(file); err == nil { // said before the command runs for an hour
					return hinted(usagef("%s exists already", file), "remove it, or write to another file with -o FILE")
				}
				tryOut(cmd.Context(), g, &d)
			}
			text := d.TOML()
			if file == "-" {
				_, err := g.out.Write(text)
				return err
			}
			if err := writeNew("-o", file, text); err != nil {
				return err
			}
			then := "look through it, then"
			if bytes.Contains(text, []byte(spec.NothingToVary)) {
				then = "no option with a value to vary was found in the command: write a placeholder into it, then"
			}
			_, err := fmt.Fprintf(g.err, "wrote %s; %s: lbotune check %s\n", oneLine(file), then, oneLine(file))
			return err
		},
	}
	cmd.Flags().StringVarP(&metric, "metric", "m", "", "the metric is called `NAME`; the command is not run")
	cmd.Flags().BoolVar(&noRun, "no-run", false, "do not run the command")
	cmd.Flags().StringVarP(&file, "output", "o", "spec.toml", "write to `FILE`, - for standard output")
	return cmd
}
