package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/runner"
)

// copied returns the job of a copy of the attempt's directory.
func copied(t *testing.T, job runner.Job) runner.Job {
	t.Helper()
	from := job.Dir
	job.Dir = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(job.Dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return job
}

// testIdentity: what runs belongs to the directory in which it was started, and counts for
// what it was started for.
func (tr traits) testIdentity(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	background := context.Background()

	tr.part(t, "SameID", func(t *testing.T) {
		job, open := gatedJob(t, `sh -c 'echo pid $$; echo ready; exec sleep 1000' & : <"$GO"`)
		done := start(t, background, l, job)
		waitForLine(t, job, "ready")
		twin := shellJob(t, "sleep 1000 & exit 3")
		twin.ID = job.ID
		if exit := launch(t, l, twin); len(exit.Leftovers) != 1 {
			t.Errorf("leftovers of the twin: %+v", exit.Leftovers)
		}
		if pid := pids(t, job)[0]; !alive(pid) {
			t.Error("the end of an attempt ended another one of the same ID")
		}
		open()
		if exit := await(t, done); exit.Code != 0 || len(exit.Leftovers) != 1 {
			t.Errorf("%+v", exit)
		}
	})
	a, ok := l.(runner.Attacher)
	if !ok {
		return
	}
	tr.part(t, "CopyOfLiving", func(t *testing.T) {
		job, open := gatedJob(t, `echo pid $$; echo ready; : <"$GO"; exit 6`)
		orphan(t, job, "ready", false)
		kill := make(chan struct{})
		close(kill)
		twin := copied(t, job)
		twin.Kill = kill
		if r := awaitResult(t, attach(background, a, twin)); !errors.Is(r.err, runner.ErrCopied) {
			t.Errorf("the copy: %+v", r)
		}
		moved := job
		moved.Dir += "-moved"
		if err := os.Rename(job.Dir, moved.Dir); err != nil {
			t.Fatal(err)
		}
		moved.Started = func(int) { open() }
		if exit := await(t, attach(background, a, moved)); exit.Code != 6 || exit.Cancelled {
			t.Errorf("the original, moved: %+v", exit)
		}
	})
	tr.part(t, "CopyOfEnded", func(t *testing.T) {
		job := shellJob(t, "exit 3")
		launch(t, l, job)
		if exit := await(t, attach(background, a, copied(t, job))); exit.Code != 3 {
			t.Errorf("%+v", exit)
		}
	})
	tr.part(t, "Key", func(t *testing.T) {
		job := shellJob(t, "exit 3")
		job.Key = "new"
		launch(t, l, job)
		if exit := await(t, attach(background, a, job)); exit.Code != 3 {
			t.Errorf("with its key: %+v", exit)
		}
		for _, job := range []runner.Job{job, copied(t, job)} {
			job.Key = "other"
			if r := awaitResult(t, attach(background, a, job)); !errors.Is(r.err, runner.ErrOutdated) {
				t.Errorf("with another key: %+v", r)
			}
		}
	})
	tr.part(t, "KeyOfLiving", func(t *testing.T) {
		job := shellJob(t, savesCheckpoint)
		orphan(t, job, "ready", false)
		job.Key = "new"
		twin := copied(t, job)
		if r := awaitResult(t, attach(background, a, twin)); !errors.Is(r.err, runner.ErrOutdated) {
			t.Errorf("the copy: %+v", r)
		}
		if pid := pids(t, job)[0]; !alive(pid) {
			t.Error("the copy ended the original")
		}
		if r := awaitResult(t, attach(background, a, job)); !errors.Is(r.err, runner.ErrOutdated) {
			t.Errorf("%+v", r)
		}
		wantDead(t, job, 2)
	})
}
