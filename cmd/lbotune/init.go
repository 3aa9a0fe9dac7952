package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
	"github.com/lbotune/lbotune/internal/ansi"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

func newInit(g *global, above *cobra.Command) {
	cmd := newCommand(above, "init [-- COMMAND ...]", "Write a commented spec for a command line",
		`Init writes a spec for the command as you run it by hand: every option whose value
looks like a hyperparameter becomes one, with a range around today's value; if there
are no options, the numbers in the command do. Epochs, seeds, ports and the like are left
as they are. It runs the command once to find the metric in what it prints or writes into a
file, and once with --help, which tells defaults, ranges and words. Of a YAML, JSON or TOML
file in the command the numbers become parameters, set in a copy for each trial. Where it finds
nothing to vary, what it writes is no study yet, and the exit code is 2.
Read the spec through and correct the guesses.`)
	cmd.Example = "  lbotune init -- python train.py --lr 0.01 --layers 3"
	metric := cmd.Flags().StringP("metric", "m", "", "the metric is called `NAME`; the command is not run")
	noRun := cmd.Flags().Bool("no-run", false, "do not run the command")
	file := cmd.Flags().StringP("output", "o", "spec.toml", "write to `FILE`, - for standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
			return hinted(usagef("found %q before --", args[0]), "write the command after --: lbotune init -- python train.py --lr 0.01")
		}
		d := draft.Program{Argv: args, Rule: parser.Rule{Metric: *metric}, Files: configFiles(args, *file)}
		switch {
		case len(args) == 0:
			d.Argv = []string{"./train", "--lr", "0.01", "--layers", "3"}
		case !*noRun && *metric == "":
			if err := outsideStudies("-o", *file); err != nil && *file != "-" {
				return err
			}
			if _, err := os.Lstat(*file); err == nil { // said before the command runs for an hour
				return hinted(usagef("%s exists already", *file), "remove it, or write to another file with -o FILE")
			}
			if _, err := os.Stat(filepath.Dir(*file)); err != nil {
				return usage(err)
			}
			if err := tryOut(cmd.Context(), g, &d); err != nil {
				return err
			}
		}
		text, left := d.TOML()
		if *file == "-" {
			if _, err := g.out.Write(text); err != nil {
				return err
			}
		} else if err := writeNew("-o", *file, text); err != nil {
			return err
		}
		fmt.Fprint(g.err, when(len(left) > 0, "left as they are:\n  %s\n", strings.Join(lists.Map(left, oneLine), "\n  ")))
		named := oneLine(*file)
		if bytes.Contains(text, []byte(draft.NothingToVary)) {
			wrote := when(*file != "-", "wrote %s, which is no study yet: ", named)
			return hinted(usagef("%sno option with a value to vary was found", wrote),
				"write {NAME} into its command where a value goes, and the range of NAME into a table: the draft shows how")
		}
		_, err := fmt.Fprint(g.err, when(*file != "-", "wrote %s; look through it, then: lbotune check %s\n", named, word(*file)))
		return err
	}
}

// inlineOptions are the flags of run that describe a study without a spec.
type inlineOptions struct {
	draft.Inline
	minimize, maximize string
	saveSpec           string
}

func (o *inlineOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.Params, "param", "p", nil,
		"vary a parameter: `NAME=KIND:...` with float:MIN:MAX, log:MIN:MAX,\nint:MIN:MAX, logint:MIN:MAX, choice:A,B,... or bool")
	f.StringVarP(&o.Metric, "metric", "m", "", "minimize the metric `NAME`; without one, the last number printed")
	f.StringVar(&o.minimize, "minimize", "", "minimize the metric `NAME`")
	f.StringVar(&o.maximize, "maximize", "", "maximize the metric `NAME`")
	f.StringVar(&o.Name, "name", "", "call the study `NAME` (default: the program's name)")
	durationFlag(f, &o.Timeout, "timeout", "end a trial after `DURATION`")
	f.StringVar(&o.saveSpec, "save-spec", "", "also write the study to a spec `FILE`")
}

// describedBy is what of the command line describes a study by itself, empty if nothing does.
func (o *runOptions) describedBy(cmd *cobra.Command) string {
	flag := o.firstOf("param", "metric", "minimize", "maximize", "name", "timeout", "save-spec")
	return cmp.Or(flag, when(cmd.ArgsLenAtDash() >= 0, "--"))
}

