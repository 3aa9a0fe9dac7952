package slurm_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/slurm"
)

// heldTrial launches an attempt on a fake cluster that begins no job. It is given up with
// the test: the jobs of the next one have the same names.
func heldTrial(t *testing.T, poll time.Duration) (job runner.Job, done <-chan error, exits <-chan runner.Exit) {
	t.Helper()
	dir := slurmtest.Imitate(t)
	if err := os.WriteFile(filepath.Join(dir, "hold"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	job = runner.Job{Dir: filepath.Join(tempdir.New(t), "000001", "a1"), ID: "fake/1/1", Shell: "exit 4"}
	errs, ends := make(chan error, 1), make(chan runner.Exit, 1)
	l := slurmtest.Launcher(t)
	l.Settings.Poll = poll
	go func() {
		exit, err := l.Launch(t.Context(), job)
		ends <- exit
		errs <- err
	}()
	theJob(t, 1)
	return job, errs, ends
}

// theJob waits for the n-th job of the fake cluster.
func theJob(t *testing.T, n int) *slurmtest.Job {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if jobs := slurmtest.Jobs(); len(jobs) >= n && jobs[n-1].Name != "" {
			return jobs[n-1]
		}
	}
	t.Fatalf("there is no job %d", n)
	return nil
}

// isAsked waits until squeue has been asked n times more.
func isAsked(t *testing.T, n int) {
	t.Helper()
	asked := filepath.Join(slurmtest.Dir(), "squeue.asked")
	for deadline := time.Now().Add(time.Minute); n > 0; n-- {
		_ = os.Remove(asked)
		for ; !exists(asked); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("squeue is not asked")
			}
		}
	}
}

// becomes changes what squeue says of the n-th job.
func becomes(t *testing.T, n int, state, node string) {
	t.Helper()
	j := theJob(t, n)
	j.State, j.Node = state, node
	j.Save()
}

