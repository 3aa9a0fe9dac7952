package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// stopPatience is how long stop waits beyond the trials' grace for lbotune to end.
const stopPatience = time.Minute

func newStop(g *global) *cobra.Command {
	return &cobra.Command{
		Use:     "stop STUDY",
		Aliases: []string{"kill"},
		Short:   "End a running study from anywhere",
		Long: `Stop asks the lbotune that works on STUDY, on whatever host, to end: its trials get
SIGTERM, and SIGKILL after their grace period. The job of a detached study is removed,
and jobs of trials that an earlier lbotune left behind are cancelled. Nothing is lost:
run and resume continue from there.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			return stopStudy(cmd.Context(), g, st, l)
		},
	}
}

func stopStudy(ctx context.Context, g *global, st *study.State, l study.Layout) error {
	if err := session.CheckOwner(l, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if err := askToStop(l); err != nil {
		return err
	}
	if ofHook(l) {
		fmt.Fprintln(g.err, "lbotune ends the study once its hooks are done")
		return nil
	}
	works := func() (bool, error) { return journal.InUse(l.Journal()) }
	r, err := relay(&st.Config, l)
	if err != nil {
		return err
	}
	if r != nil {
		if err := r.End(ctx); err != nil {
			return fmt.Errorf("remove the study's job: %w", err)
		}
		works = func() (bool, error) {
			_, running, err := r.Jobs(ctx)
			if err != nil || running > 0 {
				return true, err
			}
			return journal.InUse(l.Journal())
		}
	}
	deadline := time.Now().Add(time.Duration(st.Config.Run.Grace) + stopPatience)
	for told := false; ; told = true {
		busy, err := works()
		if err != nil {
			return err
		}
		if !busy {
			break
		}
		if !told {
			fmt.Fprintln(g.err, "waiting for lbotune to end its trials")
		}
		if time.Now().After(deadline) {
			return hinted(fmt.Errorf("lbotune still works on the study after %v", time.Duration(st.Config.Run.Grace)+stopPatience),
				"it has been asked to stop, and will; a process that hangs must be killed where it runs")
		}
		time.Sleep(stopLook)
	}
	cancelled, err := cancelLeft(ctx, st, l)
	if err != nil {
		return err
	}
	if cancelled > 0 {
		fmt.Fprintf(g.err, "%s cancelled\n", count(cancelled, "job"))
	}
	fmt.Fprintf(g.err, "study %s is stopped; lbotune resume %s goes on\n", l, l)
	return forgetStop(l)
}

// ofHook reports whether a hook of the study has called this program. Lbotune waits for its
// hooks, and they must not wait for it.
func ofHook(l study.Layout) bool {
	return os.Getenv("LBOTUNE_EVENT") != "" && sameFile(os.Getenv("LBOTUNE_STUDY"), string(l))
}

// askToStop leaves the wish that the study stop. What already lies in its place is neither
// followed nor waited for.
func askToStop(l study.Layout) error {
	err := l.In(l.StopRequest(), func(d *door.Dir, name string) error {
		f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err == nil {
			err = f.Close()
		}
		return err
	})
	switch {
	case errors.Is(err, os.ErrExist) && stopAsked(l):
		return nil
	case errors.Is(err, os.ErrExist):
		return usage(fmt.Errorf("%s is no regular file, and links are not followed; remove it, and ask again", l.StopRequest()))
	}
	if err != nil {
		return fmt.Errorf("ask the study to stop: %w", err)
	}
	return nil
}

// cancelLeft cancels the jobs of trials that an lbotune that has gone has left.
func cancelLeft(ctx context.Context, st *study.State, l study.Layout) (n int, err error) {
	var of launcher
	if err := of.choose(&st.Config, l); err != nil {
		return 0, err
	}
	if c, ok := of.Rejoiner.(runner.Canceller); ok {
		if st, _, err = study.Load(string(l)); err != nil { // as it has been left
			return 0, err
		}
		for _, dir := range left(st, l) {
			did, e := c.Cancel(ctx, dir)
			if did {
				n++
			}
			err = errors.Join(err, e)
		}
	}
	return n, errors.Join(err, of.release(ctx))
}
