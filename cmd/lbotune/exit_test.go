package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/runner"
)

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("open journal: %w", &os.PathError{Op: "lstat", Path: "s.study", Err: syscall.EACCES}), 2},
		{&marked{fmt.Errorf("attempt s/1/1: %w", &runner.SpawnError{Op: "start /bin/sh", Err: syscall.EACCES}), errShown}, 1},
		{fmt.Errorf("ask the study to stop: %w", &os.PathError{Op: "open", Path: "stop", Err: syscall.EROFS}), 74},
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

// What follows an error that was said is said, too, but not what it has said itself.
func TestEveryErrorIsSaidOnce(t *testing.T) {
	said := &marked{errors.New("cannot write journal j: no space; 2 results are not saved"), errShown}
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"the journal's again": {errors.Join(said, errors.New("cannot write journal j: no space")), nil},
		"another one":         {errors.Join(said, errors.New("stdout: no space")), []string{"stdout: no space"}},
		"within a marked one": {&marked{errors.Join(said, errors.New("log: no space")), errMissed}, []string{"log: no space"}},
		"nothing said":        {errors.Join(errors.New("a"), errors.New("b")), []string{"a\nb"}},
		"none":                {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lists.Map(unshown(c.err), error.Error); !slices.Equal(got, c.want) {
				t.Errorf("%q; want %q", got, c.want)
			}
		})
	}
}

// Advice that an error has of its own is not replaced by that for all of its kind.
func TestAdviceOfItsOwn(t *testing.T) {
	waits := hinted(&marked{errors.New("the lbotune that works on the study has not answered"), journal.ErrLocked}, "the request stays")
	if got := hintOf(hintStudy("s.study", waits)); got != "the request stays" {
		t.Errorf("%q", got)
	}
	if got := hintOf(hintStudy("s.study", journal.ErrLocked)); got == "" {
		t.Error("no advice for a study in use")
	}
}
