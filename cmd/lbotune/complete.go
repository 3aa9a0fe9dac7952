package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// completion is what a shell is offered for the argument after args.
type completion = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeArgs tells shells what the commands' arguments may be: a study, then what each
// takes after it.
func completeArgs(root *cobra.Command) {
	after := map[string]completion{
		"show": trialsOf(anyTrial), "log": trialsOf(anyTrial), "exclude": trialsOf((*study.Trial).Done),
		"tell": trialsOf(func(t *study.Trial) bool { return t.Hand && !t.Done() }), "enqueue": valuesOf,
		"plot": cobra.FixedCompletions(report.Texts(), cobra.ShellCompDirectiveNoFileComp),
	}
	for _, cmd := range root.Commands() {
		words := strings.Fields(cmd.Use)
		if len(words) < 2 {
			continue
		}
		next := after[cmd.Name()]
		switch words[1] {
		case "SPEC":
			cmd.ValidArgsFunction = first([]cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt, next)
		case "STUDY", "[STUDY":
			cmd.ValidArgsFunction = first(nil, cobra.ShellCompDirectiveDefault, next)
		case "[FOLDER]":
			cmd.ValidArgsFunction = first(nil, cobra.ShellCompDirectiveFilterDirs, nil)
		}
	}
}

// completeFlag tells shells what a flag's value may be.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// first completes the first argument as a file, and those after it by next.
func first(filter []cobra.Completion, files cobra.ShellCompDirective, next completion) completion {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return filter, files
		case next == nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return next(cmd, args, word)
	}
}

func anyTrial(*study.Trial) bool { return true }

// trialsOf completes the number of a trial.
func trialsOf(fits func(*study.Trial) bool) completion {
	return func(_ *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		st, _, err := load(args[0])
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, t := range st.Trials {
			if !fits(t) {
				continue
			}
			about := st.StandingOf(t)
			if t.Succeeded() {
				about = short(t.Value)
			}
			out = append(out, cobra.CompletionWithDesc(strconv.Itoa(t.Number), about+" "+shortValues(t.Values)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// valuesOf completes NAME=VALUE, with the values of parameters that have few.
func valuesOf(_ *cobra.Command, args []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	cfg, err := specOf(args[0])
	if cfg == nil || err != nil {
		st, _, err := load(args[0])
		if err != nil {
			return nil, directive
		}
		cfg = &st.Config
	}
	given := func(name string) bool {
		for _, a := range args[1:] {
			if strings.HasPrefix(a, name+"=") {
				return true
			}
		}
		return false
	}
	for _, p := range cfg.Params {
		switch name, _, valued := strings.Cut(word, "="); {
		case given(p.Name):
		case !valued:
			out = append(out, cobra.CompletionWithDesc(p.Name+"=", string(p.Kind)))
		case name == p.Name:
			for _, v := range fewValues(p) {
				out = append(out, p.Name+"="+v)
			}
		}
	}
	return out, directive
}

// fewValues are the values of a parameter that has a list of them.
func fewValues(p spaces.Param) []string {
	if p.Kind == spaces.KindBool {
		return []string{"true", "false"}
	}
	var out []string
	for _, c := range p.Choices {
		out = append(out, c.Text())
	}
	return out
}