// config makes the study that the flags describe, by way of a spec, so that
// both have one meaning. It also settles where the study is kept.
func (o *inlineOptions) config(cmd *cobra.Command, run *runOptions, args []string) (*study.Config, error) {
	if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
		return nil, hinted(usagef("found %q beside %s, which is for a study without a spec", args[0], run.describedBy(cmd)), "write the command after --, or put everything into a spec")
	}
	unset := func(name string) bool { return !cmd.Flags().Changed(name) }
	if given := slices.DeleteFunc([]string{"metric", "minimize", "maximize"}, unset); len(given) > 1 {
		return nil, usagef("found --%s; want one of them", strings.Join(given, " and --"))
	}
	if !unset("timeout") && o.Timeout <= 0 {
		return nil, usagef("--timeout: found %v; want a positive duration such as 2h30m", o.Timeout)
	}
	in := o.Inline
	in.Name, in.Command = cmp.Or(o.Name, draft.ProgramName(args)), args
	in.Metric, in.Maximize = o.Metric+o.minimize+o.maximize, o.maximize != ""
	in.Trials, in.Time, in.Workers, in.Seed = run.trials, run.time, max(int(run.workers), 0), run.seed
	text, err := in.TOML()
	if err != nil {
		return nil, usage(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	cfg, err := spec.Parse("the study of these flags", text, dir)
	if err != nil {
		return nil, err
	}
	if run.dir == "" {
		named := filepath.Base(in.Name) + ".toml"
		run.dir = layout.DirFor(named)
		if saved := layout.DirFor(o.saveSpec); o.saveSpec != "" && saved != run.dir {
			if begun(run.dir) && !begun(saved) {
				return nil, hinted(usagef("%s has begun, and the study of %s would begin anew", run.dir, o.saveSpec),
					"--save-spec "+named+" writes the spec of the one that has begun; --study DIR keeps a new one elsewhere")
			}
			run.dir = saved
		}
	}
	if o.saveSpec != "" {
		return &cfg, writeNew("--save-spec", o.saveSpec, text)
	}
	return &cfg, nil
}

// writeNew writes the file that a flag names, which may exist only with the same content.
func writeNew(flag, path string, text []byte) error {
	if err := outsideStudies(flag, path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if was, err := door.ReadFile(path, int64(len(text))); err == nil && string(was) == string(text) {
			return nil
		}
		return hinted(usagef("%s exists already and says something else", path), "remove it, or choose another name")
	}
	if err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write spec %s: %w", path, err)
	}
	return nil
}

// helpPatience is how long a program may take for --help, and endPatience for its end when it is asked for.
const helpPatience, endPatience = 10 * time.Second, 5 * time.Second

// maxTryout is how much of each output of a program that is tried out is kept.
const maxTryout = 4 << 20

// tryOut completes a draft by what --help says, and the metrics that one run prints or writes. Ctrl-C
// ends that run alone: what was printed counts. Any other signal ends lbotune with what it has started.
func tryOut(ctx context.Context, g *global, d *draft.Program) error {
	signals, deaf := g.hear()
	defer deaf()
	argv := d.Argv
	if env, rest := command.Assignments(argv); len(env) > 0 {
		argv = slices.Concat([]string{"/usr/bin/env"}, env, rest)
	}
	help, sig := helpOf(ctx, signals, argv)
	if sig != nil {
		return signalledBy(sig)
	}
	d.Help = ansi.Sanitize(help)
	fmt.Fprintln(g.err, "running the command once to see what it prints; Ctrl-C ends it, --no-run avoids it")
	before := resultFiles(argv)
	asTyped := either(len(argv) == 1, []string{"/bin/sh", "-c", argv[0]}, argv)
	var stdout, stderr beginning
	sig, err := runGroup(ctx, signals, io.MultiWriter(g.err, &stdout), io.MultiWriter(g.err, &stderr), asTyped)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has left something behind that holds its output, which run warns of
	}
	if sig != nil && sig != syscall.SIGINT {
		return signalledBy(sig)
	}
	outputs := []draft.Output{{Text: stdout.Bytes()}}
	if err == nil {
		outputs = append(outputs, draft.Output{Source: "stderr", Text: stderr.Bytes()}) // a failure's is no metric: line 12
	}
	after := resultFiles(argv)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		info := after[name]
		if was := before[name]; was != nil && was.ModTime().Equal(info.ModTime()) && was.Size() == info.Size() {
			continue
		}
		delete(d.Files, name) // it is no configuration
		d.Shared = cmp.Or(d.Shared, name)
		if text, err := door.ReadFile(name, maxTryout); err == nil {
			outputs = append(outputs, draft.Output{Source: name, Text: text})
		}
	}
	found := d.TakeMetric(outputs...)
	if err != nil {
		fmt.Fprintf(g.err, "the command ended with %v\n", err)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && found {
		d.Exit = max(exit.ExitCode(), 0)
	}
	if !found {
		for _, c := range parser.Candidates(stdout.Bytes()) {
			if c.Problem != nil && c.Problem.Hint != "" {
				fmt.Fprintf(g.err, "%v: %s\n", c.Problem, c.Problem.Hint)
				break
			}
		}
		fmt.Fprintln(g.err, `it printed no number that looks like a result: write the metric's name in place of "loss"`)
	}
	return nil
}

