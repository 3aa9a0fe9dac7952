package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// ordinary is a program as people write it, which knows nothing of lbotune.
type ordinary struct {
	name  string
	needs []string
	build string   // a shell command, if it must be built
	run   []string // as its author runs it by hand
	// edits are the lines of the draft that must be changed, and what to: two at most.
	edits [][2]string
	// reach is a value that the program is brought to in a few trials; today's values are
	// worse, except the solver's, whose seconds are never the same.
	reach float64
	slow  bool // to start, so that it is not tuned every day
}

var ordinaryPrograms = []ordinary{
	{"python", []string{"python3"}, "", strings.Fields("python3 train.py --lr 0.01 --weight_decay 1e-4 --optimizer sgd --use_bn --epochs 5"), nil, 0.5, false},
	{"hydra", []string{"python3"}, "", strings.Fields("python3 app.py model.lr=0.1 model.depth=3"), nil, 0.9, true},
	{"c", []string{"cc"}, "cc -O2 -o wave wave.c -lm", strings.Fields("./wave --damping 0.5 --dt 0.01"), nil, 0.06, false},
	{"c-without-options", []string{"cc"}, "cc -O2 -o relax relax.c -lm", strings.Fields("./relax 1.2 50"), nil, 300, false},
	{"rust", []string{"rustc"}, "rustc -o search search.rs", strings.Fields("./search --alpha=0.5 --depth=4"), nil, 0.1, false},
	{"java", []string{"javac", "java"}, "javac Anneal.java", strings.Fields("java Anneal --temperature 10 --cooling 0.9"), nil, 1, true},
	{"r", []string{"Rscript"}, "", strings.Fields("Rscript fit.R --span 0.5 --lambda 0.1"), nil, 0.25, true},
	{"julia", []string{"julia"}, "", strings.Fields("julia fit.jl --rate=0.1 --depth=4"), nil, 0.15, true},
	{"go", []string{"go"}, "go build -o queue queue.go", strings.Fields("./queue -rate 0.1 -batch 8"), nil, 0.5, false},
	{"shell", nil, "", strings.Fields("sh pack.sh --level 3 --window 8"), nil, 530, false},
	{"make", []string{"make", "awk"}, "", strings.Fields("make -s run RATE=0.1 SIZE=16"), nil, 0.5, false},
	{"compiler", []string{"cc"}, "", []string{"cc -O2 -DBLOCK=8 -o loop loop.c && ./loop"}, nil, 126, true},
	{"solver", []string{"glpsol"}, "", strings.Fields("glpsol --lp knapsack.lp --tmlim 5 --mipgap 0.01"),
		[][2]string{{`metric    = "Time used"`, `measure   = "cpu_seconds"`}}, 5, false},
}

// Each is tuned from its command line to its best values by what getting-started says: init,
// check --smoke, run, best. What must be edited in between is counted.
func TestOrdinaryPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds lbotune and runs a hundred trials")
	}
	lbotune := build(t)
	for _, p := range ordinaryPrograms {
		t.Run(p.name, func(t *testing.T) {
			if p.slow && !effort.Long() {
				t.Skip("LBOTUNE_LONG_TESTS=1 has it")
			}
			for _, tool := range p.needs {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is not installed", tool)
				}
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/ordinary")); err != nil {
				t.Fatal(err)
			}
			in := func(name string, args ...string) []byte {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.Bytes())
				}
				return out
			}
			if p.build != "" {
				in("sh", "-c", p.build)
			}
			in(lbotune, append([]string{"init", "--"}, p.run...)...)
			p.edit(t, filepath.Join(dir, "spec.toml"))
			in(lbotune, "check", "--smoke", "spec.toml")
			in(lbotune, "run", "-n", "15", "spec.toml")
			var best struct {
				Direction string
				Best      struct{ Value *float64 }
			}
			if out := in(lbotune, "best", "--json", "spec.toml"); json.Unmarshal(out, &best) != nil || best.Best.Value == nil {
				t.Fatalf("no best value in %s", out)
			}
			v := *best.Best.Value
			if best.Direction == "maximize" && v < p.reach || best.Direction == "minimize" && v > p.reach || best.Direction == "" {
				t.Errorf("%s: the best value is %v; want %v", best.Direction, v, p.reach)
			}
			t.Logf("%d edited lines, best %v", len(p.edits), v)
		})
	}
}

// edit changes the lines of the draft that the program needs changed.
func (p ordinary) edit(t *testing.T, path string) {
	t.Helper()
	if len(p.edits) > 2 {
		t.Errorf("%d lines must be edited", len(p.edits))
	}
	draft, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(draft), "\n")
	for _, e := range p.edits {
		found := false
		for i, line := range lines {
			if line == e[0] {
				lines[i], found = e[1], true
			}
		}
		if !found {
			t.Fatalf("the draft has no line %q:\n%s", e[0], draft)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}
