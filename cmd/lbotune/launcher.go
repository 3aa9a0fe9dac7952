package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// launcher is the one that the study's config asks for, as soon as that is known.
type launcher struct {
	runner.Rejoiner
	log *slog.Logger
}

// choose makes the launcher that cfg asks for, for the study in l.
func (l *launcher) choose(cfg *study.Config, at study.Layout) (err error) {
	if cfg.Launcher == nil {
		l.Rejoiner = &runner.Local{Adopt: true}
		return nil
	}
	kind, known := spec.Launchers[cfg.Launcher.Kind]
	if !known {
		return fmt.Errorf("this version of lbotune has no launcher %q", cfg.Launcher.Kind)
	}
	site := runner.Site{Dir: string(at), Pool: at.Pilots(), Cwd: cfg.Dir, Workers: cfg.Run.SlotCount()}
	if l.log != nil {
		site.Log = func(message string, err error) { l.log.Info(message, "error", err) }
	}
	if site.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("find lbotune's own program: %w", err)
	}
	l.Rejoiner, err = kind.New(cfg.Launcher.Settings, site)
	return err
}

// able returns the launcher that cfg asks for as one that can do what T says, if it can.
func able[T any](cfg *study.Config, at study.Layout) (t T, ok bool, err error) {
	var l launcher
	if err = l.choose(cfg, at); err == nil {
		t, ok = l.Rejoiner.(T)
	}
	return t, ok, err
}

// can is able where what cannot be made can do nothing.
func can[T any](cfg *study.Config, at study.Layout) (T, bool) {
	t, ok, _ := able[T](cfg, at)
	return t, ok
}

// left lists the directories of attempts that go on while no lbotune works on the study.
func left(st *study.State, l study.Layout) (dirs []string) {
	c, ok := can[runner.Canceller](&st.Config, l)
	for _, t := range st.Pending() {
		if dir := l.Attempt(study.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}); ok && c.Left(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// where says where an attempt runs or ran, "" for this machine or if that is not known, and
// whether it shows signs of life.
func where(cfg *study.Config, l study.Layout, id study.AttemptID) (text string, alive bool) {
	if at, ok := can[runner.Locator](cfg, l); ok {
		return at.Where(l.Attempt(id))
	}
	return "", false
}

// release gives back what the launcher keeps for more trials: the session is over.
func (l *launcher) release(ctx context.Context) error {
	if r, ok := l.Rejoiner.(runner.Releaser); ok {
		return r.Release(ctx)
	}
	return nil
}

// previewScript shows what would be done for the first trial, if the launcher can, and why
// that would be refused.
func previewScript(ctx context.Context, cfg *study.Config, l study.Layout) (string, error) {
	p, ok, err := able[runner.Previewer](cfg, l)
	if !ok {
		return "", err
	}
	script, err := p.Preview(ctx, runner.Job{Dir: l.Attempt(study.AttemptID{Trial: 1, Attempt: 1}), ID: "STUDY/1/1", Cwd: cfg.Dir,
		Timeout: time.Duration(cfg.Run.Timeout), Grace: time.Duration(cfg.Run.Grace)})
	if err != nil {
		err = usagef("[launcher]: %w", err)
	}
	return script, err
}

// newInside makes the commands for use in jobs.
func newInside() (out []*cobra.Command) {
	for _, kind := range spec.Launchers {
		for name, run := range kind.Inside {
			out = append(out, &cobra.Command{
				Use:    name + " FOLDER",
				Short:  "Run one attempt inside a job",
				Hidden: true,
				Args:   cobra.ExactArgs(1),
				RunE:   func(_ *cobra.Command, args []string) error { return run(args[0]) },
			})
		}
	}
	return out
}
