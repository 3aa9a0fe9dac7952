package study

import (
	"path/filepath"

	"github.com/lbotune/lbotune/study/command"
)

// SetupBindings are those of the setup command.
func SetupBindings(l Layout, c *Config) *command.Bindings {
	return &command.Bindings{Study: string(l), Seed: c.Seed}
}

// RenderSetup returns the setup command as it would run.
func (c *Config) RenderSetup(l Layout) string {
	r, err := command.Command{Shell: c.Setup}.Render(SetupBindings(l, c))
	if err != nil {
		return c.Setup
	}
	return r.Shell
}

// TrialBindings are those of an attempt at a trial in a slot.
func TrialBindings(l Layout, c *Config, t *Trial, attempt, slot int) *command.Bindings {
	dir := l.Attempt(AttemptID{t.Number, attempt})
	return &command.Bindings{
		Study: string(l), Trial: t.Number, Attempt: attempt, Slot: slot,
		Seed:     t.seed(c),
		TrialDir: dir, CheckpointDir: l.checkpoint(c, t), ParamsFile: filepath.Join(dir, ParamsName),
		Params: c.Params, Values: t.Values,
	}
}

// LastBindings are those of the last attempt at a trial that has ended, so that its
// command can be run again as it was.
func LastBindings(l Layout, c *Config, t *Trial) *command.Bindings {
	before := *t
	before.Status = ""
	return TrialBindings(l, c, &before, max(t.Attempt, 1), t.Slot)
}
