//go:build linux

package torture_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner/slurm/slurmtest"
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

// A person leaves by Ctrl-C or with the terminal, comes back, and cancels by a second one.
func TestSlurmLeaving(t *testing.T) {
	c := slurmtest.Start(t)
	l := newLab(t)
	l.spec("spec.toml", as("work", l.dir+" {x} 1; until [ -e "+l.path("go")+" ]; do sleep 0.05; done; true"), 4, 3, onSlurm)
	jobs := func() int { return strings.Count(c.Run("squeue", "-h", "--states=RUNNING", "-o", "%i:"), ":") }
	running := func() bool { return jobs() == 3 }

	r := l.start("run", "spec.toml")
	l.await("three jobs", running)
	l.check(r.Process.Signal(syscall.SIGHUP))
	r.end().must(l, 143)
	if n := jobs(); n != 3 {
		t.Fatalf("%d jobs are left; want 3", n)
	}

	r = l.start("run", "spec.toml")
	time.Sleep(time.Second)
	l.check(r.Process.Signal(syscall.SIGINT))
	l.await("an answer to Ctrl-C", func() bool { return strings.Contains(r.said(), "leaves the jobs") })
	res := r.end()
	res.must(l, 130)
	res.mustSay(l, "the same command goes on from here")
	if n := jobs(); n != 3 {
		t.Fatalf("%d jobs are left after Ctrl-C; want 3", n)
	}

	r = l.start("run", "spec.toml")
	time.Sleep(time.Second)
	l.check(r.Process.Signal(syscall.SIGINT))
	l.await("an answer to Ctrl-C", func() bool { return strings.Contains(r.said(), "leaves the jobs") })
	time.Sleep(200 * time.Millisecond) // another press, not the same one
	l.check(r.Process.Signal(syscall.SIGINT))
	r.end().must(l, 130)
	l.await("the jobs to end", func() bool { return jobs() == 0 })

	l.write("go", "")
	l.run(0, "run", "spec.toml")
	if st := l.load(); !st.Ended() || len(st.Order) != 4 {
		t.Errorf("%d trials finished", len(st.Order))
	}
}
