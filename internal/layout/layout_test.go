package layout_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
)

func TestLayout(t *testing.T) {
	dir := t.TempDir()
	l := layout.Of(dir)
	if here := layout.Of("here"); !filepath.IsAbs(string(here)) {
		t.Errorf("the layout of a relative path is %s", here)
	}
	for got, want := range map[string]string{
		layout.DirFor("a/mnist.toml"): "a/mnist.study",
		l.Journal():                   dir + "/journal.jsonl",
		l.Attempt(layout.AttemptID{Trial: 0, Attempt: 2}):  dir + "/setup/a2",
		l.Attempt(layout.AttemptID{Trial: 17, Attempt: 1}): dir + "/trials/000017/a1",
		string(layout.Of(filepath.Join(dir, "x", ".."))):   dir,
	} {
		t.Run(strings.TrimPrefix(want, dir), func(t *testing.T) {
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// What stands before ".." may be a link, as may the way to the working directory: a study is where the system finds it.
func TestBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "data/deep"), 0o700), os.Mkdir(filepath.Join(dir, "proj"), 0o700),
			os.Symlink("../data/deep", filepath.Join(dir, "proj/link")))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, path, want string }{
		{"proj", "link/../s.study", "data/s.study"},
		{"proj", "link/../s.study/", "data/s.study"},
		{"proj", "link/..", "data"},
		{"proj", dir + "/proj/link/../s.study", "data/s.study"},
		{"proj", "./s.study", "proj/s.study"},
		{"proj", "../s.study", "s.study"},
		{"proj", "none/../s.study", "proj/s.study"},
		{"proj", "link/../new/s.study", "data/new/s.study"},
		{"proj", "./new/deep/s.study", "proj/new/deep/s.study"},
		{"proj/link", "../s.study", "data/s.study"},
		{"proj/link", "s.study", "proj/link/s.study"},
	} {
		t.Run(c.from+" "+c.path, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, c.from))
			if got := layout.Of(c.path); string(got) != filepath.Join(dir, c.want) {
				t.Errorf("the study is %s", got)
			}
		})
	}
}

// What a former study has left is found, also if only its setup had run.
func TestFormer(t *testing.T) {
	l := layout.Of(t.TempDir())
	if d := l.Former(); d != "" {
		t.Errorf("an empty directory holds %s", d)
	}
	if err := os.MkdirAll(l.Setup(), 0o700); err != nil {
		t.Fatal(err)
	}
	if d := l.Former(); d != "" {
		t.Errorf("the empty %s is that of a study", d)
	}
	for _, dir := range []string{l.Attempt(layout.AttemptID{Attempt: 1}), l.Attempt(layout.AttemptID{Trial: 1, Attempt: 1})} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if d := l.Former(); d == "" || d != filepath.Dir(dir) && d != filepath.Dir(filepath.Dir(dir)) {
			t.Errorf("with %s, the former study is in %q", dir, d)
		}
	}
}

// What a study would take for its own, and remove, stands for a former one, whoever put it there.
func TestNamesThatAreTaken(t *testing.T) {
	for _, name := range []string{"stop", "hooks.log", "requests/api.http", "pilots/names.txt", "setup/install.sh", "trials/notes"} {
		t.Run(name, func(t *testing.T) {
			l := layout.Of(t.TempDir())
			path := filepath.Join(string(l), name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			top, _, _ := strings.Cut(name, "/")
			if d := l.Former(); d != filepath.Join(string(l), top) {
				t.Errorf("with %s, the former study is in %q", name, d)
			}
		})
	}
}

// What an attempt has printed is read through its trial's directory, also where that has become
// a link, and through no other link.
func TestOutputOfAnArchivedTrial(t *testing.T) {
	l := layout.Of(t.TempDir())
	id := layout.AttemptID{Trial: 3, Attempt: 1}
	path := filepath.Join(l.Attempt(id), "stdout")
	if err := os.MkdirAll(l.Attempt(id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("loss=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	archive := t.TempDir()
	move := func(what string) {
		t.Helper()
		to := filepath.Join(archive, filepath.Base(what))
		if err := os.Rename(what, to); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, what); err != nil {
			t.Fatal(err)
		}
	}
	for _, moved := range []struct {
		what string
		read bool
	}{{"", true}, {l.Trial(3), true}, {l.Attempt(id), false}} {
		if moved.what != "" {
			move(moved.what)
		}
		f, err := l.Output(path)()
		if (err == nil) != moved.read {
			t.Errorf("with a link at %q: %v", moved.what, err)
		}
		if err == nil {
			f.Close()
		}
	}
	result := filepath.Join(l.Trial(4), "checkpoint-01234567", "result")
	if err := os.MkdirAll(filepath.Dir(result), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(result, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	move(filepath.Dir(result))
	f, err := l.Output(result)()
	if err != nil {
		t.Fatalf("with a link to a directory for checkpoints: %v", err)
	}
	f.Close()
}
