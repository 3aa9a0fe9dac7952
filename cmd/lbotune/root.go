package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/session"
)

// streams are where a command reads and writes: results to out, progress and logs to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

type global struct {
	streams
	json     bool
	quiet    bool // run and resume print only the result and what goes wrong
	verbose  int
	logLevel string
	logFile  string

	trialsRun atomic.Bool
}

func execute(args []string, std streams) int {
	out := &checkedWriter{w: std.out}
	std.out = out
	g := &global{streams: std}
	g.quitQuietly()
	root := newRoot(g)
	root.SetArgs(negativeLast(args))
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := guarded(root.Execute)
	if err == nil {
		err = out.err
	}
	for _, part := range unshown(err) {
		g.complain(part, codeOf(err))
	}
	return codeOf(err)
}

// unshown is what of an error the person has not been told. Once it is said how a study ended, there may
// be another one: no room for its result, or for the last of the log. The journal's comes again as it is closed.
func unshown(err error) (parts []error) {
	var shown []string
	var look func(error)
	look = func(err error) {
		joined, several := err.(interface{ Unwrap() []error })
		m, one := err.(*marked)
		switch {
		case one && m.mark == errShown: // as a whole
			shown = append(shown, err.Error())
		case one && errors.Is(m.error, errShown):
			look(m.error)
		case several && errors.Is(err, errShown):
			for _, part := range joined.Unwrap() {
				look(part)
			}
		case err != nil:
			parts = append(parts, err)
		}
	}
	look(err)
	return slices.DeleteFunc(parts, func(part error) bool {
		return slices.ContainsFunc(shown, func(text string) bool { return strings.Contains(text, part.Error()) })
	})
}

// guarded makes a panic, which is a mistake of lbotune's, an error that says where it was.
func guarded(run func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		where := "an unknown place"
		calls := make([]uintptr, 64)
		frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls)])
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			ours := strings.HasPrefix(frame.Function, modulePath) || strings.HasPrefix(frame.Function, "main.")
			if ours && !strings.HasSuffix(frame.Function, ".guarded.func1") {
				where = fmt.Sprintf("%s:%d", strings.TrimPrefix(frame.Function, modulePath), frame.Line)
				break
			}
		}
		err = hinted(fmt.Errorf("a mistake of lbotune's own in %s: %v", where, p),
			"what was recorded is safe. Please report it with the command, lbotune version and, if you may show it, the journal")
	}()
	return run()
}

// modulePath begins the names of our functions.
const modulePath = "github.com/lbotune/lbotune/"

// checkedWriter remembers the first write that failed: what prints help and
// completions does not look. A reader that has gone away wants no more.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil && !errors.Is(err, syscall.EPIPE) {
		c.err = err
	}
	return n, err
}

var negativeRE = pattern.Lazy(`^-(?:[0-9]|\.[0-9]|(?i:inf|infinity|nan)$)`)

// negativeLast lets tell take a negative value, which looks like a flag: it comes after --, and so do
// the words METRIC=VALUE that follow it.
func negativeLast(args []string) []string {
	if !slices.Contains(args, "tell") || slices.Contains(args, "--") {
		return args
	}
	var out, values []string
	for i, a := range args {
		negative := negativeRE().MatchString(a) && args[max(i-1, 0)] != "--failed"
		if negative || len(values) > 0 && !strings.HasPrefix(a, "-") && strings.Contains(a, "=") {
			values = append(values, a)
		} else {
			out = append(out, a)
		}
	}
	if len(values) == 0 {
		return args
	}
	return slices.Concat(out, []string{"--"}, values)
}

