package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManual(g *global) *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "manual [DIR]",
		Short: "Write the manual pages",
		Long: `Manual writes a manual page for each command into DIR, for example
~/.local/share/man/man1. With --markdown it prints one page with all commands
instead.`,
		Example: "  lbotune manual ~/.local/share/man/man1",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			commands := documented(cmd.Root())
			switch {
			case markdown && len(args) == 0:
				_, err := io.WriteString(g.out, markdownPage(commands))
				return err
			case markdown || len(args) == 0:
				return hinted(usagef("manual takes either a directory or --markdown"), "usage: "+cmd.UseLine())
			}
			return writeManual(args[0], commands)
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print one page in Markdown")
	return cmd
}

func writeManual(dir string, commands []*cobra.Command) error {
	if err := outsideStudies("manual", filepath.Join(dir, "lbotune.1")); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write manual: %w", err)
	}
	for _, c := range commands {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(manualPage(c)), 0o644); err != nil {
			return fmt.Errorf("write manual: %w", err)
		}
	}
	return nil
}

// documented lists c and the commands under it that the manual explains: all
// but help, hidden ones, and those of each shell under completion.
func documented(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	if c.Name() == "completion" {
		return out
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			out = append(out, documented(sub)...)
		}
	}
	return out
}

// description is a command's long help without the table of exit codes.
func description(c *cobra.Command) string {
	text, _, _ := strings.Cut(c.Long, exitHelp())
	return strings.TrimSpace(text)
}

// manFlag is a flag as the manual shows it.
type manFlag struct {
	short, long string
	value       string // what it takes; empty for a switch
	text        string
}

// ownFlags are the flags of a command that its parents don't have.
func ownFlags(c *cobra.Command) []manFlag {
	var out []manFlag
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		if f.Value.Type() == "bool" || f.Value.Type() == "count" {
			value = ""
		}
		name := f.Name
		if value != "" && f.NoOptDefVal != "" {
			name, value = name+"[="+value+"]", ""
		}
		switch f.DefValue {
		case "", "0", "0s", "false", "[]":
		default:
			text += " (default " + f.DefValue + ")"
		}
		out = append(out, manFlag{f.Shorthand, name, value, strings.Join(strings.Fields(text), " ")})
	})
	return out
}
