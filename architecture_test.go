// Package lbotune_test guards the structure of the repository.
package lbotune_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lbotune/lbotune/"

// place is where a package stands and which of our packages it may import, itself and
// its subpackages aside.
type place struct {
	floor     int
	mayImport []string
}

// floors are those of docs/architecture.md. No import points up, and on one floor the
// compiler forbids circles. Beside the house, on floor 0, stands what no part of the
// product imports.
var floors = map[string]place{
	"spaces":                         {1, nil},
	"internal/ansi":                  {1, nil},
	"internal/spelling":              {1, nil},
	"internal/shell":                 {1, nil},
	"internal/sweep":                 {1, nil},
	"internal/effort":                {0, nil},
	"internal/sharing":               {1, nil},
	"internal/parser":                {1, []string{"internal/ansi", "internal/spelling"}},
	"runner":                         {1, []string{"internal/ansi", "internal/shell", "internal/sweep"}},
	"runner/runnertest":              {0, []string{"runner", "internal/shell", "internal/tempdir"}},
	"runner/slurm":                   {1, []string{"runner", "internal/shell", "internal/sweep"}},
	"internal/slurmtest":             {0, nil},
	"internal/tempdir":               {0, nil},
	"journal":                        {1, nil},
	"internal/pareto":                {1, nil},
	"internal/pruner":                {1, []string{"internal/pareto"}},
	"internal/optuna":                {1, []string{"spaces", "journal"}},
	"internal/command":               {1, []string{"spaces", "internal/shell"}},
	"internal/faultfs":               {0, []string{"journal"}},
	"optimizer/internal/sobol":       {2, nil},
	"optimizer/internal/warp":        {2, nil},
	"optimizer/internal/vector":      {2, nil},
	"optimizer/internal/lipschitz":   {2, []string{"optimizer/internal/vector"}},
	"optimizer/internal/maximize":    {2, nil},
	"optimizer/internal/quadratic":   {2, []string{"optimizer/internal/maximize"}},
	"optimizer/internal/gp":          {2, []string{"optimizer/internal/maximize", "optimizer/internal/vector"}},
	"optimizer/internal/acquisition": {2, nil},
	"optimizer/optimizertest":        {0, []string{"optimizer", "spaces"}},
	"optimizer":                      {2, []string{"spaces", "internal/pareto", "optimizer/"}},
	"study":                          {2, []string{"internal/optuna", "internal/spelling", "internal/shell", "internal/command", "optimizer", "spaces", "internal/parser", "internal/pruner", "journal"}},
	"session":                        {3, []string{"internal/shell", "internal/sweep", "internal/command", "study", "optimizer", "spaces", "internal/parser", "internal/pruner", "runner", "journal"}},
	"internal/report":                {4, []string{"study", "optimizer", "spaces"}},
	"spec":                           {4, []string{"runner/slurm", "internal/command", "internal/spelling", "study", "optimizer", "spaces", "internal/parser"}},
	"cmd/lbotune":                    {5, []string{"internal/optuna", "internal/sharing", "internal/shell", "internal/sweep", "internal/command", "spec", "internal/report", "session", "study", "optimizer", "spaces", "internal/parser", "runner", "runner/slurm", "journal"}},
	"docs/images/terminal":           {0, nil},
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "examples" || strings.HasPrefix(name, "examples/") || p.ImportPath+"/" == module {
			continue
		}
		at, known := floors[name]
		if !known {
			t.Errorf("%s has no place in the architecture: add it to floors and docs/architecture.md", name)
		}
		for _, imp := range p.Imports {
			target, ours := strings.CutPrefix(imp, module)
			if ours && known && !permitted(target, name, at.mayImport) {
				t.Errorf("%s must not import %s", name, target)
			}
			if floors[target].floor > at.floor && at.floor > 0 {
				t.Errorf("%s stands below %s, which it imports", name, target)
			}
		}
	}
}

// The module bench needs this one, and nothing here needs it, tests included: what it requires
// is not required of whoever uses lbotune.
func TestNothingNeedsTheBench(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(imp+"/", module+"bench/") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
	text, err := os.ReadFile("go.mod")
	if err != nil || strings.Contains(string(text), module+"bench") {
		t.Errorf("go.mod names the module bench, or cannot be read: %v", err)
	}
}

// Package study is what is known. It uses the plain types of the optimizer, and makes
// and asks none.
func TestStudyRunsNoOptimizer(t *testing.T) {
	files, err := filepath.Glob("study/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := runsOptimizer.Find(text); found != nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s uses %s", name, found)
		}
	}
}

var runsOptimizer = regexp.MustCompile(`\boptimizer\.(New\w*|Optimizer|Recommender|Explainer)\b`)

func permitted(target, from string, allowed []string) bool {
	if strings.HasPrefix(target, from+"/") {
		return true
	}
	for _, a := range allowed {
		if target == a || strings.HasSuffix(a, "/") && strings.HasPrefix(target, a) {
			return true
		}
	}
	return false
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ps []goPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return ps
		}
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}