func newRoot(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:   "lbotune",
		Short: "Tune the parameters of any program by Lipschitz Bayesian optimization",
		Long: strings.TrimSpace(`
Lbotune runs a program with one set of parameter values after another, reads the
metric that it prints, and learns where better values lie. It keeps everything in a
study: a directory with a journal, from which it continues where it stopped.
STUDY is such a directory, its journal, or the spec it came from.`) + "\n\n" + exitHelp(),
		Example: strings.TrimRight(`
  lbotune check spec.toml      validate, and show the first commands
  lbotune run spec.toml        start, or continue where it stopped
  lbotune best spec.study      the best values so far`, "\n"),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
	}
	version := root.Flags().Bool("version", false, "print the version")
	root.Flags().Lookup("version").Hidden = true // version is a command
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return printVersion(g)
		}
		return cmd.Help()
	}
	f := root.PersistentFlags()
	f.BoolVar(&g.json, "json", false, "print results as JSON")
	f.CountVarP(&g.verbose, "verbose", "v", "log more (-v info, -vv debug, -vvv trace)")
	f.StringVar(&g.logLevel, "log-level", "", "log `LEVEL`: error, warn, info, debug or trace (default warn)")
	f.StringVar(&g.logFile, "log-file", "", "append the log to `FILE` instead of standard error")
	root.SetFlagErrorFunc(wrongFlag)
	completeFlag(root, "log-level", "error", "warn", "info", "debug", "trace")
	for _, add := range []func(g *global, above *cobra.Command){
		newRun, newResume, newStop, newRm, newInit, newCheck,
		newLs, newStatus, newReport, newPlot, newServe, newImportance, newExplain, newBest, newTrials, newExport, newShow, newLog,
		newEnqueue, newExclude, newRerun, newNote, newAdjust, newAsk, newTell, newDrive,
		newJournal, newParse, newManual, newVersion, newInside,
	} {
		add(g, root)
	}
	completeArgs(root)
	root.SetHelpCommand(newHelp())
	return root
}

// newHelp is cobra's help, which takes a misspelt command for none.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return usage(err)
			case len(rest) > 0 && about.HasSubCommands():
				return knownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := usagef("there is no command %q", args[0])
	known := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
	names := lists.Map(known, (*cobra.Command).Name)
	return hinted(err, meant(args[0], names, cmd.CommandPath()+" ", cmd.CommandPath()+" --help lists the commands"))
}

// wrongFlag says which flag a misspelt one comes nearest to, or what a flag wants.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		want, known := map[string]string{
			"int": "a whole number", "workers": "a whole number, or auto", "uint64": "a whole number of at least 0", "float64": "a number", "*study.Duration": "a duration such as 90s, 2h30m or 1d", "bool": "true or false",
		}[invalid.GetFlag().Value.Type()]
		if known {
			return usagef("--%s: found %q; want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
	}
	hint := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	switch long := errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == ""; {
	case cmd.Name() == "init":
		hint = "write the command after --: lbotune init -- python train.py --lr 0.01"
	case long:
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		hint = when(cmd.Name() == "run", "the command to run stands after --; ") + hint
		hint = meant(unknown.GetSpecifiedName(), names, "--", hint)
	}
	return hinted(usage(err), hint)
}

// optionalRE finds the arguments in a usage that may be missing.
var optionalRE = pattern.Lazy(`\[[^]]*\]`)

// checkArgs refuses what a command's usage has no place for.
func checkArgs(cmd *cobra.Command, args []string) error {
	var needed []int // by each form
	for form := range strings.SplitSeq(optionalRE().ReplaceAllString(cmd.Use, ""), " | ") {
		form, _, _ = strings.Cut(strings.ReplaceAll(form, "...", ""), " --") // what follows are flags
		needed = append(needed, len(strings.Fields(form))-1)
	}
	most := slices.Max(needed) + len(optionalRE().FindAllString(cmd.Use, -1))
	if n := len(args); n < slices.Min(needed) || n > most && !strings.Contains(cmd.Use, "...") {
		hint := "usage: " + cmd.UseLine()
		if slices.Min(needed) == 1 {
			hint += theOnly(cmd, args)
		}
		return hinted(usagef("found %s", count(len(args), "argument")), hint)
	}
	return nil
}