func claim(t *testing.T, job runner.Job) {
	t.Helper()
	if err := os.Mkdir(job.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A network file system may show the end of an attempt after Slurm has told of it.
func TestEndingComesLate(t *testing.T) {
	job, errs, exits := heldTrial(t, 4*time.Second) // it is given twice as long
	claim(t, job)
	becomes(t, 1, "COMPLETED", "fake1")
	isAsked(t, 1)
	if len(exits) > 0 {
		t.Fatalf("judged too soon: %+v, %v", <-exits, <-errs)
	}
	text := `{"job":"1","node":"fake1","exit":{"code":3,"started":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:01Z"},"outputs":{}}`
	whole := job.Dir + ".slurm/whole"
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole, job.Dir+".slurm/ending.json"); err != nil { // as jobs do
		t.Fatal(err)
	}
	if exit, err := <-exits, <-errs; err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Output that does not come at all was lost with its node: what is there of it is no result.
func TestOutputNeverComes(t *testing.T) {
	job, errs, exits := heldTrial(t, 100*time.Millisecond)
	claim(t, job)
	becomes(t, 1, "COMPLETED", "fake1")
	if err := os.WriteFile(filepath.Join(job.Dir, runner.StdoutName), []byte("loss=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `{"job":"1","node":"fake1","exit":{"code":0,"started":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:01Z"},"outputs":{"stdout":14}}`
	whole := job.Dir + ".slurm/whole"
	if err := errors.Join(os.WriteFile(whole, []byte(text), 0o600), os.Rename(whole, job.Dir+".slurm/ending.json")); err != nil {
		t.Fatal(err)
	}
	if exit, err := <-exits, <-errs; !errors.Is(err, runner.ErrLost) || !strings.Contains(err.Error(), "a part of its output is gone (on node fake1)") {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Silence of squeue is no job's death.
func TestSilence(t *testing.T) {
	job, errs, exits := heldTrial(t, 100*time.Millisecond)
	silent := filepath.Join(slurmtest.Dir(), "squeue.fails")
	if err := os.WriteFile(silent, []byte("Unable to contact slurm controller"), 0o600); err != nil {
		t.Fatal(err)
	}
	claim(t, job)
	becomes(t, 1, "NODE_FAIL", "fake1")
	isAsked(t, 5) // an answer would be believed after two
	if len(exits) > 0 {
		t.Fatalf("judged without an answer: %+v, %v", <-exits, <-errs)
	}
	if err := os.Remove(silent); err != nil {
		t.Fatal(err)
	}
	if exit, err := <-exits, <-errs; !errors.Is(err, runner.ErrLost) || !strings.Contains(err.Error(), "NODE_FAIL on node fake1") {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A job that the cluster loses before it begins is submitted again, away from the node
// that has lost it, and not for ever.
func TestLostBeforeItBegan(t *testing.T) {
	_, errs, exits := heldTrial(t, 100*time.Millisecond)
	becomes(t, 1, "NODE_FAIL", "fake1")
	second := theJob(t, 2)
	if got := second.Option("exclude"); got != "fake1" {
		t.Errorf("the second job avoids %q", got)
	}
	becomes(t, 2, "FORGOTTEN", "")
	theJob(t, 3)
	becomes(t, 3, "BOOT_FAIL", "fake2")
	if exit, err := <-exits, <-errs; !errors.Is(err, runner.ErrNotBegun) || !strings.Contains(err.Error(), "lost 3 jobs") {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A job that fails before it begins and says nothing, as on a full disk, is submitted again.
func TestFailedWithoutAWord(t *testing.T) {
	_, errs, exits := heldTrial(t, 100*time.Millisecond)
	for n := range 3 {
		theJob(t, n+1)
		becomes(t, n+1, "FAILED", "fake1")
	}
	if exit, err := <-exits, <-errs; !errors.Is(err, runner.ErrNotBegun) || !strings.Contains(err.Error(), "Slurm says FAILED") {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A job that fails before it begins and says why gets a second one on another node, whose
// words are the last.
func TestFailedOnANode(t *testing.T) {
	_, errs, exits := heldTrial(t, 100*time.Millisecond)
	for n, node := range []string{"fake1", "fake2"} {
		j := theJob(t, n+1)
		if avoided := j.Option("exclude"); n > 0 && avoided != "fake1" {
			t.Errorf("the second job avoids %q", avoided)
		}
		if err := os.WriteFile(j.Option("output"), []byte("no such module on "+node+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		becomes(t, n+1, "FAILED", node)
	}
	exit, err := <-exits, <-errs
	if !errors.Is(err, runner.ErrNotBegun) || !strings.HasSuffix(err.Error(), "(Slurm says FAILED):\nno such module on fake2") {
		t.Errorf("%+v, %v", exit, err)
	}
	if n := len(slurmtest.Jobs()); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

// What counts is the job that was submitted last, and not the one that Slurm shows last.
func TestSecondJobTimesOut(t *testing.T) {
	job, errs, exits := heldTrial(t, 100*time.Millisecond)
	theJob(t, 1)
	becomes(t, 1, "NODE_FAIL", "fake1")
	theJob(t, 2)
	becomes(t, 2, "RUNNING", "fake2")
	claim(t, job)
	becomes(t, 2, "TIMEOUT", "fake2")
	if exit, err := <-exits, <-errs; err != nil || !exit.TimedOut {
		t.Errorf("%+v, %v", exit, err)
	}
}

// An attempt that is deleted, as with its study, ends, and only then counts as lost.
func TestDeleted(t *testing.T) {
	slurmtest.Imitate(t)
	l, dir := slurmtest.Launcher(t), tempdir.New(t)
	l.Settings.Poll = 100 * time.Millisecond
	job := runner.Job{Dir: filepath.Join(dir, "000001", "a1"), ID: "fake/1/1", Shell: "echo $$ >" + dir + "/new; mv " + dir + "/new " + dir + "/pid; sleep 1000"}
	errs, started := make(chan error, 1), make(chan struct{})
	job.Started = func(int) { close(started) }
	go func() {
		_, err := l.Launch(t.Context(), job)
		errs <- err
	}()
	<-started
	var text []byte
	for len(text) == 0 {
		time.Sleep(5 * time.Millisecond)
		text, _ = os.ReadFile(filepath.Join(dir, "pid"))
	}
	if err := os.RemoveAll(filepath.Dir(job.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := <-errs; !errors.Is(err, runner.ErrLost) {
		t.Errorf("%v", err)
	}
	pid := strings.TrimSpace(string(text))
	state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	if len(state) > 0 && !strings.HasPrefix(string(state), "Z") { // which waits to be reaped, in some containers for ever
		t.Errorf("process %s is alive: %q", pid, state)
	}
}

// What passes is waited for; a second job that an unclear answer has led to is removed.
func TestSubmissionFailsForAWhile(t *testing.T) {
	dir := slurmtest.Imitate(t)
	failing := filepath.Join(dir, "sbatch.fails")
	if err := os.WriteFile(failing, []byte("Socket timed out on send/recv operation"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := runner.Job{Dir: filepath.Join(tempdir.New(t), "000001", "a1"), ID: "fake/1/1", Shell: "exit 4"}
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = os.Remove(failing)
	}()
	if exit, err := slurmtest.Launcher(t).Launch(context.Background(), job); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A job that ends just as it is cancelled is cancelled, and any other refusal is told.
func TestCancelledAsItEnds(t *testing.T) {
	for _, c := range []struct {
		code string
		ok   bool
	}{{"229", true}, {"1", false}} {
		t.Run(c.code, func(t *testing.T) {
			job, done, _ := heldTrial(t, 20*time.Millisecond)
			exits := filepath.Join(slurmtest.Dir(), "scancel.exits")
			if err := os.WriteFile(exits, []byte(c.code), 0o600); err != nil {
				t.Fatal(err)
			}
			did, err := new(slurm.Launcher).Cancel(t.Context(), job.Dir)
			if !did || (err == nil) != c.ok {
				t.Errorf("scancel exits with %s: %v, %v", c.code, did, err)
			}
			if err := os.Remove(exits); err != nil {
				t.Fatal(err)
			}
			becomes(t, 1, "CANCELLED", "")
			<-done
		})
	}
}

// The jobs of a study that was copied while it ran are not the copy's to cancel.
func TestCopyCancelsNothing(t *testing.T) {
	job, done, _ := heldTrial(t, 20*time.Millisecond)
	backup := filepath.Join(t.TempDir(), "a1")
	if err := os.CopyFS(backup+".slurm", os.DirFS(job.Dir+".slurm")); err != nil {
		t.Fatal(err)
	}
	l := new(slurm.Launcher)
	if did, err := l.Cancel(t.Context(), backup); did || err != nil || l.Left(backup) {
		t.Errorf("the copy: left, and cancelled: %v, %v", did, err)
	}
	if got := theJob(t, 1).State; got != "PENDING" || !l.Left(job.Dir) {
		t.Errorf("the job of the original is %s", got)
	}
	if did, err := l.Cancel(t.Context(), job.Dir); !did || err != nil {
		t.Errorf("the original: %v, %v", did, err)
	}
	<-done
}

// Nor are the pilots of a copied study the copy's to send home.
func TestCopyReleasesNoPilots(t *testing.T) {
	f := newFleet(t)
	f.hold()
	f.launch(1, "exit 4")
	theJob(t, 1)
	f.stops[1]()
	_, _ = f.ended(1)
	copied := slurmtest.Launcher(t)
	copied.Settings, copied.Pool = f.l.Settings, filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied.Pool, os.DirFS(f.l.Pool)); err != nil {
		t.Fatal(err)
	}
	if err := copied.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got := theJob(t, 1).State; got != "PENDING" {
		t.Errorf("the pilot of the original is %s", got)
	}
}
