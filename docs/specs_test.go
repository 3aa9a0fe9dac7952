package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/spec"
)

// Every spec in the pages is one that lbotune takes. A block without a command
// is a fragment: what it leaves out is added before it is checked.
func TestSpecsAreValid(t *testing.T) {
	whole, fragments := 0, 0
	for _, page := range pages(t) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil { // the sources of examples
			t.Fatal(err)
		}
		for _, b := range blocks(t, page) {
			if b.file() != "" {
				writeBlock(t, dir, b)
			}
			if b.lang != "toml" {
				continue
			}
			src := b.text
			var tables map[string]any
			if _, err := toml.Decode(src, &tables); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				continue
			}
			if _, ok := tables["command"]; ok {
				whole++
			} else {
				fragments++
				src = completed(src, tables)
			}
			path := filepath.Join(dir, "fragment.toml")
			if b.file() != "" {
				path = filepath.Join(dir, b.file())
			}
			if _, err := spec.Parse(path, []byte(src), dir); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
			}
		}
	}
	if whole == 0 || fragments == 0 {
		t.Errorf("%d whole specs and %d fragments were found", whole, fragments)
	}
	t.Logf("%d whole specs, %d fragments", whole, fragments)
}

// completed adds to a fragment what makes it a spec: a command that uses its
// parameters, and the sections that it does not have.
func completed(fragment string, tables map[string]any) string {
	params, _ := tables["params"].(map[string]any)
	command := "./train"
	for name := range params {
		command += fmt.Sprintf(" --%s={%s}", name, name)
	}
	head, tail := "", ""
	if params == nil {
		command += " --lr={lr}"
		tail += "\n[params.lr]\ntype = \"float\"\nmin = 0.0\nmax = 1.0\n"
	}
	head = fmt.Sprintf("command = %q\n", command)
	if tables["objective"] == nil && tables["objectives"] == nil {
		tail += "\n[objective]\nmetric = \"loss\"\nstep = \"epoch\"\n"
	}
	if tables["budget"] == nil {
		tail += "\n[budget]\ntrials = 10\n"
	}
	return head + fragment + tail
}

// writeBlock writes a block to its file. Scripts can be run.
func writeBlock(t *testing.T, dir string, b block) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(b.file()))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o600)
	if strings.HasPrefix(b.text, "#!") {
		mode = 0o700
	}
	if err := os.WriteFile(path, []byte(b.text), mode); err != nil {
		t.Fatal(err)
	}
}
