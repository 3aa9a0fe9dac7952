package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// dirs lists the trials that have a directory.
func dirs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(study.LayoutOf(dir).Trial(1)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, e := range entries {
		out[e.Name()] = true
	}
	return out
}

// No directory is removed in which an attempt runs, also not one that repeats a trial
// whose directory had to go; the best stay, and the study is what it would be.
func TestKeep(t *testing.T) {
	for keep, workers := range map[int]int{1: 1, 2: 3, 3: 1} {
		var want string
		for _, k := range []int{0, keep} {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Run.Keep, cfg.Run.Confirm, cfg.Run.Workers = k, 2, workers
				st, err := finish(t, dir, &cfg, &fakeLauncher{program: parabola})
				if err != nil {
					t.Fatal(err)
				}
				left := dirs(t, dir)
				if k == 0 {
					want = story(st)
					if len(left) != 12 {
						t.Errorf("%d directories; want all", len(left))
					}
					return
				}
				if workers == 1 && story(st) != want {
					t.Errorf("keep = %d changes the study: %s\n%s", k, story(st), want)
				}
				if len(left) < k || len(left) > k+1 {
					t.Errorf("keep = %d: the directories %v are left", k, left)
				}
				for _, b := range append(st.Ranked()[:k], st.Best()) {
					if !left[filepath.Base(study.LayoutOf(dir).Trial(b.Number))] {
						t.Errorf("keep = %d: trial %d has no directory; there are %v", k, b.Number, left)
					}
				}
			})
		}
	}
}

// While nothing has succeeded, everything that may say why stays; and what an earlier
// session was killed before it could remove is removed by a later one.
func TestKeepFailures(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.Keep = 3, 1
		f := &fakeLauncher{program: parabola}
		broken := cfg
		broken.Command.Argv = []string{"parabola", "x{x}", "{n}"}
		if _, err := finish(t, dir, &broken, f); !errors.Is(err, session.ErrNoSuccess) {
			t.Fatal(err)
		}
		if left := dirs(t, dir); len(left) != 3 {
			t.Errorf("the directories %v are left; want all three", left)
		}
		cfg.Budget.Trials = 4
		st, err := finish(t, dir, &cfg, f)
		if left := dirs(t, dir); err != nil || len(left) != 1 || st.Best().Number != 4 {
			t.Errorf("the directories %v are left, the best is trial %d: %v", left, st.Best().Number, err)
		}
	})
}
