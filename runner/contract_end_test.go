package runner_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// savesCheckpoint is a program that works until SIGTERM, then takes its time to save. It is
// not the child that a shell would wait for when SIGTERM has ended the shell.
const savesCheckpoint = `
echo pid $$
sh -c 'n=0
trap "n=\$((n+1))" TERM
echo pid $$; echo ready
while [ $n = 0 ]; do sleep 0.05; done
sleep 0.3
echo saved after $n signals
exit 0' &
wait
wait
`

// cancelReady launches a job, cancels it once it has printed that it is ready, and
// returns how it ended.
func cancelReady(t *testing.T, l runner.Launcher, job runner.Job) runner.Exit {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := start(t, ctx, l, job)
	waitForLine(t, job, "ready")
	cancel()
	return await(t, done)
}

func testCancel(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)

	t.Run("SavesCheckpoint", func(t *testing.T) {
		job := shellJob(t, savesCheckpoint)
		exit := cancelReady(t, l, job)
		if !exit.Cancelled || exit.TimedOut || exit.Killed {
			t.Errorf("%+v", exit)
		}
		if !strings.Contains(stdout(t, job), "saved after 1 signals\n") {
			t.Errorf("the end did not wait for the checkpoint: %q", stdout(t, job))
		}
		wantDead(t, job, 2)
	})

	t.Run("ExitsWell", func(t *testing.T) {
		job := shellJob(t, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
		if exit := cancelReady(t, l, job); exit.Code != 0 || !exit.Cancelled || exit.Killed {
			t.Errorf("%+v", exit)
		}
	})

	t.Run("IgnoresSIGTERM", func(t *testing.T) {
		job := shellJob(t, "trap '' TERM; echo pid $$; sh -c 'echo pid $$; echo ready; while :; do sleep 1; done'; true")
		job.Grace = 50 * time.Millisecond
		if exit := cancelReady(t, l, job); exit.Signal != "SIGKILL" || !exit.Cancelled || !exit.Killed {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 2)
	})

	t.Run("Escapees", func(t *testing.T) {
		// Three that have left the group; one of them has no environment and no
		// descriptor left, but still its parent.
		job := awareJob(t, `
setsid sh -c 'echo pid $$; exec sleep 1000' &
setsid env -i "$(command -v sleep)" 1000 & echo pid $!
setsid sh -c 'echo pid $$; exec env -i "$(command -v sleep)" 1000 >&- 2>&- <&- 9>&-' &
while [ "$(grep -c pid "$OUT")" -lt 3 ]; do sleep 0.01; done
echo ready
wait`)
		if exit := cancelReady(t, l, job); !exit.Cancelled || exit.Killed {
			t.Errorf("%+v", exit)
		}
		wantDead(t, job, 3)
	})

	t.Run("BeforeTheStart", func(t *testing.T) {
		job := shellJob(t, "true")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(os.ErrDeadlineExceeded)
		if r := awaitResult(t, start(t, ctx, l, job)); r.err == nil {
			t.Errorf("ran: %+v", r.exit)
		}
		if _, err := os.Stat(job.Dir); err == nil {
			t.Error("the directory was claimed")
		}
	})
}

func testKill(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for name, cancelFirst := range map[string]bool{"AtOnce": false, "WithinTheGrace": true} {
		t.Run(name, func(t *testing.T) {
			job := shellJob(t, "trap 'echo asked' TERM; echo pid $$; sh -c 'trap : TERM; echo pid $$; echo ready; while :; do sleep 0.05; done'; while :; do sleep 0.05; done")
			kill := make(chan struct{})
			job.Kill = kill
			job.Grace = time.Hour
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := start(t, ctx, l, job)
			waitForLine(t, job, "ready")
			if cancelFirst {
				cancel()
			}
			close(kill)
			if exit := await(t, done); exit.Signal != "SIGKILL" || !exit.Cancelled || !exit.Killed {
				t.Errorf("%+v", exit)
			}
			wantDead(t, job, 2)
		})
	}
}

func testTimeout(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := shellJob(t, savesCheckpoint)
	job.Timeout = 500 * time.Millisecond
	exit := launch(t, l, job)
	if !exit.TimedOut || exit.Cancelled || exit.Killed {
		t.Errorf("%+v", exit)
	}
	const tick = 20 * time.Millisecond // when another lbotune's process began is known to clock ticks
	if lived := exit.Ended.Sub(exit.Started); lived < job.Timeout-tick {
		t.Errorf("timed out after %v", lived)
	}
	if strings.Contains(stdout(t, job), "ready") && !strings.Contains(stdout(t, job), "saved") {
		t.Errorf("the end did not wait for the checkpoint: %q", stdout(t, job))
	}
	job = shellJob(t, "exit 3")
	job.Timeout = time.Hour
	if exit := launch(t, l, job); exit.Code != 3 || exit.TimedOut {
		t.Errorf("%+v", exit)
	}
}

// testStopped: a stopped attempt is not over, and can be ended.
func testStopped(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := shellJob(t, "trap 'echo asked; exit 0' TERM; echo pid $$; kill -STOP $$; while :; do sleep 0.05; done")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := start(t, ctx, l, job)
	eventually(t, "the command to stop", func() bool { return stopped(job) })
	cancel()
	if exit := await(t, done); exit.Code != 0 || !exit.Cancelled || exit.Killed {
		t.Errorf("%+v", exit)
	}
	if !strings.Contains(stdout(t, job), "asked") {
		t.Errorf("stdout %q", stdout(t, job))
	}
	// All of the group stopped and continued by someone else.
	job = shellJob(t, "echo pid $$; kill -STOP 0; exit 7")
	done = start(t, context.Background(), l, job)
	eventually(t, "the command to stop", func() bool { return stopped(job) })
	group, err := unix.Getpgid(pids(t, job)[0])
	if err != nil || group == unix.Getpgrp() {
		t.Fatalf("the command is in group %d: %v", group, err)
	}
	if err := unix.Kill(-group, unix.SIGCONT); err != nil {
		t.Error(err)
	}
	if exit := await(t, done); exit.Code != 7 {
		t.Errorf("%+v", exit)
	}
}

// testOwnGroup: what a command does to its own group is its own end.
func testOwnGroup(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	for line, code := range map[string]int{
		"kill 0; sleep 1000": 128 + int(unix.SIGTERM),
		"trap '' TERM INT HUP; kill 0; kill -2 0; kill -1 0; exit 8": 8,
		"kill -9 0": 128 + int(unix.SIGKILL),
	} {
		exit := launch(t, l, shellJob(t, line))
		if exit.Code != code || exit.Cancelled || exit.TimedOut {
			t.Errorf("%s: %+v", line, exit)
		}
	}
}
