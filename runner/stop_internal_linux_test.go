package runner

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// From SIGTERM to SIGKILL the grace passes, less where the disk fills meanwhile, and none where
// nobody wants to wait; leftovers have a second to end by themselves, and at most one more. The
// control group stands for a process that only SIGKILL ends.
func TestGrace(t *testing.T) {
	for name, c := range map[string]struct {
		reason  stopReason // none: the command has ended
		grace   time.Duration
		elapsed time.Duration
	}{
		"cancelled": {stopCancel, 200 * time.Millisecond, 200 * time.Millisecond},
		"killed":    {stopKill, 200 * time.Millisecond, 0},
		"floods":    {stopFlood, 1500 * time.Millisecond, time.Second},
		"has ended": {"", 200 * time.Millisecond, 1200 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			a, err := prepare(Job{Dir: filepath.Join(dir, "a1"), ID: dir, Shell: "true", Grace: c.grace})
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			group := t.TempDir()
			if err := os.WriteFile(filepath.Join(group, "cgroup.events"), []byte("populated 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			a.cgroup = cgroup(group)
			a.uptime = uptime() // who lived before that is none of it
			begun, l := time.Now(), new(Local)
			if c.reason != "" {
				l.stop(a, c.reason)
			} else {
				l.sweep(a, begun)
			}
			if got := time.Since(begun); got != c.elapsed {
				t.Errorf("%s: SIGKILL after %v; want %v", name, got, c.elapsed)
			}
			if _, err := os.Stat(filepath.Join(group, "cgroup.kill")); err != nil {
				t.Errorf("%s: not killed: %v", name, err)
			}
		})
	}
}
