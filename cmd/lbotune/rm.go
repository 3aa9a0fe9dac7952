package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newRm(g *global, above *cobra.Command) {
	cmd := newCommand(above, "rm STUDY", "Remove a study and its results, after asking",
		`Rm removes the journal of STUDY and what its trials have printed, once you answer the
question on standard error with y. It refuses while an lbotune works on the study, one
of its trials or its setup command still runs, or a batch system still has jobs of it.
The spec stays, and so does what lbotune did not put there: other files in the study's
directory, and directories that links lead to.`)
	cmd.Aliases = []string{"remove", "delete"}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error { return refuseLone(args[0]) }
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.RunE = g.onStudy(func(cmd *cobra.Command, _ *study.State, l layout.Study) error {
		return removeStudy(cmd.Context(), g, l, *yes)
	})
}

// refuseLone refuses a journal that lies alone: the study made of it would be removed, and the journal stay.
func refuseLone(arg string) error {
	info, err := os.Stat(arg)
	if err != nil || !info.Mode().IsRegular() || isJournal(arg) || !saysJournal(arg) {
		return nil
	}
	dir := arg + ".study"
	return hinted(usagef("%s is a lone journal, in no study's directory: nothing was removed", arg),
		when(begun(dir), "lbotune rm %s removes the study that lbotune has made of it; ", word(dir))+"the journal is a file like others")
}

func removeStudy(ctx context.Context, g *global, l layout.Study, yes bool) error {
	if err := session.CheckOwner(l, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	release, err := journal.Hold(l.Journal()) // so that nobody goes on with it meanwhile
	if errors.Is(err, journal.ErrLocked) {
		return hinted(fmt.Errorf("%s: %w", l, journal.ErrLocked), "lbotune stop "+word(l)+" ends it")
	}
	if err != nil {
		return err
	}
	defer release()
	st, err := study.Load(string(l))
	if err == nil {
		err = deserted(ctx, st, l)
	}
	if err != nil {
		return err
	}
	if !yes {
		fmt.Fprintf(g.err, "remove %s and the results of %s? [y/N] ", oneLine(string(l)), count(len(st.Trials), "trial"))
		answer, _ := bufio.NewReader(g.in).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			fmt.Fprintln(g.err)
			return usagef("nothing was removed")
		}
	}
	parent, err := door.Open(filepath.Dir(string(l)))
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := parent.Clear(filepath.Base(string(l)), l.Entries()); err != nil {
		return usage(fmt.Errorf("remove the study: %w", err))
	}
	_ = release()
	_ = parent.Clear(filepath.Base(string(l)), nil) // where a network file system has kept what was open
	if d, err := l.Open(); err == nil {
		d.Close()
		fmt.Fprintf(g.err, "%s stays: it holds files that are not lbotune's\n", oneLine(string(l)))
	}
	return nil
}

// deserted says what still runs of a study.
func deserted(ctx context.Context, st *study.State, l layout.Study) error {
	if err := orphaned(st, l); err != nil {
		return err
	}
	var jobs []string
	if dirs := left(st, l); len(dirs) > 0 {
		jobs = append(jobs, "those of "+owners(l, dirs))
	}
	if r, err := relay(&st.Config, l); err == nil && r != nil {
		waiting, running, err := r.Jobs(ctx)
		if err != nil && !errors.Is(err, exec.ErrNotFound) { // without the batch system there is nothing to wait for
			return fmt.Errorf("look for the study's job: %w", err)
		}
		if waiting+running > 0 {
			jobs = append(jobs, "its own")
		}
	}
	if len(jobs) > 0 {
		return hinted(usagef("%s still has jobs in the batch system: %s", l, strings.Join(jobs, ", ")), "lbotune stop "+word(l)+" cancels them")
	}
	return nil
}
