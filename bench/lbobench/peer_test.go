package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
)

// A peer is asked and told over a pipe, and its runs count as ours do: under limits, with
// several objectives, and with parameters that do not always exist.
func TestPeer(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	script := filepath.Join(t.TempDir(), "peer.py")
	if err := os.WriteFile(script, []byte(`
import json, random, sys
task = json.loads(sys.stdin.readline())
assert task["seed"] == 3, task
rng = random.Random(task["seed"])
for line in sys.stdin:
    m = json.loads(line)
    if "tell" in m:
        assert m["values"] is None or len(m["values"]) == task["objectives"], m
        assert len(m["constraints"] or []) == task["constraints"], m
        continue
    x = {}
    for p in task["params"]:
        if p["kind"] == "bool":
            x[p["name"]] = rng.random() < 0.5
        elif "choices" in p:
            x[p["name"]] = rng.choice(p["choices"])
        elif p["kind"] == "int":
            x[p["name"]] = rng.randint(p["min"], p["max"])
        else:
            x[p["name"]] = rng.uniform(p.get("min", 0), p.get("max", 0))
    print(json.dumps(x), flush=True)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	objectives := append([]problems.Objective{problems.Network()}, problems.Constrained()[:1]...)
	for _, o := range append(objectives, problems.Fronts()[4]) {
		t.Run(o.Name, func(t *testing.T) {
			j := job{variant: "peer", command: python + " " + script, objective: o, seed: 3, evals: 30, workers: 4}
			r, err := j.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			last := r.points[len(r.points)-1]
			if len(r.points) != 30 || math.IsInf(last.Best, 1) || last.Best < o.Min {
				t.Errorf("%d evaluations, best %v, least %v", len(r.points), last.Best, o.Min)
			}
		})
	}
	j := job{variant: "peer", command: "true", objective: objectives[0], seed: 3, evals: 1}
	if _, err := j.run(t.Context()); err == nil {
		t.Error("a peer that ends at once is no error")
	}
}

// The scripts of peers speak as lbobench does.
func TestPeerScripts(t *testing.T) {
	for command, needs := range map[string]string{"optuna-peer.py tpe": "optuna", "function-peer.py neldermead": "scipy.optimize", "model-peer.py turbo": "turbo"} {
		t.Run(command, func(t *testing.T) {
			if exec.Command("/usr/bin/python3", "-c", "import "+needs).Run() != nil {
				t.Skip("/usr/bin/python3 has no " + needs)
			}
			j := job{variant: "peer", command: "/usr/bin/python3 ../scripts/" + command, objective: problems.Levy(4).Objective(), seed: 3, evals: 12, workers: 1}
			r, err := j.run(t.Context())
			if err != nil || len(r.points) != 12 || r.points[11].Best < j.objective.Min {
				t.Errorf("%+v, %v", r.points, err)
			}
		})
	}
}
