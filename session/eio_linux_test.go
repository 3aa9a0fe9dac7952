package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// The kernel refuses to say what stands in the place of a result, or lbotune's own note of what stood there
// before: that is no trial's failure, and no trial gets the value of the one before.
func TestUnreadableResults(t *testing.T) {
	if dir := os.Getenv("LBOTUNE_UNREADABLE_RESULTS"); dir != "" {
		if s, err := session.Open(inFile(dir), session.Options{Dir: filepath.Join(dir, "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer}); err == nil {
			_ = s.Run(t.Context(), nil)
			_ = s.Close()
		}
		return
	}
	effort.Thorough(t, "runs a study eight times under strace")
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	for what, path := range map[string]string{"newfstatat:error=EIO": "r.txt", "read:error=EIO": "s/trials/000002/a1/before.json"} {
		t.Run(what, func(t *testing.T) {
			injected := false
			for _, when := range []string{"1", "2", "3", "4"} {
				dir := t.TempDir()
				trace := filepath.Join(dir, "trace")
				call, _, _ := strings.Cut(what, ":")
				cmd := exec.Command(strace, "--seccomp-bpf", "-f", "-qq", "-o", trace, "-e", "trace="+call, "-e", "inject="+what+":when="+when, "-P", filepath.Join(dir, path), os.Args[0], "-test.run=^TestUnreadableResults$")
				cmd.Env = append(os.Environ(), "LBOTUNE_UNREADABLE_RESULTS="+dir)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				text, _ := os.ReadFile(trace)
				injected = injected || strings.Contains(string(text), "(INJECTED)")
				st := conclude(t, inFile(dir), session.Options{Dir: filepath.Join(dir, "s"), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer})
				for _, trial := range st.Trials {
					if want := float64(trial.Number); trial.Status != optimizer.Succeeded || trial.Value != want {
						t.Errorf("%s of %s at %s: trial %d has %v %v (%+v)", what, path, when, trial.Number, trial.Status, trial.Value, trial.Failure)
					}
				}
			}
			if !injected {
				t.Errorf("no %s was ever injected", what)
			}
		})
	}
}

// inFile is a study whose trials write their numbers to one file.
func inFile(dir string) *study.Config {
	c := config()
	c.Command, c.Dir, c.Budget.Trials = command.Command{Shell: "echo loss={trial} {x} {n} > r.txt"}, dir, 4
	c.Metrics[0].File, c.Metrics[0].Rule.Source = "r.txt", parser.File
	return &c
}
