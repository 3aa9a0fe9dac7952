//go:build linux

package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// realCluster starts Slurm on this machine, which takes minutes: every day a cluster of shell
// scripts stands for it.
func realCluster(t *testing.T, lines ...string) *slurmtest.Cluster {
	t.Helper()
	if !effort.Long() {
		t.Skip("a real cluster takes minutes: LBOTUNE_LONG_TESTS=1 has them")
	}
	return slurmtest.Start(t, lines...)
}

// site is a cluster, and how attempts run there.
type site struct {
	*slurmtest.Cluster
	pilot bool
}

// trial is an attempt on a real cluster that a test does something to.
type trial struct {
	t       *testing.T
	cluster site
	l       *slurm.Launcher
	job     runner.Job
	done    chan result
	cancel  context.CancelFunc
}

// begin launches a command as an attempt. It writes a line to the file runs when it begins.
func begin(t *testing.T, c site, command string, change ...func(*slurm.Settings)) *trial {
	dir := tempdir.New(t)
	tr := &trial{t: t, cluster: c, l: slurmtest.Launcher(t), done: make(chan result, 1), job: runner.Job{
		Dir:   filepath.Join(dir, "000001", "a1"),
		ID:    "faults/1/1",
		Shell: `echo run >>"$RUNS"; echo ready; ` + command,
		Env:   []string{"RUNS=" + filepath.Join(dir, "runs"), "GO=" + filepath.Join(dir, "go")},
		Grace: time.Second,
	}}
	if c.pilot {
		tr.l = slurmtest.Piloted(t)
		tr.l.Workers = 1
	}
	tr.l.Settings.Memory = "50M"
	for _, f := range change {
		f(&tr.l.Settings)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr.launch()
	return tr
}

func (tr *trial) launch() {
	ctx, cancel := context.WithCancel(context.Background())
	tr.cancel = cancel
	tr.t.Cleanup(cancel)
	go func() {
		exit, err := tr.l.Launch(ctx, tr.job)
		tr.done <- result{exit, err}
	}()
}

// waits is a command that goes on until the test lets it.
const waits = `: <"$GO"; exit 4`

// letGo lets a command that waits end.
func (tr *trial) letGo() {
	tr.t.Helper()
	gate, err := os.OpenFile(filepath.Join(tr.job.Dir, "../../go"), os.O_RDWR, 0)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() { gate.Close() })
}

// ready waits until the command runs, and returns the id of its job and its node.
func (tr *trial) ready() (id, node string) {
	tr.t.Helper()
	tr.eventually("the command to begin", func() bool {
		text, _ := os.ReadFile(filepath.Join(tr.job.Dir, runner.StdoutName))
		return strings.HasPrefix(string(text), "ready\n")
	})
	id = tr.id()
	if tr.cluster.pilot {
		marks, err := filepath.Glob(tr.job.Dir + ".slurm/taken-*")
		if err != nil || len(marks) != 1 {
			tr.t.Fatalf("taken by %v, %v", marks, err)
		}
		shown := marks[0][strings.LastIndexByte(marks[0], '.')+1:]
		id = tr.cluster.Run("squeue", "-h", "-j", shown, "-o", "%A")
	}
	return id, tr.cluster.Run("squeue", "-h", "-j", id, "-o", "%N")
}

// id is that of the attempt's first job, or of the first array of its pilots.
func (tr *trial) id() (id string) {
	tr.t.Helper()
	if tr.cluster.pilot {
		tr.eventually("pilots", func() bool {
			if names := slurmtest.Crew(tr.l); len(names) > 0 {
				id = tr.cluster.Run("squeue", "-h", "--states=all", "--name="+names[0], "-o", "%F")
				id, _, _ = strings.Cut(id, "\n")
			}
			return id != ""
		})
		return id
	}
	tr.eventually("a job id", func() bool {
		text, _ := os.ReadFile(tr.job.Dir + ".slurm/submitted.jsonl")
		_, rest, _ := strings.Cut(string(text), `"id":"`)
		id, _, _ = strings.Cut(rest, `"`)
		return id != ""
	})
	return id
}