func signalledBy(sig os.Signal) error {
	return &marked{fmt.Errorf("stopped (%v), and no spec was written", sig), signalled{sig}}
}

// wordsOf are the words of a command, and the values of those with an equals sign.
func wordsOf(argv []string) (words []string) {
	if len(argv) == 1 {
		argv = strings.Fields(argv[0])
	}
	for _, a := range argv {
		words = append(words, a)
		if _, value, ok := strings.Cut(a, "="); ok {
			words = append(words, value)
		}
	}
	return words
}

// configFiles are the configuration files that a command names, by its words; a spec in another
// directory finds them by their paths.
func configFiles(argv []string, spec string) map[string]command.File {
	out := map[string]command.File{}
	for _, word := range wordsOf(argv) {
		f := command.File{From: word}
		if at, err := filepath.Abs(word); err == nil && filepath.Dir(spec) != "." {
			f.From = at
		}
		if f.Settable() {
			if text, err := door.ReadFile(word, 1<<20); err == nil {
				f.Text = string(text)
				out[word] = f
			}
		}
	}
	return out
}

var resultRE = pattern.Lazy(`(?i)\.(csv|tsv|jsonl?|ya?ml|toml|txt|log)$`)

// resultFiles are the files that may hold results, or settings: what the command names, and
// what lies in this directory and those in it.
func resultFiles(argv []string) map[string]os.FileInfo {
	out := map[string]os.FileInfo{}
	known := map[string]bool{}
	stdout, _ := os.Stdout.Stat() // what is shown may go to a file, too
	stderr, _ := os.Stderr.Stat()
	here, _ := filepath.Glob("*")
	below, _ := filepath.Glob("*/*")
	for _, name := range slices.Concat(wordsOf(argv), here, below) {
		if !resultRE().MatchString(name) || known[filepath.Clean(name)] {
			continue
		}
		known[filepath.Clean(name)] = true
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && !os.SameFile(info, stdout) && !os.SameFile(info, stderr) {
			out[name] = info
		}
	}
	return out
}

// helpOf returns what a program prints for --help, if it ends in time, or the signal that has ended it.
func helpOf(ctx context.Context, signals <-chan os.Signal, argv []string) (string, os.Signal) {
	argv = draft.HelpCommand(argv)
	if len(argv) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, helpPatience)
	defer cancel()
	var out beginning
	sig, err := runGroup(ctx, signals, &out, &out, slices.Insert(argv, 0, "/usr/bin/env")) // variables may come first
	if err != nil && !errors.As(err, new(*exec.ExitError)) || ctx.Err() != nil {
		return "", sig
	}
	return out.String(), sig
}

// runGroup runs a command and hands signals on to all its processes, which have a group of their own:
// whatever ends lbotune ends them. It returns the last one. As in a trial there is no terminal, for which a
// process in the background would wait for ever.
func runGroup(ctx context.Context, signals <-chan os.Signal, stdout, stderr io.Writer, argv []string) (last os.Signal, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var late <-chan time.Time
	for {
		select {
		case err := <-ended:
			return last, err
		case <-late:
			_ = kill()
		case last = <-signals:
			if last == syscall.SIGQUIT {
				_ = kill()
			} else if _ = syscall.Kill(-cmd.Process.Pid, last.(syscall.Signal)); last != syscall.SIGINT {
				late = time.After(endPatience)
			}
		}
	}
}

// beginning keeps the first bytes of what is written.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	if left := maxTryout - b.Len(); left > 0 {
		b.Buffer.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}
