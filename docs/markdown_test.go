package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of a page. Its info string is "LANG WORDS...":
//
//	sh                 is run, by TestShellBlocksRun
//	sh slow            is run if tests may take long: see internal/testing/effort
//	sh exits N         is run and must exit with N
//	sh needs PROGRAM   is run where there is such a program
//	sh skip: REASON    cannot be run here
//	LANG FILE          is written to FILE, for the blocks that follow
//	toml               is a spec or, without a command, a fragment of one
//	text output        is what the sh block before it prints
//
// Everything else is left alone.
type block struct {
	page string // relative to the repository
	line int    // of the opening fence
	lang string
	note string // the rest of the info string
	text string
}

var fileName = regexp.MustCompile(`^[\w./-]+\.\w+$`)

// file is the name of the file that the block is written to, if any.
func (b block) file() string {
	if fileName.MatchString(b.note) {
		return b.note
	}
	return ""
}

var fence = regexp.MustCompile("^ *(```+) *(\\w*) *(.*?) *$")

// blocks returns the fenced blocks of a page in their order.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var open string
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		m := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case open == "" && m != nil:
			open = m[1]
			out = append(out, block{page: page, line: number, lang: m[2], note: m[3]})
		case open != "" && strings.TrimSpace(line) == open:
			open = ""
		case open != "":
			out[len(out)-1].text += line
		}
	}
	if open != "" {
		t.Errorf("%s: a fence is not closed", page)
	}
	return out
}

// prose returns a page's lines outside of its fenced blocks, each at its index;
// the others are empty.
func prose(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	open := ""
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open, lines[i] = m[1], ""
		case open != "" && strings.TrimSpace(line) == open:
			open, lines[i] = "", ""
		case open != "":
			lines[i] = ""
		}
	}
	return lines
}

// pages are the pages whose blocks are checked.
func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		out = append(out, found...)
	}
	return out
}
