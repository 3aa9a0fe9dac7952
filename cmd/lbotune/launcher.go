package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// launcher is the one that the study's config asks for, as soon as that is known.
type launcher struct {
	kinds.Rejoiner
	log *slog.Logger
}

var _ kinds.Keeper = (*launcher)(nil) // which is the session's

// choose makes the launcher that cfg asks for, for the study in l.
func (l *launcher) choose(cfg *study.Config, at layout.Study) (err error) {
	if cfg.Launcher == nil {
		l.Rejoiner = &runner.Local{Adopt: true}
		return nil
	}
	kind, known := spec.Launchers[cfg.Launcher.Kind]
	if !known {
		return fmt.Errorf("this version of lbotune has no launcher %q", cfg.Launcher.Kind)
	}
	site := kinds.Site{Dir: string(at), Pool: at.Pilots(), Cwd: cfg.Dir, Workers: cfg.Run.SlotCount()}
	if l.log != nil {
		site.Log = func(message string, err error) { l.log.Info(message, "error", err) }
	}
	if site.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("find lbotune's own program: %w", err)
	}
	l.Rejoiner, err = kind.New(cfg.Launcher.Settings, site)
	return err
}

// Kept implements kinds.Keeper.
func (l *launcher) Kept(dir, name string) (content []byte, kept bool) {
	if k, ok := l.Rejoiner.(kinds.Keeper); ok {
		return k.Kept(dir, name)
	}
	return nil, false
}

// able returns the launcher that cfg asks for as one that can do what T says, if it can: one that cannot be
// made can do nothing.
func able[T any](cfg *study.Config, at layout.Study) (t T, ok bool, err error) {
	var l launcher
	if err = l.choose(cfg, at); err == nil {
		t, ok = l.Rejoiner.(T)
	}
	return t, ok, err
}

