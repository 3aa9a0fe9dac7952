package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
	"github.com/lbotune/lbotune/internal/ansi"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
)

// helpPatience is how long a program may take for --help, and endPatience for its end when it is asked for.
const helpPatience, endPatience = 10 * time.Second, 5 * time.Second

// maxTryout is how much of each output of a program that is tried out is kept.
const maxTryout = 4 << 20

// tryOut completes a draft by what --help says, and the metrics that one run prints or writes. Ctrl-C
// ends that run alone: what was printed counts. Any other signal ends lbotune with what it has started.
func tryOut(ctx context.Context, g *global, d *draft.Program) error {
	signals := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	g.trialsRun.Store(true)
	defer func() { signal.Stop(signals); g.trialsRun.Store(false) }()
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
	stdout, stderr, sig, err := runOnce(ctx, signals, g.err, argv)
	if sig != nil && sig != syscall.SIGINT {
		return signalledBy(sig)
	}
	outputs := []draft.Output{{Text: stdout}}
	if err == nil {
		outputs = append(outputs, draft.Output{Source: "stderr", Text: stderr}) // a failure's is no metric: line 12
	}
	after := resultFiles(argv)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		info := after[name]
		if was := before[name]; was != nil && was.ModTime().Equal(info.ModTime()) && was.Size() == info.Size() {
			continue
		}
		delete(d.Files, name) // it is no configuration
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

var resultRE = regexp.MustCompile(`(?i)\.(csv|tsv|jsonl?|ya?ml|toml|txt|log)$`)

// resultFiles are the files that may hold results, or settings: what the command names, and
// what lies in this directory and those in it.
func resultFiles(argv []string) map[string]os.FileInfo {
	out := map[string]os.FileInfo{}
	known := map[string]bool{}
	var shown []os.FileInfo // what is shown may go to a file, too
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil {
			shown = append(shown, info)
		}
	}
	here, _ := filepath.Glob("*")
	below, _ := filepath.Glob("*/*")
	for _, name := range slices.Concat(wordsOf(argv), here, below) {
		if !resultRE.MatchString(name) || known[filepath.Clean(name)] {
			continue
		}
		known[filepath.Clean(name)] = true
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && !slices.ContainsFunc(shown, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			out[name] = info
		}
	}
	return out
}

// runOnce runs a command as its person does, shows its output as it comes, and returns
// the beginning of it.
func runOnce(ctx context.Context, signals <-chan os.Signal, show io.Writer, argv []string) (stdout, stderr []byte, sig os.Signal, err error) {
	if len(argv) == 1 {
		argv = []string{"/bin/sh", "-c", argv[0]}
	}
	var out, errs beginning
	if sig, err = runGroup(ctx, signals, io.MultiWriter(show, &out), io.MultiWriter(show, &errs), argv); errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has left something behind that holds its output, which run warns of
	}
	return out.Bytes(), errs.Bytes(), sig, err
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
