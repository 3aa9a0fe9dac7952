package slurm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/slurm"
)

// fleet is a few attempts that pilots of a fake cluster run. Each writes its number to the
// file diary.
type fleet struct {
	t     *testing.T
	l     *slurm.Launcher
	dir   string
	ends  map[int]chan result
	stops map[int]context.CancelFunc
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	slurmtest.Imitate(t)
	l := slurmtest.Piloted(t)
	l.Workers = 1
	dir := tempdir.New(t)
	if err := unix.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &fleet{t: t, l: l, dir: dir, ends: make(map[int]chan result), stops: make(map[int]context.CancelFunc)}
}

// hold makes the cluster begin no more jobs.
func (f *fleet) hold() {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(slurmtest.Dir(), "hold"), nil, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// release makes the cluster begin every job that is held.
func (f *fleet) release() {
	f.t.Helper()
	defer slurmtest.Lock()()
	_ = os.Remove(filepath.Join(slurmtest.Dir(), "hold"))
	for _, j := range slurmtest.Jobs() {
		if j.Held && j.State == "PENDING" {
			j.Held = false
			j.Save()
			if err := j.Begin(); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

// waits is a command that goes on until letGo.
func (f *fleet) waits() string { return ": <" + f.dir + "/go; exit 4" }

func (f *fleet) letGo() {
	f.t.Helper()
	gate, err := os.OpenFile(filepath.Join(f.dir, "go"), os.O_RDWR, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { gate.Close() })
}

func (f *fleet) wantCode(n int) {
	f.t.Helper()
	if exit, err := f.ended(n); err != nil || exit.Code != 4 {
		f.t.Errorf("attempt %d: %+v, %v", n, exit, err)
	}
}

func (f *fleet) job(n int, command string) runner.Job {
	return runner.Job{Dir: filepath.Join(f.dir, fmt.Sprint(n), "a1"), ID: fmt.Sprintf("fleet/%d/1", n),
		Shell: fmt.Sprintf("echo %d >>%s/diary; %s", n, f.dir, command)}
}

// launch launches attempt n, and returns when it waits for a pilot.
func (f *fleet) launch(n int, command string) {
	f.t.Helper()
	job := f.job(n, command)
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	f.ends[n], f.stops[n] = make(chan result, 1), cancel
	go func(end chan<- result) {
		exit, err := f.l.Launch(ctx, job)
		end <- result{exit, err}
	}(f.ends[n])
	f.until("an entry", func() bool { return f.waiting(job) || exists(job.Dir) || len(f.ends[n]) > 0 })
}

// waiting reports whether the pilots know of a job.
func (f *fleet) waiting(job runner.Job) bool {
	entries, _ := filepath.Glob(filepath.Join(f.l.Pool, "wait-*"))
	return slices.ContainsFunc(entries, func(entry string) bool {
		to, _ := os.Readlink(entry)
		return to == job.Dir+".slurm"
	})
}

func (f *fleet) until(what string, ok func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (f *fleet) ended(n int) (runner.Exit, error) {
	f.t.Helper()
	select {
	case r := <-f.ends[n]:
		return r.exit, r.err
	case <-time.After(time.Minute):
		f.t.Fatalf("attempt %d does not end", n)
		panic("not reached")
	}
}

func (f *fleet) diary() string {
	text, _ := os.ReadFile(filepath.Join(f.dir, "diary"))
	return strings.ReplaceAll(string(text), "\n", " ")
}

// A pilot takes the newest of what waits, one after the other.
func TestPilotTakesTheNewest(t *testing.T) {
	f := newFleet(t)
	f.launch(1, f.waits())
	f.until("the first one to begin", func() bool { return f.diary() != "" })
	f.hold() // no other pilot
	for n := 2; n <= 4; n++ {
		f.launch(n, "exit 4")
	}
	f.letGo()
	for n := 1; n <= 4; n++ {
		f.wantCode(n)
	}
	if got := f.diary(); got != "1 4 3 2 " {
		t.Errorf("ran in the order %s", got)
	}
}

// A pilot that has not enough time left for another attempt ends, and another one follows.
func TestPilotEndsInTime(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.Time = time.Minute
	for n := 1; n <= 3; n++ {
		f.launch(n, "exit 4")
	}
	for n := 1; n <= 3; n++ {
		f.wantCode(n)
	}
	jobs := make(map[string]bool)
	for n := 1; n <= 3; n++ {
		text, err := os.ReadFile(f.job(n, "").Dir + ".slurm/ending.json")
		var ending struct{ Job string }
		if err != nil || json.Unmarshal(text, &ending) != nil {
			t.Fatalf("%s, %v", text, err)
		}
		jobs[ending.Job] = true
	}
	if len(jobs) != 3 {
		t.Errorf("three attempts of unknown length in the pilots %v, which have a minute each", jobs)
	}
}

// Several attempts share a job and what it has.
func TestPilotHasSeats(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.PerJob, f.l.Settings.Poll = 2, time.Minute // no seat is given up for want of work
	for n := 1; n <= 2; n++ {
		f.launch(n, fmt.Sprintf("touch %s/%d; until [ -e %s/%d ]; do sleep 0.01; done; exit 4", f.dir, n, f.dir, 3-n))
	}
	f.wantCode(1)
	f.wantCode(2)
	if jobs := slurmtest.Jobs(); len(jobs) != 1 {
		t.Errorf("%d jobs for two attempts that share one", len(jobs))
	}
}

// A pilot keeps its other seats as long as one of its attempts runs.
func TestPilotKeepsItsSeats(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.PerJob, f.l.Settings.Poll = 2, 20*time.Millisecond
	f.launch(1, f.waits())
	f.launch(2, "exit 4")
	f.wantCode(2)
	f.hold()                    // no other pilot
	time.Sleep(2 * time.Second) // many times as long as a pilot waits for work
	f.launch(3, "exit 4")
	f.wantCode(3)
	f.letGo()
	f.wantCode(1)
}

// What a signal has killed does not wait for the end of others in the same pilot, to learn of their job's.
func TestPilotKilledBesideAnother(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.PerJob = 2
	f.launch(1, f.waits())
	f.launch(2, "kill -9 $$")
	if exit, err := f.ended(2); err != nil || exit.Signal != "SIGKILL" || exit.Cause != "" {
		t.Errorf("%+v, %v", exit, err)
	}
	f.letGo()
	f.wantCode(1)
}

// Of pilots that have not begun none is left in the queue.
func TestPilotsReleased(t *testing.T) {
	f := newFleet(t)
	f.hold()
	for n := 1; n <= 2; n++ {
		f.launch(n, "exit 4")
		theJob(t, n) // an array for each
	}
	for n := 1; n <= 2; n++ {
		f.stops[n]()
		if exit, err := f.ended(n); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", exit, err)
		}
	}
	if err := f.l.Release(t.Context()); err != nil {
		t.Error(err)
	}
	for _, j := range slurmtest.Jobs() {
		if j.State != "CANCELLED" {
			t.Errorf("job %d is %s", j.ID, j.State)
		}
	}
}

// Pilots that fail before they begin anything may have met a sick node: others tell.
func TestPilotsOnASickNode(t *testing.T) {
	for _, ill := range []int{1, 2} {
		f := newFleet(t)
		f.l.Settings.Setup = []string{fmt.Sprintf("if mkdir %[1]s/ill%[2]d || mkdir %[1]s/ill1; then echo no such module; exit 1; fi", f.dir, ill)}
		f.launch(1, "exit 4")
		exit, err := f.ended(1)
		switch {
		case ill == 1 && (err != nil || exit.Code != 4):
			t.Errorf("after one sick node: %+v, %v", exit, err)
		case ill == 2 && (!errors.Is(err, runner.ErrNotBegun) || !strings.Contains(err.Error(), "no such module")):
			t.Errorf("after two: %+v, %v", exit, err)
		}
		if jobs := slurmtest.Jobs(); len(jobs) != 2 || jobs[1].Option("exclude") != "fake1" {
			t.Errorf("%d jobs; the last one avoids %q", len(jobs), jobs[len(jobs)-1].Option("exclude"))
		}
	}
}

// A pilot that takes no more has no seats but those in which something runs.
func TestPilotLeavesWhileItWorks(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.PerJob, f.l.Settings.Time = 2, time.Minute
	f.launch(1, f.waits())
	f.launch(2, "exit 4")
	f.wantCode(2)
	f.launch(3, "exit 4") // for which the pilot has not enough time left
	f.wantCode(3)
	f.letGo()
	f.wantCode(1)
	if jobs := slurmtest.Jobs(); len(jobs) != 2 {
		t.Errorf("%d pilots", len(jobs))
	}
}

// A pilot that is asked to run an attempt which was withdrawn meanwhile goes on to others,
// and the attempt leaves nothing behind.
func TestPilotWithdrawn(t *testing.T) {
	f := newFleet(t)
	f.hold()
	f.launch(1, "exit 4")
	f.launch(2, "exit 4")
	f.stops[2]()
	if exit, err := f.ended(2); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", exit, err)
	}
	if exists(f.job(2, "").Dir) || exists(f.job(2, "").Dir+".slurm") {
		t.Error("something is left of an attempt that did not begin")
	}
	f.release()
	f.wantCode(1)
	if got := f.diary(); got != "1 " {
		t.Errorf("%s ran", got)
	}
}

// A pilot that its own time limit ends is to blame the attempt that had all of it, and no
// other one: that runs again.
func TestPilotTimeUp(t *testing.T) {
	for _, first := range []bool{true, false} {
		f := newFleet(t)
		f.l.Settings.Poll = 100 * time.Millisecond
		f.hold()
		f.launch(1, "exit 4")
		j := theJob(t, 1)
		mark := fmt.Sprintf("%s.slurm/taken-%s.%s", f.job(1, "").Dir, j.Name, j.Shown())
		if err := os.WriteFile(mark, []byte(fmt.Sprintf(`{"first":%v}`, first)), 0o600); err != nil {
			t.Fatal(err)
		}
		becomes(t, 1, "RUNNING", "fake1")
		claim(t, f.job(1, ""))
		becomes(t, 1, "TIMEOUT", "fake1")
		exit, err := f.ended(1)
		if ok := first && err == nil && exit.TimedOut || !first && errors.Is(err, runner.ErrLost); !ok {
			t.Errorf("first %v: %+v, %v", first, exit, err)
		}
	}
}

// What has begun is off the list, and is not begun again if its directory is deleted.
func TestPilotBeginsOnce(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.PerJob, f.l.Settings.Poll = 2, time.Minute // one seat looks for work all the time
	f.launch(1, f.waits())
	f.until("it to begin", func() bool { return f.diary() != "" })
	list := filepath.Join(f.l.Pool, "wait-*")
	f.until("an empty list", func() bool { links, _ := filepath.Glob(list); return len(links) == 0 })
	if err := os.RemoveAll(f.job(1, "").Dir); err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 3; n++ {
		f.launch(n, "exit 4")
		f.wantCode(n)
	}
	f.letGo()
	f.wantCode(1)
	if got := f.diary(); got != "1 2 3 " {
		t.Errorf("ran in the order %s", got)
	}
	if links, _ := filepath.Glob(list); len(links) > 0 {
		t.Errorf("still on the list: %q", links)
	}
}

// A second launcher, as after a crash, finds the pilots of the first one, and submits none.
func TestPilotsOutliveTheirLauncher(t *testing.T) {
	f := newFleet(t)
	f.l.Settings.Poll = time.Minute // the pilot waits for more
	f.launch(1, f.waits())
	f.until("it to begin", func() bool { return f.diary() != "" })
	f.hold()
	second := slurmtest.Launcher(t)
	second.Settings, second.Workers, second.Pool = f.l.Settings, f.l.Workers, f.l.Pool
	end := make(chan result, 1)
	go func() {
		exit, err := second.Attach(context.Background(), f.job(1, ""))
		end <- result{exit, err}
	}()
	f.letGo()
	f.ends[1] = end
	f.wantCode(1)
	if exit, err := second.Launch(context.Background(), f.job(2, "exit 4")); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
	if jobs := slurmtest.Jobs(); len(jobs) != 1 {
		t.Errorf("%d jobs; want the one pilot", len(jobs))
	}
}

// The pilots of an earlier session have as many seats as that one gave them.
func TestPilotsOfFewerSeats(t *testing.T) {
	f := newFleet(t)
	f.launch(1, f.waits())
	f.until("it to begin", func() bool { return f.diary() != "" })
	second := slurmtest.Launcher(t)
	second.Settings, second.Workers, second.Pool = f.l.Settings, 2, f.l.Pool
	second.Settings.PerJob = 2
	end := make(chan result, 1)
	go func() {
		exit, err := second.Attach(context.Background(), f.job(1, ""))
		end <- result{exit, err}
	}()
	f.ends[1], f.l = end, second
	f.launch(2, "exit 4")
	f.wantCode(2)
	f.letGo()
	f.wantCode(1)
}

// The pilots of a study have nothing to do with a copy of it.
func TestPilotsOfCopiedStudy(t *testing.T) {
	f := newFleet(t)
	f.hold()
	f.launch(1, "exit 4")
	theJob(t, 1)
	pool := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(pool, os.DirFS(f.l.Pool)); err != nil { // without the links, which it does not know
		t.Log(err)
	}
	entries, err := filepath.Glob(filepath.Join(f.l.Pool, "wait-*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	_ = os.Symlink(f.job(1, "").Dir+".slurm", filepath.Join(pool, filepath.Base(entries[0])))
	other := slurmtest.Launcher(t)
	other.Settings, other.Workers, other.Pool = f.l.Settings, 1, pool
	t.Cleanup(func() { slurmtest.Leave(t, other) })
	if err := os.Remove(filepath.Join(slurmtest.Dir(), "hold")); err != nil {
		t.Fatal(err)
	}
	if exit, err := other.Launch(context.Background(), f.job(2, "exit 4")); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
	if got := f.diary(); got != "2 " {
		t.Errorf("%s ran; want the copy's own trial alone", got)
	}
	f.release()
	f.wantCode(1)
}

// The processor time and the memory of an attempt come back from its job.
func TestUsage(t *testing.T) {
	f := newFleet(t)
	for _, pilot := range []bool{false, true} {
		f.l.Settings.Pilot = pilot
		n := 1
		if pilot {
			n = 2
		}
		exit, err := f.l.Launch(context.Background(), f.job(n, fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done", effort.Of(30000, 100000, 100000))))
		if err != nil || exit.CPU <= 0 || exit.PeakMemory <= 0 {
			t.Errorf("pilot %v: %+v, %v", pilot, exit, err)
		}
	}
}

// An attempt that its launcher withdraws after a job has looked at it and before the job
// claims it, ends at once, although what the job writes meanwhile keeps its folder.
func TestWithdrawnBeforeTheClaim(t *testing.T) {
	f := newFleet(t)
	f.hold()
	f.launch(1, "exec sleep 100")
	folder := f.job(1, "").Dir + ".slurm"
	intent := filepath.Join(folder, "intent.json")
	text, err := os.ReadFile(intent)
	if err != nil {
		t.Fatal(err)
	}
	f.stops[1]()
	if _, err := f.ended(1); err == nil {
		t.Fatal("the attempt has not been withdrawn")
	}

	// The folder stands again as the job looks at it. What it has read vanishes between its claim
	// and the start of its command, which takes a while where it has a large file to write; on a
	// busy machine we may come too late, and try again.
	text = []byte(strings.Replace(string(text), `"cwd":`, `"files":[{"name":"large","content":"`+strings.Repeat("x", 16<<20)+`"}],"cwd":`, 1))
	dir := f.job(1, "").Dir
	withdraw := func() bool {
		_ = os.Remove(filepath.Join(f.dir, "diary"))
		if err := errors.Join(os.RemoveAll(folder), os.RemoveAll(dir), os.Mkdir(folder, 0o700), os.WriteFile(intent, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(slurmtest.Exec[0], append(slurmtest.Exec[1:], folder)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() { over <- cmd.Wait() }()
		for begun := time.Now(); !exists(dir) && time.Since(begun) < time.Minute; {
			time.Sleep(50 * time.Microsecond)
		}
		_ = os.Remove(intent)
		select {
		case <-over:
			return true
		case <-time.After(10 * time.Second):
			_ = os.WriteFile(filepath.Join(folder, "stop"), []byte("kill"), 0o600)
			<-over
			return false
		}
	}
	for tries := 1; !withdraw() || f.diary() == ""; tries++ { // it may be ended before its command has begun
		if tries == 5 {
			t.Fatalf("the attempt goes on, and nobody waits for it, or it was not begun: %q", f.diary())
		}
	}
	if exists(dir) {
		t.Errorf("%s is left, and the attempt could not be launched again", dir)
	}
}
