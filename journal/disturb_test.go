package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/journal"
)

// What others do to the file of an open journal ends its writing, and is left as it is.
func TestDisturbed(t *testing.T) {
	for name, c := range map[string]struct {
		disturb func(path string) error
		want    string
	}{
		"moved":   {func(path string) error { return os.Rename(path, path+".old") }, "moved or removed"},
		"removed": {os.Remove, "moved or removed"},
		"directory moved": {func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old")
		}, "moved or removed"},
		"replaced by a copy": {func(path string) error {
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".copy", content, 0o600)
			}
			if err == nil {
				err = os.Rename(path+".copy", path)
			}
			return err
		}, "replaced"},
		"replaced by a link to itself": {func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.Symlink(path+".old", path)
		}, "replaced"},
		"truncated": {func(path string) error { return os.Truncate(path, 10) }, "changed"},
		"emptied":   {func(path string) error { return os.Truncate(path, 0) }, "changed"},
		"appended to": {func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return err
		}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "study", "journal.jsonl")
			check(t, os.Mkdir(filepath.Dir(path), 0o700))
			j, err := journal.Create(path, header{"s1", 1})
			check(t, err)
			_, err = j.Append(sample("s1", 1))
			check(t, err)
			check(t, c.disturb(path))
			before, beforeErr := os.ReadFile(path)
			_, err = j.Append(sample("s1", 2))
			if werr := is[*journal.WriteError](t, err); !strings.Contains(werr.Error(), c.want) {
				t.Errorf("error is %q", werr)
			}
			after, afterErr := os.ReadFile(path)
			if string(after) != string(before) || (afterErr == nil) != (beforeErr == nil) {
				t.Errorf("the file is now %q, %v", after, afterErr)
			}
			_, again := j.AppendLazy(sample("s1", 3))
			if again != err || j.Close() != err {
				t.Errorf("the next error is %v", again)
			}
		})
	}
}