func (tr *trial) eventually(what string, ok func() bool) {
	tr.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tr.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// ended waits for the end, and checks how often the command has run in all.
func (tr *trial) ended(runs int) (runner.Exit, error) {
	tr.t.Helper()
	select {
	case r := <-tr.done:
		if got := tr.runs(); got != runs {
			tr.t.Errorf("the command ran %d times, want %d", got, runs)
		}
		return r.exit, r.err
	case <-time.After(2 * time.Minute):
		tr.t.Fatal("the attempt does not end")
		panic("not reached")
	}
}

func (tr *trial) runs() int {
	text, _ := os.ReadFile(filepath.Join(tr.job.Dir, "../../runs"))
	return strings.Count(string(text), "\n")
}

func (tr *trial) wantCode(code int) {
	tr.t.Helper()
	if exit, err := tr.ended(1); err != nil || exit.Code != code || exit.Cause != "" {
		tr.t.Errorf("%+v, %v; want code %d", exit, err, code)
	}
}

func (tr *trial) wantCause(cause string) {
	tr.t.Helper()
	if exit, err := tr.ended(1); err != nil || !strings.Contains(exit.Cause, cause) || exit.Cancelled {
		tr.t.Errorf("%+v, %v; want the cause %q", exit, err, cause)
	}
}

// wantLost checks that the attempt was lost, and that another one ends well.
func (tr *trial) wantLost(state string) {
	tr.t.Helper()
	if exit, err := tr.ended(1); !errors.Is(err, runner.ErrLost) || !strings.Contains(err.Error(), state) {
		tr.t.Errorf("%+v, %v; want it lost by %q", exit, err, state)
	}
	tr.letGo()
	tr.job.Dir, tr.job.ID = filepath.Join(filepath.Dir(tr.job.Dir), "a2"), "faults/1/2"
	tr.launch()
	if exit, err := tr.ended(2); err != nil || exit.Code != 4 {
		tr.t.Errorf("the next attempt: %+v, %v", exit, err)
	}
}

// A job has what was asked for, and nothing of what its submitter's environment says to
// Slurm's commands.
func TestResources(t *testing.T) {
	c := site{realCluster(t), false}
	for _, name := range []string{"SBATCH_PARTITION", "SBATCH_ARRAY_INX", "SQUEUE_PARTITION", "SQUEUE_FORMAT", "SLURM_JOB_NAME", "SCANCEL_STATE"} {
		t.Setenv(name, "nowhere")
	}
	t.Setenv("SLURM_MEM_PER_CPU", "1")
	tr := begin(t, c, `echo $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE $CUDA_VISIBLE_DEVICES $MODULE "$SBATCH_PARTITION$SLURM_MEM_PER_CPU$SLURM_ARRAY_TASK_ID"; exit 4`,
		func(s *slurm.Settings) {
			s.CPUs, s.Memory, s.GPUs, s.Time, s.Setup = 3, "60M", 2, 90*time.Second, []string{"export MODULE=loaded"}
		})
	tr.wantCode(4)
	text, err := os.ReadFile(filepath.Join(tr.job.Dir, runner.StdoutName))
	if err != nil || string(text) != "ready\n3 60 0,1 loaded \n" {
		t.Errorf("the job saw %q, %v", text, err)
	}
	if job := c.Run("scontrol", "show", "job", tr.id()); !strings.Contains(job, "TimeLimit=00:02:00") {
		t.Errorf("no time limit of two minutes: %s", job)
	}
}

// Every fault is made, on one cluster; what a fault has broken is mended again.
func TestFaults(t *testing.T) {
	c := realCluster(t, "MIN_JOB_AGE=10")
	jobs, pilots := site{c, false}, site{c, true}
	type fault struct {
		name string
		run  func(*testing.T, site)
	}
	var forgotten []*forgotten
	var expiring []*trial
	for _, s := range []site{jobs, pilots} { // Slurm takes up to a minute for these
		forgotten = append(forgotten, beginForgotten(t, s))
		expiring = append(expiring, beginTimeLimit(t, s))
	}
	rebooted := beginReboot(t, jobs, pilots)
	both := func(t *testing.T, f fault, parallel bool) {
		for _, s := range []site{jobs, pilots} {
			name := f.name
			if s.pilot {
				name += "Pilot"
			}
			t.Run(name, func(t *testing.T) {
				if parallel {
					t.Parallel()
				}
				s.Cluster = c.For(t)
				f.run(t, s)
			})
		}
	}
	together := func(name string, run func(*testing.T, ...site)) { // a fault that hits everybody
		t.Run(name, func(t *testing.T) {
			c := c.For(t)
			run(t, site{c, false}, site{c, true})
		})
	}
	t.Run("Together", func(t *testing.T) {
		for _, f := range []fault{
			{"CancelledOutside", testCancelledOutside},
			{"Warned", testWarned},
			{"CancelledWaiting", testCancelledWaiting},
			{"Held", testHeld},
			{"Suspended", testSuspended},
			{"Requeued", testRequeued},
			{"Memory", testMemory},
			{"Drained", testDrained},
			{"SetupFails", testSetupFails},
			{"Refused", testRefused},
			{"FullDisk", testFullDisk},
		} {
			t.Run(f.name, func(t *testing.T) {
				both(t, f, true)
			})
		}
	})
	together("Preempted", testPreempted)
	together("ControllerStopped", testControllerStopped)
	together("DaemonKilled", testDaemonKilled)
	together("NodeDown", testNodeDown)
	for _, f := range []fault{
		{"TimeLimit", func(_ *testing.T, s site) { expiring[kind(s)].wantTimeLimit() }},
		{"Reboot", func(_ *testing.T, s site) { rebooted[kind(s)].wantLost("") }},
		{"Forgotten", func(t *testing.T, s site) { forgotten[kind(s)].test(t, s) }},
	} {
		both(t, f, false)
	}
	together("ControllerForgets", testControllerForgets)
}

func kind(s site) int {
	if s.pilot {
		return 1
	}
	return 0
}

func testCancelledOutside(t *testing.T, c site) {
	tr := begin(t, c, waits)
	id, _ := tr.ready()
	c.Run("scancel", id)
	tr.wantCause("cancelled outside of lbotune")

	tr = begin(t, c, "trap 'for i in 1 2 3 4 5; do sleep 0.1; done; exit 0' TERM; while :; do sleep 0.05; done") // it takes SIGTERM well
	id, _ = tr.ready()
	c.Run("scancel", id)
	tr.wantCause("cancelled outside of lbotune")

	tr = begin(t, c, waits)
	id, _ = tr.ready()
	c.Run("scancel", "--signal=KILL", "--full", id)
	if exit, err := tr.ended(1); err == nil && exit.Code == 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A warning of Slurm's reaches the program, and nothing else.
func testWarned(t *testing.T, c site) {
	tr := begin(t, c, "trap 'echo warned; exit 0' USR1; echo armed; while :; do sleep 0.05; done")
	id, _ := tr.ready()
	printed := func(what string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(filepath.Join(tr.job.Dir, runner.StdoutName))
			return strings.Contains(string(text), what)
		}
	}
	tr.eventually("the trap", printed("armed\n"))
	c.Run("scancel", "--batch", "--signal=USR1", id)
	if exit, err := tr.ended(1); err != nil || exit.Code != 0 || exit.Cancelled || !printed("warned\n")() {
		t.Errorf("%+v, %v", exit, err)
	}
}

// fullCluster leaves a job no room.
func fullCluster(s *slurm.Settings) { s.Extra = append(s.Extra, "--begin=now+1hour") }

func testCancelledWaiting(t *testing.T, c site) {
	tr := begin(t, c, waits, fullCluster)
	c.Run("scancel", tr.id())
	if exit, err := tr.ended(0); !errors.Is(err, runner.ErrNotBegun) || !strings.Contains(err.Error(), "cancelled outside") {
		t.Errorf("%+v, %v", exit, err)
	}
	tr = begin(t, c, waits, fullCluster)
	id := tr.id()
	tr.cancel()
	if exit, err := tr.ended(0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled by us: %+v, %v", exit, err)
	}
	if c.pilot { // which wait for other attempts
		slurmtest.Leave(t, tr.l)
	}
	c.Await("CANCELLED", "squeue", "-h", "--states=all", "-j", id, "-o", "%T")
}

func testHeld(t *testing.T, c site) {
	tr := begin(t, c, "exit 4", func(s *slurm.Settings) { s.Extra = append(s.Extra, "--hold") })
	id := tr.id()
	time.Sleep(2 * tr.l.Settings.Poll) // nothing happens, which takes a while to see
	if len(tr.done) > 0 {
		t.Fatal("a held job counts as ended")
	}
	c.Run("scontrol", "release", id)
	tr.wantCode(4)
}

func testSuspended(t *testing.T, c site) {
	tr := begin(t, c, waits)
	id, _ := tr.ready()
	c.Run("scontrol", "suspend", id)
	time.Sleep(6 * tr.l.Settings.Poll)
	if len(tr.done) > 0 {
		t.Fatalf("a suspended job counts as ended: %+v", <-tr.done)
	}
	c.Run("scontrol", "resume", id)
	tr.letGo()
	tr.wantCode(4)
}

func testRequeued(t *testing.T, c site) {
	tr := begin(t, c, waits)
	id, _ := tr.ready()
	if out, err := exec.Command("scontrol", "requeue", id).CombinedOutput(); err == nil {
		t.Errorf("--no-requeue is not obeyed: %s", out)
	}
	c.Run("scontrol", "update", "jobid="+id, "Requeue=1") // as its owner may
	c.Run("scontrol", "requeue", id)
	tr.wantLost("put back into the queue")
}

func beginTimeLimit(t *testing.T, c site) *trial {
	tr := begin(t, c, waits, onNode("n2"))
	id, _ := tr.ready()
	for deadline := time.Now().Add(time.Minute); ; { // "now" has passed if the controller is a second late
		out, err := exec.Command("scontrol", "update", "jobid="+id, "EndTime=now+1second").CombinedOutput()
		if err == nil {
			return tr
		}
		if time.Now().After(deadline) {
			t.Fatalf("set the job's end: %v: %s", err, out)
		}
	}
}

func (tr *trial) wantTimeLimit() {
	tr.t.Helper()
	if exit, err := tr.ended(1); err != nil || !exit.TimedOut || !strings.Contains(exit.Cause, "time limit") {
		tr.t.Errorf("%+v, %v", exit, err)
	}
}

func testMemory(t *testing.T, c site) {
	tr := begin(t, c, `head -c 300m /dev/zero | tail -c 300m | { sleep 20; wc -c; }`)
	tr.wantCause("out of memory")
}

func testPreempted(t *testing.T, sites ...site) {
	trials, _, _ := beginAll(t, sites, onNode("n1"))
	c := sites[0]
	id := c.Run("sbatch", "--parsable", "--partition=urgent", "--exclusive", "--nodelist=n1", "--mem=0", "--output=/dev/null", "--wrap=true")
	c.Await("COMPLETED", "squeue", "-h", "--states=all", "-j", id, "-o", "%T")
	for _, tr := range trials {
		tr.wantLost("PREEMPTED")
	}
}

// beginAll launches a command that waits at each site, and returns the jobs and the nodes on
// which they run.
func beginAll(t *testing.T, sites []site, change ...func(*slurm.Settings)) (trials []*trial, ids, nodes []string) {
	for _, s := range sites {
		trials = append(trials, begin(t, s, waits, change...))
	}
	for _, tr := range trials {
		id, node := tr.ready()
		ids, nodes = append(ids, id), append(nodes, node)
	}
	return trials, ids, nodes
}

func testSetupFails(t *testing.T, c site) {
	tr := begin(t, c, "exit 4", func(s *slurm.Settings) { s.Setup = []string{"echo loading", "module-that-is-not load cuda"} })
	_, err := tr.ended(0)
	if !errors.Is(err, runner.ErrNotBegun) || !strings.Contains(err.Error(), "module-that-is-not") {
		t.Errorf("%v", err)
	}
}

func testRefused(t *testing.T, c site) {
	tr := begin(t, c, "exit 4", func(s *slurm.Settings) { s.Partition = "nowhere" })
	_, err := tr.ended(0)
	var spawn *runner.SpawnError
	if !errors.As(err, &spawn) || spawn.Temporary || !strings.Contains(err.Error(), "invalid partition") {
		t.Errorf("%v", err)
	}
	if exists(tr.job.Dir + ".slurm") {
		t.Error("the folder of a refused job is left")
	}
}

func testFullDisk(t *testing.T, c site) {
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("no small disk: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	l := slurmtest.Launcher(t)
	if c.pilot {
		l = slurmtest.Piloted(t)
	}
	tr := &trial{t: t, cluster: c, l: l, done: make(chan result, 1), job: runner.Job{
		Dir: filepath.Join(small, "x/000001", "a1"), ID: "faults/1/1", Shell: `head -c 1000000 /dev/zero >"` + small + `/big" || exit 5`,
	}}
	tr.launch()
	if exit, err := tr.ended(0); err != nil || exit.Code != 5 || !exit.DiskFull {
		t.Errorf("%+v, %v", exit, err)
	}
}

func testDrained(t *testing.T, c site) {
	node := []string{"n1", "n2"}[kind(c)]
	tr := begin(t, c, waits, onNode(node))
	tr.ready()
	c.Run("scontrol", "update", "nodename="+node, "state=drain", "reason=test")
	defer c.Run("scontrol", "update", "nodename="+node, "state=resume")
	time.Sleep(3 * tr.l.Settings.Poll)
	tr.letGo()
	tr.wantCode(4)
}

// testDaemonKilled: Slurm takes the node for dead, but the jobs live and end well.
func testDaemonKilled(t *testing.T, sites ...site) {
	trials, ids, _ := beginAll(t, sites, onNode("n3"))
	c := sites[0]
	c.Signal("slurmd-n3", unix.SIGKILL)
	defer c.Restart()
	c.Run("scontrol", "update", "nodename=n3", "state=down", "reason=test") // not to wait for SlurmdTimeout
	for _, id := range ids {
		c.Await("NODE_FAIL", "squeue", "-h", "--states=all", "-j", id, "-o", "%T")
	}
	time.Sleep(6 * trials[0].l.Settings.Poll)
	for _, tr := range trials {
		if len(tr.done) > 0 {
			t.Fatalf("a job that lives counts as dead: %+v", <-tr.done)
		}
		tr.letGo()
		tr.wantCode(4)
	}
}

func testNodeDown(t *testing.T, sites ...site) {
	trials, ids, nodes := beginAll(t, sites)
	c := sites[0]
	defer c.Restart()
	for _, node := range slices.Compact(slices.Clone(nodes)) {
		c.Signal("slurmd-"+node, unix.SIGKILL)
	}
	for i, id := range ids {
		c.KillJob(id)
		c.Run("scontrol", "update", "nodename="+nodes[i], "state=down", "reason=test")
	}
	for i, tr := range trials {
		tr.wantLost("NODE_FAIL on node " + nodes[i])
		text, err := os.ReadFile(tr.job.Dir + ".slurm/ending.json")
		if err != nil || strings.Contains(string(text), `"node":"`+nodes[i]+`"`) {
			t.Errorf("the next attempt ran on the same node: %s, %v", text, err)
		}
	}
}

// beginReboot makes a node lose all its processes and come back before Slurm has missed it.
func beginReboot(t *testing.T, sites ...site) []*trial {
	trials, ids, _ := beginAll(t, sites, onNode("n3"))
	c := sites[0]
	c.Signal("slurmd-n3", unix.SIGKILL)
	for _, id := range ids {
		c.KillJob(id)
	}
	c.Restart()
	return trials
}

func onNode(name string) func(*slurm.Settings) {
	return func(s *slurm.Settings) { s.Extra = append(s.Extra, "--nodelist="+name) }
}

// testControllerStopped stops the controller for everybody.
func testControllerStopped(t *testing.T, sites ...site) {
	var comes []*trial
	lives, _, _ := beginAll(t, sites)
	c := sites[0]
	c.Signal("slurmctld", unix.SIGSTOP)
	for i, s := range sites {
		comes = append(comes, begin(t, s, "exit 4")) // its sbatch finds nobody
		lives[i].letGo()
		lives[i].wantCode(4) // which needs no controller
	}
	time.Sleep(15 * time.Second) // longer than Slurm's commands wait for an answer
	for _, tr := range comes {
		if len(tr.done) > 0 {
			t.Fatalf("ended without a controller: %+v", <-tr.done)
		}
	}
	c.Signal("slurmctld", unix.SIGCONT)
	for _, tr := range comes {
		tr.wantCode(4)
	}
	c.Restart() // it may take nodes for dead that it has not heard of
}

// testControllerForgets: the controller dies before it has saved two jobs, and gives their
// ids to other ones.
func testControllerForgets(t *testing.T, sites ...site) {
	c := sites[0]
	var trials []*trial
	var ids []string
	for _, s := range sites {
		trials = append(trials, begin(t, s, "exit 4", func(s *slurm.Settings) { s.Extra = append(s.Extra, "--begin=now+3"); s.Poll = 4 * time.Second }))
	}
	for _, tr := range trials {
		ids = append(ids, tr.id())
	}
	c.Signal("slurmctld", unix.SIGKILL)
	for _, name := range []string{"job_state", "job_state.old"} { // had it been saved after all
		_ = os.Remove(filepath.Join(c.Dir(), "state", name))
	}
	first, err := strconv.Atoi(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(ids[1]); err == nil {
		first = min(first, n)
	}
	f, err := os.OpenFile(filepath.Join(c.Dir(), "slurm.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "FirstJobId=%d\n", first)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	c.Restart()
	other := c.Run("sbatch", "--parsable", "--job-name=other", "--hold", "--output=/dev/null", "--wrap=true")
	defer c.Run("scontrol", "release", other)
	for _, tr := range trials {
		tr.wantCode(4)
	}
	// Both ids are in use again: by the job that waits, or by those that came in their place.
	for _, id := range ids {
		c.Run("squeue", "-h", "--states=all", "-j", id, "-o", "%j")
	}
}

// forgotten are attempts whose jobs Slurm will have forgotten before anybody looks.
type forgotten struct {
	c           site
	ended, lost *trial
	ids         []string
}

func beginForgotten(t *testing.T, c site) *forgotten {
	trials, ids, _ := beginAll(t, []site{c, c})
	f := &forgotten{c: c, ended: trials[0], lost: trials[1], ids: ids}
	f.ended.letGo()
	c.KillJob(f.ids[1])
	return f
}

func (f *forgotten) test(t *testing.T, _ site) {
	for _, id := range f.ids { // a minute after MinJobAge
		f.c.Await("slurm_load_jobs error: Invalid job id specified", "squeue", "-h", "--states=all", "-j", id, "-o", "%T")
	}
	other := f.ended.l
	if f.c.pilot {
		other = slurmtest.Piloted(t)
	}
	if exit, err := other.Attach(context.Background(), f.ended.job); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
	if f.c.pilot {
		other.Pool = f.lost.l.Pool
	}
	if exit, err := other.Attach(context.Background(), f.lost.job); !errors.Is(err, runner.ErrLost) {
		t.Errorf("%+v, %v", exit, err)
	}
}
