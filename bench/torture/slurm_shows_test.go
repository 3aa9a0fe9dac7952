//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// conducted is how a conducted study went.
type conducted struct {
	trials []string // proposal and result of each
	order  []int    // in which they finished
	best   int
	nodes  map[string]int // the most trials that a node ran at the same time
}

// conduct runs a study whose trials end in the order of their numbers, each after lbotune
// has proposed all that it can: nothing is left to chance.
func conduct(t *testing.T, name string, trials, slots int, launcher string) (c conducted) {
	l := newLab(t)
	gates := ": <" + l.path("go") + "{trial}"
	for n := 1; n <= trials; n++ {
		l.gate("go" + strconv.Itoa(n))
	}
	l.write("spec.toml", fmt.Sprintf(`command = "echo $SLURMD_NODENAME >$LBOTUNE_TRIAL_DIR/node; %s; awk -v x={x} -v y={y} 'BEGIN {{ print \"loss=\" (x-0.3)^2 + (y+1)^2/10 }}'"
seed = 7
[objective]
metric = "loss"
[params.x]
type = "float"
min = 0
max = 1
[params.y]
type = "float"
min = -5
max = 5
[budget]
trials = %d
[run]
workers = %d
%s`, gates, trials, slots, launcher))
	r := l.start("run", "spec.toml")
	c.nodes = make(map[string]int)
	for n := 1; n <= trials; n++ {
		l.await(fmt.Sprintf("trial %d of %s to run", n, name), func() bool {
			_, err := os.Stat(l.trialDir(n) + "/a1/node")
			return err == nil && l.exists("spec.study/journal.jsonl") && len(l.load().Trials) == min(n-1+slots, trials)
		})
		running := make(map[string]int)
		for k := n; k < min(n+slots, trials+1); k++ {
			if text, err := os.ReadFile(l.trialDir(k) + "/a1/node"); err == nil && len(text) > 0 {
				running[strings.TrimSpace(string(text))]++
			}
		}
		for node, k := range running {
			c.nodes[node] = max(c.nodes[node], k)
		}
		l.open("go" + strconv.Itoa(n))
		l.await(fmt.Sprintf("the end of trial %d of %s", n, name), func() bool { return len(l.load().Order) == n })
	}
	r.end().must(l, 0)
	l.await("the pilots to end", func() bool { return len(l.alive()) == 0 })
	st := l.load()
	for _, tr := range st.Trials {
		c.trials = append(c.trials, fmt.Sprintf("%s %s %d %v: %s %v", tr.Values(), tr.Origin, tr.Told, tr.Pending, tr.Status, tr.Value))
	}
	c.order, c.best = st.Order, st.Incumbent().Number
	return c
}

func (l *lab) trialDir(n int) string { return l.path(fmt.Sprintf("spec.study/trials/%06d", n)) }

// The same spec, seed and order of completion give the same study on this machine, with a
// job for each trial, and with pilots.
func TestSlurmSameOutcome(t *testing.T) {
	const trials = 24 // two for each slot
	slurmtest.Start(t)
	local := conduct(t, "the local run", trials, 12, "")
	for name, launcher := range map[string]string{"jobs": onSlurm, "pilots": withPilots} {
		c := conduct(t, name, trials, 12, launcher)
		if !reflect.DeepEqual(c.trials, local.trials) || !reflect.DeepEqual(c.order, local.order) || c.best != local.best {
			t.Errorf("%s: another outcome\n%q, best %d\n%q, best %d", name, c.trials, c.best, local.trials, local.best)
		}
		if len(c.nodes) != 3 {
			t.Errorf("%s: the trials ran on the nodes %v; want all three", name, c.nodes)
		}
		for node, n := range c.nodes {
			if n > 4 {
				t.Errorf("%s: %d trials at the same time on node %s, which has 4 processors", name, n, node)
			}
		}
	}
	t.Logf("%d trials on 3 nodes in 12 slots are those of the local run; best is trial %d", trials, local.best)
}

// Inside an allocation lbotune's jobs are jobs of their own, and know nothing of it.
func TestSlurmInsideAllocation(t *testing.T) {
	c := slurmtest.Start(t)
	l := newLab(t)
	l.spec("spec.toml", `echo "$SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE $OUTER" >>`+l.path("jobs")+"; echo loss={x}", 3, 2, onSlurm)
	salloc, err := exec.LookPath("salloc")
	if err != nil {
		t.Skip("no salloc")
	}
	r := l.program(salloc, "--job-name=outer", "--nodes=1", "--cpus-per-task=3", "--mem=300M", "sh", "-c",
		`echo "$SLURM_JOB_ID" >`+l.path("outer")+`; OUTER=seen exec "$0" "$@"`, os.Getenv(programVar), "run", "spec.toml")
	r.launch()
	r.end().must(l, 0)
	outer := strings.TrimSpace(l.read("outer"))
	jobs := strings.Split(strings.TrimSpace(l.read("jobs")), "\n")
	for _, job := range jobs {
		f := strings.Fields(job)
		if len(f) != 5 || f[0] == outer || !strings.HasPrefix(f[1], "lbotune-") || f[2] != "1" || f[3] != "50" || f[4] != "seen" {
			t.Errorf("a trial within the allocation %s saw %q", outer, job)
		}
	}
	if len(jobs) != 3 || l.load().Count(optimizer.Succeeded) != 3 {
		t.Errorf("jobs %q", jobs)
	}

	// Without [launcher] the trials run in the allocation itself.
	l.spec("here.toml", `echo "$SLURM_JOB_ID $SLURM_JOB_NAME" >>`+l.path("here")+"; echo loss={x}", 2, 2)
	r = l.program(salloc, "--job-name=outer", "--mem=100M", os.Getenv(programVar), "run", "here.toml")
	r.launch()
	r.end().must(l, 0)
	for _, job := range strings.Split(strings.TrimSpace(l.read("here")), "\n") {
		if !strings.HasSuffix(job, " outer") {
			t.Errorf("a trial of the allocation saw %q", job)
		}
	}
	c.Await("", "squeue", "-h", "-o", "%i")
}

