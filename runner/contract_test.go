package runner_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
)

func TestMain(m *testing.M) { os.Exit(slurmtest.Run(m)) }

// contracts are the launchers that must pass the tests of runner.Launcher, and those of
// runner.Attacher if they are one too. Their attempts run on this machine with a POSIX shell,
// sleep and a few other standard tools. A new launcher gets a row.
var contracts = []struct {
	name     string
	prepare  func(*testing.T) // skips the row, or makes what its launchers need
	launcher func(*testing.T) runner.Launcher
	traits
}{
	{"local", nest, func(*testing.T) runner.Launcher { return &runner.Local{} }, traits{}},
	{"bash", atLength, inBash, traits{}},
	{"imitated Slurm", imitatedJobs, slurmJobs, traits{witnessed: true, slow: true}},
	{"pilots of imitated Slurm", imitatedPilots, slurmPilots, traits{witnessed: true, slow: true}},
	{"Slurm", cluster, slurmJobs, traits{witnessed: true, slow: true}},
	{"pilots of Slurm", cluster, slurmPilots, traits{witnessed: true, slow: true}},
	{"adopting", atLength, func(*testing.T) runner.Launcher { return adopting }, traits{adopts: true}}, // last: the process adopts from then on
}

// adopting is the only one of the process.
var adopting = &runner.Local{Adopt: true}

func slurmJobs(t *testing.T) runner.Launcher   { return slurmtest.Launcher(t) }
func slurmPilots(t *testing.T) runner.Launcher { return slurmtest.Piloted(t) }

// nest makes every temporary directory from now on, also of orchestrators that are killed and
// cannot remove theirs, lie in one that goes when the test has ended.
func nest(t *testing.T) { t.Setenv("TMPDIR", tempdir.New(t)) }

func inBash(t *testing.T) runner.Launcher {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	return &runner.Local{Shell: path}
}

func atLength(t *testing.T) {
	if !effort.Long() {
		t.Skip("every day others are enough: LBOTUNE_LONG_TESTS=1 has it")
	}
	nest(t)
}

// imitated starts a cluster of shell scripts where the real one does not show the same.
func imitated(t *testing.T) {
	if slurmtest.Missing() == "" && effort.Long() {
		t.Skip("a real cluster shows it")
	}
	nest(t)
	slurmtest.Imitate(t)
}

func imitatedJobs(t *testing.T) {
	if !effort.Long() {
		t.Skip("every day pilots of the same cluster are enough")
	}
	imitated(t)
}

func imitatedPilots(t *testing.T) {
	if testing.Short() && !effort.Raced {
		t.Skip("local attempts show the contract, and the tests of runner/slurm pilots")
	}
	imitated(t)
}

func cluster(t *testing.T) {
	if !effort.Long() {
		t.Skip("a real cluster takes minutes: LBOTUNE_LONG_TESTS=1 has them")
	}
	dir := tempdir.New(t) // which outlasts the cluster, and holds none of its sockets: their paths must be short
	slurmtest.Start(t)
	t.Setenv("TMPDIR", dir)
}

func TestContract(t *testing.T) {
	for _, c := range contracts {
		t.Run(c.name, func(t *testing.T) {
			if orchestrating() {
				orchestrate(t, c.launcher(t))
				return
			}
			c.prepare(t)
			c.traits.test(t, c.launcher)
		})
	}
}

// patience is how long a test waits for what must happen. Nothing depends on its length.
const patience = 3 * time.Minute

// traits are what launchers may differ in.
type traits struct {
	// witnessed: something that outlives the orchestrator sees every attempt's end, so that
	// the end of one whose supervisor was killed is known.
	witnessed bool
	// slow: a launch takes about a second, and fewer must do.
	slow bool
	// adopts: processes whose parents have ended become children of the orchestrator, here
	// also those of another part's orchestrator that was killed, so that nothing must run in
	// parallel.
	adopts bool
}

func (tr traits) test(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	for i, group := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) runner.Launcher)
	}{
		{"Environment", testEnvironment}, // of this process, which it changes
		{"Modes", testModes},             // likewise
		{"EnvironmentIsPrivate", testEnvironmentIsPrivate},
		{"Exit", tr.testExit},
		{"Signal", tr.testSignal},
		{"CannotExecute", tr.testCannotExecute},
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
		{"Leftovers", tr.testLeftovers},
		{"LateOutput", tr.testLateOutput},
		{"Hopper", testHopper},
		{"Neighbours", testNeighbours},
		{"Flood", testFlood},
		{"Attach", tr.testAttach},
		{"Identity", tr.testIdentity},
	} {
		t.Run(group.name, func(t *testing.T) {
			if i > 1 && !tr.adopts {
				t.Parallel() // they wait for processes most of the time
			}
			group.run(t, newLauncher)
		})
	}
}

// part runs a part of a group, in parallel with others if it may.
func (tr traits) part(t *testing.T, name string, run func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		if !tr.adopts {
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
		ID:      "contract" + filepath.ToSlash(dir) + "/17/1",
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

// gatedJob is a shellJob whose line waits until it can read from the pipe $GO, which open lets it.
func gatedJob(t *testing.T, line string) (job runner.Job, open func()) {
	t.Helper()
	job = shellJob(t, line)
	gate := filepath.Join(t.TempDir(), "go")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	job.Env = []string{"GO=" + gate}
	open = func() {
		f, err := os.OpenFile(gate, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { f.Close() })
	}
	t.Cleanup(open) // lets it go where the test has failed before
	return job, open
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
