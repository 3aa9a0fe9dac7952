package study

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/study/command"
)

// ownPlaceholders differ between trials that run at the same time.
var ownPlaceholders = []string{"trial", "trial_dir", "slot", "seed", "checkpoint_dir", "params_file"}

// SharedResult returns the first metric that trials which ran at the same time would
// write to one file.
func (c *Config) SharedResult() (m Metric, shared bool) {
	for _, m := range c.Metrics {
		if m.File != "" && c.shared(m.File) {
			return m, true
		}
	}
	return Metric{}, false
}

func (c *Config) shared(name string) bool {
	if !filepath.IsAbs(name) && !strings.HasPrefix(name, "{study}") {
		name = filepath.Join(c.Run.Cwd, name)
	}
	return !slices.ContainsFunc(command.Parse(name), func(p command.Part) bool {
		return p.IsPlaceholder() && slices.Contains(ownPlaceholders, p.Name)
	})
}
