// Command lbobench measures lbotune's optimizers: beside recorded runs of other
// optimizers, on surfaces that nobody tuned them to, and as the paper measured
// Lipschitz Bayesian optimization.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := &cobra.Command{
		Use:           "lbobench",
		Short:         "measure lbotune's optimizers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(compareCommand(), suiteCommand(), surfacesCommand(), reproduceCommand(), logisticCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lbobench:", err)
		os.Exit(1)
	}
}
