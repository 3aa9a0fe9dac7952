package pattern_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A wrong expression would fail only in the command that needs it.
func TestExpressionsCompile(t *testing.T) {
	calls, expressions := 0, regexp.MustCompile("pattern\\.Lazy\\(`([^`]*)`\\)")
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range expressions.FindAllSubmatch(source, -1) {
			calls++
			if _, err := regexp.Compile(string(m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return err
	})
	if err != nil || calls < 50 {
		t.Errorf("found %d expressions, %v", calls, err)
	}
}
