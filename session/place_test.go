package session_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// Trials go on to run where they ran, wherever the study is started from; and where it was
// moved or copied with what lies around it, they run there. What is not clear is asked.
func TestWhereTrialsRun(t *testing.T) {
	for name, c := range map[string]struct {
		study, to string // moved from and to
		work      string
		gone      bool // the former working directory
		here      string
		want      string // "" if it is not clear
	}{
		"started again from elsewhere":   {"p/s", "p/s", "p", false, "q", "p"},
		"copied, started in the copy":    {"p/s", "q/s", "p", false, "q", "q"},
		"copied, started where it was":   {"p/s", "q/s", "p", false, "p", "p"},
		"copied, started from outside":   {"p/s", "q/s", "p", false, ".", ""},
		"moved, started from outside":    {"p/s", "q/s", "p", true, ".", "q"},
		"moved away from its program":    {"studies/s", "q/deep/s", "p", false, "q", "p"},
		"moved away, p has gone":         {"studies/s", "q/deep/s", "p", true, "q", "q"},
		"moved away, next to another p":  {"studies/s", "q/deep/s", "p", true, ".", "."},
		"moved with the program's place": {"a/studies/s", "b/studies/s", "a/p", true, ".", "b/p"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			at := func(path string) string { return filepath.Join(root, path) }
			for _, dir := range []string{c.work, "q", filepath.Dir(c.to), strings.Replace(c.work, "a/", "b/", 1)} {
				if err := os.MkdirAll(at(dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cfg := config()
			cfg.Budget.Trials, cfg.Dir = 1, at(c.work)
			f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n"} }}
			if _, err := finish(t, at(c.study), &cfg, f); err != nil {
				t.Fatal(err)
			}
			if c.study != c.to {
				if err := os.Rename(at(c.study), at(c.to)); err != nil {
					t.Fatal(err)
				}
			}
			if c.gone {
				if err := os.RemoveAll(at(c.work)); err != nil {
					t.Fatal(err)
				}
			}
			cfg.Budget.Trials, cfg.Dir = 2, at(c.here)
			opts := session.Options{Dir: at(c.to), Launcher: f, Optimizer: newFakeOptimizer}
			if c.want == "" {
				_, err := session.Open(&cfg, opts)
				var unclear *session.LayoutError
				if !errors.As(err, &unclear) || !strings.Contains(err.Error(), "still run in "+at(c.work)+", or now in "+at("q")) {
					t.Errorf("%s: %v", name, err)
				}
				opts.Launcher, c.want = nil, c.work // who runs nothing need not know
			}
			s, err := session.Open(&cfg, opts)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := s.State().Config.Dir; got != at(c.want) {
				t.Errorf("%s: trials run in %s; want %s", name, got, at(c.want))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A study that another user could change is not run, and one that others may write is
// warned about; links are looked through.
func TestOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	cfg := config()
	cfg.Budget.Trials = 1
	f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: "loss=1\n"} }}
	if _, err := finish(t, dir, &cfg, f); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	opts := session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer, Log: slog.New(slog.NewTextHandler(&log, nil))}
	look := func(opts session.Options) error {
		s, err := session.Open(nil, opts)
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := look(opts); err != nil || log.Len() > 0 {
		t.Errorf("a study of one's own: %v, %s", err, log.String())
	}
	trials := filepath.Join(dir, "trials")
	if err := os.Chmod(trials, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := look(opts); err != nil || !strings.Contains(log.String(), "others can write to the study") || !strings.Contains(log.String(), trials) {
		t.Errorf("a study that others can write: %v, %s", err, log.String())
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a study to others")
	}
	elsewhere := filepath.Join(t.TempDir(), "trials")
	if err := errors.Join(os.Rename(trials, elsewhere), os.Symlink(elsewhere, trials)); err != nil {
		t.Fatal(err)
	}
	names := map[int]string{54321: "user 54321"}
	if u, err := user.LookupId("65534"); err == nil {
		names[65534] = "user " + u.Username + " (65534)"
	}
	for uid, name := range names {
		if err := os.Chown(elsewhere, uid, -1); err != nil {
			t.Skip(err) // a container without other users
		}
		var layout *session.LayoutError
		if err := look(opts); !errors.As(err, &layout) || !strings.Contains(err.Error(), trials+" belongs to "+name+", who could change") {
			t.Errorf("a study of another's: %v", err)
		}
		harmless := opts
		harmless.Launcher = nil
		if err := look(harmless); !errors.As(err, &layout) {
			t.Errorf("who runs nothing, and writes all the same: %v", err)
		}
	}
}

// What makes no study is refused with the reason.
func TestRefusedStudies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "former", "trials", "000001", "a1", "stdout"), "loss=1\n")
	for want, c := range map[string]struct {
		dir    string
		change func(*study.Config)
	}{
		"there is no metric with a direction and a name: nothing to optimize":                          {"", func(c *study.Config) { c.Metrics = nil }},
		"budget.gap: found NaN; want at least 0":                                                       {"", func(c *study.Config) { c.Budget.Gap = math.NaN() }},
		"run.confirm: found 1; want at least 2: one run says nothing of how certain it is":             {"", func(c *study.Config) { c.Run.Confirm = 1 }},
		"budget.enqueued: found 0; want a share of trials from 0 to 1":                                 {"", func(c *study.Config) { c.Budget.Enqueued, c.Budget.Trials = new(float64), 0 }},
		"metrics.loss: regex cannot stand beside metric: each is a way to find the metric by itself":   {"", func(c *study.Config) { c.Metrics[0].Rule.Regex = "(" }},
		"prune: threshold: found none; want a number":                                                  {"", func(c *study.Config) { c.Prune = &study.Prune{Method: "threshold"} }},
		`prune: method: found "luck"; want median, percentile, asha, patience, threshold or reachable`: {"", func(c *study.Config) { c.Prune = &study.Prune{Method: "luck"} }},
		"there is no journal in DIR/former, but DIR/former/trials is there, as in a former study: " +
			"put its journal back, or begin anew in another directory": {filepath.Join(dir, "former"), nil},
		"cannot create journal FILE/journal.jsonl: mkdir FILE: not a directory": {file, nil},
	} {
		t.Run(want, func(t *testing.T) {
			cfg := config()
			if c.change != nil {
				c.change(&cfg)
				want = "invalid configuration: " + want
			}
			if c.dir == "" {
				c.dir = filepath.Join(t.TempDir(), "s")
			}
			_, err := session.Open(&cfg, session.Options{Dir: c.dir, Launcher: &fakeLauncher{}, Optimizer: newFakeOptimizer})
			if got := strings.NewReplacer(dir, "DIR", file, "FILE").Replace(fmt.Sprint(err)); got != want {
				t.Errorf("got %v; want %q", got, want)
			}
		})
	}
}
