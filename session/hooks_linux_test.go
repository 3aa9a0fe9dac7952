package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// A process that ends by itself soon after its hook is not said to have been ended, and is no zombie, also
// where this process is the parent of all orphans below it.
func TestHookOfAnAdopter(t *testing.T) {
	adopt := func(yes uintptr) error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, yes, 0, 0, 0) }
	if err := adopt(1); err != nil {
		t.Fatal(err)
	}
	defer adopt(0) // other tests look after no orphans
	dir, log, err := hooked(t, study.Hooks{Trial: "sleep 0.05 & echo $!"}, nil)
	if err != nil || strings.Contains(log, "a hook failed") {
		t.Errorf("%v: %s", err, log)
	}
	left, err := os.ReadFile(layout.Study(dir).HookLog())
	if err != nil || len(strings.Fields(string(left))) != 3 {
		t.Fatalf("%q, %v", left, err)
	}
	for _, pid := range strings.Fields(string(left)) {
		if _, err := os.Stat(filepath.Join("/proc", pid)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %s is there: %v", pid, err)
		}
	}
}

// What has ended is not left in the background, although whoever started it does not reap it.
func TestHookWithAZombie(t *testing.T) {
	// The sleep has another group, and a child in that of the hook.
	dir, log, err := hooked(t, study.Hooks{End: `sh -c '(until grep -q sleep /proc/$$/comm; do sleep 0.01; done) & echo $$; exec setsid sleep 1000' &
until grep -q sleep /proc/$!/comm; do sleep 0.01; done`}, nil)
	if err != nil || strings.Contains(log, "a hook failed") {
		t.Errorf("%v: %s", err, log)
	}
	left, err := os.ReadFile(layout.Study(dir).HookLog())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(left)))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
}
