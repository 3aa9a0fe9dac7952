package session_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What no spec has checked is checked when the study is opened.
func TestConfigWithoutSpec(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*study.Config)
		want   string
	}{
		"direction":   {func(c *study.Config) { c.Metrics[0].Direction = "min" }, `metrics.loss.direction: found "min"; did you mean minimize?`},
		"combine":     {func(c *study.Config) { c.Run.Combine = "medain" }, `run.combine: found "medain"; did you mean median?`},
		"no command":  {func(c *study.Config) { c.Command = study.Command{} }, `command: there is no command to run`},
		"placeholder": {func(c *study.Config) { c.Command.Argv[1] = "{y}" }, "command.1: no parameter provides {y}; allowed here: attempt, checkpoint_dir, n, params_file, params_json, seed, slot, study, trial, trial_dir, x; for the text {y} itself write {{y}}\nparams.x: the command never uses this parameter; write {x} where the program takes it; if it reads $LBOTUNE_PARAM_X by itself, set params_from_env = true in [run]"},
		"a script": {func(c *study.Config) { c.Command = study.Command{Shell: `bash -lc 'p {x} {n}'`} }, `command: {x} stands inside single quotes, where its value can't be quoted safely; write a list of words, the last of which is the script: command = ["bash", "-lc", "... {x} ..."]` + "\n" +
			`command: {n} stands inside single quotes, where its value can't be quoted safely; write a list of words, the last of which is the script: command = ["bash", "-lc", "... {n} ..."]`},
		"quotes":   {func(c *study.Config) { c.Command = study.Command{Shell: `p "{x}" {n}`} }, `command: {x} stands inside double quotes, where its value can't be quoted safely; remove the quotes, since lbotune quotes every value by itself; or put it into a variable first: x={x}; ... $x`},
		"measure":  {func(c *study.Config) { c.Metrics[0].Measure = "minutes" }, `metric loss: nothing measures "minutes"`},
		"rule":     {func(c *study.Config) { c.Metrics[0].Rule.Pick = "worst" }, `metrics.loss: pick = "worst": is unknown`},
		"method":   {func(c *study.Config) { c.Optimizer.Method = "gird" }, `optimizer.method: found "gird"; allowed are lbo, random, sobol, grid and lipschitz`},
		"no end":   {func(c *study.Config) { c.Budget = study.Budget{} }, "budget: the study has no end; trials = 50, for example"},
		"relation": {func(c *study.Config) { c.Where = []string{"x < z"} }, `relation "x < z": there is no parameter z`},
		"range":    {func(c *study.Config) { c.Params[0].Max = -2 }, "parameter x: min: min = -1 must be smaller than max = -2"},
		"workers":  {func(c *study.Config) { c.Run.Workers = -1 }, "run.workers: found -1; want at least 0"},
		"prune":    {func(c *study.Config) { c.Prune = &study.Prune{Method: "medain"} }, `prune: method: found "medain"; want median, percentile, asha, patience, threshold or reachable`},
		"failed":   {func(c *study.Config) { c.Run.FailedMeans = "loss" }, `run.failed_means: metric "loss" has no limit`},
		"safety": {func(c *study.Config) {
			c.Safety, c.Params = &study.Safety{Metric: "heat"}, slices.Clone(c.Params)
			c.Params[0].Default, c.Params[1].Default = spaces.Float(0.5), spaces.Int(2)
		}, "safety.metric: there is no metric heat\nsafety: want a positive constant, and noise of at least 0"},
		"goal":     {func(c *study.Config) { nan := math.NaN(); c.Budget.Goal = &nan }, "json: unsupported value: NaN"},
		"hooks":    {func(c *study.Config) { c.Hooks = &study.Hooks{End: "true"} }, "hooks.timeout: found 0s; want a positive duration"},
		"variable": {func(c *study.Config) { c.Run.Env = []string{"A"} }, `run.env: found "A"; want NAME=value`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			c.change(&cfg)
			dir := t.TempDir()
			_, err := session.Open(&cfg, session.Options{Dir: dir, Launcher: &fakeLauncher{}})
			if invalid := study.InvalidError(nil); !errors.As(err, &invalid) || err.Error() != "invalid configuration: "+c.want {
				t.Errorf("found %v; want %s", err, c.want)
			}
			if _, err := study.Load(dir); !errors.Is(err, study.ErrNoStudy) {
				t.Errorf("a study was begun: %v", err)
			}
		})
	}
}

// A study without a success says why the last trial has failed.
func TestReasonForNoSuccess(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		cfg := config()
		cfg.Budget.Trials, cfg.Run.FailureGuard = 2, 0
		s, err := session.Open(&cfg, session.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for n := range 2 {
			if _, err := s.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Fail(n+1, "it was wet"); err != nil {
				t.Fatal(err)
			}
		}
		if err := session.Judge(s.State()); !errors.Is(err, session.ErrNoSuccess) || err.Error() != "no trial succeeded; trial 2: it was wet" {
			t.Errorf("found %v", err)
		}
	})
}
