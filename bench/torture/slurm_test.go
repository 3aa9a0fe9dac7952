//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/slurmtest"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// onSlurm makes a spec's trials jobs of a cluster.
const onSlurm = `[launcher]
kind   = "slurm"
cpus   = 1
memory = "50M"
poll   = "2s"
`

// Lbotune is killed again and again, before, within and after its calls of sbatch: each
// trial has one end in the journal, and no attempt has run twice.
func TestSlurmStorm(t *testing.T) {
	slurmtest.Start(t)
	s := newStorm(t, 60, 12, 0)
	s.spec("spec.toml", as("work", s.dir+" {x} 300"), s.trials, 12, onSlurm)
	s.blow(50)
	notes := s.checkWhole()
	if n := attempts(notes); n != s.trials {
		t.Errorf("%d attempts ran; want one for each of %d trials", n, s.trials)
	}
	t.Logf("50 kills; %d trials took %d attempts in %d sessions", s.trials, attempts(notes), s.load().Sessions)
}

// withPilots lets a few jobs run all of the trials.
const withPilots = onSlurm + `mode = "pilot"
time = "30m"
`

// The same storm with pilots: nothing is lost or doubled with them either, and none is left
// when the study has ended.
func TestSlurmPilotStorm(t *testing.T) {
	c := slurmtest.Start(t)
	s := newStorm(t, 60, 12, 0)
	s.spec("spec.toml", as("work", s.dir+" {x} 300"), s.trials, 12, withPilots)
	s.blow(50)
	s.await("the pilots to end", func() bool { return c.Run("squeue", "-h", "-o", "%i") == "" })
	notes := s.checkWhole()
	if n := attempts(notes); n != s.trials {
		t.Errorf("%d attempts ran; want one for each of %d trials", n, s.trials)
	}
	t.Logf("50 kills; %d trials took %d attempts in %d sessions", s.trials, attempts(notes), s.load().Sessions)
}

// Two hundred trials that take no time, in 12 slots: what lbotune costs beside plain calls
// of sbatch, with a job for each trial and with pilots.
func TestSlurmShortTrials(t *testing.T) {
	if !*atLength {
		t.Skip("a minute long, for a figure that depends on the machine: -torture measures it")
	}
	const trials, slots = 200, 12
	c := slurmtest.Start(t)
	took := make(map[string]time.Duration)
	clock := func(what string, do func()) {
		begin := time.Now()
		do()
		took[what] = time.Since(begin)
	}
	clock("sbatch", func() {
		for range trials {
			c.Run("sbatch", "--parsable", "--cpus-per-task=1", "--mem=50M", "--output=/dev/null", "--wrap=echo loss=0.5")
		}
		c.Await("", "squeue", "-h", "-o", "%i")
	})
	for _, launcher := range []struct{ name, lines string }{{"jobs", onSlurm}, {"pilots", withPilots}} {
		l := newLab(t)
		l.spec("spec.toml", "echo loss={x}", trials, slots, launcher.lines)
		clock(launcher.name, func() { l.run(0, "run", "spec.toml") })
		if st := l.load(); st.Count(optimizer.Succeeded) != trials {
			t.Errorf("%s: %d trials have succeeded", launcher.name, st.Count(optimizer.Succeeded))
			for _, id := range st.Order {
				if trial := st.Trials[id]; trial.Status != optimizer.Succeeded {
					t.Errorf("trial %d %v: %+v", id, trial.Status, trial.Failure)
				}
			}
		}
		c.Await("", "squeue", "-h", "-o", "%i")
	}
	t.Logf("%d trials of echo in %d slots: %v with sbatch alone, %v with a job for each trial (%.2f of that), %v with pilots (%.2f, %.2f of the jobs)",
		trials, slots, took["sbatch"].Round(time.Second/10), took["jobs"].Round(time.Second/10), took["jobs"].Seconds()/took["sbatch"].Seconds(),
		took["pilots"].Round(time.Second/10), took["pilots"].Seconds()/took["sbatch"].Seconds(), took["pilots"].Seconds()/took["jobs"].Seconds())
	if took["pilots"] > took["sbatch"] || took["pilots"] > took["jobs"] {
		t.Error("pilots are no faster than a job for each trial")
	}
}

// A person leaves by Ctrl-C or with the terminal, comes back, and cancels by a second one.
func TestSlurmLeaving(t *testing.T) {
	c := slurmtest.Start(t)
	l := newLab(t)
	l.spec("spec.toml", as("work", l.dir+" {x} 1; "+l.gate("go")), 4, 3, onSlurm)
	jobs := func() int { return strings.Count(c.Run("squeue", "-h", "--states=RUNNING", "-o", "%i:"), ":") }
	running := func() bool { return jobs() == 3 }
	rejoined := func(n int) {
		l.await("three jobs to be found", func() bool { return strings.Count(l.read("spec.study/journal.jsonl"), `"rejoined":true`) == n })
	}

	r := l.start("run", "spec.toml")
	l.await("three jobs", running)
	l.check(r.Process.Signal(syscall.SIGHUP))
	r.end().must(l, 143)
	if n := jobs(); n != 3 {
		t.Fatalf("%d jobs are left; want 3", n)
	}

	r = l.start("run", "spec.toml")
	rejoined(3)
	l.check(r.Process.Signal(syscall.SIGINT))
	l.await("an answer to Ctrl-C", func() bool { return strings.Contains(r.said(), "leaves the jobs") })
	res := r.end()
	res.must(l, 130)
	res.mustSay(l, "run the same command to continue from here")
	if n := jobs(); n != 3 {
		t.Fatalf("%d jobs are left after Ctrl-C; want 3", n)
	}

	r = l.start("run", "spec.toml")
	rejoined(6)
	l.check(r.Process.Signal(syscall.SIGINT))
	l.await("an answer to Ctrl-C", func() bool { return strings.Contains(r.said(), "leaves the jobs") })
	time.Sleep(200 * time.Millisecond) // another press, not the same one
	l.check(r.Process.Signal(syscall.SIGINT))
	r.end().must(l, 130)
	l.await("the jobs to end", func() bool { return jobs() == 0 })

	l.open("go")
	l.run(0, "run", "spec.toml")
	if st := l.load(); !st.Ended() || len(st.Order) != 4 {
		t.Errorf("%d trials finished", len(st.Order))
	}
}

