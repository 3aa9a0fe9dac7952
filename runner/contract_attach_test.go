package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
)

// orchestratorEnv holds the job of a test binary that is run as an orchestrator.
const orchestratorEnv = "CONTRACT_ORCHESTRATE"

// orchestrating reports whether this is a test binary that a test has started to kill it: its
// environment is as the first one has left it.
func orchestrating() bool { return os.Getenv(orchestratorEnv) != "" }

// plan is what the orchestrator is told to do.
type plan struct {
	Dir, ID, Shell string
	Env            []string
	Grace          time.Duration
	Cancel         bool // cancel the attempt once its stdout says "ready"
}

// orchestrate is the other side of orphan: it launches one attempt and is killed.
func orchestrate(t *testing.T, l runner.Launcher) {
	var p plan
	if err := json.Unmarshal([]byte(os.Getenv(orchestratorEnv)), &p); err != nil {
		t.Fatal(err)
	}
	job := runner.Job{Dir: p.Dir, ID: p.ID, Shell: p.Shell, Env: p.Env, Grace: p.Grace}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	os.Stdout.WriteString(launching)
	done := start(t, ctx, l, job)
	if p.Cancel {
		waitForLine(t, job, "ready")
		cancel()
	}
	r := <-done
	t.Logf("%+v", r)
}

// orphan launches job under an orchestrator of its own and kills that by SIGKILL as soon as
// the attempt has written the line until.
func orphan(t *testing.T, job runner.Job, until string, cancel bool) {
	t.Helper()
	cmd := orchestrator(t, job, cancel)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForLine(t, job, until)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
}

// launching is what an orchestrator says when it is about to launch.
const launching = "launching\n"

// orchestrator returns the command that orchestrates job.
func orchestrator(t *testing.T, job runner.Job, cancel bool) *exec.Cmd {
	t.Helper()
	row := strings.Join(strings.Split(t.Name(), "/")[:2], "$/^") // TestContract/local/...
	text, err := json.Marshal(plan{job.Dir, job.ID, job.Shell, job.Env, job.Grace, cancel})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+row+"$")
	cmd.Env = append(os.Environ(), orchestratorEnv+"="+string(text))
	return cmd
}

// attach rejoins the attempt of job in the background.
func attach(ctx context.Context, a runner.Attacher, job runner.Job) <-chan result {
	done := make(chan result, 1)
	job.Shell, job.Env = "", nil // not needed
	go func() {
		exit, err := a.Attach(ctx, job)
		done <- result{exit, err}
	}()
	return done
}

func (tr traits) testAttach(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	a, ok := l.(runner.Attacher)
	if !ok {
		t.Skip("no Attacher")
	}
	background := context.Background()

	tr.part(t, "Ended", func(t *testing.T) {
		job := shellJob(t, "exit 3")
		launched := launch(t, l, job)
		for range 2 { // as often as one likes
			exit := await(t, attach(background, a, job))
			if exit.Code != 3 || !exit.Started.Equal(launched.Started) || exit.Cancelled || exit.Killed {
				t.Errorf("launched %+v, attached %+v", launched, exit)
			}
		}
	})
	tr.part(t, "EndedAlone", func(t *testing.T) {
		job, open := gatedJob(t, `echo ready; : <"$GO"; echo over; exit 5`)
		orphan(t, job, "ready", false)
		open()
		waitForLine(t, job, "over")
		if exit := await(t, attach(background, a, job)); exit.Code != 5 || exit.Cancelled {
			t.Errorf("%+v", exit)
		}
	})
	tr.part(t, "Lives", func(t *testing.T) {
		job, open := gatedJob(t, `echo pid $$; echo ready; : <"$GO"; exit 6`)
		orphan(t, job, "ready", false)
		if pid := pids(t, job)[0]; !alive(pid) {
			t.Fatal("the attempt did not outlive its orchestrator")
		}
		if _, err := l.Launch(background, job); !errors.Is(err, runner.ErrClaimed) {
			t.Errorf("a second launch: %v", err)
		}
		started := make(chan struct{})
		job.Started = func(int) { close(started) }
		done := attach(background, a, job)
		<-started
		if len(done) > 0 {
			t.Fatalf("attached and ended at once: %+v", <-done)
		}
		open()
		if exit := await(t, done); exit.Code != 6 || exit.Cancelled {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 1)
	})
	tr.testAttachStops(t, a)
	tr.part(t, "AnyMoment", func(t *testing.T) { tr.testAnyMoment(t, a) })
	tr.testAttachLost(t, a)
}

