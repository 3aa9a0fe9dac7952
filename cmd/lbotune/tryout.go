package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study/command"
)

// helpPatience is how long a program may take to print its help.
const helpPatience = 10 * time.Second

// maxTryout is how much of each output of a program that is tried out is kept.
const maxTryout = 4 << 20

// tryOut completes a draft by what the program says of itself: the words that --help
// lists for its options, and the metrics that it prints when it is run once.
func tryOut(ctx context.Context, g *global, d *spec.Draft) {
	argv := d.Argv
	if env, rest := command.Assignments(argv); len(env) > 0 {
		argv = slices.Concat([]string{"/usr/bin/env"}, env, rest)
	}
	d.Help = helpOf(ctx, argv)
	fmt.Fprintln(g.err, "running the command once to see what it prints; Ctrl-C ends it, --no-run avoids it")
	stdout, stderr, err := runOnce(ctx, g.err, argv)
	switch {
	case d.TakeMetric(parser.Candidates(stdout)):
	case d.TakeMetric(parser.Candidates(stderr)):
		d.FromStderr = true
	}
	if err != nil {
		fmt.Fprintf(g.err, "the command ended with %v\n", err)
	}
	if d.Remark == "" {
		fmt.Fprintln(g.err, `it printed no number: write the metric's name in place of "loss"`)
	}
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
	err = cmd.Run()
	return out.Bytes(), errs.Bytes(), err
}

// helpOf returns what a program prints for --help, if there is an option with a word
// whose alternatives that may list.
func helpOf(ctx context.Context, argv []string) string {
	first := slices.IndexFunc(argv, func(a string) bool { return strings.HasPrefix(a, "-") })
	if first < 1 || !slices.ContainsFunc(argv[first:], isWord) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, helpPatience)
	defer cancel()
	var out beginning
	cmd := exec.CommandContext(ctx, argv[0], append(slices.Clone(argv[1:first]), "--help")...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return ""
	}
	return out.String()
}

// isWord reports whether an argument is a value that is no number.
func isWord(a string) bool {
	if _, value, ok := strings.Cut(a, "="); ok {
		a = value
	}
	_, err := strconv.ParseFloat(a, 64)
	return err != nil && !strings.HasPrefix(a, "-")
}

// beginning keeps the first bytes of what is written.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	if left := maxTryout - b.Len(); left > 0 {
		b.Buffer.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}
