package slurm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/runner"
)

// Files of a folder.
const (
	intentName    = "intent.json"     // launcher: what is to run and its jobs' name, written before sbatch is called
	scriptName    = "job.sh"          // launcher: what sbatch is given
	submittedName = "submitted.jsonl" // launcher: a job id for each call of sbatch that gave one
	stopName      = "stop"            // launcher: asks the job to end the attempt, and says why
	outputName    = "slurm.out"       // Slurm: output of the script, of the setup lines above all
	beatName      = "heartbeat"       // job: its id and its node; touched as long as it lives
	settledName   = "settled"         // job: the command has ended, and what it left behind is asked to
	endingName    = "ending.json"     // job: how the attempt ended
	lostName      = "lost.json"       // launcher: the cluster lost the attempt, and where
	takenPrefix   = "taken-"          // pilot: begins the name of a file; this pilot has the attempt, or tried
)

const suffix = ".slurm"

// folder is where the launcher and the job speak about one attempt.
type folder string

func folderOf(dir string) folder { return folder(dir + suffix) }

// attempt is the attempt's own directory, whose creation is the job's claim.
func (f folder) attempt() string { return strings.TrimSuffix(string(f), suffix) }

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// in calls do with the folder. No link is followed that lies in its place, or in it.
func in[T any](f folder, do func(d *door.Dir) (T, error)) (out T, err error) {
	d, err := door.OpenReal(string(f))
	if err != nil {
		return out, err
	}
	defer d.Close()
	return do(d)
}

func (f folder) in(do func(d *door.Dir) error) error {
	_, err := in(f, func(d *door.Dir) (any, error) { return nil, do(d) })
	return err
}

// write replaces a file of the folder as a whole, and returns when it is on disk.
func (f folder) write(name string, text []byte) error {
	return f.in(func(d *door.Dir) error { return d.Write(name, text) })
}

// largest is the most that is read of a file: an intent holds the files of its attempt.
const largest = 64 << 20

func (f folder) read(name string) ([]byte, error) {
	return in(f, func(d *door.Dir) ([]byte, error) { return d.Read(name, largest) })
}

func (f folder) names() []string {
	names, _ := in(f, func(d *door.Dir) ([]string, error) { return d.List(".") })
	return names
}

// refresh makes a network file system look again for files that it did not see before.
func (f folder) refresh() { f.names() }

func (f folder) strike(name string) {
	_ = f.in(func(d *door.Dir) error { return d.Remove(name) })
}

// inode identifies the folder; it is 0 if it cannot be told.
func (f folder) inode() uint64 {
	info, _ := in(f, (*door.Dir).Info)
	return info.Inode
}

func (f folder) writeJSON(name string, v any) error {
	text, _ := json.Marshal(v) // plain fields: cannot fail
	return f.write(name, append(text, '\n'))
}

// readJSON reads a file of the folder; it reports whether there is one.
func (f folder) readJSON(name string, v any) (bool, error) {
	text, err := f.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", f.path(name), err)
	}
	return err == nil, err
}

func (f folder) has(name string) bool {
	_, err := f.stat(name)
	return err == nil
}

func (f folder) stat(name string) (door.Info, error) {
	return in(f, func(d *door.Dir) (door.Info, error) { return d.Stat(name) })
}

func (f folder) claimed() bool {
	_, err := os.Lstat(f.attempt())
	return err == nil
}

