package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/ansi"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/secrets"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newLog(g *global, above *cobra.Command) {
	cmd := newCommand(above, "log STUDY N", "Print what a trial printed",
		`Log prints the standard output of trial N's last attempt, without anything that
could control the terminal. With --follow it continues with what a running trial
prints, until that attempt ends.`)
	f := cmd.Flags()
	stderr := f.Bool("stderr", false, "print its standard error instead")
	follow := f.BoolP("follow", "f", false, "continue with what the trial prints, until it ends")
	raw := f.Bool("raw", false, "print the bytes as they are")
	attempt := f.Int("attempt", 0, "print attempt `N` instead of the last")
	cmd.RunE = g.onTrial(func(ctx context.Context, st *study.State, l layout.Study, t *study.Trial) error {
		id := layout.AttemptID{Trial: t.Number, Attempt: cmp.Or(*attempt, report.ResultAttempt(t))}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if *follow {
				awaitEnd(ctx, l, id)
			}
		}()
		safe := &sanitizer{w: g.out, secrets: secrets.Of(st.Config.Run.SecretEnv)}
		output := filepath.Join(l.Attempt(id), either(*stderr, runner.StderrName, runner.StdoutName))
		err := runner.Tail(ctx, l.Output(output), math.MaxInt64, either[io.Writer](*raw, rawLog{g.out, g.err}, safe), ended)
		if errors.Is(err, fs.ErrNotExist) {
			if f, err := l.Output(filepath.Join(l.Attempt(id), runner.StdoutName))(); err == nil { // an empty stderr goes
				return f.Close()
			}
			return noOutput(st, l, t, id, err)
		}
		return cmp.Or(err, safe.flush())
	})
}

// noOutput says why there is nothing to print of an attempt: it never ran, or its files are gone, and by what.
func noOutput(st *study.State, l layout.Study, t *study.Trial, id layout.AttemptID, err error) error {
	ran := func(a study.Attempt) bool { return a.Number == id.Attempt && !a.Started.IsZero() }
	if t.Hand || !slices.ContainsFunc(t.Attempts, ran) {
		return usagef("there is no output: %v", err)
	}
	_, others := l.Stat(filepath.Dir(l.Trial(t.Number)))
	_, its := l.Stat(l.Trial(t.Number))
	removed := st.Config.Run.Keep > 0 && others == nil && errors.Is(its, fs.ErrNotExist)
	text := fmt.Sprintf("the output of trial %d is gone: %s", t.Number,
		either(removed, "keep in [run] keeps only the directories of the best trials", err.Error()))
	return hinted(&marked{errors.New(text), errGone},
		"lbotune show has what the journal keeps of it: values, metrics and command")
}

// awaitEnd returns when the command of an attempt has ended: that is in its directory, or
// in the journal if a launcher keeps it elsewhere.
func awaitEnd(ctx context.Context, l layout.Study, id layout.AttemptID) {
	over := errors.New("over")
	_ = study.Follow(ctx, string(l), nil, func(st *study.State) error {
		t, unknown := st.Trial(id.Trial)
		ended := func(a study.Attempt) bool { return a.Number == id.Attempt && !a.Ended.IsZero() }
		repeated := func() bool { return t.Confirming() && id.Attempt == t.NextAttempt() }
		recorded := unknown == nil && (t.Done() && !repeated() || slices.ContainsFunc(t.Attempts, ended))
		if seen, _ := runner.Look(l.Attempt(id)); recorded || seen.Ended {
			return over
		}
		return nil
	})
}

// logEnd is how much of a log that is there already others than the terminal are shown.
const logEnd = 256 << 10

// followLog copies the end of a log as it grows until ended is closed.
func followLog(ctx context.Context, l layout.Study, id layout.AttemptID, name string, to *sanitizer, ended <-chan struct{}) error {
	err := runner.Tail(ctx, l.Output(filepath.Join(l.Attempt(id), name)), logEnd, to, ended)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is printed yet
	}
	return cmp.Or(err, to.flush())
}

// sanitizer makes text safe for a terminal line by line. A line longer than
// maxHeld is cut, so that no output fills the memory.
type sanitizer struct {
	w       io.Writer
	secrets secrets.Set
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

const notKept = "[what was printed here was not kept: see max_log in the spec]\n"

// Gap marks where a part of the output is missing.
func (s *sanitizer) Gap() { _, _ = s.Write([]byte("\n" + notKept)) }

// rawLog copies an output as it is, and tells of what is missing where errors are told.
type rawLog struct {
	io.Writer
	err io.Writer
}

// Gap ends the line that is torn.
func (r rawLog) Gap() {
	_, _ = io.WriteString(r, "\n")
	_, _ = io.WriteString(r.err, notKept)
}

func (s *sanitizer) safe(text []byte) string { return s.secrets.Hide(ansi.Sanitize(string(text))) }

func (s *sanitizer) flush() error {
	_, err := io.WriteString(s.w, s.safe(s.held))
	return err
}

// withOutput adds to an error the end of an attempt's stderr, or stdout, without secrets, and advice.
func withOutput(s *session.Study, err error, dir, advice string) error {
	name, text := endOfOutput(s.Layout(), dir, &s.State().Config, 4<<10, runner.StderrName, runner.StdoutName)
	if text == "" {
		return hinted(fmt.Errorf("%w\nit printed nothing", err), advice)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = lines[max(len(lines)-10, 0):]
	text = strings.Join(lines, "\n  | ")
	for _, c := range cures {
		if slices.ContainsFunc(lines, c.complaint().MatchString) {
			text += "\n" + c.cure
			break
		}
	}
	return hinted(fmt.Errorf("%w\nthe end of its %s:\n  | %s", err, name, text), advice)
}

// endOfOutput is the end of the first output with any text, of most bytes, without the study's secrets.
func endOfOutput(l layout.Study, dir string, c *study.Config, most int, outputs ...string) (name, text string) {
	for _, name := range outputs {
		text, err := runner.ReadTail(l.Output(filepath.Join(dir, name)), most)
		if err == nil && strings.TrimSpace(text) != "" {
			return name, secrets.Of(c.Run.SecretEnv).Hide(text)
		}
	}
	return "", ""
}

// cures are what to do about complaints of programs whose cause is how lbotune runs them.
var cures = []struct {
	complaint func() *regexp.Regexp
	cure      string
}{
	{pattern.Lazy(`\bsource: not found`), `/bin/sh runs the command, and knows source as a dot: . venv/bin/activate; or write command = ["bash", "-c", "..."]`},
	{pattern.Lazy(`^(\S*sh|attempt): (\d+: )?\S+: (?i:permission denied)$`), "a program must be executable: chmod +x FILE; or write its interpreter before it: python3 FILE"},
	{pattern.Lazy(`EOFError|EOF when reading a line`), "a trial has no standard input; give it some: yes | COMMAND, or COMMAND <FILE"},
	{pattern.Lazy(`Inappropriate ioctl for device|not a tty|ENOTTY`), "a trial has no terminal; script -qec COMMAND /dev/null gives it one"},
}
