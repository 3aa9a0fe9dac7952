package session

import (
	"os"
	"path/filepath"

	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
)

// attempt is one run of a trial's command, or of the setup command (trial 0).
type attempt struct {
	study  *Study
	config study.Config
	trial  study.Trial
	id     study.AttemptID
	key    string // study.State.Key
	slot   int
	// mayStart says that a command may be started in the slot, with hold open. What an
	// earlier session has started holds its own.
	mayStart bool
	hold     []*os.File
	// unsafe says that no command may be started: the safety limit is another by now.
	unsafe bool
	kill   chan struct{}
	// rejoined says that an earlier session has started it.
	rejoined bool
	// box takes readings while the attempt runs; nil if nobody wants them.
	box *readingBox
	// started is called when the command runs: rejoined if it was found running.
	started func(rejoined bool)
}

// bindings are what the placeholders stand for.
func (a *attempt) bindings() *command.Bindings {
	if a.id.Trial == 0 {
		return study.SetupBindings(a.study.layout, &a.config)
	}
	return study.TrialBindings(a.study.layout, &a.config, &a.trial, a.id.Attempt, a.slot)
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// variable is the environment variable by which some dialects tell a program where
// to write its results; empty if no metric needs it.
func (a *attempt) variable() string {
	for _, p := range a.study.patterns {
		if v := p.Variable(); v != "" {
			return v
		}
	}
	return ""
}
