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

const helpPatience = 10 * time.Second

// maxTryout is how much of each output of a program that is tried out is kept.
const maxTryout = 4 << 20

// tryOut completes a draft by what --help says, and the metrics that one run prints or writes.
func tryOut(ctx context.Context, g *global, d *draft.Program) {
	argv := d.Argv
	if env, rest := command.Assignments(argv); len(env) > 0 {
		argv = slices.Concat([]string{"/usr/bin/env"}, env, rest)
	}
	d.Help = ansi.Sanitize(helpOf(ctx, argv))
	fmt.Fprintln(g.err, "running the command once to see what it prints; Ctrl-C ends it, --no-run avoids it")
	before := resultFiles(argv)
	stdout, stderr, err := runOnce(ctx, g.err, argv)
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
// the beginning of it. Ctrl-C ends the command alone: what it has printed counts.
func runOnce(ctx context.Context, show io.Writer, argv []string) (stdout, stderr []byte, err error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if len(argv) == 1 {
		argv = []string{"/bin/sh", "-c", argv[0]}
	}
	var out, errs beginning
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(show, &out), io.MultiWriter(show, &errs)
	cmd.WaitDelay = time.Second
	if err = cmd.Run(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has left something behind that holds its output, which run warns of
	}
	return out.Bytes(), errs.Bytes(), err
}

// helpOf returns what a program prints for --help, if it ends in time.
func helpOf(ctx context.Context, argv []string) string {
	argv = draft.HelpCommand(argv)
	if len(argv) == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, helpPatience)
	defer cancel()
	var out beginning
	cmd := exec.CommandContext(ctx, "/usr/bin/env", argv...) // variables may come first
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) || ctx.Err() != nil {
		return ""
	}
	return out.String()
}

// beginning keeps the first bytes of what is written.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	if left := maxTryout - b.Len(); left > 0 {
		b.Buffer.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}
