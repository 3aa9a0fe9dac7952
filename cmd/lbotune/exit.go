package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

type exitCode struct {
	Code    int
	Meaning string
	is      func(error) bool
}

// exitCodes is the whole table. The first row that fits counts.
func exitCodes() []exitCode {
	return []exitCode{
		{0, "finished", func(err error) bool { return err == nil }},
		{3, "journal damaged", isA[*journal.CorruptError]},
		{4, "study in use", is(journal.ErrLocked)},
		{74, "cannot read or write", cannotWrite},
		{130, "interrupted by Ctrl-C, can be resumed", is(signalled{syscall.SIGINT})},
		{131, "killed by Ctrl-\\, can be resumed", is(signalled{syscall.SIGQUIT})},
		{143, "terminated, or stopped by lbotune stop, can be resumed", isA[signalled]},
		{2, "wrong usage or spec", anyOf(isA[*spec.Error], isA[study.InvalidError], isA[*study.ConfigError], isA[*study.SpecError],
			isA[*session.LayoutError], isA[*journal.PlaceError], is(errUsage), is(study.ErrNoStudy), is(session.ErrAwaited),
			is(journal.ErrVersion), func(err error) bool { // what a run meets on its way is nobody's spec
				return errors.Is(err, fs.ErrPermission) && !errors.Is(err, errShown)
			})},
		{7, "a safety limit was broken, or its constant is disproved", isA[*session.UnsafeError]},
		{5, "no trial succeeded, or the failure guard or setup stopped the study", anyOf(is(session.ErrNoSuccess), isA[*session.SetupError], is(errNoValue))},
		{6, "the budget is spent: ask has no trial to hand out", anyOf(is(session.ErrSpent), is(optimizer.ErrExhausted))},
		{8, "the best is worse than best --goal wants", is(errMissed)},
		{1, "anything else: a trial of another host, a machine short of memory or processes, a replay that differs, a mistake of lbotune's own", func(error) bool { return true }},
	}
}

// cannotWrite reports whether the disk takes no more, or what a trial has written cannot be read.
func cannotWrite(err error) bool {
	var spawn *runner.SpawnError
	var path *fs.PathError
	return anyOf(isA[*journal.WriteError], isA[*door.Refusal], isA[*session.ReadError],
		is(errNoPlace), is(errGone), is(syscall.ENOTDIR), is(syscall.ENOSPC), is(syscall.EROFS))(err) ||
		errors.As(err, &spawn) && spawn.Disk || errors.As(err, &path) && path.Op == "write"
}

func anyOf(kinds ...func(error) bool) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(kinds, func(kind func(error) bool) bool { return kind(err) })
	}
}

func is(what error) func(error) bool { return func(err error) bool { return errors.Is(err, what) } }

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func codeOf(err error) int {
	codes := exitCodes()
	return codes[slices.IndexFunc(codes, func(row exitCode) bool { return row.is(err) })].Code
}

// codesByNumber is the table as people look codes up.
func codesByNumber() []exitCode {
	codes := exitCodes()
	slices.SortFunc(codes, func(a, b exitCode) int { return a.Code - b.Code })
	return codes
}

// exitHelp is the table as help texts show it.
var exitHelp = sync.OnceValue(func() string {
	line := func(row exitCode) string { return fmt.Sprintf("  %3d  %s\n", row.Code, row.Meaning) }
	return "Exit codes:\n" + strings.Join(lists.Map(codesByNumber(), line), "")
})

// marked is an error that says what the one in it does, and is another one too.
type marked struct {
	error
	mark error
}

// Unwrap implements what errors.Is and errors.As look for: the mark comes first.
func (m *marked) Unwrap() []error { return []error{m.mark, m.error} }

// Marks of errors, beside hint and signalled.
var (
	errUsage   = errors.New("a mistake on the command line")
	errNoValue = errors.New("a trial with this output would fail")
	errMissed  = errors.New("a goal that was missed")
	errShown   = errors.New("an error of which the person has been told")
	errGone    = errors.New("what a trial has written, and somebody removed")
	errNoPlace = errors.New("a place that nobody has named, and that takes no file")
)

func usage(err error) error { return &marked{err, errUsage} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// hinted is an error with advice, which is shown on a line of its own.
func hinted(err error, advice string) error { return &marked{err, hint(advice)} }

type hint string

func (h hint) Error() string { return string(h) }

// Hint is what launchers' errors have too.
func (h hint) Hint() string { return string(h) }

// hintOf returns the advice of an error, "" if it has none.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// errorJSON is an error as --json prints it, on standard error.
type errorJSON struct {
	Error    string         `json:"error"`
	Hint     string         `json:"hint,omitempty"`
	Code     int            `json:"code"`               // with which lbotune exits, 0 if it goes on
	Problems []spec.Problem `json:"problems,omitempty"` // of a spec
}

// complain prints an error, for people or for programs.
func (g *global) complain(err error, code int) {
	var wrong *spec.Error
	text, advice := strings.TrimRight(err.Error(), "\n"), hintOf(err)
	errors.As(err, &wrong)
	switch out := (errorJSON{Error: text, Hint: advice, Code: code}); {
	case g.json:
		if wrong != nil {
			out.Error, out.Problems = count(len(wrong.Problems), "problem")+" in "+wrong.Path, wrong.Problems
		}
		_ = printLine(g.err, out)
	case wrong != nil:
		fmt.Fprintln(g.err, printable(strings.TrimRight(wrong.Error(), "\n")))
	default:
		fmt.Fprintf(g.err, "lbotune: %s\n%s", printable(text), when(advice != "", "hint: %s\n", printable(advice)))
	}
}
