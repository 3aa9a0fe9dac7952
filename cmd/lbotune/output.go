package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// quoteOutput adds the end of an attempt's output to an error: of stderr or, if
// that is empty, of stdout; but for the study's secrets.
func quoteOutput(err error, l study.Layout, dir string, c *study.Config) error {
	name, text := endOfOutput(l, dir, c, runner.StderrName, runner.StdoutName)
	if text == "" {
		return fmt.Errorf("%w\nit printed nothing", err)
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(len(lines)-10, 0):]
	return fmt.Errorf("%w\nthe end of its %s:\n  | %s%s", err, name, strings.Join(lines, "\n  | "), cure(lines))
}

// endOfOutput is the end of the first of an attempt's outputs that has any text, without the
// study's secrets.
func endOfOutput(l study.Layout, dir string, c *study.Config, outputs ...string) (name, text string) {
	for _, name := range outputs {
		text, err := runner.ReadTail(l.Output(filepath.Join(dir, name)), 4<<10)
		if text = strings.TrimRight(text, "\n"); err == nil && strings.TrimSpace(text) != "" {
			return name, session.SecretsOf(c).Hide(text)
		}
	}
	return "", ""
}

// cures are complaints of programs whose cause is how lbotune runs them.
var cures = []struct {
	complaint *regexp.Regexp
	cure      string
}{
	{regexp.MustCompile(`\bsource: not found`), `/bin/sh runs the command, and knows source as a dot: . venv/bin/activate; or write command = ["bash", "-c", "..."]`},
	{regexp.MustCompile(`EOFError|EOF when reading a line`), "a trial has no standard input; give it some: yes | COMMAND, or COMMAND <FILE"},
	{regexp.MustCompile(`Inappropriate ioctl for device|not a tty|ENOTTY`), "a trial has no terminal; script -qec COMMAND /dev/null gives it one"},
}

// cure says what to do about a complaint that is known, on a line of its own.
func cure(lines []string) string {
	for _, c := range cures {
		if slices.ContainsFunc(lines, c.complaint.MatchString) {
			return "\n" + c.cure
		}
	}
	return ""
}
