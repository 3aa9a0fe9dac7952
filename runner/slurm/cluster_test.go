package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/runner/runnertest"
)

// cluster starts a real cluster of three pretended nodes for one test. It is skipped where
// Slurm is not installed or we may not start its daemons.
func cluster(t *testing.T, extra ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no real cluster: %v; as root, scripts/slurm-cluster.sh installs Slurm from Debian's packages", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("no real cluster: only root can start one")
	}
	dir, err := os.MkdirTemp("", "lbotune-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../scripts/slurm-cluster.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "stop", dir).CombinedOutput(); err != nil {
			t.Errorf("stop the cluster: %v: %s", err, out)
		}
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	start := exec.Command(script, "start", dir)
	start.Env = append(os.Environ(), extra...)
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("start a cluster: %v: %s", err, out)
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	return dir
}

func TestClusterSuite(t *testing.T) {
	if !runnertest.Orchestrating() {
		cluster(t)
	}
	runnertest.Suite(t, func(t *testing.T) runner.Launcher { return launcher(t) }, runnertest.Traits{Witnessed: true, Slow: true})
}
