package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
)

// Fingerprint identifies the config.
func (c Config) Fingerprint() (string, error) {
	text, err := journal.Plain(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(text, '\n'))
	return hex.EncodeToString(sum[:8]), nil
}

// provenance stands for all of a config that makes a trial's result what it is, beside the
// trial's own values. The directory is not part of it: a study may be moved.
func (c *Config) provenance() string {
	if c.Several() {
		parts := c.runs()
		for _, o := range c.Objectives() {
			parts = append(parts, o.Rule, o.File, o.Measure)
		}
		return digest(parts...)
	}
	return digest(c.Command, c.Setup, c.Objective().Rule, c.Objective().File, c.Objective().Measure, c.Files, c.Run.Env, c.Run.Cwd, c.Run.Sources)
}

// runs is what of a config makes what a trial prints.
func (c *Config) runs() []any {
	return []any{c.Command, c.Setup, c.Files, c.Run.Env, c.Run.Cwd, c.Run.Sources}
}

func (c *Config) program() string { return digest(c.runs()...) }

func (c *Config) rules() string {
	var parts []any
	for _, m := range c.Metrics {
		parts = append(parts, m.Rule, m.File, m.Measure)
	}
	return digest(parts...)
}

// committed reports whether the study holds anything that the present command has measured.
// From then on another command's results could not be compared.
func (s *State) committed() bool {
	for _, t := range s.Trials {
		switch {
		case !t.Done() && (len(t.Repeats) > 0 || t.Cut != nil && t.Cut.Attempt > int(t.last)):
			return true
		case !t.Excluded && (t.Status == optimizer.Succeeded || t.Status == optimizer.Pruned):
			return true
		}
	}
	return false
}

// Key stands for what an attempt that is about to be made is an attempt at: the study, the
// trial as it was proposed, the seed, and the config's provenance. Whatever was started
// with another key, by an older spec or before the journal was put back from a backup, is
// no attempt at it. With a nil trial it is that of the setup command.
func (s *State) Key(t *Trial) string {
	if t == nil {
		return digest(s.ID, s.Config.Setup, s.Config.Seed)
	}
	return digest(s.ID, t.Number, t.Values(), t.seed(&s.Config), t.provenance(&s.Config))
}

// checkpointKey is what attempts that share checkpoints have in common: the trial with
// which the configuration began, and the seed.
func (t *Trial) checkpointKey(c *Config) string {
	f := t.first()
	return digest(f.Number, f.Values(), t.seed(c), f.provenance(c))
}

func (t *Trial) seed(c *Config) uint64 { return c.trialSeed(t.first().Number, t.runs(c)) }

// Seed is what the first run of the trial is given as {seed}; a trial that continues others has the seed of the first.
func (t *Trial) Seed(c *Config) uint64 { return c.trialSeed(t.first().Number, 0) }

// provenance is that of the config by which the trial is run.
func (t *Trial) provenance(c *Config) string {
	if t.by == "" {
		return c.provenance() // a trial of no study
	}
	return t.by
}

// digest is a hash of what the parts look like as JSON.
func digest(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		// Configs and values were read from JSON, or checked when the study began.
		panic("study: a part of a key that JSON cannot hold: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
