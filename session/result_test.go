package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// fromFile is a study of one trial whose metrics stand in a file. BASE is the directory
// around the study.
func fromFile(dir, file string) study.Config {
	c := config()
	c.Budget.Trials, c.Run.Cwd, c.Dir = 1, "{trial_dir}", filepath.Dir(dir)
	c.Metrics[0].Rule.Source = parser.File
	c.Metrics[0].File = strings.ReplaceAll(file, "BASE", filepath.Dir(dir))
	return c
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Error(err)
	}
}

// A result file counts only if the trial's own program wrote it: not what an earlier run has
// left, what lbotune has rendered, or what came with the sources.
func TestResultFiles(t *testing.T) {
	const own, shared, source = "loss.txt", "BASE/loss.txt", "sources/loss.txt"
	sources := func(mode string) func(*study.Config) {
		return func(c *study.Config) { c.Run.Sources = &study.Sources{From: "src", Mode: mode} }
	}
	rendered := func(c *study.Config) { c.Files = []command.File{{Text: "loss=1\n", To: "./loss.txt"}} }
	write := func(text string) func(*testing.T, string, string) {
		return func(t *testing.T, _, path string) { put(t, path, text) }
	}
	// copySource does what the attempt does before its command runs.
	copySource := func(t *testing.T, dir, path string) {
		put(t, path, "loss=1\n")
		info, err := os.Stat(filepath.Join(filepath.Dir(dir), "src", "loss.txt"))
		if err == nil {
			err = os.Chtimes(path, info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Error(err)
		}
	}
	linkSource := func(t *testing.T, dir, path string) {
		if err := os.Symlink(filepath.Join(filepath.Dir(dir), "src"), filepath.Dir(path)); err != nil {
			t.Error(err)
		}
	}
	then := func(fs ...func(*testing.T, string, string)) func(*testing.T, string, string) {
		return func(t *testing.T, dir, path string) {
			for _, f := range fs {
				f(t, dir, path)
			}
		}
	}
	for name, c := range map[string]struct {
		file    string
		change  func(*study.Config)
		program func(t *testing.T, dir, path string)
		value   float64
		reason  string // with PATH for the file's
	}{
		"written":            {own, nil, write("loss=2\n"), 2, ""},
		"not written":        {own, nil, nil, 0, "the program wrote no file PATH"},
		"written without it": {own, nil, write("done\n"), 0, "loss"},
		"of an earlier run":  {shared, nil, nil, 0, "the program wrote no file PATH; the one that is there was there before"},
		"written once more":  {shared, nil, write("loss=1\n"), 1, ""},
		"of another mode": {shared, nil, func(_ *testing.T, _, path string) { _ = os.Chmod(path, 0o640) }, 0,
			"the program wrote no file PATH; the one that is there was there before"},
		"with another name": {shared, nil, func(_ *testing.T, _, path string) { _ = os.Link(path, path+".copy") }, 0,
			"the program wrote no file PATH; the one that is there was there before"},
		"away and back": {shared, nil, func(_ *testing.T, _, path string) { _, _ = os.Rename(path, path+"~"), os.Rename(path+"~", path) }, 0,
			"the program wrote no file PATH; the one that is there was there before"},
		"put back from a copy": {shared, nil, func(t *testing.T, _, path string) {
			info, err := os.Stat(path)
			text, errRead := os.ReadFile(path)
			put(t, path+".copy", string(text))
			if err := errors.Join(err, errRead, os.Chtimes(path+".copy", time.Time{}, info.ModTime()), os.Rename(path+".copy", path)); err != nil {
				t.Error(err)
			}
		}, 0, "the program wrote no file PATH; the one that is there was there before"},
		"written with its old time": {shared, nil, func(t *testing.T, _, path string) {
			info, err := os.Stat(path)
			if put(t, path, "loss=3\n"); err != nil || os.Chtimes(path, time.Time{}, info.ModTime()) != nil {
				t.Error(err)
			}
		}, 3, ""},
		"removed":                {shared, nil, func(t *testing.T, _, path string) { os.Remove(path) }, 0, "the program wrote no file PATH"},
		"rendered":               {own, rendered, nil, 0, "the program wrote no file PATH; the one that is there is as lbotune rendered it"},
		"rendered and written":   {own, rendered, write("loss=2\n"), 2, ""},
		"beside what's rendered": {"out/loss.txt", rendered, write("loss=2\n"), 2, ""},
		"copied":                 {source, sources("copy"), copySource, 0, "the program wrote no file PATH; the one that is there was there before"},
		"copied and written":     {source, sources("copy"), then(copySource, write("loss=2.5\n")), 2.5, ""},
		"linked":                 {source, sources("link"), linkSource, 0, "the program wrote no file PATH; the one that is there was there before"},
		"linked and written":     {source, sources("link"), then(linkSource, write("loss=2\n")), 2, ""},
		"without traces": {shared, nil, then(write("loss=2\n"), func(t *testing.T, dir, _ string) {
			os.Remove(filepath.Join(layout.Study(dir).Attempt(layout.AttemptID{Trial: 1, Attempt: 1}), layout.BeforeName))
		}), 0, "it cannot be told whether the program wrote PATH: open "},
		"through a link": {"out/loss.txt", nil, func(t *testing.T, _, path string) {
			if err := os.Symlink("../../../../src", filepath.Dir(path)); err != nil {
				t.Error(err)
			}
		}, 0, "out: it is a symbolic link, which is not followed"},
		"where none can be": {"BASE/" + strings.Repeat("x", 300), nil, nil, 0, "look at the result file PATH: file name too long"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := fromFile(dir, c.file)
				put(t, filepath.Join(cfg.Dir, "loss.txt"), "loss=1\n")
				put(t, filepath.Join(cfg.Dir, "src", "loss.txt"), "loss=1\n")
				if c.change != nil {
					c.change(&cfg)
				}
				var path string
				st, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
					path = filepath.Join(job.Dir, cfg.Metrics[0].File)
					if filepath.IsAbs(cfg.Metrics[0].File) {
						path = cfg.Metrics[0].File
					}
					if c.program != nil {
						c.program(t, dir, path)
					}
					return ending{}
				}})
				trial := st.Trials[0]
				if c.reason == "" {
					if err != nil || trial.Value != c.value {
						t.Errorf("value %v, %v, %v; want %v", trial.Value, trial.Failure, err, c.value)
					}
					return
				}
				if path == "" {
					path = cfg.Metrics[0].File // it was not started
				}
				if want := strings.ReplaceAll(c.reason, "PATH", path); trial.Failure == nil || !strings.Contains(trial.Failure.Text, want) {
					t.Errorf("value %v, %v; want %s", trial.Value, trial.Failure, want)
				}
			})
		})
	}
}

