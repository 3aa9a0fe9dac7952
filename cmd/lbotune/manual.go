package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lbotune/lbotune/internal/journal"
)

// manual holds docs/commands.md, and the page of a command for man(1).
//
//go:embed manual.tmpl
var manual string

var manuals = template.Must(template.New("manual").Funcs(template.FuncMap{
	"page":        pageName,
	"description": func(c *cobra.Command) string { return strings.TrimSpace(strings.ReplaceAll(c.Long, exitHelp(), "")) },
	"unindent":    unindent,
	"flags":       ownFlags,
	"upper":       strings.ToUpper,
	"codes":       codesByNumber,
	"version":     programVersion,
	"paragraphs":  func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n.PP\n") },
	"roff":        roff,
	"plain":       strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace,
	"cell":        strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "|", `\|`).Replace,
	"related":     related,
}).Parse(manual))

func newManual(g *global, above *cobra.Command) {
	cmd := newCommand(above, "manual [DIR]", "Write the manual pages",
		`Manual writes a manual page for each command into DIR, for example
~/.local/share/man/man1. With --markdown it prints one page with all commands
instead.`)
	cmd.Example = "  lbotune manual ~/.local/share/man/man1"
	markdown := cmd.Flags().Bool("markdown", false, "print one page in Markdown")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		commands := documented(cmd.Root())
		switch {
		case *markdown && len(args) == 0:
			return manuals.ExecuteTemplate(g.out, "markdown", commands)
		case *markdown || len(args) == 0:
			return hinted(usagef("manual takes either a directory or --markdown"), "usage: "+cmd.UseLine())
		}
		return writeManual(args[0], commands)
	}
}

func writeManual(dir string, commands []*cobra.Command) error {
	if err := outsideStudies("manual", filepath.Join(dir, "lbotune.1")); err != nil {
		return err
	}
	err := os.MkdirAll(dir, 0o755)
	for _, c := range commands {
		var b bytes.Buffer
		if err = cmp.Or(err, manuals.ExecuteTemplate(&b, "man", c)); err == nil {
			err = os.WriteFile(filepath.Join(dir, pageName(c)+".1"), b.Bytes(), 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("write manual: %w", err)
	}
	return nil
}

// documented lists c and the commands under it, but help, hidden ones, and those of each shell.
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

// related are the command above c, if there is one, and those directly under it.
func related(c *cobra.Command) (out []*cobra.Command) {
	if c.HasParent() {
		out = append(out, c.Parent())
	}
	return append(out, slices.DeleteFunc(documented(c)[1:], func(sub *cobra.Command) bool { return sub.Parent() != c })...)
}

// unindent takes the two blanks away that help texts put before examples.
func unindent(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.Trim(s, "\n"), "  "), "\n  ", "\n")
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff keeps plain text from being taken for requests.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + s)
	return strings.TrimPrefix(s, "\n")
}

type manFlag struct {
	Short, Long string
	Value       string // what it takes; empty for a switch
	Text        string
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
		given := !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue)
		text += when(given, " (default %s)", f.DefValue)
		out = append(out, manFlag{f.Shorthand, name, value, strings.Join(strings.Fields(text), " ")})
	})
	return out
}

// stamped is the version that a release was built as. Nothing but the linker
// sets it: -ldflags "-X main.stamped=v1.2.3".
var stamped string

// programVersion is the version of a release, or what the go command found: one, or a commit.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if stamped != "" || !ok {
		return cmp.Or(stamped, "unknown")
	}
	return cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
}

func newVersion(g *global, above *cobra.Command) {
	cmd := newCommand(above, "version", "Print the version", "")
	licenses := cmd.Flags().Bool("licenses", false, "print the licenses of everything in the program instead")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *licenses {
			_, err := g.out.Write(notices)
			return err
		}
		return printVersion(g)
	}
}

// notices are the licenses of all modules in the program, as scripts/notices.sh gathers them.
//
//go:embed notices.txt
var notices []byte

type versionJSON struct {
	Version  string `json:"version"`
	Journal  int    `json:"journal"` // version of its format
	JSON     int    `json:"json"`    // version of what --json prints
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func printVersion(g *global) error {
	v, platform := programVersion(), runtime.GOOS+"/"+runtime.GOARCH
	return g.show(versionJSON{v, journal.Version, jsonVersion, runtime.Version(), platform},
		fmt.Sprintf("lbotune %s (journal format %d, %s, %s)\n", v, journal.Version, runtime.Version(), platform))
}
