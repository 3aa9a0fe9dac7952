// Package lbotune_test guards the structure of the repository.
package lbotune_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/lbotune/lbotune/"

// mayImport says which of our packages each package may import, itself and its
// subpackages aside. Imports point down only: see docs/architecture.md.
var mayImport = map[string][]string{
	"spaces":                  nil,
	"internal/ansi":           nil,
	"internal/spelling":       nil,
	"parser":                  {"internal/ansi", "internal/spelling"},
	"runner":                  {"internal/ansi"},
	"runner/runnertest":       {"runner"},
	"journal":                 nil,
	"pruner":                  nil,
	"command":                 {"spaces"},
	"journal/faultfs":         {"journal"},
	"optimizer/sobol":         nil,
	"optimizer/warp":          nil,
	"optimizer/lipschitz":     nil,
	"optimizer/maximize":      nil,
	"optimizer/quadratic":     {"optimizer/maximize"},
	"optimizer/gp":            nil,
	"optimizer/acquisition":   nil,
	"optimizer/optimizertest": {"optimizer", "spaces"},
	"optimizer":               {"spaces", "optimizer/"},
	"problems":                {"spaces", "problems/", "examples/"},
	"study":                   {"command", "optimizer", "spaces", "parser", "pruner", "runner", "journal"},
	"spec":                    {"command", "internal/spelling", "study", "optimizer", "spaces", "parser"},
	"cmd/lbotune":             {"command", "spec", "study", "optimizer", "spaces", "parser", "runner", "journal"},
	"torture":                 nil,
	"cmd/lbobench":            {"optimizer", "spaces", "problems", "examples/", "cmd/lbobench/"},
	"docs/images/terminal":    nil,
	"docs/images/model":       {"optimizer", "spaces"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "examples" || strings.HasPrefix(name, "examples/") || p.ImportPath+"/" == module {
			continue
		}
		allowed, known := mayImport[name]
		if !known && !strings.HasPrefix(name, "cmd/lbobench/") && !strings.HasPrefix(name, "problems/") {
			t.Errorf("%s has no place in the architecture: add it to mayImport and docs/architecture.md", name)
		}
		for _, imp := range p.Imports {
			target, ours := strings.CutPrefix(imp, module)
			if ours && known && !permitted(target, name, allowed) {
				t.Errorf("%s must not import %s", name, target)
			}
		}
	}
}

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
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
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
