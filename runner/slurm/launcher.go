package slurm

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/runner"
)

// Launcher runs attempts as Slurm jobs. See the package comment for how.
type Launcher struct {
	Settings Settings
	// Exec is the command that calls Exec with the folder that follows it, on every node.
	Exec []string
	// Pool is the directory in which the pilots of a study find their work, and Workers how
	// many attempts there will be at the same time. Both are for Settings.Pilot.
	Pool    string
	Workers int
	// Dir is that of the study, in which a command that is detached runs on, and Cwd where it works.
	Dir, Cwd string
	// Log, if not nil, hears of what passes by itself, such as a controller that is away.
	Log func(message string, err error)

	queue  queue
	poolMu sync.Mutex
	pool   *pool
}

// program is a Launcher with what only lbotune itself asks of one.
type program struct{ *Launcher }

var _ interface {
	kinds.Rejoiner
	kinds.Previewer
	kinds.Locator
	kinds.Keeper
	kinds.Canceller
	kinds.Releaser
	kinds.Detacher
} = program{}

func (l *Launcher) log(message string, err error) {
	if l.Log != nil {
		l.Log(message, err)
	}
}

var oddRE = pattern.Lazy(`[^A-Za-z0-9_.-]+`)

// jobName makes the name of an attempt's jobs, which no other attempt has, nor that of a copied study.
func jobName(id string) string {
	var nonce [6]byte
	rand.Read(nonce[:])
	return fmt.Sprintf("lbotune-%s-%x", oddRE().ReplaceAllString(id, "-"), nonce)
}

// Launch implements runner.Launcher.
func (l *Launcher) Launch(ctx context.Context, job runner.Job) (exit runner.Exit, err error) {
	defer about(job, &exit, &err)
	if err := cmp.Or(job.Validate(), context.Cause(ctx), absolute(&job)); err != nil {
		return exit, err
	}
	f := folderOf(job.Dir)
	if f.claimed() {
		return exit, fmt.Errorf("%s: %w", job.Dir, runner.ErrClaimed)
	}
	if lost := f.losses(); len(lost) > l.Settings.Retries {
		return exit, fmt.Errorf("%w: the cluster has lost this trial %d times in a row, the last time by %s",
			runner.ErrNotBegun, len(lost), lost[len(lost)-1])
	}
	if err := runner.Claim(string(f)); err != nil {
		return exit, diskError(err)
	}
	in := &intent{Version: intentVersion, Name: jobName(job.ID), Inode: f.inode(), Beat: l.Settings.beat(), Job: orderOf(job)}
	w := &watch{Launcher: l, folder: f, intent: in, job: job, seen: true, submitting: !l.Settings.Pilot}
	if l.Settings.Pilot {
		in.Piloted, in.Asked = true, time.Now()
	} else if err = f.write(scriptName, []byte(l.script(f))); err == nil {
		err = f.write(outputName, nil)
	}
	if err == nil { // the intent is the last: from then on anybody may submit the job
		err = f.writeJSON(intentName, in)
	}
	if err != nil {
		f.remove()
		return exit, diskError(err)
	}
	return w.see(ctx)
}

// about says in an error which attempt it is about, of which there is no Exit then.
func about(job runner.Job, exit *runner.Exit, err *error) {
	if *err != nil {
		*exit, *err = runner.Exit{}, fmt.Errorf("attempt %s: %w", job.ID, *err)
	}
}

func diskError(err error) error {
	if errors.Is(err, runner.ErrClaimed) {
		return err
	}
	return &runner.SpawnError{Op: "prepare the job", Err: err, Disk: true}
}

// remove takes back what launch has made; moved away first, since a job that still writes would keep it.
func (f folder) remove() {
	d, err := door.Open(filepath.Dir(string(f)))
	if err != nil {
		return
	}
	defer d.Close()
	name := filepath.Base(string(f))
	gone := name + ".gone"
	_ = d.RemoveAll(gone) // of a launcher that died here
	if d.Rename(name, gone) == nil {
		_ = d.RemoveAll(gone)
	}
}

// absolute makes the paths of a job mean the same on another machine.
func absolute(job *runner.Job) (err error) {
	if job.Dir, err = filepath.Abs(job.Dir); err == nil {
		job.Cwd, err = filepath.Abs(job.Cwd)
	}
	return err
}

// Attach implements runner.Attacher. An attempt of which Slurm knows no job although it
// was to be submitted is submitted then: the orchestrator died around its sbatch, and if
// there is such a job after all, the claim lets only one of them run.
func (l *Launcher) Attach(ctx context.Context, job runner.Job) (exit runner.Exit, err error) {
	defer about(job, &exit, &err)
	if err := absolute(&job); err != nil {
		return exit, err
	}
	f := folderOf(job.Dir)
	f.refresh()
	in := new(intent)
	there, err := f.readJSON(intentName, in)
	switch {
	case err != nil:
		return exit, err
	case there && in.Version > intentVersion:
		return exit, fmt.Errorf("%s has version %d; this program reads versions up to %d", intentName, in.Version, intentVersion)
	case there:
		return l.rejoin(ctx, &watch{Launcher: l, folder: f, intent: in, job: job, doubt: !in.Piloted})
	case f.claimed(): // a study that was begun without Slurm
		return new(runner.Local).Attach(ctx, job)
	}
	f.remove() // nothing was submitted before the intent was there
	return exit, runner.ErrNeverStarted
}

// rejoin takes up an attempt whose intent is known.
func (l *Launcher) rejoin(ctx context.Context, w *watch) (runner.Exit, error) {
	outdated := w.job.Key != "" && w.job.Key != w.intent.Job.Key
	native := w.folder.inode() == w.intent.Inode
	switch {
	case outdated:
		if native { // it is ours to end
			ended, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = w.see(ended)
		}
		return runner.Exit{}, runner.ErrOutdated
	case !native && !w.folder.has(endingName):
		_ = w.folder.write(stopName, []byte(stopLost)) // for a job of this very path, where a study was restored in its place
		return runner.Exit{}, runner.ErrCopied
	}
	return w.see(ctx)
}
