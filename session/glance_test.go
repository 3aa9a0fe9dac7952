package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// Whoever glances at a trial while it runs sees its last readings, of all of its metrics.
func TestGlance(t *testing.T) {
	const large = 9 << 20
	for name, c := range map[string]struct {
		stdout, file string
		want         string
	}{
		"nothing yet":       {"starting\n", "", "step NaN, map[]"},
		"without steps":     {"loss=2\nloss=1.5\n", "", "step NaN, map[loss:1.5]"},
		"steps":             {"epoch=1 loss=2\nepoch=2 loss=1.5\n", "", "step 2, map[loss:1.5]"},
		"half a line":       {"epoch=1 loss=2\nepoch=12 loss=1", "", "step 1, map[loss:2]"},
		"of a file as well": {"epoch=3 loss=2\n", "size=4\n", "step 3, map[loss:2 size:4]"},
		"a long log":        {"epoch=1 loss=9\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", large/100) + "epoch=7 loss=1\n", "", "step 7, map[loss:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Run.Cwd, cfg.Metrics[0].Rule.Step = 1, "{trial_dir}", "epoch"
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size", Source: parser.File}, File: "out"},
					study.Metric{Name: "time", Measure: study.Seconds})
				_, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
					put(t, filepath.Join(job.Dir, runner.StdoutName), c.stdout)
					if c.file != "" {
						put(t, filepath.Join(job.Dir, "out"), c.file)
					}
					st, err := study.Load(dir)
					if err != nil {
						t.Error(err)
						return ending{}
					}
					step, metrics, err := session.Glance(st, layout.Of(dir), layout.AttemptID{Trial: 1, Attempt: 1})
					if got := fmt.Sprintf("step %v, %v", step, metrics); err != nil || got != c.want {
						t.Errorf("%s, %v; want %s", got, err, c.want)
					}
					if _, _, err := session.Glance(st, layout.Of(dir), layout.AttemptID{Trial: 2, Attempt: 1}); err == nil {
						t.Error("a trial that is not there was seen")
					}
					return ending{stdout: "\nloss=1\n"}
				}})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What stands in a result file is looked at only once the trial itself has written it, and in the place
// of the trial's own slot.
func TestGlanceAtFiles(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		workers int
		trial   int // that has written nothing yet
		want    string
	}{
		"of the trial before": {"out", 1, 2, "map[]"},
		"of another slot":     {"out-{slot}", 2, 0, "map[size:2]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				work := t.TempDir()
				cfg := config()
				cfg.Budget.Trials, cfg.Run.Workers, cfg.Dir = 2, c.workers, work
				cfg.Metrics = append(cfg.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: "size", Source: parser.File}, File: c.file})
				_, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
					trial := 1
					if strings.HasSuffix(job.ID, "/2/1") {
						trial = 2
					}
					time.Sleep(5 * time.Second) // later than what stands there, and once the start is recorded
					if trial != c.trial {
						put(t, filepath.Join(work, strings.ReplaceAll(c.file, "{slot}", fmt.Sprint(trial-1))), fmt.Sprintf("size=%d\n", trial))
					}
					if trial == 2 {
						time.Sleep(time.Second)
						st, err := study.Load(dir)
						if err != nil {
							t.Error(err)
							return ending{}
						}
						if _, metrics, err := session.Glance(st, layout.Of(dir), layout.AttemptID{Trial: 2, Attempt: 1}); err != nil || fmt.Sprint(metrics) != c.want {
							t.Errorf("%v, %v; want %s", metrics, err, c.want)
						}
					}
					return ending{stdout: "\nloss=1\n", takes: 10 * time.Second}
				}})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}
