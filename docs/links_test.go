package docs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	inlineLink = regexp.MustCompile(`!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	refLink    = regexp.MustCompile(`^ {0,3}\[[^\]]+\]: <?(\S+?)>?$`)
	htmlLink   = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	htmlAnchor = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// Every link to a file of the repository leads to a file, and to a heading
// that is there. Links to other sites are not followed.
func TestLinksLeadSomewhere(t *testing.T) {
	all := markdownFiles(t)
	checked := 0
	for _, page := range all {
		for i, line := range prose(t, page) {
			for _, target := range linksIn(line) {
				checked++
				if problem := followLink(t, page, target); problem != "" {
					t.Errorf("%s:%d: %s: %s", page, i+1, target, problem)
				}
			}
		}
	}
	if checked == 0 {
		t.Fatal("no link was found in any page")
	}
	t.Logf("%d links in %d pages", checked, len(all))
}

func linksIn(line string) []string {
	var out []string
	line = codeSpan.ReplaceAllString(line, "`code`")
	for _, re := range []*regexp.Regexp{inlineLink, refLink, htmlLink} {
		for _, m := range re.FindAllStringSubmatch(line, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// followLink says what is wrong with a link, "" if nothing is.
func followLink(t *testing.T, page, target string) string {
	t.Helper()
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	path, anchor, hasAnchor := strings.Cut(target, "#")
	file := page
	if path != "" {
		file = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
	}
	switch _, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no " + file
	case err != nil:
		return err.Error()
	case hasAnchor && filepath.Ext(file) == ".md" && !anchors(t, file)[anchor]:
		return "there is no such heading in " + file
	}
	return ""
}

// anchors are the fragments that GitHub makes of a page's headings.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	count := map[string]int{}
	for _, line := range prose(t, page) {
		for _, m := range htmlAnchor.FindAllStringSubmatch(line, -1) {
			out[m[1]] = true
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		slug := slugOf(m[1])
		if n := count[slug]; n > 0 {
			out[slug+"-"+string(rune('0'+n))] = true
		} else {
			out[slug] = true
		}
		count[slug]++
	}
	return out
}

// slugOf is the fragment of a heading: lower case, blanks as dashes, nothing
// but letters, digits, dashes and underscores.
func slugOf(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

func TestSlugs(t *testing.T) {
	for title, want := range map[string]string{
		"What is a number":           "what-is-a-number",
		"`[params.NAME]`":            "paramsname",
		"Where: `source` and `file`": "where-source-and-file",
		"[lbo](lbo.md), explained":   "lbo-explained",
		"A_b C-d":                    "a_b-c-d",
	} {
		t.Run(title, func(t *testing.T) {
			if got := slugOf(title); got != want {
				t.Errorf("slugOf(%q) = %q, want %q", title, got, want)
			}
		})
	}
}

// markdownFiles are all pages of the repository.
func markdownFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), ".study") || d.Name() == "dist"):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".md":
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