// The machine of lbotune sees what jobs have written only seconds after Slurm has told that
// they have ended: its view of a trial's directory is frozen.
func TestSlurmLateFiles(t *testing.T) {
	c := slurmtest.Start(t)
	for _, launcher := range []string{onSlurm, withPilots} {
		l := newLab(t)
		l.spec("spec.toml", "echo run >>"+l.path("runs")+"; "+l.gate("go")+"; echo loss={x}", 1, 1,
			strings.Replace(launcher, `"2s"`, `"30s"`, 1))
		r := l.program("/usr/bin/unshare", "--mount", "--propagation", "private", os.Getenv(programVar), "run", "spec.toml")
		r.launch()
		l.await("the trial to run", func() bool { return l.exists("runs") })
		trial := l.trialDir(1)
		l.await("lbotune to know", func() bool { return l.load().Trials[0].Attempts != nil })
		mount := func(args ...string) {
			t.Helper()
			all := append([]string{"--target", strconv.Itoa(r.Process.Pid), "--mount"}, args...)
			if out, err := exec.Command("nsenter", all...).CombinedOutput(); err != nil {
				l.kill()
				t.Skipf("no view of its own for lbotune: %s", out)
			}
		}
		l.check(os.CopyFS(l.path("frozen"), os.DirFS(trial)))
		for _, name := range []string{"stdout", "stderr"} { // which are open already
			l.check(os.Remove(l.path("frozen/a1/" + name)))
			l.check(os.Link(trial+"/a1/"+name, l.path("frozen/a1/"+name)))
		}
		mount("mount", "--bind", l.path("frozen"), trial)
		l.open("go")
		l.await("the job's end", func() bool { _, err := os.Stat(trial + "/a1.slurm/ending.json"); return err == nil })
		if launcher == onSlurm {
			c.Await("", "squeue", "-h", "-o", "%i")
		}
		time.Sleep(3 * time.Second) // how late the files are
		if n := len(l.load().Order); n != 0 {
			t.Errorf("%d trials have ended of which lbotune has seen nothing", n)
		}
		mount("umount", "--lazy", trial)
		r.end().must(l, 0)
		if st := l.load(); st.Count(optimizer.Succeeded) != 1 || st.Trials[0].Attempt != 1 || l.read("runs") != "run\n" {
			t.Errorf("attempt %d, runs %q", st.Trials[0].Attempt, l.read("runs"))
		}
		c.Await("", "squeue", "-h", "-o", "%i")
	}
}

// The processor time and the memory of jobs are metrics.
func TestSlurmMeasures(t *testing.T) {
	c := slurmtest.Start(t)
	for _, launcher := range []string{onSlurm, withPilots} {
		l := newLab(t)
		l.spec("spec.toml", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; head -c 20000000 /dev/zero | tail -c 20000000 | wc -c; echo loss={x}", 2, 2,
			launcher+"[metrics.cpu]\nmeasure = \"cpu_seconds\"\n[metrics.memory]\nmeasure = \"peak_memory\"\n")
		l.run(0, "run", "spec.toml")
		for _, tr := range l.load().Trials {
			cpu, _ := tr.Metrics.Get("cpu")
			memory, _ := tr.Metrics.Get("memory")
			if cpu <= 0.01 || memory < 20e6 || memory > 500e6 {
				t.Errorf("%v seconds of processor time and %v bytes for a loop and 20 MB", cpu, memory)
			}
		}
		c.Await("", "squeue", "-h", "-o", "%i")
	}
}

// A disk that is full where jobs write ends the session with an error that says so; with
// room the same command goes on, and nothing is lost or doubled.
func TestSlurmFullDisk(t *testing.T) {
	slurmtest.Start(t)
	for _, launcher := range []string{onSlurm, withPilots} {
		l := newLab(t)
		small := l.path("small")
		l.check(os.Mkdir(small, 0o755))
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small).CombinedOutput(); err != nil {
			t.Skipf("no small disk: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", "--lazy", small).Run() })
		l.spec("spec.toml", as("work", l.dir+" {x} 200"), 12, 3, launcher)
		r := l.start("run", "--study", filepath.Join(small, "study"), "spec.toml")
		load := func() *study.State {
			st, err := study.Load(filepath.Join(small, "study"))
			l.check(err)
			return st
		}
		l.await("three trials", func() bool { return l.exists("small/study/journal.jsonl") && len(load().Order) >= 3 })
		_ = exec.Command("dd", "if=/dev/zero", "of="+filepath.Join(small, "ballast"), "bs=4k").Run() // until it is full
		res := r.end()
		if res.code == 0 || !strings.Contains(res.err, "no space left") {
			t.Errorf("exit code %d with a full disk: %s", res.code, res.err)
		}
		l.check(os.Remove(filepath.Join(small, "ballast")))
		l.run(0, "run", "--study", filepath.Join(small, "study"), "spec.toml")
		st := load()
		notes, overlaps := diary(l.read("diary"))
		if len(st.Order) != 12 || st.Count(optimizer.Succeeded) != 12 || len(overlaps) > 0 {
			t.Errorf("%d trials, %d of them well; overlaps %q", len(st.Order), st.Count(optimizer.Succeeded), overlaps)
		}
		t.Logf("%d attempts of 12 trials", attempts(notes))
		l.kill() // pilots that idle
	}
}
