// Package bench_test guards the structure of this module.
package bench_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const lbotune = "github.com/lbotune/lbotune/"

// mayImport has every package of this module, and what of ours it imports, tests aside: what a
// user of the library could import, so that what is measured is what people get. The measure of
// fronts is the product's own.
var mayImport = map[string][]string{
	"bench":                 nil,
	"bench/images":          nil,
	"bench/images/terminal": nil,
	"bench/lbobench":        {"bench/problems", "examples/mnist-logreg/logreg", "bench/yahpo", "internal/pareto", "optimizer", "spaces"},
	"bench/problems":        {"examples/robot-push/push", "spaces"},
	"bench/suites":          nil,
	"bench/torture":         nil,
	"bench/torture/trial":   nil,
	"bench/yahpo":           {"bench/problems", "spaces"},
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := strings.TrimPrefix(words[0], lbotune)
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s has no place: add it to mayImport and docs/architecture.md", name)
		}
		for _, imp := range words[1:] {
			if target, ours := strings.CutPrefix(imp, lbotune); ours && !slices.Contains(allowed, target) {
				t.Errorf("%s must not import %s", name, target)
			}
		}
	}
}
