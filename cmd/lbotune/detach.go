package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// relay keeps a detached study going. It is nil where the launcher cannot do that.
func relay(cfg *study.Config, l study.Layout) (runner.Relay, error) {
	d, ok, err := able[runner.Detacher](cfg, l)
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
	if err := o.override(cfg); err != nil {
		return err
	}
	l := study.LayoutOf(o.dir)
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
		fmt.Fprintf(g.err, "study %s is detached already; lbotune status %s shows how far along it is\n", l, l)
		return nil
	}
	s, err := session.Open(cfg, session.Options{Dir: o.dir, Launcher: &o.launcher, Program: programVersion()})
	if err != nil {
		return hintDamage(err)
	}
	ended := s.State().Ended()
	if err := s.Close(); err != nil {
		return err
	}
	if ended {
		fmt.Fprintf(g.err, "study %s has ended already\n", l)
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
		l, id, r.Output(), l, l)
	return nil
}

// nextPause is how long to wait before Slurm is asked again to take the next job.
const nextPause = time.Minute

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
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		for asking.Err() == nil && !stopAsked(l) {
			if err := r.Next(asking); err == nil {
				return
			} else if asking.Err() == nil {
				g.complain(err)
			}
			select {
			case <-asking.Done():
			case <-time.After(nextPause):
			}
		}
	}()
	err = interrupted(byStop{}, session.ErrStopped)
	if !stopAsked(l) {
		err = runStudy(ctx, g, o, nil)
	}
	if isA[signalled](err) && !errors.Is(err, signalled{byStop{}}) || errors.Is(err, journal.ErrLocked) {
		<-submitted // the next job goes on
		done()
		return err
	}
	done()
	<-submitted
	return errors.Join(err, r.End(ctx))
}

// stopAsked reports whether somebody wants the study to stop. A link or a pipe of that name
// is nobody's wish.
func stopAsked(l study.Layout) bool {
	info, err := l.Stat(l.StopRequest())
	return err == nil && info.Mode.IsRegular()
}

// forgetStop withdraws the wish that the study stop.
func forgetStop(l study.Layout) error {
	if !stopAsked(l) {
		return nil
	}
	if err := l.In(l.StopRequest(), (*door.Dir).Remove); err != nil {
		return fmt.Errorf("take back the request to stop: %w", err)
	}
	return nil
}
