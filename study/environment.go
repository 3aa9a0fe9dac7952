package study

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/study/command"
)

// Environment is what the spec gives a trial, as NAME=value: that of all trials,
// then that of its slot.
func (c *Config) Environment(b *command.Bindings) []string {
	given := c.Run.Env
	if b.Slot < len(c.Run.Slots) {
		given = slices.Concat(given, c.Run.Slots[b.Slot].Env)
	}
	var env []string
	for _, e := range given {
		name, text, _ := strings.Cut(e, "=")
		if value, absent := b.Expand(text); !absent {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Cwd is the working directory of a trial.
func (c *Config) Cwd(b *command.Bindings) string {
	cwd, _ := b.Expand(c.Run.Cwd)
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(c.Dir, cwd)
}
