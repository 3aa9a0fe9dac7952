package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/command"
	"github.com/lbotune/lbotune/runner"
)

// attempt is one run of a trial's command, or of the setup command (trial 0).
type attempt struct {
	study  *Study
	config Config
	trial  Trial
	id     AttemptID
	slot   int
	kill   chan struct{}
	// box takes readings while the attempt runs; nil if nobody wants them.
	box *readingBox
	// started is called when the command runs: rejoined if it was found running.
	started func(rejoined bool)
}

// run launches the attempt, or rejoins it, and returns how it ended.
func (a *attempt) run(ctx context.Context, resumed bool) outcome {
	begin := time.Now()
	job, err := a.job()
	if spawn := (*runner.SpawnError)(nil); errors.As(err, &spawn) {
		return outcome{err: fmt.Errorf("%v: %w", a.id, err)}
	}
	if err != nil {
		return failed(FailLaunch, 0, "%v", err)
	}
	f := newFollower(a)
	defer f.stop()
	attaching := false
	job.Started = func(int) {
		if a.box != nil {
			f.start()
		}
		a.started(attaching)
	}
	job.Long = f.start
	if attacher, ok := a.study.opts.Launcher.(runner.Attacher); ok && resumed {
		attaching = true
		exit, err := attacher.Attach(ctx, job)
		switch {
		case err == nil, errors.Is(err, runner.ErrLost), errors.Is(err, runner.ErrElsewhere):
			return a.outcome(exit, err, begin, f)
		case errors.Is(err, runner.ErrNeverStarted) && a.trial.seen:
			return failed(FailLost, 0, "the attempt was lost: it had begun, but its directory is gone")
		case !errors.Is(err, runner.ErrNeverStarted):
			return outcome{err: fmt.Errorf("rejoin %v: %w", a.id, err)}
		}
		attaching = false
	}
	exit, err := a.study.opts.Launcher.Launch(ctx, job)
	return a.outcome(exit, err, begin, f)
}

// bindings are what the placeholders stand for.
func (a *attempt) bindings() *command.Bindings {
	if a.id.Trial == 0 {
		return setupBindings(a.study.layout, &a.config)
	}
	return TrialBindings(a.study.layout, &a.config, &a.trial, a.id.Attempt, a.slot)
}

// TrialSeed is what a trial is given as {seed}: a number below 2^31, which
// every program can take, that differs between trials and between the repeats
// of one (counted from 0).
func (c *Config) TrialSeed(trial, repeat int) uint64 {
	return rand.NewPCG(c.Seed^uint64(repeat)<<32, uint64(trial)).Uint64() >> 33
}

// job describes the attempt to the launcher.
func (a *attempt) job() (runner.Job, error) {
	b := a.bindings()
	job := runner.Job{
		Dir:    a.study.layout.Attempt(a.id),
		ID:     fmt.Sprintf("%s/%d/%d", a.study.state.ID, a.id.Trial, a.id.Attempt),
		Cwd:    a.config.Dir,
		Grace:  time.Duration(a.config.Run.Grace),
		Kill:   a.kill,
		MaxLog: a.config.Run.MaxLog,
		Env:    []string{"LBOTUNE_STUDY=" + b.Study},
	}
	cmd := command.Command{Shell: a.config.Setup}
	if a.id.Trial > 0 {
		cmd = a.config.Command
		job.Timeout = time.Duration(a.config.Run.Timeout)
		job.Env = a.environment(b)
		job.Cwd = a.cwd(b)
		if a.config.checkpoints() {
			if err := os.MkdirAll(b.CheckpointDir, dirMode); err != nil {
				return job, &runner.SpawnError{Op: "make the checkpoint directory", Err: err, Disk: true}
			}
		}
		job.Files = a.files(b)
	}
	cmd, err := cmd.Render(b)
	job.Shell, job.Argv = cmd.Shell, cmd.Argv
	if src := a.config.Run.Sources; src != nil && a.id.Trial > 0 {
		src.withSources(&job, a.config.Dir)
	}
	return job, err
}

// cwd is the trial's working directory.
func (a *attempt) cwd(b *command.Bindings) string {
	cwd, _ := b.Expand(a.config.Run.Cwd)
	return absolute(a.config.Dir, cwd)
}

// files renders what is written into the attempt's directory.
func (a *attempt) files(b *command.Bindings) []runner.File {
	files := []runner.File{{Name: paramsName, Content: append(b.ParamsJSON(), '\n')}}
	for _, t := range a.config.Files {
		files = append(files, runner.File{Name: filepath.ToSlash(t.To), Content: []byte(t.Render(b))})
	}
	if a.study.pattern.Variable() != "" {
		files = append(files, runner.File{Name: resultName})
	}
	return files
}

// environment is what the program finds in its environment beside lbotune's
// own.
func (a *attempt) environment(b *command.Bindings) []string {
	env := a.config.specEnv(b)
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("LBOTUNE_STUDY", b.Study)
	add("LBOTUNE_TRIAL", strconv.Itoa(b.Trial))
	add("LBOTUNE_SEED", strconv.FormatUint(b.Seed, 10))
	add("LBOTUNE_TRIAL_DIR", b.TrialDir)
	if a.config.checkpoints() {
		add("LBOTUNE_CHECKPOINT_DIR", b.CheckpointDir)
	}
	if v := a.study.pattern.Variable(); v != "" {
		add(v, filepath.Join(b.TrialDir, resultName))
	}
	for _, v := range b.All() {
		add("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
	}
	return env
}

// specEnv is the environment that the spec gives a trial, as NAME=value: that of
// all trials, then that of its slot.
func (c *Config) specEnv(b *command.Bindings) []string {
	given := c.Run.Env
	if b.Slot < len(c.Run.Slots) {
		given = slices.Concat(given, c.Run.Slots[b.Slot].Env)
	}
	var env []string
	for _, e := range given {
		name, text, _ := strings.Cut(e, "=")
		if value, absent := b.Expand(text); !absent {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