// theOnly asks whether the only study or spec of this folder was meant where none is named.
func theOnly(cmd *cobra.Command, args []string) string {
	kind := either(strings.Contains(cmd.Use, "STUDY"), ".study", ".toml")
	there, _ := filepath.Glob("*" + kind)
	there = slices.DeleteFunc(there, func(name string) bool { return name == "pyproject.toml" || name == "Cargo.toml" })
	if slices.Contains(there, "spec.toml") {
		there = []string{"spec.toml"}
	}
	if len(args) > 0 || len(there) != 1 || !strings.Contains(cmd.Use, "STUDY") && !strings.Contains(cmd.Use, "SPEC") {
		return ""
	}
	meant := cmd.CommandPath() + " " + word(there[0])
	cmd.Flags().Visit(func(f *pflag.Flag) {
		meant += when(f.Value.Type() == "bool" && f.Value.String() == "true", " --%s", f.Name)
	})
	return fmt.Sprintf("; did you mean %s?", meant)
}

// newCommand adds one to the commands of another. It refuses what its usage has no place for, unless it takes
// a command line, and its help ends with the exit codes.
func newCommand(above *cobra.Command, use, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: cmp.Or(long, short+".") + "\n\n" + exitHelp()}
	if !strings.Contains(use, "-- COMMAND") {
		cmd.Args = checkArgs
	}
	above.AddCommand(cmd)
	return cmd
}

// logger makes the diagnostics log of a run on the study in dir.
func (g *global) logger(dir string) (*slog.Logger, func() error, error) {
	level := []hclog.Level{hclog.Warn, hclog.Info, hclog.Debug, hclog.Trace}[min(max(g.verbose, 0), 3)]
	if g.logLevel != "" {
		if level = hclog.LevelFromString(g.logLevel); level == hclog.NoLevel {
			return nil, nil, usagef("--log-level: found %q; allowed are error, warn, info, debug and trace", g.logLevel)
		}
	}
	out, done := g.err, func() error { return nil }
	if g.logFile != "" {
		f, err := openLog(g.logFile, layout.Of(dir))
		if err != nil {
			return nil, nil, err
		}
		out, done = f, f.Close
	}
	return slog.New(logHandler{hclog.New(&hclog.LoggerOptions{Name: "lbotune", Level: level, Output: out})}), done, nil
}

// openLog opens the file for the log: in the study, where a trial may have put something in its
// place, through the door. It refuses to append to the study's own files, whatever name they
// are given, and to write among those of another study.
func openLog(path string, l layout.Study) (*os.File, error) {
	path = layout.Direct(path)
	for what, own := range map[string]string{"journal": l.Journal(), "lock": journal.LockPath(l.Journal())} {
		// They may lead to one file, be it there or not.
		if sameFile(path, own) || sameFile(filepath.Dir(path), filepath.Dir(own)) && filepath.Base(path) == filepath.Base(own) {
			return nil, usagef("--log-file: %s is the study's %s", path, what)
		}
	}
	if err := outsideStudies("--log-file", path); err != nil && !sameFile(studyAbove(path), string(l)) {
		return nil, err
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	var f *os.File
	abs, err := filepath.Abs(path)
	if err != nil || !strings.HasPrefix(abs, string(l)+"/") {
		if f, err = door.OpenFile(path, flags|os.O_EXCL); errors.Is(err, fs.ErrExist) { // whatever the umask
			f, err = os.OpenFile(path, flags, 0o600)
		}
	} else if err = session.CheckOwner(l, slog.New(slog.DiscardHandler)); err == nil {
		f, err = l.OpenFile(abs, flags)
	}
	if err != nil {
		return nil, usagef("--log-file: %w", err)
	}
	return f, nil
}

// sameFile reports whether two paths lead to one file or directory that is there.
func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// logHandler is a slog.Handler that writes what the library logs as hclog does.
type logHandler struct{ to hclog.Logger }

// hclogLevel is the same level of hclog: those of slog are four apart, from Debug = -4 to Error = 8.
func hclogLevel(level slog.Level) hclog.Level {
	return min(max(hclog.Info+hclog.Level(level>>2), hclog.Trace), hclog.Error)
}

func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return hclogLevel(level) >= h.to.GetLevel()
}

// pairs are attributes as hclog takes them.
func pairs(attrs iter.Seq[slog.Attr]) (out []any) {
	for a := range attrs {
		out = append(out, a.Key, a.Value.Any())
	}
	return out
}

func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	h.to.Log(hclogLevel(r.Level), r.Message, pairs(r.Attrs)...)
	return nil
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.to.With(pairs(slices.Values(attrs))...)}
}

func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.to.Named(name)} }
