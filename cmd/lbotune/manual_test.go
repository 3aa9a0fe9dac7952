package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(args, streams{strings.NewReader(""), &out, &errs}); code != 0 {
		t.Fatalf("lbotune %s: exit code %d\n%s", strings.Join(args, " "), code, &errs)
	}
	return out.String()
}

func TestCommandReferenceIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if output(t, "manual", "--markdown") != string(page) {
		t.Error("docs/commands.md is not what the program says of itself; renew it:\n" +
			"\tgo run ./cmd/lbotune manual --markdown > docs/commands.md")
	}
}

// Every command that the help lists has a page, and man can read it.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	output(t, "manual", dir)
	for _, name := range []string{"lbotune", "lbotune-run", "lbotune-journal-verify", "lbotune-completion", "lbotune-manual"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, name+".1"))
			if err != nil {
				t.Error(err)
				return
			}
			for _, section := range []string{".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXIT STATUS", ".SH SEE ALSO"} {
				if !bytes.Contains(text, []byte(section)) {
					t.Errorf("%s has no %s", name, section)
				}
			}
			_, synopsis, _ := bytes.Cut(text, []byte(".SH SYNOPSIS\n"))
			synopsis, _, _ = bytes.Cut(synopsis, []byte(".SH"))
			if bytes.Count(synopsis, []byte("\n")) != 1 {
				t.Errorf("%s: the synopsis is broken into lines:\n%s", name, synopsis)
			}
		})
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if out, err := exec.Command(groff, "-man", "-Tascii", "-ww", "-z", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", page, err, out)
		}
	}
}

func TestRoffTakesTextLiterally(t *testing.T) {
	for text, want := range map[string]string{
		"a\n.b":    "a\n\\&.b",
		"'quoted'": `\&'quoted'`,
		`C:\x -n`:  `C:\ex \-n`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := roff(text); got != want {
				t.Errorf("roff(%q) = %q, want %q", text, got, want)
			}
		})
	}
}
