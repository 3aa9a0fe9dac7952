package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// markdownPage is docs/commands.md.
func markdownPage(commands []*cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The commands\n\n<!-- Made by lbotune manual --markdown; do not edit. -->\n\n")
	for _, c := range commands {
		name := c.CommandPath()
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", name, strings.ReplaceAll(name, " ", "-"), c.Short)
	}
	b.WriteString("- [Exit codes](#exit-codes)\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n\n%s\n", c.CommandPath(), c.UseLine(), markdownText(description(c)))
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", unindent(c.Example))
		}
		markdownFlags(&b, ownFlags(c), c.HasParent())
	}
	b.WriteString("\n## Exit codes\n\n| code | what it means |\n| --- | --- |\n")
	for _, row := range codesByNumber() {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.meaning)
	}
	return b.String()
}

func markdownFlags(b *strings.Builder, flags []manFlag, hasParent bool) {
	if len(flags) == 0 {
		return
	}
	if !hasParent {
		b.WriteString("\nEvery command has these options:\n")
	}
	b.WriteString("\n| option | what |\n| --- | --- |\n")
	for _, f := range flags {
		name := "--" + f.long
		if f.short != "" {
			name = "-" + f.short + ", " + name
		}
		if f.value != "" {
			name += " " + f.value
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(markdownText(f.text), "|", `\|`))
	}
}

// markdownText keeps plain text from being taken for markup.
func markdownText(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}

// unindent takes the two blanks away that help texts put before examples.
func unindent(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

// manualPage is a command's page for man(1).
func manualPage(c *cobra.Command) string {
	var b strings.Builder
	page := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"lbotune %s\" \"lbotune\"\n", strings.ToUpper(roff(page)), roff(programVersion()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(page), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", roff(c.CommandPath()), roff(strings.TrimPrefix(c.UseLine(), c.CommandPath())))
	b.WriteString(".SH DESCRIPTION\n" + strings.ReplaceAll(roff(description(c)), "\n\n", "\n.PP\n") + "\n")
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(unindent(c.Example)))
	}
	roffFlags(&b, "OPTIONS", ownFlags(c))
	if c.HasParent() {
		roffFlags(&b, "GLOBAL OPTIONS", ownFlags(c.Root()))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, row := range codesByNumber() {
		fmt.Fprintf(&b, ".TP\n%d\n%s\n", row.code, roff(row.meaning))
	}
	roffSeeAlso(&b, c)
	return b.String()
}

func roffFlags(b *strings.Builder, section string, flags []manFlag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", section)
	for _, f := range flags {
		b.WriteString(".TP\n")
		if f.short != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.short)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.long))
		if f.value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(f.value))
		}
		fmt.Fprintf(b, "\n%s\n", roff(f.text))
	}
}

func roffSeeAlso(b *strings.Builder, c *cobra.Command) {
	var also []string
	if c.HasParent() {
		also = append(also, c.Parent().CommandPath())
	}
	for _, sub := range documented(c)[1:] {
		if sub.Parent() == c {
			also = append(also, sub.CommandPath())
		}
	}
	for i, name := range also {
		also[i] = "\\fB" + roff(strings.ReplaceAll(name, " ", "-")) + "\\fR(1)"
	}
	if len(also) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
	}
}

// roff keeps plain text from being taken for requests.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