// beat is the job's last sign of life: the first by the file system's clock, later ones by its node's.
func (f folder) beat() time.Time {
	info, err := f.stat(beatName)
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// Where implements kinds.Locator: it says which job runs the attempt in dir, and on which node.
func (l program) Where(dir string) (job string, alive bool) {
	f, in := folderOf(dir), new(intent)
	_, _ = f.readJSON(intentName, in)
	text, _ := f.read(beatName)
	return strings.TrimSpace(string(text)), time.Since(f.beat()) < 6*in.Beat
}

// Kept implements kinds.Keeper, which a session asks of every launcher that it is given.
func (l *Launcher) Kept(dir, name string) (content []byte, kept bool) {
	in := new(intent)
	there, err := folderOf(dir).readJSON(intentName, in)
	for _, f := range in.Job.Files {
		if string(f.Name) == name {
			content = []byte(f.Content)
		}
	}
	return content, there && err == nil
}

// taken is what the file of a pilot holds.
type taken struct {
	First bool `json:"first"` // the attempt has the whole time of the pilot
}

func (f folder) addSubmission(id string) error {
	line, _ := json.Marshal(struct {
		ID string    `json:"id"`
		At time.Time `json:"at"`
	}{id, time.Now()})
	return f.in(func(d *door.Dir) error {
		w, err := d.OpenFile(submittedName, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return errors.Join(err, w.Sync(), w.Close())
	})
}

// stopReason says why an attempt is asked to end.
type stopReason string

const (
	stopCancel  stopReason = "cancel"
	stopTimeout stopReason = "timeout"
	stopKill    stopReason = "kill" // at once
	stopLost    stopReason = "lost" // at once; it was given up, and the trial may run elsewhere
)

func (f folder) stopped() stopReason {
	text, _ := f.read(stopName)
	return stopReason(strings.TrimSpace(string(text)))
}

// intent is what is to run.
type intent struct {
	Version int           `json:"intent"`
	Name    string        `json:"name"`  // of the jobs
	Inode   uint64        `json:"inode"` // of the folder: a copy of it knows that it is one
	Beat    time.Duration `json:"beat"`
	Job     order         `json:"job"`
	// Of an attempt that pilots run there is no job, and these are given.
	Piloted bool      `json:"piloted,omitempty"`
	Asked   time.Time `json:"asked,omitzero"` // for the newest one to be the first
}

const intentVersion = 1

// order is a runner.Job as the file holds it.
type order struct {
	ID      string        `json:"id"`
	Key     string        `json:"key,omitempty"`
	Shell   text          `json:"shell,omitempty"`
	Argv    []text        `json:"argv,omitempty"`
	Env     []text        `json:"env,omitempty"`
	Cwd     text          `json:"cwd"`
	Files   []file        `json:"files,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	Grace   time.Duration `json:"grace"`
	MaxLog  int64         `json:"max_log,omitempty"`
}

type file struct {
	Name    text `json:"name"`
	Content text `json:"content"`
}

func orderOf(j runner.Job) order {
	files := lists.Map(j.Files, func(f runner.File) file { return file{text(f.Name), text(f.Content)} })
	return order{ID: j.ID, Key: j.Key, Shell: text(j.Shell), Argv: texts[text](j.Argv), Env: texts[text](j.Env), Cwd: text(j.Cwd),
		Files: files, Timeout: j.Timeout, Grace: j.Grace, MaxLog: j.MaxLog}
}

func (o order) job(dir string) runner.Job {
	files := lists.Map(o.Files, func(f file) runner.File { return runner.File{Name: string(f.Name), Content: []byte(f.Content)} })
	return runner.Job{Dir: dir, ID: o.ID, Key: o.Key, Shell: string(o.Shell), Argv: texts[string](o.Argv), Env: texts[string](o.Env),
		Cwd: string(o.Cwd), Files: files, Timeout: o.Timeout, Grace: o.Grace, MaxLog: o.MaxLog}
}

func texts[T, F ~string](from []F) []T {
	return lists.Map(from, func(s F) T { return T(s) })
}

// text is a string that JSON keeps byte for byte; if it is not UTF-8, as {"bytes": BASE64}.
type text string

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string][]byte{"bytes": []byte(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var raw map[string][]byte
		err := json.Unmarshal(b, &raw)
		*t = text(raw["bytes"])
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// lengths are those of the attempt's outputs.
func (f folder) lengths() runner.Lengths {
	return runner.Lengths{Stdout: f.length(runner.StdoutName), Stderr: f.length(runner.StderrName)}
}

// length is that of a file of the attempt, 0 if it is not there. Opening a file makes a network file
// system ask the server, which a look at it alone may not.
func (f folder) length(name string) int64 {
	w, err := door.OpenFile(filepath.Join(f.attempt(), name), os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer w.Close()
	if info, err := w.Stat(); err == nil {
		return info.Size()
	}
	return 0
}

// mostFiles is how many files of an attempt are waited for.
const mostFiles = 1000

// files are the lengths of what the command has left in the attempt's directory and below it, its results
// perhaps, level by level.
func (f folder) files() map[string]int64 {
	of := make(map[string]int64)
	_ = folder(f.attempt()).in(func(d *door.Dir) error {
		seen := 0
		for dirs := []string{"."}; len(dirs) > 0; dirs = dirs[1:] {
			names, _ := d.List(dirs[0])
			for _, name := range names[:min(len(names), mostFiles-seen)] {
				seen++
				name = path.Join(dirs[0], name)
				if info, err := d.Stat(name); err == nil && info.Mode.IsDir() {
					dirs = append(dirs, name)
				} else if length := f.length(name); length > 0 && !strings.HasPrefix(path.Base(name), ".nfs") { // of one that can be read, and was not removed
					of[name] = length
				}
			}
		}
		return nil
	})
	return of
}

// ending is how an attempt ended, as the job saw it.
type ending struct {
	Job     string       `json:"job"` // id
	Node    string       `json:"node"`
	Exit    *runner.Exit `json:"exit,omitempty"`
	Refusal *refusal     `json:"refusal,omitempty"` // it could not run
	Signal  string       `json:"signal,omitempty"`  // that asked the job to end
	// The lengths of the outputs and of other files in the attempt's directory, when nothing of it was left.
	Outputs runner.Lengths   `json:"outputs"`
	Files   map[string]int64 `json:"files,omitempty"`
}

type refusal struct {
	Text      string `json:"text"`
	Lost      bool   `json:"lost,omitempty"` // it ran, and its exit status is not known
	Op        string `json:"op,omitempty"`   // of a runner.SpawnError
	Temporary bool   `json:"temporary,omitempty"`
	Disk      bool   `json:"disk,omitempty"`
}

func refusalOf(err error) *refusal {
	var spawn *runner.SpawnError
	if errors.As(err, &spawn) {
		return &refusal{Text: spawn.Err.Error(), Op: spawn.Op, Temporary: spawn.Temporary, Disk: spawn.Disk}
	}
	return &refusal{Text: err.Error(), Lost: errors.Is(err, runner.ErrLost)}
}

func (r *refusal) err(node string) error {
	if r.Op == "" {
		return fmt.Errorf("%w: on node %s: %s", runner.ErrNotBegun, node, r.Text)
	}
	return &runner.SpawnError{Op: r.Op, Err: fmt.Errorf("%s (on node %s)", r.Text, node), Temporary: r.Temporary, Disk: r.Disk}
}

// loss says where the cluster lost an attempt.
type loss struct {
	State string `json:"state"`
	Node  string `json:"node,omitempty"`
}

// losses are those of the trial whose attempt this is, since one of its attempts ended otherwise.
func (f folder) losses() []loss {
	trial := folder(filepath.Dir(string(f)))
	names := trial.names()
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // a10 comes after a9
	var out []loss
	for _, name := range names {
		var l loss
		if of := folder(trial.path(name)); !strings.HasSuffix(name, suffix) {
			continue
		} else if there, _ := of.readJSON(lostName, &l); there {
			out = append(out, l)
		} else if of.has(endingName) {
			out = nil
		}
	}
	return out
}

func (l loss) String() string {
	text := cmp.Or(l.State, "a job that Slurm has forgotten")
	if l.State != "" && l.Node != "" {
		text += " on node " + l.Node
	}
	return text
}
