package docs_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// inRepository are the pages whose commands are meant for the repository's
// root, as are those of the examples. Those of the others are run in an empty
// directory.
var inRepository = []string{"README.md", "docs/contributing.md", "docs/library.md"}

// skippedBlocks is the number of shell blocks that are marked as not runnable:
// adding one is a decision.
const skippedBlocks = 14

// Every shell block of the pages runs: those of one page in their order, in one
// directory, each by bash -e with this lbotune on the PATH.
func TestShellBlocksRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs dozens of studies")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	putOnPath(t)
	t.Setenv("GOBIN", t.TempDir()) // for go install
	t.Setenv("TERM", "dumb")
	t.Setenv("LBOTUNE_SHARE_DIR", t.TempDir()) // other tests may have the GPUs
	// Copies of the repository then share what the go command has compiled.
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -trimpath")
	skipped := 0
	t.Run("pages", func(t *testing.T) {
		for _, page := range pages(t) {
			list := blocks(t, page)
			skipped += count(list, func(b block) bool { return b.lang == "sh" && skipReason(b) != "" })
			if count(list, runs) > 0 {
				t.Run(page, func(t *testing.T) {
					t.Parallel()
					runPage(t, page, list)
				})
			}
		}
	})
	if skipped != skippedBlocks {
		t.Errorf("%d shell blocks are marked \"skip:\", the test knows of %d", skipped, skippedBlocks)
	}
}

func count(list []block, is func(block) bool) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(b block) bool { return !is(b) }))
}

func runs(b block) bool { return b.lang == "sh" && skipReason(b) == "" && b.file() == "" }

func skipReason(b block) string {
	reason, _ := strings.CutPrefix(b.note, "skip: ")
	if reason == b.note {
		return ""
	}
	return reason
}

// runPage runs the blocks of one page.
func runPage(t *testing.T, page string, list []block) {
	dir := t.TempDir()
	if slices.Contains(inRepository, filepath.ToSlash(page)) || strings.HasPrefix(filepath.ToSlash(page), "examples/") {
		copyRepository(t, dir)
	}
	for _, tool := range []string{"python3", "git", "jq"} {
		if !installed(tool) && count(list, func(b block) bool { return strings.Contains(b.text, tool) }) > 0 {
			t.Skipf("%s is not installed", tool)
		}
	}
	printed, missing, texts := "", "", map[int]string{}
	for _, b := range list {
		switch {
		case strings.HasPrefix(b.note, "needs ") && !installed(b.note[6:]):
			missing = b.note[6:]
			t.Logf("%s:%d: not run: %s is not installed", b.page, b.line, missing)
		case b.lang == "text" && b.note == "output" && missing != "":
			missing = ""
		case b.file() != "":
			writeBlock(t, dir, b)
		case b.lang == "text" && b.note == "output" && *update:
			texts[b.line] = updated(b.text, strings.ReplaceAll(printed, dir, "/home/you"))
		case b.lang == "text" && b.note == "output":
			checkOutput(t, b, printed)
		case runs(b) && (b.note != "slow" || effort.Long()):
			printed = runBlock(t, dir, b)
		}
		if t.Failed() {
			return // what follows builds on it
		}
	}
	if len(texts) > 0 {
		rewrite(t, page, texts)
	}
}

// putOnPath builds the program and puts it on the PATH.
func putOnPath(t *testing.T) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	if out, err := exec.Command("go", "build", "-o", bin+"/", "./cmd/lbotune").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// patience is how long a block may take on a busy machine.
const patience = 10 * time.Minute

// runBlock runs one block and returns what it printed.
func runBlock(t *testing.T, dir string, b block) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The tests are running already.
	script := strings.ReplaceAll(b.text, "go test ./...\n", "go vet ./docs\n")
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	want := "0"
	if n, ok := strings.CutPrefix(b.note, "exits "); ok {
		want = n
	}
	got := "0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = regexp.MustCompile(`\d+$`).FindString(exit.String())
	case err != nil:
		t.Fatalf("%s:%d: %v", b.page, b.line, err)
	}
	if got != want {
		t.Errorf("%s:%d: exit code %s, want %s\n%s\nprinted:\n%s", b.page, b.line, got, want, b.text, out)
	}
	return string(out)
}

var (
	number  = regexp.MustCompile(`[-+]?\d[\d.]*(?:e[-+]?\d+)?`)
	nearly  = regexp.MustCompile(`[<>](1|99)\b`) // in per cent
	moments = regexp.MustCompile(`#(?:ms|[smh]\b)(?:#[smh]\b)?`)
	blanks  = regexp.MustCompile(`[ \t]+`)
	paths   = regexp.MustCompile(`(?:/[\w.@+-]+)+/`)
)

// shape is a line without what differs from run to run: numbers, durations,
// directories, widths, and which trial is the best.
func shape(line string) string {
	line = paths.ReplaceAllString(line, "/")
	line = number.ReplaceAllString(nearly.ReplaceAllString(line, "$1"), "#")
	line = moments.ReplaceAllString(line, "TIME")
	line = regexp.MustCompile(`^( *#/#.* )(?:best|cut) `).ReplaceAllString(line, "$1")
	return strings.TrimSpace(blanks.ReplaceAllString(line, " "))
}

// fits says whether a printed line has the shape of a shown one, which may be
// cut.
func fits(printed, shown string, cut bool) bool {
	return printed == shown || cut && strings.HasPrefix(printed, shown)
}

// checkOutput compares the lines of an output block with what was printed.
// "..." stands for what is left out, at the end of a line or in place of lines;
// the order does not matter, because trials end in any order.
func checkOutput(t *testing.T, b block, printed string) {
	t.Helper()
	var have []string
	for line := range strings.Lines(printed) {
		have = append(have, shape(line))
	}
	for line := range strings.Lines(b.text) {
		start, cut := strings.CutSuffix(strings.TrimSpace(line), "...")
		want := shape(start)
		there := slices.ContainsFunc(have, func(s string) bool { return fits(s, want, cut) })
		if want != "" && !there {
			t.Errorf("%s:%d: not printed like this: %s(shape %q)\nprinted:\n%s", b.page, b.line, line, want, printed)
		}
	}
}

func TestShape(t *testing.T) {
	same := [][2]string{
		{" 3/40   0.512 best  1.2s  lr=1e-05 n=3", "12/40  34  812ms  lr=0.25 n=15"},
		{"output:  /tmp/a/spec.study/trials/000003/a1/stdout", "output:  /home/me/spec.study/trials/000014/a1/stdout"},
		{"matters: lr (86 %, 9 to >99)", "matters: lr (62 %, <1 to 89)"},
		{"time 6.9s in 1 session, last record 2026-01-02 10:00:00", "time  1m02s in 1 session, last record 2025-11-21 16:12:13"},
	}
	for _, pair := range same {
		t.Run(pair[0], func(t *testing.T) {
			if a, b := shape(pair[0]), shape(pair[1]); a != b {
				t.Errorf("%q and %q differ: %q, %q", pair[0], pair[1], a, b)
			}
		})
	}
	if shape("best loss = 3") == shape("best value = 3") {
		t.Error("different words have the same shape")
	}
}

// copyRepository copies what is, or is about to be, under version control.
func copyRepository(t *testing.T, dir string) {
	t.Helper()
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("this is no git checkout: %v", err)
	}
	for name := range bytes.SplitSeq(bytes.TrimRight(list, "\x00"), []byte{0}) {
		path := filepath.FromSlash(string(name))
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, but not yet committed
		}
		info, statErr := os.Stat(path)
		to := filepath.Join(dir, path)
		if err := errors.Join(err, statErr, os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}
