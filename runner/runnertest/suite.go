// Package runnertest holds the tests that every runner.Launcher must pass.
package runnertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
)

// patience is how long a test waits for what must happen. Nothing depends on its length.
const patience = 60 * time.Second

// Traits are what launchers may differ in.
type Traits struct {
	// Witnessed: something that outlives the orchestrator sees every attempt's end, so that
	// the end of one whose supervisor was killed is known.
	Witnessed bool
	// Slow: a launch takes about a second, and fewer must do. The parts of a group run in
	// parallel, too.
	Slow bool
	// Adopts: processes whose parents have ended become children of the orchestrator, here
	// also those of another group's orchestrator that was killed, so that groups must not run
	// in parallel.
	Adopts bool
}

// Suite runs the contract of runner.Launcher, and that of runner.Attacher if the launcher
// is one too, against launchers made by newLauncher. The attempts run on this machine with
// a POSIX shell, sleep and a few other standard tools.
//
// Suite must be called from a top-level test: to have an orchestrator that it can kill, it
// runs the test binary again with that test alone.
func Suite(t *testing.T, newLauncher func(t *testing.T) runner.Launcher, traits Traits) {
	if Orchestrating() {
		orchestrate(t, newLauncher(t))
		return
	}
	for i, group := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) runner.Launcher)
	}{
		{"Environment", testEnvironment}, // of this process, which it changes
		{"Modes", testModes},             // likewise
		{"EnvironmentIsPrivate", testEnvironmentIsPrivate},
		{"Exit", traits.testExit},
		{"Signal", traits.testSignal},
		{"CannotExecute", traits.testCannotExecute},
		{"Streams", testStreams},
		{"Hostile", testHostile},
		{"Files", testFiles},
		{"Claim", testClaim},
		{"Invalid", testInvalid},
		{"Cancel", testCancel},
		{"Kill", testKill},
		{"Timeout", testTimeout},
		{"Stopped", testStopped},
		{"OwnGroup", testOwnGroup},
		{"Leftovers", traits.testLeftovers},
		{"LateOutput", traits.testLateOutput},
		{"Hopper", testHopper},
		{"Neighbours", testNeighbours},
		{"Flood", testFlood},
		{"Attach", traits.testAttach},
		{"Identity", traits.testIdentity},
	} {
		t.Run(group.name, func(t *testing.T) {
			if i > 1 && !traits.Adopts {
				t.Parallel() // they wait for processes most of the time
			}
			group.run(t, newLauncher)
		})
	}
}

// part runs a part of a group, in parallel with others if a launch is slow.
func (traits Traits) part(t *testing.T, name string, run func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		if traits.Slow {
			t.Parallel()
		}
		run(t)
	})
}

// newJob returns a job in a fresh directory, with a generous grace and timeout and a unique
// id.
func newJob(t *testing.T) runner.Job {
	t.Helper()
	dir := tempdir.New(t)
	return runner.Job{
		Dir:     filepath.Join(dir, "trials", "000017", "a1"),
		ID:      "runnertest" + filepath.ToSlash(dir) + "/17/1",
		Timeout: patience,
		Grace:   patience,
	}
}

func shellJob(t *testing.T, line string) runner.Job {
	t.Helper()
	job := newJob(t)
	job.Shell = line
	return job
}

// gatedJob is a shellJob whose line waits for the file $GO, which open makes.
func gatedJob(t *testing.T, line string) (job runner.Job, open func()) {
	t.Helper()
	job = shellJob(t, line)
	gate := filepath.Join(t.TempDir(), "go")
	job.Env = []string{"GO=" + gate}
	return job, func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// awareJob is a shellJob whose line may look at its own output, $OUT.
func awareJob(t *testing.T, line string) runner.Job {
	t.Helper()
	job := shellJob(t, line)
	job.Env = []string{"OUT=" + filepath.Join(job.Dir, runner.StdoutName)}
	return job
}

func argvJob(t *testing.T, argv ...string) runner.Job {
	t.Helper()
	job := newJob(t)
	job.Argv = argv
	return job
}

// launch runs job and fails the test if it cannot run or takes for ever.
func launch(t *testing.T, l runner.Launcher, job runner.Job) runner.Exit {
	t.Helper()
	return await(t, start(t, context.Background(), l, job))
}

// result is what Launch or Attach returned.
type result struct {
	exit runner.Exit
	err  error
}

// start runs job in the background.
func start(t *testing.T, ctx context.Context, l runner.Launcher, job runner.Job) <-chan result {
	t.Helper()
	done := make(chan result, 1)
	go func() {
		exit, err := l.Launch(ctx, job)
		done <- result{exit, err}
	}()
	return done
}

// await waits for the end of an attempt that must not fail.
func await(t *testing.T, done <-chan result) runner.Exit {
	t.Helper()
	r := awaitResult(t, done)
	if r.err != nil {
		t.Fatalf("attempt could not run: %v", r.err)
	}
	if r.exit.Started.IsZero() || r.exit.Ended.Before(r.exit.Started) {
		t.Errorf("started %v, ended %v", r.exit.Started, r.exit.Ended)
	}
	return r.exit
}

func awaitResult(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(patience):
		t.Fatal("the attempt does not end")
		panic("not reached")
	}
}

// eventually waits until ok says so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// stdout and stderr return what the attempt of job wrote.
func stdout(t *testing.T, job runner.Job) string { return read(t, job, runner.StdoutName) }
func stderr(t *testing.T, job runner.Job) string { return read(t, job, runner.StderrName) }

func read(t *testing.T, job runner.Job, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(job.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// waitForLine waits until the attempt of job has written a line to stdout.
func waitForLine(t *testing.T, job runner.Job, line string) {
	t.Helper()
	eventually(t, "the line "+line, func() bool {
		data, _ := os.ReadFile(filepath.Join(job.Dir, runner.StdoutName))
		return strings.Contains("\n"+string(data), "\n"+line+"\n")
	})
}
