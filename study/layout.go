package study

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Layout names the files of a study. The journal is the truth; the rest may be
// thrown away once no trial runs.
type Layout string

// LayoutOf returns the layout of the study in dir.
func LayoutOf(dir string) Layout {
	if abs, err := filepath.Abs(dir); err == nil {
		return Layout(abs)
	}
	return Layout(dir)
}

// DirFor returns the default study directory of a spec: its name with .study
// for .toml, beside it.
func DirFor(spec string) string { return strings.TrimSuffix(spec, ".toml") + ".study" }

// Journal is the path of the journal.
func (l Layout) Journal() string { return filepath.Join(string(l), "journal.jsonl") }

// Setup is the directory of the setup command's attempts.
func (l Layout) Setup() string { return filepath.Join(string(l), "setup") }

// Trial is the directory of a trial, which survives its attempts.
func (l Layout) Trial(n int) string {
	return filepath.Join(string(l), "trials", fmt.Sprintf("%06d", n))
}

// Attempt is the directory of one attempt; trial 0 is the setup command.
func (l Layout) Attempt(id AttemptID) string {
	if id.Trial == 0 {
		return filepath.Join(l.Setup(), fmt.Sprintf("a%d", id.Attempt))
	}
	return filepath.Join(l.Trial(id.Trial), fmt.Sprintf("a%d", id.Attempt))
}

// checkpoint is a trial's directory for checkpoints. Each of its repeats, counted
// from 0, has one of its own, as it has a seed.
func (l Layout) checkpoint(n, repeat int) string {
	if repeat == 0 {
		return filepath.Join(l.Trial(n), "checkpoint")
	}
	return filepath.Join(l.Trial(n), fmt.Sprintf("checkpoint-%d", repeat+1))
}
