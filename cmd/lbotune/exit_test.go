package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/runner"
)

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("open journal: %w", &os.PathError{Op: "lstat", Path: "s.study", Err: syscall.EACCES}), 2},
		{&marked{fmt.Errorf("attempt s/1/1: %w", &runner.SpawnError{Op: "start /bin/sh", Err: syscall.EACCES}), errShown}, 1},
		{fmt.Errorf("best: %w", &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}), 74},
	} {
		t.Run(fmt.Sprint(test.want), func(t *testing.T) {
			if got := codeOf(test.err); got != test.want {
				t.Errorf("%v: code %d, want %d", test.err, got, test.want)
			}
		})
	}
}

// The script codes goes through all ways to end that the page of commands lists.
func TestEveryCodeIsShown(t *testing.T) {
	shown := func(path, pattern string) (codes []string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			codes = append(codes, m[1])
		}
		slices.Sort(codes)
		return slices.Compact(codes)
	}
	documented := shown("../../docs/commands.md", `(?m)^\| ([0-9]+) \|`)
	for _, code := range shown("testdata/script/codes.txt", `(?m)^(?:code|signal [A-Z,]+ \w+) ([0-9]+) `) {
		if code != "137" { // SIGKILL's own
			documented = slices.DeleteFunc(documented, func(c string) bool { return c == code })
		}
	}
	if len(documented) > 0 {
		t.Errorf("nothing shows how to end with %v", documented)
	}
}
