package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fenced returns the first block of docs/journal.md that begins with fence.
func fenced(t *testing.T, fence string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/journal.md")
	check(t, err)
	_, rest, ok := strings.Cut(string(page), "\n```"+fence+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("docs/journal.md has no block ```%s", fence)
	}
	return block
}

// The lines that the page shows are a journal.
func TestPageShowsAJournal(t *testing.T) {
	lines, sum, err := read([]byte(fenced(t, "")))
	check(t, err)
	if len(lines) != 3 || sum.Torn != nil {
		t.Errorf("read %d lines, torn %v", len(lines), sum.Torn)
	}
}

// The checker that the page shows agrees with Read about files good and bad.
func TestPageShowsAChecker(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3, to run the checker of docs/journal.md")
	}
	source := fenced(t, "python")
	if n := strings.Count(source, "\n"); n > 20 {
		t.Errorf("the checker has %d lines, more than 20", n)
	}
	// One process for all files: starting Python takes longer than checking does.
	const driver = `
import base64, contextlib, io, json, sys
def check(content):
    said, code = io.StringIO(), 0
    with open(sys.argv[1], "wb") as f:
        f.write(base64.b64decode(content))
    with contextlib.redirect_stdout(said):
        try:
            exec(source, {})
        except SystemExit as end:
            code = end.code or 0
    return said.getvalue() + (f"{code}\n" if code else ""), code == 0
source, files = json.load(sys.stdin)
json.dump({name: check(content) for name, content in files.items()}, sys.stdout)
`
	files := checkerFiles(t)
	given, err := json.Marshal([]any{source, files})
	check(t, err)
	cmd := exec.Command(python, "-I", "-S", "-c", driver, filepath.Join(t.TempDir(), "journal.jsonl"))
	cmd.Stdin = bytes.NewReader(given)
	out, err := cmd.Output()
	check(t, err)
	var said map[string][2]any
	check(t, json.Unmarshal(out, &said))
	for name, content := range files {
		lines, sum, err := read(content)
		var want string
		switch {
		case err == nil && sum.Torn == nil:
			want = fmt.Sprintf("%d records are intact\n", len(lines))
		case err == nil: // it does without the record that lacks its line end
			whole := bytes.Count(content, []byte("\n"))
			want = fmt.Sprintf("line %d is incomplete\n%d records are intact\n", sum.Torn.Line, whole)
		case len(content) == 0:
			want = "0 records are intact\nthe file is empty\n"
		case strings.Contains(err.Error(), "format version"):
			want = "not a journal of version 1\n"
		default:
			want = fmt.Sprintf("line %d is damaged\n", len(lines)+1)
		}
		if said[name] != [2]any{want, err == nil} {
			t.Errorf("%s: the checker says %q, want %q", name, said[name], want)
		}
	}
}

func checkerFiles(t *testing.T) map[string][]byte {
	t.Helper()
	golden, err := os.ReadFile("testdata/v1.jsonl")
	check(t, err)
	torn, err := os.ReadFile("testdata/v1-torn.jsonl")
	check(t, err)
	good, sibling := build(t, "s1", 20), build(t, "s2", 20)
	files := map[string][]byte{
		"golden": golden, "golden, torn": torn, "good": good, "empty": {},
		"no line end":   good[:len(good)-1],
		"zeros":         append(bytes.Clone(good), 0, 0, 0),
		"CR LF":         bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")),
		"other version": []byte(sealed(`{"seq":1,"format":"lbotune-journal","version":2`)),
		"cut early":     good[:40],
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, what := range slices.Sorted(maps.Keys(mutations)) {
		files[what] = mutations[what](r, bytes.Clone(good), sibling)
	}
	return files
}
