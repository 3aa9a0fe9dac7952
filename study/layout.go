package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/parser"
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

// DirFor returns the default study directory of a spec: its name with .study for .toml, beside it.
func DirFor(spec string) string { return strings.TrimSuffix(spec, ".toml") + ".study" }

// Journal is the path of the journal.
func (l Layout) Journal() string { return filepath.Join(string(l), "journal.jsonl") }

// StopRequest is the file whose presence asks the lbotune that works on the study to stop.
func (l Layout) StopRequest() string { return filepath.Join(string(l), "stop") }

// Pilots is the directory in which jobs that run several trials find them.
func (l Layout) Pilots() string { return filepath.Join(string(l), "pilots") }

// HookLog is the file to which hooks print.
func (l Layout) HookLog() string { return filepath.Join(string(l), "hooks.log") }

// Setup is the directory of the setup command's attempts.
func (l Layout) Setup() string { return filepath.Join(string(l), "setup") }

// Entries names what lbotune puts into a study's directory, the journal last.
func (l Layout) Entries() []string {
	return lists.Map([]string{l.StopRequest(), l.Requests(), l.Pilots(), l.HookLog(), l.Setup(), l.trials(), journal.LockPath(l.Journal()), l.Journal()}, filepath.Base)
}

// Trial is the directory of a trial, which survives its attempts.
func (l Layout) Trial(n int) string {
	return filepath.Join(l.trials(), fmt.Sprintf("%06d", n))
}

func (l Layout) trials() string { return filepath.Join(string(l), "trials") }

// Attempt is the directory of one attempt; trial 0 is the setup command.
func (l Layout) Attempt(id AttemptID) string {
	if id.Trial == 0 {
		return filepath.Join(l.Setup(), fmt.Sprintf("a%d", id.Attempt))
	}
	return filepath.Join(l.Trial(id.Trial), fmt.Sprintf("a%d", id.Attempt))
}

// checkpoint is the directory for checkpoints of a trial's next run. Each of its repeats
// has one of its own, as it has a seed. No other configuration's is found there, whatever
// the journal has been through.
func (l Layout) checkpoint(c *Config, t *Trial) string {
	return filepath.Join(l.Trial(t.first().Number), "checkpoint-"+t.checkpointKey(c)[:8])
}

// Open opens the study's directory, through which what lies in it is reached: trials and setup
// alone may be links, say to a larger disk.
func (l Layout) Open() (*door.Dir, error) { return door.Open(string(l), "trials", "setup") }

// Output says how what an attempt has written is opened for reading, at a path that l has given.
// The directory of its trial may be a link as well, say to an archive, and so may that for checkpoints.
func (l Layout) Output(path string) func() (*os.File, error) {
	return func() (*os.File, error) {
		return reach(l, path, func(d *door.Dir, name string) (*os.File, error) { return d.OpenFile(name, os.O_RDONLY) },
			"trials", "setup", "trials/*", "trials/*/checkpoint-*")
	}
}

// In calls do with the directory and the name in it of a path that l has given.
func (l Layout) In(path string, do func(d *door.Dir, name string) error) error {
	_, err := at(l, path, func(d *door.Dir, name string) (struct{}, error) { return struct{}{}, do(d, name) })
	return err
}

// at is In with a result.
func at[T any](l Layout, path string, do func(d *door.Dir, name string) (T, error)) (T, error) {
	return reach(l, path, do, "trials", "setup")
}

// reach is at where links says what may be a link to a directory.
func reach[T any](l Layout, path string, do func(d *door.Dir, name string) (T, error), links ...string) (out T, err error) {
	d, err := door.Open(string(l), links...)
	if err != nil {
		return out, err
	}
	defer d.Close()
	name, err := filepath.Rel(string(l), path)
	if err != nil {
		return out, err
	}
	return do(d, name)
}

// OpenFile opens a regular file of the study; flags are those of open(2).
func (l Layout) OpenFile(path string, flags int) (*os.File, error) {
	return at(l, path, func(d *door.Dir, name string) (*os.File, error) { return d.OpenFile(name, flags) })
}

// Read returns what is in a regular file of the study, of at most so many bytes.
func (l Layout) Read(path string, most int64) ([]byte, error) {
	return at(l, path, func(d *door.Dir, name string) ([]byte, error) { return d.Read(name, most) })
}

// Names lists what is in a directory of the study.
func (l Layout) Names(path string) ([]string, error) { return at(l, path, (*door.Dir).List) }

// Stat says what is at a path in the study. It does not follow a link there.
func (l Layout) Stat(path string) (door.Info, error) { return at(l, path, (*door.Dir).Stat) }

// Former names the directory of a former study's attempts, "" if there is none.
func (l Layout) Former() string {
	for _, dir := range []string{l.trials(), l.Setup()} {
		if names, err := l.Names(dir); err == nil && len(names) > 0 {
			return dir
		}
	}
	return ""
}

// Names of what lbotune puts into an attempt's directory beside the launcher's files.
const (
	ParamsName  = "params.json"  // the trial's parameters
	SourcesName = "sources"      // its view of the sources
	BeforeName  = "before.json"  // what stood in the place of its result files before its start
	SlotName    = "slot"         // the number of the slot that it runs in, if there are several
	ResultName  = "results.json" // for the results of some dialects' programs, which a variable tells of it
)

// Reserved lists the names in an attempt's directory that no file of the spec's can have.
func (c *Config) Reserved() []string {
	names := []string{"attempt.jsonl", "stdout", "stderr", ParamsName} // the first three are the launcher's
	if c.Run.Sources != nil {
		names = append(names, SourcesName)
	}
	if c.Run.SlotCount() > 1 {
		names = append(names, SlotName)
	}
	for _, m := range c.Metrics {
		if m.File != "" {
			names = append(names, BeforeName)
		}
		if p, err := parser.Compile(m.Rule); err == nil && p.Variable() != "" {
			names = append(names, ResultName)
		}
	}
	return names
}