// left lists the directories of attempts that go on while no lbotune works on the study.
func left(st *study.State, l layout.Study) (dirs []string) {
	c, ok, _ := able[kinds.Canceller](&st.Config, l)
	if dir := l.Attempt(setupAttempt(st)); ok && !st.SetUp && c.Left(dir) {
		dirs = append(dirs, dir)
	}
	for _, t := range st.Trials {
		if !ok || t.Done() && st.Config.Run.Confirm == 0 {
			continue
		}
		if dir := l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: t.NextAttempt()}); c.Left(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// owners says whose directories left has found: that of the setup command is the first.
func owners(l layout.Study, dirs []string) string {
	if filepath.Dir(dirs[0]) != l.Setup() {
		return count(len(dirs), "trial")
	}
	return "the setup command" + when(len(dirs) > 1, " and %s", count(len(dirs)-1, "trial"))
}

// where says where an attempt runs or ran, "" if not elsewhere, and whether it seems alive.
func where(cfg *study.Config, l layout.Study, id layout.AttemptID) (text string, alive bool) {
	if at, ok, _ := able[kinds.Locator](cfg, l); ok {
		return at.Where(l.Attempt(id))
	}
	return "", false
}

// release gives back what the launcher keeps for more trials: the session is over.
func (l *launcher) release(ctx context.Context) error {
	if r, ok := l.Rejoiner.(kinds.Releaser); ok {
		return r.Release(ctx)
	}
	return nil
}

// previewScript shows what would be done for the first trial, and why that would be refused.
func previewScript(ctx context.Context, cfg *study.Config, l layout.Study) (string, error) {
	p, ok, err := able[kinds.Previewer](cfg, l)
	if !ok {
		return "", err
	}
	script, err := p.Preview(ctx, runner.Job{Dir: l.Attempt(layout.AttemptID{Trial: 1, Attempt: 1}), ID: "STUDY/1/1", Cwd: cfg.Dir,
		Timeout: time.Duration(cfg.Run.Timeout), Grace: time.Duration(cfg.Run.Grace)})
	if err != nil {
		err = usagef("[launcher]: %w", err)
	}
	return script, err
}

func newInside(_ *global, above *cobra.Command) {
	for _, kind := range spec.Launchers {
		for name, run := range kind.Inside {
			cmd := newCommand(above, name+" FOLDER", "Run one attempt inside a job", "")
			cmd.Hidden = true
			cmd.RunE = func(_ *cobra.Command, args []string) error { return run(args[0]) }
		}
	}
}

// relay keeps a detached study going. It is nil where the launcher cannot do that.
func relay(cfg *study.Config, l layout.Study) (kinds.Relay, error) {
	d, ok, err := able[kinds.Detacher](cfg, l)
	if err != nil || !ok {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find lbotune's own program: %w", err)
	}
	return d.Detach([]string{program, "resume", "--detached", string(l)}), nil
}

// detach begins the study, or takes over a changed spec, and leaves it to a job.
func detach(ctx context.Context, g *global, o runOptions, cfg *study.Config) error {
	if flag := o.firstOf("assume-lost", "log-file", "log-level", "verbose"); flag != "" {
		return hinted(usagef("--detach leaves the study to a job, which is not told of %s", flag),
			"run and resume without --detach take it; what the job says is in detached.log in the study's directory")
	}
	o.dir = layout.Direct(o.dir)
	if err := o.override(cfg); err != nil {
		return err
	}
	l := layout.Of(o.dir)
	r, err := relay(cfg, l)
	switch {
	case err != nil:
		return err
	case r == nil:
		why := "the spec has no [launcher]"
		if cfg.Launcher != nil {
			why = "trials of kind " + cfg.Launcher.Kind + " cannot be detached"
		}
		return hinted(usagef("--detach leaves a study to a batch system, and %s", why),
			"nohup lbotune run ... & keeps running when the terminal is closed")
	}
	waiting, running, err := r.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("look for the study's job: %w", err)
	}
	if waiting+running > 0 {
		st, _, err := load(o.dir)
		if err != nil {
			return err
		}
		change, err := st.Reconfigured(*cfg)
		if err != nil {
			return err
		}
		if change != nil {
			return inUse(l, fmt.Sprintf("study %s is detached already, and", l), "run --detach")
		}
		fmt.Fprintf(g.err, "study %s is detached already; lbotune status %s shows how far along it is\n", oneLine(string(l)), word(l))
		return nil
	}
	s, err := session.Open(cfg, session.Options{Dir: o.dir, Launcher: &o.launcher, Program: programVersion()})
	if err != nil {
		return hintStudy(o.dir, err)
	}
	ended := s.State().Ended()
	if err := s.Close(); err != nil {
		return err
	}
	if ended {
		fmt.Fprintf(g.err, "study %s has ended already\n", oneLine(string(l)))
		return nil
	}
	if err := forgetStop(l); err != nil {
		return err
	}
	id, err := r.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.err, "study %s goes on as job %s, which writes to %s\nlbotune status %s shows how far along it is, lbotune stop %s ends it\n",
		oneLine(string(l)), id, oneLine(r.Output()), word(l), word(l))
	return nil
}

// runDetached works on a study inside a job of its relay.
func runDetached(ctx context.Context, g *global, o runOptions) error {
	st, l, err := load(o.dir)
	if err != nil {
		return err
	}
	r, err := relay(&st.Config, l)
	switch {
	case err != nil:
		return err
	case r == nil:
		return usagef("--detached is for the job of a detached study")
	}
	asking, done := context.WithCancel(ctx)
	var submitting sync.WaitGroup
	submitting.Go(func() {
		for asking.Err() == nil && !stopAsked(l) {
			if err := r.Next(asking); err == nil {
				return
			} else if asking.Err() == nil {
				g.complain(err, 0)
			}
			select {
			case <-asking.Done():
			case <-time.After(time.Minute): // before Slurm is asked again to take the next job
			}
		}
	})
	err = interrupted(byStop{}, session.ErrStopped)
	if !stopAsked(l) {
		err = runStudy(ctx, g, o, nil)
	}
	if isA[signalled](err) && !errors.Is(err, signalled{byStop{}}) || errors.Is(err, journal.ErrLocked) {
		submitting.Wait() // the next job goes on
		done()
		return err
	}
	done()
	submitting.Wait()
	return errors.Join(err, r.End(ctx))
}
