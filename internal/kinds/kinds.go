// Package kinds says what a way to run the trials of a study is to the rest of lbotune.
package kinds

import (
	"context"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// A Kind is one way to run the trials of a study, which a spec chooses by its name.
type Kind struct {
	// Settings reads the keys of [launcher] in a spec. What it returns is kept in the study's
	// journal, as JSON, and is given to New however long after.
	Settings func(Keys, Run) []byte
	// New makes a launcher for the trials of one study. What it can do beside launching and
	// rejoining attempts it says by implementing the interfaces below.
	New func(settings []byte, at Site) (Rejoiner, error)
	// Inside are commands of lbotune for use in jobs, by name, which take one argument.
	Inside map[string]func(arg string) error
}

// Keys is the table [launcher] of a spec. Asking for a key makes it one that is allowed; a
// value of the wrong type is complained of, and read as if it were not there.
type Keys interface {
	Text(key string) string
	Texts(key string) []string
	Int(key string, without, least int) int
	Duration(key string, without time.Duration) time.Duration
	OneOf(key string, first string, more ...string) string // first where there is none
	// Wrong complains of a key's value, Missing that there is none.
	Wrong(key, hint, format string, args ...any)
	Missing(key, hint, format string, args ...any)
}

// Run is what a spec says of every attempt, whatever runs it.
type Run struct {
	Timeout, Grace time.Duration
	SlotGPUs       bool // the slots say which GPUs an attempt has
	AutoGPUs       bool // the GPUs of this machine are handed out
}

// Site is where a study is at work.
type Site struct {
	Program string // lbotune's own, for jobs to call
	Dir     string // the study's directory
	Pool    string // a directory in it that a launcher may make, for what concerns all attempts
	Cwd     string // in which the study's command runs
	Workers int    // attempts at the same time
	// Log hears of what passes by itself.
	Log func(message string, err error)
}

// A Rejoiner launches attempts, and finds them again.
type Rejoiner interface {
	runner.Launcher
	runner.Attacher
}

// A Previewer can show what it would do for a job. An error beside the text says why that
// would be refused; it may have a method Hint that says what to do about it.
type Previewer interface {
	Preview(ctx context.Context, job runner.Job) (text string, err error)
}

// A Locator runs attempts elsewhere than as processes of this machine. Where says of the
// attempt in dir where that is, "" if it is not known, and whether it shows signs of life.
type Locator interface {
	Where(dir string) (where string, alive bool)
}

// A Keeper lets attempts wait that have no directory yet. Kept is what a file of the attempt in dir is
// to hold, nil for a file that it is not given, and kept says whether the attempt is known.
type Keeper interface {
	Kept(dir, name string) (content []byte, kept bool)
}

// A Canceller runs attempts that go on when nobody waits for them, so that one can leave.
type Canceller interface {
	// Left reports whether the attempt in dir was launched, and neither has ended nor is to end.
	Left(dir string) bool
	// Cancel ends an attempt that was left, and reports whether it was. Who attaches to it
	// will find that it was cancelled, or never begun.
	Cancel(ctx context.Context, dir string) (bool, error)
}

// A Releaser keeps something ready for further attempts, which Release gives back.
type Releaser interface {
	Release(ctx context.Context) error
}

// A Detacher can keep a command going while nobody here does.
type Detacher interface {
	Detach(command []string) Relay
}

// A Relay is a command that a Detacher keeps going, in one job after the other.
type Relay interface {
	// Start begins with the first job, and Next, called by a job, sees to its successor.
	Start(ctx context.Context) (id string, err error)
	Next(ctx context.Context) error
	// Jobs counts those that wait and those that run.
	Jobs(ctx context.Context) (waiting, running int, err error)
	// End removes those that wait.
	End(ctx context.Context) error
	// Output is the file to which they write.
	Output() string
}
