package session

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// What makes programs write line by line changes nothing else of what they do: twenty of them
// and more say the same, to the byte, and end in the same way.
func TestLineBufferingIsHarmless(t *testing.T) {
	stdbuf := askStdbuf(t.Context())
	if stdbuf == nil {
		t.Skip("stdbuf is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "loss.c")
	if err := os.WriteFile(source, []byte("#include <stdio.h>\nint main(){puts(\"loss=1\"); fputs(\"done\\n\", stderr); return 3;}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for name, line := range map[string]string{
		"sh": "echo $((6*7)); exit 4", "bash": "bash -c 'echo ${BASH##*/} {1..3}; false'", "awk": "seq 9 | awk '{s += $1} END {print s}'",
		"basename": "basename /a/b.c .c", "cat": "cat loss.c", "comm": "comm loss.c loss.c", "cut": "cut -c1-3 loss.c", "date": "date -u -d @0",
		"dd": "dd if=loss.c bs=8 count=1 status=none", "expand": "expand loss.c", "expr": "expr 1 = 2", "factor": "factor 1234567", "find": "find . -name loss.c",
		"fold": "fold -w 7 loss.c", "grep": "grep -c stdio loss.c", "head": "yes | head -n 3", "ls": "ls loss.c missing", "md5sum": "md5sum loss.c",
		"od": "od -c loss.c", "paste": "paste loss.c loss.c", "perl": "perl -e 'print \"loss=$_\\n\" for 1 .. 3; exit 5'", "python3": "python3 -c 'print(1/3); import sys; sys.exit(\"no\")'",
		"sed": "sed s/loss/gain/ loss.c", "sort": "seq 9 | sort -r", "tar": "tar cf - loss.c | tar tf -", "tail": "seq 99 | tail -n 2", "tr": "tr a-z A-Z < loss.c",
		"uniq": "uniq -c loss.c", "wc": "wc loss.c", "xargs": "seq 4 | xargs -n 2 echo", "gzip": "gzip -c loss.c | gzip -dc",
		"gcc": "gcc loss.c -o plain && ./plain", "cc": "gcc -static loss.c -o static && ./static", "c99": "gcc -fsanitize=address loss.c -o asan && ./asan",
	} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		if testing.Short() && (name == "cc" || name == "c99") {
			continue // gcc has compiled one
		}
		ran++
		t.Run(name, func(t *testing.T) {
			said := func(env []string) string {
				c := exec.CommandContext(t.Context(), "/bin/sh", "-c", line)
				c.Dir, c.Env = dir, append(append(os.Environ(), "LC_ALL=C"), env...)
				var out, err strings.Builder
				c.Stdout, c.Stderr = &out, &err
				_ = c.Run()
				return out.String() + "\nstderr " + err.String() + "\n" + c.ProcessState.String()
			}
			if with, without := said(lineBuffered(nil, stdbuf)), said(nil); with != without {
				t.Errorf("with line buffering:\n%s\nwithout:\n%s", with, without)
			}
		})
	}
	if ran < 20 {
		t.Errorf("only %d programs are installed", ran)
	}
}

// On a busy machine stdbuf takes seconds to start, and without its answer no trial in C would be stopped early.
func TestStdbufIsWaitedFor(t *testing.T) {
	effort.Thorough(t, "waits for seconds")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "stdbuf"), []byte("#!/bin/sh\nsleep 2.1\necho _STDBUF_O=L\necho LD_PRELOAD=\"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if got := askStdbuf(t.Context()); !slices.Equal(got, []string{"_STDBUF_O=L", "LD_PRELOAD=" + filepath.Join(bin, "stdbuf")}) {
		t.Errorf("stdbuf sets %q", got)
	}
}

// Who ends lbotune does not wait for stdbuf, nor for what it has started.
func TestStdbufIsNotWaitedForAtTheEnd(t *testing.T) {
	bin := t.TempDir()
	began, end := filepath.Join(bin, "began"), filepath.Join(bin, "end")
	script := "cat " + end + " & echo > " + began + "; wait"
	// Another process writes it, so that none that is forked meanwhile has it open.
	out, err := exec.Command("sh", "-c", `mkfifo "$1" "$2" && printf '#!/bin/sh\n%s\n' "$4" > "$3" && chmod 700 "$3"`, "sh", began, end, filepath.Join(bin, "stdbuf"), script).CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(began)
		cancel()
	}()
	if got := askStdbuf(ctx); got != nil {
		t.Errorf("stdbuf sets %q", got)
	}
	if err := os.WriteFile(end, nil, 0); err != nil {
		t.Fatal(err)
	}
}
