package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goLink   = regexp.MustCompile(`\]\(([^)#]+\.go)\)`)
	function = regexp.MustCompile("`([A-Za-z]\\w*)\\(\\)`")
)

// Pages that lead through the code name functions as `name()` after a link to
// their file. They must be there.
func TestNamedFunctionsExist(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for paragraph := range strings.SplitSeq(strings.Join(prose(t, page), "\n"), "\n\n") {
			checked += checkFunctions(t, page, paragraph)
		}
	}
	if checked == 0 {
		t.Error("no page names a function")
	}
}

// checkFunctions looks for each function of a paragraph in the file linked to
// last, or in another one linked to before.
func checkFunctions(t *testing.T, page, paragraph string) int {
	t.Helper()
	source, checked := "", 0
	links := goLink.FindAllStringSubmatchIndex(paragraph, -1)
	for _, f := range function.FindAllStringSubmatchIndex(paragraph, -1) {
		name := paragraph[f[2]:f[3]]
		source = ""
		for _, l := range links {
			if l[0] > f[0] {
				break
			}
			text, err := os.ReadFile(filepath.Join(filepath.Dir(page), paragraph[l[2]:l[3]]))
			if err != nil {
				t.Errorf("%s: %v", page, err)
			}
			source += string(text)
		}
		if source == "" {
			continue
		}
		checked++
		if !regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + name + `\(`).MatchString(source) {
			t.Errorf("%s: there is no function %s in the files linked to before it", page, name)
		}
	}
	return checked
}