// What a link in the place of a result leads to is neither read nor changed.
func TestResultThatIsALink(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := fromFile(dir, "BASE/loss.txt")
		thesis := filepath.Join(cfg.Dir, "thesis")
		put(t, thesis, "loss=1\n")
		before, err := os.Stat(thesis)
		if err := errors.Join(err, os.Symlink(thesis, cfg.Metrics[0].File)); err != nil {
			t.Fatal(err)
		}
		st, _ := finish(t, dir, &cfg, &fakeLauncher{program: func(runner.Job) ending { return ending{} }})
		after, err := os.Stat(thesis)
		if err != nil || !after.ModTime().Equal(before.ModTime()) || st.Trials[0].Failure == nil {
			t.Errorf("changed at %v instead of %v, %v; the trial: %+v", after.ModTime(), before.ModTime(), err, st.Trials[0].Failure)
		}
	})
}

// Several metrics stand in one file, and one that the study can do without costs no trial if
// its file is an old one.
func TestMetricsOfFiles(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := fromFile(dir, "out.txt")
		old := filepath.Join(c.Dir, "old.txt")
		put(t, old, "age=9\n")
		for name, file := range map[string]string{"size": "out.txt", "none": "out.txt", "age": old} {
			c.Metrics = append(c.Metrics, study.Metric{Name: name, Rule: parser.Rule{Metric: name, Source: parser.File}, File: file})
		}
		st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
			put(t, filepath.Join(job.Dir, "out.txt"), "loss=2 size=3\n")
			return ending{stdout: "loss=7 size=7 age=7\n"}
		}})
		if m := st.Trials[0].Metrics; err != nil || asJSON(t, m) != asJSON(t, study.Metrics{"loss": 2, "size": 3}) {
			t.Errorf("metrics %v: %v", m, err)
		}
	})
}

// Programs of some dialects are told by a variable where to write.
func TestResultsOfDialect(t *testing.T) {
	for text, want := range map[string]float64{`[{"name": "loss", "type": "objective", "value": 0.25}]`: 0.25, "": 0} {
		t.Run(text, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials, c.Metrics[0].Rule = 1, parser.Rule{Dialect: "results-file"}
				st, err := finish(t, dir, &c, &fakeLauncher{program: func(job runner.Job) ending {
					for _, e := range job.Env {
						if path, ok := strings.CutPrefix(e, "ORION_RESULTS_PATH="); ok && text != "" {
							put(t, path, text)
						}
					}
					return ending{}
				}})
				if f := st.Trials[0].Failure; want != 0 && (err != nil || st.Trials[0].Value != want) ||
					want == 0 && (f == nil || f.Kind != study.FailNoMetric || !strings.Contains(f.Text, "the file is empty")) {
					t.Errorf("of %q the value is %v, %v", text, st.Trials[0].Value, f)
				}
			})
		})
	}
}
