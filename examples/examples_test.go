// Package examples_test runs every example as its README says, with a few
// trials each.
package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// example is a spec, the programs without which it cannot run, as python3:MODULE also modules of
// Python, and the values between which its best few trials must lie.
type example struct {
	spec        string
	needs       []string
	least, most float64
	rare        bool // not for every day: it takes long, or runs the program of another one, too
}

func examples() []example {
	return []example{
		{"mnist-logreg/spec.toml", []string{"go"}, 0.3, 2.303, false},
		{"mnist-logreg/full.toml", []string{"go"}, 0.25, 2.303, true},
		{"robot-push/3d.toml", []string{"go"}, 0, 5, false},
		{"robot-push/4d.toml", []string{"go"}, 0, 6, true},
		{"libsvm/spec.toml", []string{"svm-train", "svm-scale"}, 60, 100, false},
		{"liblinear/spec.toml", []string{"liblinear-train"}, 60, 90, false},
		{"shell/spec.toml", []string{"xz"}, 40_000, 400_000, false},
		{"scikit-learn/spec.toml", []string{"python3:sklearn"}, 0.9, 1, true},
		{"python-epochs/spec.toml", []string{"python3"}, 0, 1, false},
		{"c-program/spec.toml", []string{"cc"}, 6, 24, false},
		{"moons/constraint.toml", []string{"python3"}, 5, 51, false},
		{"moons/objectives.toml", []string{"python3"}, 5, 51, true},
		{"yaml-config/spec.toml", []string{"python3"}, 9, 120, false},
		{"early-stopping/spec.toml", []string{"python3:xgboost", "python3:sklearn"}, 0.05, 2, true},
		{"early-stopping/asha.toml", []string{"python3:xgboost", "python3:sklearn"}, 0.05, 2.303, true},
	}
}

func TestExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds lbotune and runs dozens of trials")
	}
	lbotune, trials := build(t), 2
	for _, e := range examples() {
		t.Run(e.spec, func(t *testing.T) {
			if e.rare && !effort.Long() {
				t.Skip("LBOTUNE_LONG_TESTS=1 has it")
			}
			for _, tool := range e.needs {
				need(t, tool)
			}
			cmd := exec.Command(lbotune, "run", "examples/"+e.spec, "--study", t.TempDir()+"/study", "--trials", strconv.Itoa(trials), "--json")
			cmd.Dir = ".."
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.Bytes())
			}
			var result struct {
				Finished int
				Best     struct{ Value *float64 }
			}
			if err := json.Unmarshal(stdout, &result); err != nil {
				t.Fatalf("%v in\n%s", err, stdout)
			}
			if result.Finished != trials {
				t.Errorf("%d trials finished, want %d", result.Finished, trials)
			}
			if v := result.Best.Value; v == nil || *v < e.least || *v > e.most {
				t.Errorf("best value outside of [%v, %v]:\n%s", e.least, e.most, stdout)
			}
		})
	}
}

// The programs in Go are modules of their own, as a user's would be.
func TestPrograms(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	if err != nil || len(modules) != 2 {
		t.Fatalf("modules: %q, %v", modules, err)
	}
	for _, m := range modules {
		t.Run(filepath.Dir(m), func(t *testing.T) {
			need(t, "go")
			cmd := exec.Command("go", "test", "-short="+strconv.FormatBool(testing.Short()), "./...")
			cmd.Dir = filepath.Dir(m)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// need skips a test without a program. A module may be that of the system's Python alone, which
// is then the one that is run.
func need(t *testing.T, tool string) {
	t.Helper()
	program, module, isModule := strings.Cut(tool, ":")
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
	has := func(program string) bool { // without the seconds that an import takes
		return exec.Command(program, "-c", "import importlib.util as u; exit(not u.find_spec('"+module+"'))").Run() == nil
	}
	if !isModule || has(program) {
		return
	}
	if !has("/usr/bin/" + program) {
		t.Skipf("%s has no %s: apt install python3-%s", program, module, module)
	}
	t.Setenv("PATH", "/usr/bin"+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// bin is where the program is built for all tests.
var bin string

func TestMain(m *testing.M) {
	m.Run()
	_ = os.RemoveAll(bin)
}

func build(t *testing.T) string {
	t.Helper()
	if bin == "" {
		var err error
		if bin, err = os.MkdirTemp("", "bin"); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(bin, "lbotune")
	if _, err := os.Stat(name); err == nil {
		return name
	}
	if out, err := exec.Command("go", "build", "-o", name, "../cmd/lbotune").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return name
}

// Every spec of the folder must be in the list, and its README must tell the
// command.
func TestEverySpecIsRunAndExplained(t *testing.T) {
	known := map[string]bool{}
	for _, e := range examples() {
		known[filepath.FromSlash(e.spec)] = true
	}
	specs, err := filepath.Glob("*/*.toml")
	if err != nil || len(specs) != len(known) {
		t.Errorf("%d specs in the folder, %d are run (%v)", len(specs), len(known), err)
	}
	for _, s := range specs {
		if !known[s] {
			t.Errorf("%s is not run by any test", s)
		}
		readme, err := os.ReadFile(filepath.Join(filepath.Dir(s), "README.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		command := regexp.QuoteMeta("lbotune run examples/" + filepath.ToSlash(s))
		if !regexp.MustCompile(command).Match(readme) {
			t.Errorf("the README beside %s does not say how to run it", s)
		}
	}
}
