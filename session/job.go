package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	if info, err := a.study.layout.Stat(filepath.Dir(job.Dir)); a.id.Trial > 0 && err == nil && !info.Mode.IsDir() { // a trial's doing
		err := fmt.Errorf("%s is no directory (%v), and links are not followed", filepath.Dir(job.Dir), info.Mode)
		return job, &runner.SpawnError{Op: "use the trial's directory", Err: err, Disk: true}
	}
	cmd := command.Command{Shell: a.config.Setup}
	if a.id.Trial > 0 {
		cmd = a.config.Command
		job.Timeout = time.Duration(a.config.Run.Timeout)
		job.Env = a.environment(b)
		job.Cwd = a.config.Cwd(b)
		if checkpoints(&a.config) {
			if err := a.study.layout.In(b.CheckpointDir, makeCheckpoint); err != nil {
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
