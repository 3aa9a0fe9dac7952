package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// completion is what a shell is offered for the argument after args.
type completion = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeArgs tells shells what the arguments may be: a study, then what each command takes.
func completeArgs(root *cobra.Command) {
	anyTrial := trialsOf(func(*study.Trial) bool { return true })
	after := map[string]completion{
		"show": anyTrial, "log": anyTrial, "exclude": trialsOf((*study.Trial).Done),
		"tell": trialsOf(func(t *study.Trial) bool { return t.Hand && !t.Done() }), "enqueue": valuesOf,
		"plot": cobra.FixedCompletions(report.Texts(), cobra.ShellCompDirectiveNoFileComp),
	}
	anyFile := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	firsts := map[string]completion{
		"SPEC":     cobra.FixedCompletions([]cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt),
		"[FOLDER]": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"STUDY":    anyFile, "[STUDY": anyFile,
	}
	for _, cmd := range root.Commands() {
		first, known := firsts[strings.Fields(cmd.Use + " -")[1]]
		if !known {
			continue
		}
		next, known := after[cmd.Name()]
		if !known {
			next = cobra.NoFileCompletions
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
			about := either(t.Succeeded(), short(t.Value), st.StandingOf(t))
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
		return slices.ContainsFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, name+"=") })
	}
	for _, p := range cfg.Params {
		switch name, _, valued := strings.Cut(word, "="); {
		case given(p.Name):
		case !valued:
			out = append(out, cobra.CompletionWithDesc(p.Name+"=", string(p.Kind)))
		case name == p.Name:
			if p.Kind == spaces.KindBool {
				p.Choices = []spaces.Value{spaces.Bool(true), spaces.Bool(false)}
			}
			out = lists.Map(p.Choices, func(v spaces.Value) cobra.Completion { return p.Name + "=" + v.Text() })
		}
	}
	return out, directive
}
