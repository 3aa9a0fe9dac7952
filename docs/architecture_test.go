package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
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
	"spaces":            {1, []string{"internal/lists", "internal/pattern"}},
	"internal/journal":  {1, []string{"internal/door"}},
	"parser":            {1, []string{"internal/ansi", "internal/lists", "internal/spelling", "internal/pattern"}},
	"runner":            {1, []string{"internal/ansi", "internal/lists", "internal/shell", "internal/door", "internal/pattern"}},
	"runner/slurm":      {1, []string{"runner", "internal/kinds", "internal/lists", "internal/shell", "internal/door", "internal/pattern"}},
	"internal/ansi":     {1, nil},
	"internal/shell":    {1, []string{"internal/pattern"}},
	"internal/spelling": {1, nil},
	"internal/lists":    {1, nil},
	"internal/pattern":  {1, nil},
	"internal/door":     {1, nil},
	"internal/layout":   {1, []string{"internal/door", "internal/journal", "internal/lists"}},
	"internal/command":  {1, []string{"spaces", "internal/layout", "internal/lists", "internal/shell", "internal/pattern"}},
	"internal/secrets":  {1, nil},
	"internal/kinds":    {1, []string{"runner"}},
	"internal/pareto":   {1, nil},
	"internal/pruner":   {1, []string{"internal/lists", "internal/pareto"}},
	"internal/sharing":  {4, []string{"internal/door", "internal/pattern"}},

	"optimizer":                      {2, []string{"internal/pareto", "spaces"}},
	"optimizer/internal/acquisition": {2, nil},
	"optimizer/internal/gp":          {2, []string{"optimizer/internal/maximize", "optimizer/internal/vector"}},
	"optimizer/internal/lipschitz":   {2, []string{"optimizer/internal/vector"}},
	"optimizer/internal/maximize":    {2, nil},
	"optimizer/internal/quadratic":   {2, []string{"optimizer/internal/maximize", "spaces"}},
	"optimizer/internal/sobol":       {2, nil},
	"optimizer/internal/vector":      {2, nil},
	"optimizer/internal/warp":        {2, nil},

	"study":                 {3, []string{"internal/pareto", "internal/command", "internal/pruner", "internal/door", "internal/layout", "internal/lists", "internal/spelling", "internal/shell", "optimizer", "spaces", "parser", "internal/journal", "internal/pattern"}},
	"internal/inbox":        {3, []string{"internal/door", "internal/layout", "study", "internal/pattern"}},
	"study/internal/optuna": {3, []string{"spaces", "internal/journal", "internal/lists", "internal/pattern"}},

	"session": {4, []string{"internal/inbox", "internal/layout", "internal/lists", "internal/kinds", "internal/secrets", "internal/shell", "internal/door", "study", "internal/command", "internal/pruner", "optimizer", "spaces", "parser", "runner", "internal/journal", "internal/pattern"}},
	"spec":    {4, []string{"internal/kinds", "runner", "runner/slurm", "internal/command", "internal/layout", "internal/lists", "internal/shell", "internal/spelling", "study", "optimizer", "spaces", "parser", "internal/pattern"}},

	"cmd/lbotune/internal/draft":  {5, []string{"internal/command", "internal/lists", "internal/spelling", "parser", "spaces", "spec", "study", "internal/pattern"}},
	"cmd/lbotune/internal/report": {5, []string{"internal/journal", "internal/layout", "internal/lists", "study", "optimizer", "spaces", "internal/pattern"}},
	"cmd/lbotune":                 {5, []string{"internal/inbox", "internal/kinds", "internal/layout", "internal/lists", "internal/secrets", "internal/sharing", "internal/ansi", "internal/spelling", "internal/shell", "internal/door", "internal/command", "spec", "cmd/lbotune/internal/draft", "cmd/lbotune/internal/report", "session", "study", "optimizer", "spaces", "parser", "runner", "internal/journal", "internal/pattern"}},

	"internal/testing/effort":           {0, nil},
	"internal/testing/faultfs":          {0, []string{"internal/journal"}},
	"internal/testing/slurmtest":        {0, []string{"runner/slurm", "internal/testing/effort", "internal/testing/tempdir"}},
	"internal/testing/slurmtest/player": {0, []string{"internal/testing/slurmtest"}},
	"internal/testing/tempdir":          {0, nil},
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "docs" || name == "examples" || strings.HasPrefix(name, "examples/") {
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

// What lies in internal is needed by two rooms or more, the report aside, which is a room itself:
// what one alone needs is a part of it.
func TestInternalIsShared(t *testing.T) {
	rooms := map[string]map[string]bool{}
	for _, p := range packages(t) {
		room, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, imp := range p.Imports {
			if name, ours := strings.CutPrefix(imp, module); ours && room != "internal" && strings.HasPrefix(name, "internal/") {
				if rooms[name] == nil {
					rooms[name] = map[string]bool{}
				}
				rooms[name][room] = true
			}
		}
	}
	for name, in := range rooms {
		if len(in) < 2 && floors[name].floor == 1 {
			t.Errorf("%s is needed by %v alone: it belongs below", name, slices.Collect(maps.Keys(in)))
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
	var files []string
	for _, pattern := range []string{"study/*.go", "study/*/*/*.go", "internal/pruner/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		files = append(files, found...)
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
