package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestRunPrintsEpochsAndResult(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"--lr=0.01", "--l2=1e-5", "--epochs=3", "--n=400"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want a heading, 3 epochs and the result:\n%s", len(lines), out.String())
	}
	if want := "320 images to train on, 80 to test on"; lines[0] != want {
		t.Errorf("heading %q, want %q", lines[0], want)
	}
	epoch := regexp.MustCompile(`^epoch=3 train_loss=\d\.\d{6} (test_loss=\d\.\d{6} accuracy=0\.\d{4})$`)
	m := epoch.FindStringSubmatch(lines[3])
	if m == nil {
		t.Fatalf("last epoch reads %q", lines[3])
	}
	if lines[4] != m[1] {
		t.Errorf("result %q differs from the last epoch's %q", lines[4], m[1])
	}
}

func TestRunRefusesBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"--lr=0"}, {"--lr=NaN"}, {"--l2=-1"}, {"--epochs=0"}, {"--batch=0"},
		{"--n=-1"}, {"--n=1"}, {"stray"}, {"--data=" + t.TempDir()},
	} {
		if err := run(append([]string{"--n=50"}, args...), io.Discard, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}
