package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// byPath are the functions that take a path and follow or wait for whatever is there. What lies
// in a study is reached through internal/door instead.
var byPath = map[string]string{
	"os": "Open OpenFile ReadFile WriteFile Create CreateTemp Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename ReadDir Stat Lstat " +
		"Symlink Link Readlink Chmod Chown Lchown Chtimes Truncate OpenRoot OpenInRoot DirFS CopyFS",
	"path/filepath":         "Walk WalkDir Glob EvalSymlinks",
	"io/ioutil":             "ReadFile WriteFile ReadDir TempFile TempDir",
	"syscall":               "Open Openat Mkdir Mkfifo Unlink Rmdir Rename Stat Lstat Chmod Symlink Link Truncate",
	"golang.org/x/sys/unix": "Open Openat Openat2 Mkdir Mkfifo Unlink Rmdir Rename Stat Lstat Chmod Symlink Link Truncate",
}

// otherPaths are the functions, and the files, that may call those, each with the reason: what
// they open is no part of a study, or is not opened.
var otherPaths = map[string]string{
	"cmd/lbotune begun":                 "whether there is a journal",
	"cmd/lbotune replaceable":           "the page that would be replaced",
	"cmd/lbotune closeInherited":        "/dev/fd",
	"cmd/lbotune destination":           "the file that the user names",
	"cmd/lbotune asUsage":               "looks for specs",
	"cmd/lbotune hintStudy":             "whether the spec that the user names is there",
	"cmd/lbotune/internal/report Run":   "whether the journal has grown",
	"cmd/lbotune/internal/report spill": "a file of the system's, without a name",
	"cmd/lbotune isStream":              "the spec that the user names",
	"cmd/lbotune list":                  "looks for journals",
	"cmd/lbotune loadSpec":              "the spec that the user names",
	"cmd/lbotune newExport":             "the file that the user names",
	"cmd/lbotune newInit":               "the spec that is written",
	"cmd/lbotune newParse":              "the file that the user names",
	"cmd/lbotune openLog":               "the log file that the user names, elsewhere",
	"cmd/lbotune othersOnGPUs":          "/proc",
	"cmd/lbotune ownerOf":               "/proc",
	"cmd/lbotune resultFiles":           "the files beside the program, for their times",
	"cmd/lbotune refuseLone":            "the journal that the user names",
	"cmd/lbotune restored":              "the journal that the user names",
	"cmd/lbotune saysJournal":           "the file that the user names",
	"cmd/lbotune sameFile":              "compares what paths lead to",
	"cmd/lbotune smokeRun":              "makes the directory of a study",
	"cmd/lbotune specOf":                "the spec or study that the user names",
	"cmd/lbotune studyDir":              "the spec or study that the user names",
	"cmd/lbotune theOnly":               "looks for specs and studies",
	"cmd/lbotune thrifty":               "how large the journal is",
	"cmd/lbotune toShow":                "the study that the user names",
	"cmd/lbotune warnOfAbsent":          "the path that the user names",
	"cmd/lbotune writeFiles":            "the directory that the user names",
	"cmd/lbotune writeManual":           "the directory that the user names",
	"cmd/lbotune writeNew":              "the spec that is written",
	"cmd/lbotune writeOut":              "the file that the user names",
	"internal/layout Direct":            "the way to the study",
	"internal/journal MakeDir":          "the study's directory",
	"internal/journal Remove":           "osFS: a draft beside the journal, after Resolve",
	"internal/journal Rename":           "osFS: the journal, after Resolve",
	"internal/journal Resolve":          "osFS: the journal's own path",
	"internal/journal Stat":             "osFS: the journal, after Resolve",
	"internal/journal lockedByList":     "/proc",
	"internal/journal startOf":          "/proc",
	"runner explain":                    "the trial's working directory",
	"runner lookPath":                   "the program of a trial",
	"runner spawn":                      "/dev/null",
	"runner whereAmI":                   "the machine's id",
	"runner/find_linux.go":              "/proc",
	"runner/cgroup_linux.go":            "control groups",
	"runner/proc_linux.go":              "/proc",
	"runner usage":                      "control groups",
	"runner/slurm claimed":              "only whether it is there",
	"runner/slurm listen":               "only whether it is there",
	"runner/slurm name":                 "what the study's own path leads to",
	"session CheckOwner":                "whose the study is, and what its links lead to",
	"session traceOf":                   "a result file, where the user wants it",
	"session askStdbuf":                 "a library of the system",
	"session heldElsewhere":             "/proc",
	"session linkedEntries":             "the sources",
	"session leaves":                    "the sources",
	"session sizeOf":                    "the sources",
	"session look":                      "the directory in which trials run",
	"session isDir":                     "the study's directory, and where trials run",
	"session resolved":                  "the study's directory, and where trials run",
	"session same":                      "the study's directory, and where trials run",
	"internal/sharing Open":             "the folder of slots, which lies beside studies",
	"internal/sharing Private":          "the folder of slots, which lies beside studies",
	"internal/sharing ahead":            "the folder of slots, which lies beside studies",
	"internal/sharing enter":            "a turn in that folder, made with O_EXCL",
	"internal/sharing openOrMake":       "a lock in that folder, made with O_EXCL",
	"spec checkDirectories":             "the directory of the sources",
	"spec readSmall":                    "the spec, or a template",
	"study nearest":                     "names beside a file that the user has named",
	"study readSheet":                   "earlier results, which the user names",
}

// Whatever lies in a study is opened, made and removed through the one door.
func TestOneDoor(t *testing.T) {
	used := map[string]bool{}
	others := []string{".git", "bench", "dist", "docs", "examples", "internal/door", "internal/testing"}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || slices.Contains(others, filepath.ToSlash(path))):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, c := range callsByPath(t, path) {
			key := filepath.ToSlash(filepath.Dir(path)) + " " + c.in
			if file := filepath.ToSlash(path); otherPaths[file] != "" {
				key = file
			}
			if used[key] = true; otherPaths[key] == "" {
				t.Errorf("%s: %s calls %s: what lies in a study is reached through internal/door; if it does not, add %q to otherPaths, with the reason", c.at, c.in, c.what, key)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(otherPaths)) {
		if !used[key] {
			t.Errorf("otherPaths has %q, which needs no exception", key)
		}
	}
}

type pathCall struct {
	at       token.Position
	in, what string
}

// callsByPath lists the mentions of functions of byPath in a file.
func callsByPath(t *testing.T, path string) (calls []pathCall) {
	t.Helper()
	files := token.NewFileSet()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(files, path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of packages here
	for _, i := range f.Imports {
		imported := strings.Trim(i.Path.Value, `"`)
		if name := filepath.Base(imported); byPath[imported] != "" {
			if i.Name != nil {
				name = i.Name.Name
			}
			names[name] = imported
		}
	}
	for _, d := range f.Decls {
		in := "package"
		if fn, is := d.(*ast.FuncDecl); is {
			in = fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			sel, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if pkg, is := sel.X.(*ast.Ident); is && slices.Contains(strings.Fields(byPath[names[pkg.Name]]), sel.Sel.Name) {
				calls = append(calls, pathCall{files.Position(sel.Pos()), in, pkg.Name + "." + sel.Sel.Name})
			}
			return true
		})
	}
	return calls
}
