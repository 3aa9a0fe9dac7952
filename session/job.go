package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
)

// job describes the attempt to the launcher.
func (a *attempt) job() (runner.Job, error) {
	b := a.bindings()
	job := runner.Job{
		Dir:    a.study.layout.Attempt(a.id),
		ID:     fmt.Sprintf("%s/%d/%d", a.study.state.ID, a.id.Trial, a.id.Attempt),
		Key:    a.key,
		Cwd:    a.config.Dir,
		Grace:  time.Duration(a.config.Run.Grace),
		Kill:   a.kill,
		MaxLog: a.config.Run.MaxLog,
		Hold:   a.hold,
		Env:    []string{"LBOTUNE_STUDY=" + b.Study},
	}
	if err := a.inStudy(filepath.Dir(job.Dir), checkDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return job, &runner.SpawnError{Op: "use the trial's directory", Err: err, Disk: true} // a trial may have made it a link
	}
	cmd := command.Command{Shell: a.config.Setup}
	if a.id.Trial > 0 {
		cmd = a.config.Command
		job.Timeout = time.Duration(a.config.Run.Timeout)
		job.Env = a.environment(b)
		job.Cwd = a.config.Cwd(b)
		if checkpoints(&a.config) {
			if err := a.inStudy(b.CheckpointDir, makeCheckpoint); err != nil {
				return job, &runner.SpawnError{Op: "make the checkpoint directory", Err: err, Disk: true}
			}
		}
		var err error
		if job.Files, err = a.files(b); err != nil {
			return job, err
		}
	}
	cmd, err := cmd.Render(b)
	job.Shell, job.Argv = cmd.Shell, cmd.Argv
	if src := a.config.Run.Sources; src != nil && a.id.Trial > 0 {
		withSources(&job, src, a.config.Dir, a.study.linked)
	}
	return job, err
}

// makeCheckpoint makes a directory for checkpoints. One that is there may be a link: it is the
// program that uses it.
func makeCheckpoint(d *door.Dir, name string) error {
	if _, err := d.Stat(name); err == nil {
		return nil
	}
	made, err := d.Make(name)
	if err != nil {
		return err
	}
	return made.Close()
}

// shortagePatience is how long is waited for descriptors, of which the process may have none.
const shortagePatience = 30 * time.Second

// inStudy is study.Layout's In, and waits for descriptors.
func (a *attempt) inStudy(path string, do func(d *door.Dir, name string) error) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := a.study.layout.In(path, do)
		if short := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); !short || time.Since(begun) > shortagePatience {
			return err
		}
	}
}

// checkDir says why the attempt's directory cannot be made in another one.
func checkDir(d *door.Dir, name string) error {
	above, err := d.Dir(name)
	if err != nil {
		return err
	}
	return above.Close()
}

// files renders what is written into the attempt's directory.
func (a *attempt) files(b *command.Bindings) ([]runner.File, error) {
	files := []runner.File{{Name: study.ParamsName, Content: append(b.ParamsJSON(), '\n')}}
	for _, t := range a.config.Files {
		text, err := t.Render(b)
		if err != nil {
			return nil, err
		}
		files = append(files, runner.File{Name: filepath.ToSlash(t.To), Content: []byte(text)})
	}
	if a.variable() != "" {
		files = append(files, runner.File{Name: study.ResultName})
	}
	own := func(f runner.File) bool { return f.Name == study.SlotName } // of a spec that was checked for one worker
	if a.config.Run.SlotCount() > 1 && !slices.ContainsFunc(files, own) {
		files = append(files, runner.File{Name: study.SlotName, Content: []byte(strconv.Itoa(a.slot) + "\n")})
	}
	return files, nil
}

// environment is what the program finds in its environment beside lbotune's
// own.
func (a *attempt) environment(b *command.Bindings) []string {
	env := a.config.Environment(b)
	env = append(env, lineBuffered(env, a.study.stdbuf)...)
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("LBOTUNE_STUDY", b.Study)
	add("LBOTUNE_TRIAL", strconv.Itoa(b.Trial))
	add("LBOTUNE_SEED", strconv.FormatUint(b.Seed, 10))
	add("LBOTUNE_TRIAL_DIR", b.TrialDir)
	if checkpoints(&a.config) {
		add("LBOTUNE_CHECKPOINT_DIR", b.CheckpointDir)
	}
	if v := a.variable(); v != "" {
		add(v, filepath.Join(b.TrialDir, study.ResultName))
	}
	for _, v := range b.All() {
		add("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
	}
	return env
}

// checkpoints reports whether trials have a directory for checkpoints.
func checkpoints(c *study.Config) bool {
	if c.Resource() != "" {
		return true
	}
	texts := append([]string{c.Command.Shell, c.Run.Cwd}, c.Command.Argv...)
	texts = append(texts, c.Run.Env...)
	for _, m := range c.Metrics {
		texts = append(texts, m.File)
	}
	for _, s := range c.Run.Slots {
		texts = append(texts, s.Env...)
	}
	for _, f := range c.Files {
		texts = append(texts, f.Text)
		for _, s := range f.Set {
			texts = append(texts, s.Value.Text())
		}
	}
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "{checkpoint_dir}") })
}
