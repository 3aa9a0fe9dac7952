package study

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
)

// checkpoint is the directory for checkpoints of a trial's next run. Each of its repeats
// has one of its own, as it has a seed. No other configuration's is found there, whatever
// the journal has been through.
func checkpoint(l layout.Study, c *Config, t *Trial) string {
	return filepath.Join(l.Trial(t.first().Number), "checkpoint-"+t.checkpointKey(c)[:8])
}

// TrialBindings are those of an attempt at a trial in a slot; trial 0 is the setup command.
func TrialBindings(l layout.Study, c *Config, t *Trial, attempt, slot int) *command.Bindings {
	if t.Number == 0 {
		return &command.Bindings{Study: string(l), Seed: c.Seed, Dir: c.Dir, Cwd: c.Run.Cwd}
	}
	dir := l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: attempt})
	return &command.Bindings{
		Study: string(l), Trial: t.Number, Attempt: attempt, Slot: slot,
		Seed:     t.seed(c),
		TrialDir: dir, CheckpointDir: checkpoint(l, c, t), Checkpoints: c.checkpoints, Mentions: c.mentions, ParamsFile: filepath.Join(dir, layout.ParamsName),
		Params: c.Params, Values: t.Values(),
		Dir: c.Dir, Cwd: c.Run.Cwd, Env: c.env(slot), SecretEnv: c.Run.SecretEnv, ParamsFromEnv: c.Run.ParamsFromEnv,
	}
}

func (c *Config) env(slot int) []string {
	if slot < len(c.Run.Slots) {
		return slices.Concat(c.Run.Env, c.Run.Slots[slot].Env)
	}
	return c.Run.Env
}

// ownPlaceholders differ between trials that run at the same time.
var ownPlaceholders = []string{"trial", "trial_dir", "slot", "seed", "checkpoint_dir", "params_file"}

// SharedResult returns the first metric that trials which ran at the same time would
// write to one file. Of copied sources they share what is behind a link, as linked says if it is
// known, and of isolated ones hidden directories, too.
func (c *Config) SharedResult(linked func(inside string) bool) (m Metric, shared bool) {
	own := func(p command.Part) bool { return p.IsPlaceholder() && slices.Contains(ownPlaceholders, p.Name) }
	for _, m := range c.Metrics {
		path := m.File
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "{study}") && !strings.HasPrefix(path, "{trial_dir}") {
			path = filepath.Join(c.Run.Cwd, path)
		}
		inside, ok := strings.CutPrefix(filepath.Clean(path), filepath.Join("{trial_dir}", layout.SourcesName)+"/")
		if src := c.Run.Sources; ok && src != nil {
			entry, _, deeper := strings.Cut(inside, "/")
			leads := deeper && entry[0] == '.' || entry == "node_modules"
			if src.Mode == "link" || src.Mode == "isolate" && leads || linked != nil && linked(inside) {
				path = inside
			}
		}
		if m.File != "" && !slices.ContainsFunc(command.Parse(path), own) {
			return m, true
		}
	}
	return Metric{}, false
}
