package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newLog(g *global) *cobra.Command {
	var stderr, raw, follow bool
	var attempt int
	cmd := &cobra.Command{
		Use:   "log STUDY N",
		Short: "Print what a trial printed",
		Long: `Log prints the standard output of trial N's last attempt, without anything that
could control the terminal. With --follow it goes on with what a running trial
prints, until that attempt ends.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, l, t, err := loadTrial(args)
			if err != nil {
				return err
			}
			if attempt == 0 {
				attempt = resultAttempt(t)
			}
			name := runner.StdoutName
			if stderr {
				name = runner.StderrName
			}
			dir := l.Attempt(study.AttemptID{Trial: t.Number, Attempt: attempt})
			ended := make(chan struct{})
			if follow && !t.Done() {
				go func() {
					awaitEnd(cmd.Context(), l, study.AttemptID{Trial: t.Number, Attempt: attempt})
					close(ended)
				}()
			} else {
				close(ended)
			}
			return printLog(cmd.Context(), g.out, l.Output(filepath.Join(dir, name)), raw, session.SecretsOf(&st.Config), ended)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stderr, "stderr", false, "print its standard error instead")
	f.BoolVarP(&follow, "follow", "f", false, "go on with what the trial prints, until it ends")
	f.BoolVar(&raw, "raw", false, "print the bytes as they are")
	f.IntVar(&attempt, "attempt", 0, "print attempt `N` instead of the last")
	return cmd
}

// lastAttempt is the number of the last attempt at a trial that has begun, 1 if none has.
func lastAttempt(t *study.Trial) int {
	if n := len(t.Attempts); n > 0 {
		return t.Attempts[n-1].Number
	}
	return max(t.Attempt, 1)
}

// awaitEnd returns when the command of an attempt has ended: that is in its directory, or
// in the journal if a launcher keeps it elsewhere.
func awaitEnd(ctx context.Context, l study.Layout, id study.AttemptID) {
	over := errors.New("over")
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	go func() {
		for ctx.Err() == nil {
			if _, ended, err := runner.Look(l.Attempt(id)); err == nil && ended {
				done(over)
			}
			select {
			case <-ctx.Done():
			case <-time.After(logLook):
			}
		}
	}()
	_ = study.Follow(ctx, string(l), func(_ *study.State, r study.Record) error {
		switch e := r.Event.(type) {
		case study.Finished:
			if e.Trial == id.Trial {
				return over
			}
		case study.Ended:
			if e.Trial == id.Trial && e.Attempt == id.Attempt {
				return over
			}
		}
		return nil
	}, nil)
}

// logLook is the pause between two looks for the end of an attempt.
const logLook = 200 * time.Millisecond

// printLog copies a log as it grows until whole, made safe to print unless raw.
func printLog(ctx context.Context, w io.Writer, open func() (*os.File, error), raw bool, secrets session.Secrets, whole <-chan struct{}) error {
	safe := &sanitizer{w: w, secrets: secrets}
	if !raw {
		w = safe
	}
	err := runner.Tail(ctx, open, w, whole)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no output: %v", err)
	}
	return errors.Join(err, safe.flush())
}

// logEnd is how much of a log that is there already others than the terminal are shown.
const logEnd = 256 << 10

// followLog copies the end of a log as it grows until ended is closed.
func followLog(ctx context.Context, l study.Layout, id study.AttemptID, name string, to *sanitizer, ended <-chan struct{}) error {
	err := runner.TailEnd(ctx, l.Output(filepath.Join(l.Attempt(id), name)), logEnd, to, ended)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is printed yet
	}
	return errors.Join(err, to.flush())
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
