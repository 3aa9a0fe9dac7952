package study

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/runner"
)

// outputEnd is how much of an output's end is looked at.
const outputEnd = 16 << 10

// OutputEnd returns the last lines, at most n, that an attempt wrote to stderr
// or, if that is empty, to stdout. The lines are the program's bytes: they are
// not fit for a terminal as they are.
func OutputEnd(dir string, n int) []string {
	for _, name := range []string{runner.StderrName, runner.StdoutName} {
		if lines := lastLines(filepath.Join(dir, name), n); len(lines) > 0 {
			return lines
		}
	}
	return nil
}

// lastLines returns the last lines of a file; a file that cannot be read has
// none.
func lastLines(path string, n int) []string {
	f, err := openRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	end := make([]byte, min(size, outputEnd))
	if _, err := f.ReadAt(end, size-int64(len(end))); err != nil && err != io.EOF {
		return nil
	}
	text := strings.TrimRight(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(end)), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(len(lines)-n, 0):]
}
