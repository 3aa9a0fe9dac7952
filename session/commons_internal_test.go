package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A file that trials which overlap all change is named, and a file that is one trial's own,
// or was there before, is not.
func TestCommons(t *testing.T) {
	for name, c := range map[string]struct {
		write func(t *testing.T, dir string, trial int)
		want  string
	}{
		"nothing":       {func(*testing.T, string, int) {}, ""},
		"the same":      {func(t *testing.T, dir string, trial int) { put(t, dir, "out/metrics.json", trial) }, "out/metrics.json"},
		"its own":       {func(t *testing.T, dir string, trial int) { put(t, dir, fmt.Sprintf("metrics-%d.json", trial), trial) }, ""},
		"once":          {func(t *testing.T, dir string, trial int) { put(t, dir, "cache", 0) }, ""},
		"hidden":        {func(t *testing.T, dir string, trial int) { put(t, dir, ".cache/x", trial) }, ""},
		"a hidden file": {func(t *testing.T, dir string, trial int) { put(t, dir, ".state", trial) }, ".state"},
		"a study's":     {func(t *testing.T, dir string, trial int) { put(t, dir, "s.study/x", trial) }, ""},
		"by another": {func(t *testing.T, dir string, trial int) {
			if trial%5 == 0 { // who edits a file meanwhile
				put(t, dir, "spec.toml", trial)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "train.py", 0)
			commons := &commons{apart: filepath.Join(dir, "s.study"), running: map[layout.AttemptID]*span{}}
			said := ""
			id := func(trial int) layout.AttemptID { return layout.AttemptID{Trial: trial, Attempt: 1} }
			commons.begin(id(1), dir)
			for trial := 1; trial <= 40; trial++ { // two at a time
				commons.begin(id(trial+1), dir)
				c.write(t, dir, trial)
				said += commons.end(id(trial))
			}
			if said != c.want {
				t.Errorf("%s: said %q; want %q", name, said, c.want)
			}
			if c.want == "" && len(commons.ended) != commonsAttempts {
				t.Errorf("%s: %d attempts were looked at", name, len(commons.ended))
			}
		})
	}
}

// Nothing is watched where trials are told their slot, by whatever way: a file of a slot's own looks
// like one that they share.
func TestCommonsOfSlots(t *testing.T) {
	for name, told := range map[string]func(*study.Config){
		"command":  func(c *study.Config) { c.Command.Shell = "train --out={slot}" },
		"variable": func(c *study.Config) { c.Run.Env = []string{"OUT={slot}"} },
		"file":     func(c *study.Config) { c.Files = []command.File{{To: "config", Text: "out = {slot}"}} },
		"setting": func(c *study.Config) {
			c.Files = []command.File{{To: "config.json", Text: `{"out": 0}`, Set: []command.Setting{{Path: "out", Value: spaces.String("{slot}")}}}}
		},
		"slots": func(c *study.Config) { c.Run.Slots = make([]study.Slot, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			c := study.Config{Dir: "/home/me"}
			if dir := commonDir(&c); dir != c.Dir {
				t.Fatalf("%q is watched", dir)
			}
			if told(&c); commonDir(&c) != "" {
				t.Errorf("%s: %q is watched", name, commonDir(&c))
			}
		})
	}
}

// Trials one after the other share what they like, and one that writes all the time is the
// owner of what it writes beside many short ones.
func TestCommonsOfOne(t *testing.T) {
	dir := t.TempDir()
	alone := &commons{running: map[layout.AttemptID]*span{}}
	for trial := 1; trial <= 10; trial++ {
		id := layout.AttemptID{Trial: trial, Attempt: 1}
		alone.begin(id, dir)
		put(t, dir, "metrics.json", trial)
		if file := alone.end(id); file != "" {
			t.Errorf("trial %d alone: %s", trial, file)
		}
	}
	beside := &commons{running: map[layout.AttemptID]*span{}}
	long := layout.AttemptID{Trial: 100, Attempt: 1}
	beside.begin(long, dir)
	for trial := 1; trial <= 10; trial++ {
		id := layout.AttemptID{Trial: trial, Attempt: 1}
		beside.begin(id, dir)
		put(t, dir, "progress-100.txt", trial)
		if file := beside.end(id); file != "" {
			t.Errorf("trial %d beside a long one: %s", trial, file)
		}
	}
	if file := beside.end(long); file != "" {
		t.Errorf("the long one: %s", file)
	}
}

// Whoever writes a file from outside, as tee does, has it open.
func TestCommonsHeldElsewhere(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc tells who has a file open")
	}
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if !heldElsewhere()[path] {
		t.Error("this process has it open")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if heldElsewhere()[path] {
		t.Error("nobody has it open")
	}
}

// put writes a file of a length that no trial before it has written: a clock may be coarse.
func put(t *testing.T, dir, name string, trial int) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if trial == 0 {
		if _, err := os.Lstat(path); err == nil {
			return
		}
	}
	if err := os.WriteFile(path, make([]byte, trial), 0o600); err != nil {
		t.Fatal(err)
	}
}