// testAttachStops ends attempts that were attached to.
func (tr traits) testAttachStops(t *testing.T, a runner.Attacher) {
	background := context.Background()
	tr.part(t, "Cancel", func(t *testing.T) {
		job := shellJob(t, savesCheckpoint)
		orphan(t, job, "ready", false)
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		job.Started = func(int) { cancel() }
		if exit := await(t, attach(ctx, a, job)); !exit.Cancelled || exit.Killed {
			t.Errorf("%+v", exit)
		}
		if !strings.Contains(stdout(t, job), "saved after 1 signals\n") {
			t.Errorf("the end did not wait for the checkpoint: %q", stdout(t, job))
		}
		wantDead(t, job, 2)
	})
	tr.part(t, "Kill", func(t *testing.T) {
		job := shellJob(t, "trap '' TERM; echo pid $$; setsid sh -c 'echo pid $$; echo ready; while :; do sleep 1; done'")
		orphan(t, job, "ready", false)
		kill := make(chan struct{})
		job.Kill = kill
		close(kill)
		if exit := await(t, attach(background, a, job)); exit.Signal != "SIGKILL" || !exit.Cancelled || !exit.Killed {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 2)
	})
	tr.part(t, "Timeout", func(t *testing.T) {
		job := shellJob(t, savesCheckpoint)
		orphan(t, job, "ready", false)
		job.Timeout = time.Millisecond // long over
		if exit := await(t, attach(background, a, job)); !exit.TimedOut || exit.Cancelled {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 2)
	})
	tr.part(t, "OrchestratorDiedCancelling", func(t *testing.T) {
		job := shellJob(t, "trap 'echo asked' TERM; echo pid $$; echo ready; while :; do sleep 0.02; done")
		job.Grace = time.Hour
		orphan(t, job, "asked", true)
		job.Grace = 50 * time.Millisecond
		if exit := await(t, attach(background, a, job)); !exit.Cancelled || !exit.Killed {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 1)
	})
}

// testAnyMoment kills orchestrators at many moments of a launch: an attempt then either has
// not started and never will, or runs on to its end and is harvested. It is never lost.
func (tr traits) testAnyMoment(outer *testing.T, a runner.Attacher) {
	var ran atomic.Int32
	moments, apart := 40, 200*time.Microsecond
	if tr.slow {
		moments, apart = 20, 3*time.Millisecond
	}
	if effort.Raced { // what is killed is watched in vain, and takes ten times as long to start
		moments, apart = moments/4, 4*apart
	}
	for i := range moments {
		log := filepath.Join(outer.TempDir(), "log")
		tr.part(outer, fmt.Sprint(i), func(t *testing.T) {
			job := shellJob(t, `echo started >>"$LOG"; sleep 0.01; echo ended >>"$LOG"; exit 7`)
			job.Env = []string{"LOG=" + log}
			cmd := orchestrator(t, job, false)
			said, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(said, make([]byte, len(launching))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i) * apart)
			_ = cmd.Process.Kill() // or it has ended already
			_ = cmd.Wait()
			r := awaitResult(t, attach(context.Background(), a, job))
			text, _ := os.ReadFile(log)
			switch {
			case r.err == nil && r.exit.Code == 7 && string(text) == "started\nended\n":
				ran.Add(1)
			case errors.Is(r.err, runner.ErrNeverStarted) && len(text) == 0:
				outer.Cleanup(func() {
					if text, err := os.ReadFile(log); err == nil {
						outer.Errorf("an attempt that was never started wrote %q", text)
					}
				})
			default:
				t.Errorf("killed after %d × %v: %+v, log %q", i, apart, r, text)
			}
		})
	}
	outer.Cleanup(func() { outer.Logf("%d of %d attempts had started", ran.Load(), moments) })
}

// testAttachLost: attempts that have no exit status.
func (tr traits) testAttachLost(t *testing.T, a runner.Attacher) {
	background := context.Background()
	tr.part(t, "NeverStarted", func(t *testing.T) {
		job := shellJob(t, "true")
		if r := awaitResult(t, attach(background, a, job)); !errors.Is(r.err, runner.ErrNeverStarted) {
			t.Errorf("no directory: %+v", r)
		}
		if err := os.MkdirAll(job.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if r := awaitResult(t, attach(background, a, job)); !errors.Is(r.err, runner.ErrNeverStarted) {
			t.Errorf("empty directory: %+v", r)
		}
	})
	tr.part(t, "Died", func(t *testing.T) {
		job := shellJob(t, "echo pid $$; echo ready; sleep 1000; :")
		orphan(t, job, "ready", false)
		group, err := unix.Getpgid(pids(t, job)[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(-group, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		tr.wantLost(t, awaitResult(t, attach(background, a, job)))
		wantDead(t, job, 1)
	})
	tr.part(t, "SupervisorDied", func(t *testing.T) {
		// What is left of it must have ended before it may run again.
		job := shellJob(t, "echo pid $$; echo parent $PPID; echo ready; setsid sh -c 'echo pid $$; echo set; exec sleep 1000'")
		orphan(t, job, "set", false)
		_, text, _ := strings.Cut(stdout(t, job), "parent ")
		text, _, _ = strings.Cut(text, "\n")
		if err := exec.Command("kill", "-9", text).Run(); err != nil {
			t.Fatal(err)
		}
		tr.wantLost(t, awaitResult(t, attach(background, a, job)))
		wantDead(t, job, 2)
	})
}

// wantLost checks the end of an attempt whose supervisor was killed.
func (tr traits) wantLost(t *testing.T, r result) {
	t.Helper()
	if tr.witnessed && (r.err != nil || r.exit.Signal != "SIGKILL") || !tr.witnessed && !errors.Is(r.err, runner.ErrLost) {
		t.Errorf("%+v", r)
	}
}