// A detached study runs to its end with no process of lbotune but in the cluster's jobs,
// although the job that works on it is killed.
func TestSlurmDetached(t *testing.T) {
	c := slurmtest.Start(t)
	t.Run("Jobs", func(t *testing.T) { testDetached(t, c, onSlurm) })
	t.Run("Pilots", func(t *testing.T) { testDetached(t, c, withPilots) })
}

func testDetached(t *testing.T, c *slurmtest.Cluster, launcher string) {
	l := newLab(t)
	const trials = 20
	// Half of the trials end only once the job has been killed, however long that takes.
	l.spec("spec.toml", as("work", l.dir+" {x} 300; test {trial} -le 10 || "+l.gate("go")),
		trials, 4, launcher+"detach_args = [\"--begin=now\"]\n")
	l.run(0, "run", "--detach", "spec.toml").mustSay(l, "goes on as job")
	l.run(0, "run", "--detach", "spec.toml").mustSay(l, "is detached already")
	killed := false
	var st *study.State
	l.await("the end of the study", func() bool {
		for pid, command := range l.alive() {
			if program, _, _ := strings.Cut(command, " "); filepath.Base(program) == "lbotune" && outside(pid) {
				time.Sleep(200 * time.Millisecond) // what begins or ends just then shows a part of its environment
				if outside(pid) {
					t.Errorf("process %d (%s) runs outside the cluster", pid, command)
				}
			}
		}
		st = l.load()
		if n := len(st.Order); n >= trials/4 && !killed {
			for _, id := range strings.Fields(c.Run("squeue", "-h", "--states=RUNNING", "-o", "%i %j")) {
				if strings.HasPrefix(id, "lbotune-study-") {
					c.Run("scancel", "--full", "--signal=KILL", "--name="+id, "--state=RUNNING")
					killed = true
				}
			}
			if killed {
				l.open("go")
			}
		}
		time.Sleep(100 * time.Millisecond)
		return st.Ended()
	})
	if !killed || st.Sessions < 3 {
		t.Errorf("the study ended in %d sessions; want the one that began it, the one that was killed, and its successor", st.Sessions)
	}
	notes, overlaps := diary(l.read("diary"))
	if n := attempts(notes); n != trials || len(overlaps) > 0 {
		t.Errorf("%d attempts of %d trials; overlaps %q", n, trials, overlaps)
	}
	l.await("the last job to end", func() bool { return c.Run("squeue", "-h", "-o", "%i") == "" })
}

// outside reports whether a process is there, and in no job.
func outside(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && len(env) > 0 && !strings.Contains("\x00"+string(env), "\x00SLURM_JOB_ID=")
}

// lbotune stop ends a detached study and its jobs, which can then go on.
func TestSlurmStop(t *testing.T) {
	c := slurmtest.Start(t)
	t.Run("Jobs", func(t *testing.T) { testStop(t, c, onSlurm) })
	t.Run("Pilots", func(t *testing.T) { testStop(t, c, withPilots) })
}

func testStop(t *testing.T, c *slurmtest.Cluster, launcher string) {
	l := newLab(t)
	l.spec("spec.toml", l.gate("go")+"; echo loss={x}", 4, 3, launcher)
	queue := func(state string) int {
		return strings.Count(c.Run("squeue", "-h", "--states="+state, "-o", "%i:"), ":")
	}
	l.run(0, "run", "--detach", "spec.toml")
	l.await("three trials and their lbotune", func() bool { return queue("RUNNING") == 4 && queue("PENDING") == 1 })
	l.run(0, "stop", "spec.study").mustSay(l, "is stopped")
	l.await("an empty queue", func() bool { return queue("PENDING,RUNNING") == 0 })

	r := l.start("run", "spec.toml")
	l.await("three jobs", func() bool { return queue("RUNNING") == 3 })
	l.check(r.Process.Kill())
	r.end()
	l.run(0, "stop", "spec.study").mustSay(l, "3 jobs cancelled")
	l.await("an empty queue", func() bool { return queue("PENDING,RUNNING") == 0 })
	l.open("go")
	l.run(0, "resume", "spec.study")
	l.await("an empty queue", func() bool { return queue("PENDING,RUNNING,COMPLETING") == 0 })
	if st := l.load(); len(st.Order) != 4 || st.Count(optimizer.Succeeded) != 4 {
		t.Errorf("%d trials finished", len(st.Order))
	}
}
