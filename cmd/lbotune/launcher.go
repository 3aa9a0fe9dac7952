package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/slurm"
	"github.com/lbotune/lbotune/study"
)

// launcher is the one that the study's config asks for, as soon as that is known.
type launcher struct {
	attacher
	log *slog.Logger
}

type attacher interface {
	runner.Launcher
	runner.Attacher
}

// choose makes the launcher that cfg asks for, for the study in dir.
func (l *launcher) choose(cfg *study.Config, dir string) error {
	if cfg.Launcher == nil {
		l.attacher = &runner.Local{Adopt: true}
		return nil
	}
	switch kind := cfg.Launcher.Kind; kind {
	case "slurm":
		s, err := slurmLauncher(cfg, study.Layout(dir))
		if err != nil {
			return err
		}
		if l.log != nil {
			s.Log = func(message string, err error) { l.log.Info(message, "error", err) }
		}
		l.attacher = s
		return nil
	default:
		return fmt.Errorf("this version of lbotune has no launcher %q", kind)
	}
}

// batch reports whether what runs needs nobody here, so that a person can leave.
func batch(cfg *study.Config) bool { return cfg.Launcher != nil }

// left counts the attempts that go on in jobs while no lbotune works on the study.
func left(st *study.State, l study.Layout) (n int) {
	for _, t := range st.Pending() {
		if slurm.Left(l.Attempt(study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()})) {
			n++
		}
	}
	return n
}

// release tells jobs that stay for more trials than one that the session is over.
func (l *launcher) release(ctx context.Context) error {
	if s, ok := l.attacher.(*slurm.Launcher); ok && s.Settings.Pilot {
		return s.Release(ctx)
	}
	return nil
}

func slurmLauncher(cfg *study.Config, l study.Layout) (*slurm.Launcher, error) {
	settings, err := slurm.ParseSettings(cfg.Launcher.Settings)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find lbotune's own program: %w", err)
	}
	return &slurm.Launcher{Settings: settings, Exec: []string{program, "exec"}, Pool: l.Pilots(), Workers: cfg.Run.SlotCount()}, nil
}

// previewScript shows the job of the first trial, or the pilots, and asks the batch system
// whether it would take that. Nothing is shown of trials that run here.
func previewScript(ctx context.Context, cfg *study.Config, l study.Layout) (string, error) {
	if !batch(cfg) {
		return "", nil
	}
	s, err := slurmLauncher(cfg, l)
	if err != nil {
		return "", err
	}
	script, err := s.Preview(ctx, runner.Job{Dir: l.Attempt(study.AttemptID{Trial: 1, Attempt: 1}), ID: "STUDY/1/1", Cwd: cfg.Dir,
		Timeout: time.Duration(cfg.Run.Timeout), Grace: time.Duration(cfg.Run.Grace)})
	if err != nil {
		err = &hinted{usagef("[launcher]: %v", err), "sinfo shows the partitions and what their nodes have"}
	}
	return script, err
}

// newExec is what a job of a batch system runs.
func newExec() *cobra.Command {
	return &cobra.Command{
		Use:    "exec FOLDER",
		Short:  "Run one attempt inside a job",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return slurm.Exec(args[0]) },
	}
}
