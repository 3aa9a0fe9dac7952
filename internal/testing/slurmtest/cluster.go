// Package slurmtest gives tests a real Slurm cluster of pretended nodes on this machine.
package slurmtest

import (
	"bytes"
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
)

// Cluster is what scripts/slurm-cluster.sh has started.
type Cluster struct {
	t   *testing.T
	dir string
}

// path is where Slurm's programs are looked for.
func path() string { return os.Getenv("PATH") + ":/usr/sbin" }

// Missing says why Start would skip a test, or nothing.
func Missing() string {
	switch {
	case testing.Short():
		return "it takes seconds"
	case effort.Raced:
		return "it is for the tests without the race detector"
	}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if !slices.ContainsFunc(filepath.SplitList(path()), func(dir string) bool {
			_, err := exec.LookPath(filepath.Join(dir, program))
			return err == nil
		}) {
			return program + " is not installed; as root, scripts/slurm-cluster.sh installs Slurm from Debian's packages"
		}
	}
	if os.Getuid() != 0 {
		return "only root can start one"
	}
	return ""
}

// Start starts a cluster for one test, which Slurm's commands then speak to, or skips the test where
// that is not possible. env are settings of the script, as NAME=value.
func Start(t *testing.T, env ...string) *Cluster {
	t.Helper()
	if why := Missing(); why != "" {
		t.Skip("no real cluster: " + why)
	}
	t.Setenv("PATH", path())
	dir, err := os.MkdirTemp("", "lbotune-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t, dir}
	t.Cleanup(func() {
		if out, err := c.script("stop"); err != nil {
			t.Errorf("stop the cluster: %v: %s", err, out)
		}
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	if out, err := c.script("start", env...); err != nil {
		t.Fatalf("start a cluster: %v: %s", err, out)
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	return c
}

// For returns the cluster for a part of the test.
func (c *Cluster) For(t *testing.T) *Cluster { return &Cluster{t, c.dir} }

func (c *Cluster) script(action string, env ...string) ([]byte, error) {
	path := "scripts/slurm-cluster.sh" // of the repository, somewhere below whose root tests run
	for !exists(path) && len(path) < 100 {
		path = "../" + path
	}
	cmd := exec.Command(path, action, c.dir)
	cmd.Env = append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// Restart starts again every daemon that has died, and puts every node back.
func (c *Cluster) Restart() {
	c.t.Helper()
	if out, err := c.script("start"); err != nil {
		c.t.Fatalf("start the cluster again: %v: %s", err, out)
	}
}

// Dir is the cluster's directory.
func (c *Cluster) Dir() string { return c.dir }

// Signal sends a signal to a daemon: slurmctld, or slurmd-n1. One that is killed is gone then, and
// can be started again.
func (c *Cluster) Signal(daemon string, sig unix.Signal) {
	c.t.Helper()
	text, _ := os.ReadFile(filepath.Join(c.dir, "run", daemon+".pid"))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = unix.Kill(pid, sig)
	}
	if err != nil {
		c.t.Fatalf("signal %s: %v", daemon, err)
	}
	for deadline := time.Now().Add(2 * time.Minute); sig == unix.SIGKILL && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || bytes.Contains(status, []byte("State:\tZ")) {
			return
		}
	}
}

// Run runs one of Slurm's commands, which must succeed.
func (c *Cluster) Run(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Await waits until Slurm's command prints want.
func (c *Cluster) Await(want, name string, args ...string) {
	c.t.Helper()
	var out []byte
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		out, _ = exec.Command(name, args...).CombinedOutput()
		if string(bytes.TrimSpace(out)) == want {
			return
		}
	}
	c.t.Fatalf("%s %s: printed %q; waited for %q", name, strings.Join(args, " "), out, want)
}

// KillJob kills every process of a job, also Slurm's own, as the end of a node would: all are stopped
// first, so that none sees another's end.
func (c *Cluster) KillJob(id string) {
	c.t.Helper()
	found := map[int]bool{}
	for n := -1; n < len(found); { // children that were born meanwhile
		n = len(found)
		for _, pid := range c.processes(id) {
			if unix.Kill(pid, unix.SIGSTOP) == nil {
				found[pid] = true
			}
		}
	}
	if len(found) == 0 {
		c.t.Fatalf("job %s has no processes", id)
	}
	for pid := range found {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// processes are those of a job, also Slurm's own.
func (c *Cluster) processes(id string) (pids []int) {
	conf := "SLURM_CONF=" + os.Getenv("SLURM_CONF")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range dirs {
		env, _ := os.ReadFile(filepath.Join(proc, "environ"))
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		vars := strings.Split(string(env), "\x00")
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd")) // another cluster has jobs of the same ids
		step := strings.HasPrefix(string(line), "slurmstepd: ["+id+".") && strings.HasPrefix(cwd, c.dir+"/")
		if step || slices.Contains(vars, conf) && slices.Contains(vars, "SLURM_JOB_ID="+id) {
			pid, _ := strconv.Atoi(filepath.Base(proc))
			pids = append(pids, pid)
		}
	}
	return pids
}
