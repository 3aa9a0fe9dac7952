package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
)

// The tables of the page are those of the recorded runs.
func TestWalltimePage(t *testing.T) {
	const recorded = "testdata/walltime.csv"
	page, err := os.ReadFile("../results/walltime.md")
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "walltime.csv") // it is opened for writing
	if err := os.WriteFile(copied, was, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := suiteCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{"walltime", "--ranks", "--first-seed", "99", "--seeds", "5", "--out", copied, "--peer", "tpe=false", "--peer", "cmaes=false"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "<!-- begin ranks walltime -->\n"+out.String()+"<!-- end ranks walltime -->") {
		t.Errorf("results/walltime.md has other tables than those of %s:\n%s", recorded, out.String())
	}
	if now, err := os.ReadFile(copied); err != nil || !bytes.Equal(was, now) {
		t.Errorf("runs were made anew: %v", err)
	}
}

// Asks take their time one after the other, and what ends after half of the time counts at the end
// alone. Here each takes a quarter of a second, and a later trial is better.
func TestAgainst(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	script := filepath.Join(t.TempDir(), "peer.py")
	if err := os.WriteFile(script, []byte(`
import json, sys
task, asked = json.loads(sys.stdin.readline()), 0
for line in sys.stdin:
    if "ask" in json.loads(line):
        asked += 1
        x = {p["name"]: p["max"] - asked / 100 * (p["max"] - p["min"]) for p in task["params"]}
        print(json.dumps(x | {"_seconds": asked / 4}), flush=True)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	sphere := problems.Sphere(2, 1)
	value := func(trial float64) float64 { return sphere.Eval([]float64{5 - trial/10, 5 - trial/10}) }
	for _, c := range []struct {
		name            string
		workers, trials int
		half, end       float64 // the last trial that has ended by then
		busy            float64
	}{
		{"the asks are the limit", 8, 15, 4, 12, (12 + 0.25 + 0.5 + 0.75) / 32},
		{"the workers are the limit", 2, 6, 2, 6, 6.0 / 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job{variant: "peer", command: python + " " + script, objective: sphere.Objective(), workers: c.workers, clock: 4}
			r, err := j.run(t.Context())
			if err != nil || len(r.points) != 2 {
				t.Fatalf("%+v, %v", r.points, err)
			}
			for i, best := range []float64{value(c.half), value(c.end)} {
				if p := r.points[i]; p.I != c.trials || p.Y != c.busy || p.Sec != 4 || math.Abs(p.Best-best) > 1e-9 {
					t.Errorf("point %d is %+v; want %d trials, busy for %v, and %v", i, p, c.trials, c.busy, best)
				}
			}
		})
	}
	j := job{variant: "peer", command: python + " " + script, objective: sphere.Objective(), workers: 2, clock: 0.25}
	if r, err := j.run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing was begun") {
		t.Errorf("of a study in which nothing was begun: %+v, %v", r, err)
	}
}
