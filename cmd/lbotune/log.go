package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newLog(g *global) *cobra.Command {
	var stderr, raw bool
	var attempt int
	cmd := &cobra.Command{
		Use:   "log STUDY N",
		Short: "Print what a trial printed",
		Long: `Log prints the standard output of trial N's last attempt, without anything that
could control the terminal.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, l, t, err := loadTrial(args)
			if err != nil {
				return err
			}
			if attempt == 0 {
				attempt = max(t.Attempt, 1)
			}
			name := runner.StdoutName
			if stderr {
				name = runner.StderrName
			}
			dir := l.Attempt(study.AttemptID{Trial: t.Number, Attempt: attempt})
			return printLog(cmd.Context(), g.out, filepath.Join(dir, name), raw, session.SecretsOf(&st.Config))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stderr, "stderr", false, "print its standard error instead")
	f.BoolVar(&raw, "raw", false, "print the bytes as they are")
	f.IntVar(&attempt, "attempt", 0, "print attempt `N` instead of the last")
	return cmd
}

// printLog copies a log, made safe to print unless raw.
func printLog(ctx context.Context, w io.Writer, path string, raw bool, secrets session.Secrets) error {
	whole := make(chan struct{})
	close(whole)
	safe := &sanitizer{w: w, secrets: secrets}
	if !raw {
		w = safe
	}
	err := runner.Tail(ctx, path, w, whole)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no output: %v", err)
	}
	return errors.Join(err, safe.flush())
}

// sanitizer makes text safe for a terminal line by line. A line longer than
// maxHeld is cut, so that no output fills the memory.
type sanitizer struct {
	w       io.Writer
	secrets session.Secrets
	held    []byte
}

const maxHeld = 1 << 20

func (s *sanitizer) Write(p []byte) (int, error) {
	s.held = append(s.held, p...)
	end := bytes.LastIndexByte(s.held, '\n') + 1
	if end == 0 && len(s.held) > maxHeld {
		end = len(s.held)
	}
	if _, err := io.WriteString(s.w, s.safe(s.held[:end])); err != nil {
		return 0, err
	}
	s.held = append(s.held[:0], s.held[end:]...)
	return len(p), nil
}

func (s *sanitizer) safe(text []byte) string { return s.secrets.Hide(runner.Sanitize(string(text))) }

func (s *sanitizer) flush() error {
	_, err := io.WriteString(s.w, s.safe(s.held))
	return err
}
