package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// quoteOutput adds the end of an attempt's output to an error: of stderr or, if
// that is empty, of stdout; but for the study's secrets.
func quoteOutput(err error, dir string, c *study.Config) error {
	for _, name := range []string{runner.StderrName, runner.StdoutName} {
		text, readErr := runner.ReadTail(filepath.Join(dir, name), 4<<10)
		if text = strings.TrimRight(text, "\n"); readErr != nil || text == "" {
			continue
		}
		lines := strings.Split(session.SecretsOf(c).Hide(text), "\n")
		lines = lines[max(len(lines)-10, 0):]
		return fmt.Errorf("%w\nthe end of its %s:\n  | %s", err, name, strings.Join(lines, "\n  | "))
	}
	return fmt.Errorf("%w\nit printed nothing", err)
}
