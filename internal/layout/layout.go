// Package layout names the files of a study and opens them, through one door.
package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
)

// Study names the files of a study. The journal is the truth; the rest may be
// thrown away once no trial runs.
type Study string

// Of returns the layout of the study in dir.
func Of(dir string) Study {
	if abs, err := filepath.Abs(Direct(dir)); err == nil {
		return Study(abs)
	}
	return Study(dir)
}

// Direct is a path that leads where the system finds what is at path. Package filepath takes ".." away with what
// stands before it, which may be a link, also on the way to the working directory.
func Direct(path string) string {
	above, name := filepath.Split(strings.TrimRight(path, "/"))
	if name == ".." {
		above, name = path, ""
	}
	if !filepath.IsAbs(above) {
		here, _ := os.Getwd() // where there is none, there is no study either
		above = here + "/" + above
	}
	real, err := filepath.EvalSymlinks(above)
	same, _ := filepath.EvalSymlinks(filepath.Clean(above))
	switch {
	case errors.Is(err, fs.ErrNotExist) && name != "": // it may be made
		return filepath.Join(Direct(above), name)
	case err != nil, real == same:
		return path
	}
	return filepath.Join(real, name)
}

// DirFor returns the default study directory of a spec: its name with .study for .toml, beside it.
func DirFor(spec string) string { return strings.TrimSuffix(spec, ".toml") + ".study" }

// Journal is the path of the journal.
func (l Study) Journal() string { return filepath.Join(string(l), "journal.jsonl") }

// StopRequest is the file whose presence asks the lbotune that works on the study to stop.
func (l Study) StopRequest() string { return filepath.Join(string(l), "stop") }

// Requests is the directory in which requests wait. Nobody follows a link in its place: behind it
// the files of others would be taken for requests, and removed.
func (l Study) Requests() string { return filepath.Join(string(l), "requests") }

// Pilots is the directory in which jobs that run several trials find them.
func (l Study) Pilots() string { return filepath.Join(string(l), "pilots") }

// HookLog is the file to which hooks print.
func (l Study) HookLog() string { return filepath.Join(string(l), "hooks.log") }

// Setup is the directory of the setup command's attempts.
func (l Study) Setup() string { return filepath.Join(string(l), "setup") }

// Entries names what lbotune puts into a study's directory, the journal last.
func (l Study) Entries() []string {
	torn := func(name string) bool {
		n, is := strings.CutPrefix(name, filepath.Base(l.Journal())+".torn-")
		return is && strings.Trim(n, "0123456789") == ""
	}
	there, _ := l.Names(string(l)) // what cannot be read stays
	return append(slices.DeleteFunc(there, func(name string) bool { return !torn(name) }), lists.Map([]string{l.StopRequest(), l.Requests(), l.Pilots(), l.HookLog(), l.Setup(), l.trials(), journal.LockPath(l.Journal()), l.Journal()}, filepath.Base)...)
}

// Trial is the directory of a trial, which survives its attempts.
func (l Study) Trial(n int) string {
	return filepath.Join(l.trials(), fmt.Sprintf("%06d", n))
}

func (l Study) trials() string { return filepath.Join(string(l), "trials") }

// AttemptID names one attempt at a trial.
type AttemptID struct{ Trial, Attempt int }

func (id AttemptID) String() string { return fmt.Sprintf("trial %d, attempt %d", id.Trial, id.Attempt) }

// Attempt is the directory of one attempt; trial 0 is the setup command.
func (l Study) Attempt(id AttemptID) string {
	if id.Trial == 0 {
		return filepath.Join(l.Setup(), fmt.Sprintf("a%d", id.Attempt))
	}
	return filepath.Join(l.Trial(id.Trial), fmt.Sprintf("a%d", id.Attempt))
}

// Open opens the study's directory, through which what lies in it is reached: trials and setup
// alone may be links, say to a larger disk.
func (l Study) Open() (*door.Dir, error) { return door.Open(string(l), "trials", "setup") }

// Output says how what an attempt has written is opened for reading, at a path that l has given.
// The directory of its trial may be a link as well, say to an archive, and so may that for checkpoints.
func (l Study) Output(path string) func() (*os.File, error) {
	return func() (*os.File, error) {
		return reach(l, path, func(d *door.Dir, name string) (*os.File, error) { return d.OpenFile(name, os.O_RDONLY) },
			"trials", "setup", "trials/*", "trials/*/checkpoint-*")
	}
}

// In calls do with the directory and the name in it of a path that l has given.
func (l Study) In(path string, do func(d *door.Dir, name string) error) error {
	_, err := At(l, path, func(d *door.Dir, name string) (struct{}, error) { return struct{}{}, do(d, name) })
	return err
}

// At is In with a result.
func At[T any](l Study, path string, do func(d *door.Dir, name string) (T, error)) (T, error) {
	return reach(l, path, do, "trials", "setup")
}

// reach is At where links says what may be a link to a directory.
func reach[T any](l Study, path string, do func(d *door.Dir, name string) (T, error), links ...string) (out T, err error) {
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
func (l Study) OpenFile(path string, flags int) (*os.File, error) {
	return At(l, path, func(d *door.Dir, name string) (*os.File, error) { return d.OpenFile(name, flags) })
}

// Read returns what is in a regular file of the study, of at most so many bytes.
func (l Study) Read(path string, most int64) ([]byte, error) {
	return At(l, path, func(d *door.Dir, name string) ([]byte, error) { return d.Read(name, most) })
}

// Names lists what is in a directory of the study.
func (l Study) Names(path string) ([]string, error) { return At(l, path, (*door.Dir).List) }

// Stat says what is at a path in the study. It does not follow a link there.
func (l Study) Stat(path string) (door.Info, error) { return At(l, path, (*door.Dir).Stat) }

// Former names what a former study has left, or somebody else under a name that a study would take for its own, "" if
// there is nothing.
func (l Study) Former() string {
	for _, path := range []string{l.trials(), l.Setup(), l.StopRequest(), l.Requests(), l.Pilots(), l.HookLog()} {
		names, _ := l.Names(path)
		names = slices.DeleteFunc(names, func(name string) bool { // requests may come first
			return strings.HasPrefix(strings.TrimLeft(name, "-0123456789abcdef"), ".json")
		})
		if info, err := l.Stat(path); len(names) > 0 || err == nil && info.Mode.IsRegular() {
			return path
		}
	}
	return ""
}

// Names of what lbotune puts into an attempt's directory beside its outputs.
const (
	RecordName  = "attempt.jsonl" // the launcher's: who started it where, and how it ended
	ParamsName  = "params.json"   // the trial's parameters
	SourcesName = "sources"       // its view of the sources
	BeforeName  = "before.json"   // what stood in the place of its result files before its start
	SlotName    = "slot"          // the number of the slot that it runs in, if there are several
	ResultName  = "results.json"  // for the results of some dialects' programs, which a variable tells of it
)
