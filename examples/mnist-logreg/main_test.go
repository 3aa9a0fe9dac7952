package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
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
		{"--lr=0"}, {"--lr=NaN"}, {"--l2=-1"}, {"--epochs=0"},
		{"--n=-1"}, {"--n=1"}, {"stray"}, {"--data=" + t.TempDir()},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			if err := run(append([]string{"--n=50"}, args...), io.Discard, io.Discard); err == nil {
				t.Errorf("%v was accepted", args)
			}
		})
	}
}

// What the spec's setup fetches is MNIST, and the program learns it.
func TestMNIST(t *testing.T) {
	out, err := exec.Command("sh", "data.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	if dir == logreg.DrawnData {
		t.Skip("there is no network to fetch MNIST from")
	}
	var printed bytes.Buffer
	if err := run([]string{"--lr=0.01", "--l2=1e-6", "--epochs=2", "--data=" + dir}, &printed, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"56000 images to train on, 14000 to test on\n", "\ntest_loss=0.3"} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q in\n%s", want, printed.String())
		}
	}
}

// Without a network the digits are drawn, and one line says so.
func TestDataWithoutNetwork(t *testing.T) {
	cmd := exec.Command("sh", "data.sh")
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOMODCACHE="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || string(out) != logreg.DrawnData+"\n" {
		t.Errorf("printed %q, %v", out, err)
	}
	if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.HasPrefix(s, "MNIST cannot be fetched, so digits are drawn: ") {
		t.Errorf("said %q", s)
	}
}
