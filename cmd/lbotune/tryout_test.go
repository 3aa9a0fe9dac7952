package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever ends init ends all that it tries out.
func TestSignalsEndWhatIsTriedOut(t *testing.T) {
	for sig, script := range map[syscall.Signal]string{
		syscall.SIGINT:  `sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 1000'; echo`,
		syscall.SIGTERM: `sleep 1000 & echo $! > pid.new; mv pid.new pid; wait`,
		syscall.SIGQUIT: `trap "" INT QUIT TERM; sleep 1000 & echo $! > pid.new; mv pid.new pid; wait`,
	} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			signals := make(chan os.Signal)
			var last os.Signal
			ended := make(chan error)
			go func() {
				var err error
				last, err = runGroup(t.Context(), signals, io.Discard, io.Discard, []string{"sh", "-c", `cd "$1"; ` + script, "sh", dir})
				ended <- err
			}()
			var pid string
			within(t, "a process of the program", func() bool {
				text, err := os.ReadFile(filepath.Join(dir, "pid"))
				pid = strings.TrimSpace(string(text))
				return err == nil
			})
			signals <- sig
			if err := <-ended; !errors.As(err, new(*exec.ExitError)) || last != sig {
				t.Errorf("it ended with %v after %v", err, last)
			}
			within(t, "the end of what the program has started", func() bool {
				if exec.Command("kill", "-0", pid).Run() != nil {
					return true
				}
				state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
				return strings.HasPrefix(string(state), "Z") // which some containers never reap
			})
		})
	}
}

func within(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
