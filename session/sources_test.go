package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// isolated is a study of some trials that each run in a copy of the directory.
func isolated(dir, mode string) *study.Config {
	c := config()
	c.Command, c.Dir = command.Command{Shell: "echo loss={x} {n}"}, dir
	c.Budget.Trials, c.Run.Sources = 3, &study.Sources{From: dir, Mode: mode}
	return &c
}

// A study that lies in the directory of which each trial gets a copy is no part of the copies, whatever
// its name.
func TestIsolatedFromTheStudyItself(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"runs", "lr.study", filepath.Join("out", "runs")} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			st := conclude(t, isolated(dir, "isolate"), session.Options{Dir: filepath.Join(dir, name), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
			if n := st.Count(optimizer.Succeeded); n != 3 {
				t.Errorf("in %s %d of 3 trials have succeeded", name, n)
			}
		})
	}
}

// A result of isolated trials that run side by side does not lie where all have the same: in an entry that is
// too large to be copied, or that is a link itself.
func TestSharedResultOfIsolated(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Symlink(elsewhere, filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "large"), 0o700), os.Mkdir(filepath.Join(dir, "out"), 0o700),
		os.WriteFile(filepath.Join(dir, "large", "data"), nil, 0o600), os.Truncate(filepath.Join(dir, "large", "data"), 65<<20)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file    string
		workers int
		refused bool
	}{{"large/loss", 2, true}, {"link/loss", 2, true}, {"large/loss", 1, false}, {"out/loss", 2, false}} {
		cfg := isolated(dir, "isolate")
		cfg.Run.Cwd, cfg.Run.Workers, cfg.Metrics[0].File = "{trial_dir}/sources", c.workers, c.file
		cfg.Metrics[0].Rule.Source = parser.File
		cfg.Command.Shell = "echo loss={x} {n} >" + c.file
		s, err := session.Open(cfg, session.Options{Dir: filepath.Join(t.TempDir(), "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
		var wrong *session.LayoutError
		if c.refused != errors.As(err, &wrong) || !c.refused && err != nil {
			t.Errorf("%s, %d workers: %v", c.file, c.workers, err)
		}
		if err != nil {
			continue
		}
		if _, err := inbox.Leave(s.Layout(), study.Request{Action: study.ActionAdjust, Workers: 2}); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(s.Run(t.Context(), nil), s.Close())
		if n, want := s.State().Config.Run.Workers, c.workers; n != want && c.file == "large/loss" {
			t.Errorf("%s may be shared by %d workers", c.file, n)
		}
		if n := s.State().Count(optimizer.Succeeded); err != nil || n != 3 {
			t.Errorf("%s, %d workers: %v, %d have succeeded", c.file, c.workers, err, n)
		}
	}
}

// Nor does it lie behind a link in the sources that leads out of the copy, at any depth.
func TestSharedResultBehindALink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "out", "own"), 0o700), os.Symlink(elsewhere, filepath.Join(dir, "out", "far")),
		os.Symlink("../..", filepath.Join(dir, "out", "up")), os.Symlink("own", filepath.Join(dir, "out", "near")),
		os.Symlink(elsewhere, filepath.Join(dir, "top")), os.Symlink("../out/far", filepath.Join(dir, "out", "along")),
		os.Symlink("out/own", filepath.Join(dir, "within")), os.Symlink("circle", filepath.Join(dir, "out", "circle")), os.Symlink("../top", filepath.Join(dir, "out", "back")),
		os.Mkdir(filepath.Join(dir, ".cache"), 0o700), os.WriteFile(filepath.Join(dir, ".env"), nil, 0o600), os.Mkdir(filepath.Join(dir, "node_modules"), 0o700),
		os.Symlink("../.cache", filepath.Join(dir, "out", "hidden")), os.Symlink("../.env", filepath.Join(dir, "out", "env")),
		os.Symlink("../node_modules", filepath.Join(dir, "out", "modules"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, mode string
		workers    int
		refused    bool
	}{
		{"top/loss", "copy", 2, true}, {"out/far/loss", "copy", 2, true}, {"out/far/loss", "isolate", 2, true}, {"out/up/loss", "copy", 2, true},
		{"out/along/loss", "copy", 2, true}, {"out/back/loss", "isolate", 2, true}, {"out/circle/loss", "copy", 2, true},
		{"within/loss", "isolate", 2, true}, {"within/loss", "copy", 2, false}, {"out/far", "copy", 2, true},
		{"out/far/loss", "copy", 1, false}, {"out/far/loss{trial}", "copy", 2, false}, {"out/near/loss", "copy", 2, false}, {"out/own/loss", "isolate", 2, false},
		{"out/hidden/loss", "isolate", 2, true}, {"out/hidden/loss", "copy", 2, false}, {"out/env", "isolate", 2, false}, {"out/modules/loss", "isolate", 2, true},
	} {
		t.Run(c.mode+" "+c.file, func(t *testing.T) {
			cfg := isolated(dir, c.mode)
			cfg.Run.Cwd, cfg.Run.Workers, cfg.Metrics[0].File = "{trial_dir}/sources", c.workers, c.file
			cfg.Metrics[0].Rule.Source = parser.File
			s, err := session.Open(cfg, session.Options{Dir: filepath.Join(t.TempDir(), "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
			if wrong := (*session.LayoutError)(nil); c.refused != errors.As(err, &wrong) || !c.refused && err != nil {
				t.Errorf("%d workers: %v", c.workers, err)
			}
			if err == nil {
				s.Close()
			}
		})
	}
}

// A link to the sources is followed: each trial has a copy of its own, and the link's target stays as it is.
func TestSourcesBehindALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "src")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink("real", link), os.WriteFile(filepath.Join(real, "code"), []byte("1"), 0o600)); err != nil {
		t.Fatal(err)
	}
	cfg := isolated(dir, "copy")
	cfg.Run.Sources.From, cfg.Run.Cwd = "src", "{trial_dir}/sources"
	cfg.Command.Shell = "test -e code && mkdir mine && echo loss={x} {n}"
	st := conclude(t, cfg, session.Options{Dir: filepath.Join(t.TempDir(), "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
	if n := st.Count(optimizer.Succeeded); n != 3 {
		t.Errorf("%d of 3 trials have succeeded", n)
	}
	if _, err := os.Stat(filepath.Join(real, "mine")); err == nil {
		t.Error("a trial has written into the sources")
	}
	_, err := session.Open(cfg, session.Options{Dir: filepath.Join(real, "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
	if wrong := (*session.LayoutError)(nil); !errors.As(err, &wrong) {
		t.Errorf("a study within the sources: %v", err)
	}
}

// Isolated trials have all that lies in the directory, whatever its name begins with: mounts of Kubernetes lead to ..data.
func TestIsolatedNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", ".a", "..a", "..data"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := isolated(dir, "isolate")
	c.Command.Shell = "cd {trial_dir}/" + layout.SourcesName + " && cd a && cd - && cd .a && cd - && cd ..a && cd - && cd ..data && " + c.Command.Shell
	st := conclude(t, c, session.Options{Dir: filepath.Join(t.TempDir(), "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
	if n := st.Count(optimizer.Succeeded); n != 3 {
		t.Errorf("%d of 3 trials have succeeded", n)
	}
}

// Where a file goes away while a trial's copy of the sources is made, as those of editors do, the copy
// is made again: that is no failure of the trial's.
func TestSourcesThatChange(t *testing.T) {
	for _, mode := range []string{"copy", "isolate"} {
		dir, bin := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fails := "#!/bin/sh\n/bin/cp \"$@\"\nmkdir " + bin + "/failed 2>/dev/null && exit 1\nexit 0\n"
		if err := os.WriteFile(filepath.Join(bin, "cp"), []byte(fails), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		st := conclude(t, isolated(dir, mode), session.Options{Dir: filepath.Join(t.TempDir(), "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
		if n := st.Count(optimizer.Succeeded); n != 3 {
			t.Errorf("%s: %d of 3 trials have succeeded", mode, n)
		}
	}
}

// What a copy that fails has left stays: a disk that it has filled is full when the attempt ends, which is no
// failure of the trial's then.
func TestSourcesThatFindNoRoom(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "cp"), []byte("#!/bin/sh\n/bin/cp \"$@\"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	c, place := isolated(dir, "isolate"), filepath.Join(t.TempDir(), "s")
	s, err := session.Open(c, session.Options{Dir: place, Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(t.Context(), nil), s.Close()); !errors.Is(err, session.ErrNoSuccess) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(layout.Study(place).Attempt(layout.AttemptID{Trial: 1, Attempt: 1}), layout.SourcesName, "data")); err != nil {
		t.Error(err)
	}
}
