package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
)

// completeArgs tells shells what the arguments may be: a study or a spec, and for plot a picture.
func completeArgs(root *cobra.Command) {
	anyFile := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	firsts := map[string]cobra.CompletionFunc{
		"SPEC":     cobra.FixedCompletions([]cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt),
		"[FOLDER]": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"STUDY":    anyFile, "[STUDY": anyFile,
	}
	for _, cmd := range root.Commands() {
		first, known := firsts[strings.Fields(cmd.Use + " -")[1]]
		if !known {
			continue
		}
		next := cobra.NoFileCompletions
		if cmd.Name() == "plot" {
			next = cobra.FixedCompletions(report.Texts(), cobra.ShellCompDirectiveNoFileComp)
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return either(len(args) == 0, first, next)(cmd, args, word)
		}
	}
}

func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
