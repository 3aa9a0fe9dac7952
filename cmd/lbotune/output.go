package main

import (
	"fmt"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// quoteOutput adds the end of an attempt's output to an error.
func quoteOutput(err error, dir string) error {
	lines := study.OutputEnd(dir, 10)
	if len(lines) == 0 {
		return fmt.Errorf("%w\nit printed nothing", err)
	}
	for i, line := range lines {
		lines[i] = "  | " + oneLine(line)
	}
	return fmt.Errorf("%w\nthe end of its output:\n%s", err, strings.Join(lines, "\n"))
}
