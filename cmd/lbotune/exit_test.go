package main

import (
	"fmt"
	"os"
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
		if got := codeOf(test.err); got != test.want {
			t.Errorf("%v: code %d, want %d", test.err, got, test.want)
		}
	}
}
