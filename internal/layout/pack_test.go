package layout_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
)

// attempt is one whose directory holds some files.
func attempt(t *testing.T, files map[string]string) (l layout.Study, id layout.AttemptID) {
	t.Helper()
	l, id = layout.Of(t.TempDir()), layout.AttemptID{Trial: 7, Attempt: 2}
	err := os.MkdirAll(l.Attempt(id), 0o700)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(l.Attempt(id), name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return l, id
}

// holds checks what is in an attempt's directory.
func holds(t *testing.T, l layout.Study, id layout.AttemptID, want map[string]string) {
	t.Helper()
	names, err := l.Names(l.Attempt(id))
	got := map[string]string{}
	for _, name := range names {
		text, no := l.Read(filepath.Join(l.Attempt(id), name), 1<<10)
		got[name], err = string(text), errors.Join(err, no)
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("there are %q, %v; want %q", got, err, want)
	}
}

var given = map[string]string{"params.json": "{}\n", "slot": "1\n", "stderr": ""}

// What is packed comes back as it was, and again, also where it was cut short after its first file.
func TestPack(t *testing.T) {
	files := map[string]string{"attempt.jsonl": "{}\n0m0.00s 0m0.00s\n", "params.json": "{}\n", "slot": "1\n", "stdout": "loss=1\n", "stderr": "", "model": "w"}
	l, id := attempt(t, files)
	for range 2 {
		if err := l.Pack(id, given); err != nil {
			t.Fatal(err)
		}
		holds(t, l, id, map[string]string{"stdout": "loss=1\n", "model": "w"})
		if err := l.Unpacker()(id); err != nil {
			t.Fatal(err)
		}
		holds(t, l, id, files)
	}
	if err := os.Remove(filepath.Join(l.Attempt(id), "attempt.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := l.Unpacker()(id); err != nil {
		t.Fatal(err)
	}
	holds(t, l, id, files)
}

// What is not as it was given is the program's.
func TestPackLeavesWhatIsNotOurs(t *testing.T) {
	l, id := attempt(t, map[string]string{"attempt.jsonl": "x", "params.json": "{\"mine\":1}\n", "stdout": "", "stderr": "warning\n"})
	if err := l.Pack(id, given); err != nil {
		t.Fatal(err)
	}
	holds(t, l, id, map[string]string{"params.json": "{\"mine\":1}\n", "stdout": "", "stderr": "warning\n"})
}

// Nothing goes that could not be kept: an attempt of a launcher without records, and one beside which a trial has
// put a link.
func TestPackKeepsFirst(t *testing.T) {
	files := map[string]string{"params.json": "{}\n", "stdout": ""}
	l, id := attempt(t, files)
	if err := l.Pack(id, given); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a record: %v", err)
	}
	holds(t, l, id, files)
	files["attempt.jsonl"] = "x"
	l, id = attempt(t, files)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(elsewhere, filepath.Join(string(l), "trials", "packed.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := l.Pack(id, given); err == nil {
		t.Error("it was packed through a link")
	}
	holds(t, l, id, files)
}

// What trials may have written beside their directories puts no other files there, and none where nothing has run.
func TestUnpackBelievesLittle(t *testing.T) {
	const line = `{"packed":1,"trial":7,"attempt":2,"files":{"../evil":"x","model":"x","attempt.jsonl":"old"}}` + "\n"
	for name, c := range map[string]struct {
		packed      string
		files, want map[string]string
	}{
		"names":                      {`{"packed":1,"trial":7,"att` + line + `{"packed":1,"trial":8,`, map[string]string{"stdout": ""}, map[string]string{"stdout": "", "attempt.jsonl": "old"}},
		"another's":                  {`{"packed":1,"trial":7,"attempt":21,"files":{"attempt.jsonl":"old"}}`, map[string]string{"stdout": ""}, map[string]string{"stdout": ""}},
		"a version's to come":        {strings.Replace(line, `{"packed":1,`, `{"packed":2,`, 1), map[string]string{"stdout": ""}, map[string]string{"stdout": ""}},
		"before a version's to come": {line + `{"packed":2,"trial":8}` + "\n", map[string]string{"stdout": ""}, map[string]string{"stdout": "", "attempt.jsonl": "old"}},
		"a file of somebody's": {`{"packed":1,"trial":7,"attempt":2,"files":{"params.json":"old","attempt.jsonl":"old"}}`,
			map[string]string{"stdout": "", "params.json": "new"}, map[string]string{"stdout": "", "params.json": "new", "attempt.jsonl": "old"}},
		"only claimed":   {line, nil, nil},
		"a record of it": {line, map[string]string{"stdout": "", "attempt.jsonl": "new"}, map[string]string{"stdout": "", "attempt.jsonl": "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, id := attempt(t, c.files)
			if err := os.WriteFile(filepath.Join(string(l), "trials", "packed.jsonl"), []byte(c.packed), 0o600); err != nil {
				t.Fatal(err)
			}
			_ = l.Unpacker()(id)
			holds(t, l, id, c.want)
			if names, err := l.Names(l.Trial(id.Trial)); err != nil || len(names) != 1 {
				t.Errorf("beside it are %q, %v", names, err)
			}
		})
	}
}

// The file is read once: a journal from a backup may lack thousands of trials.
func TestUnpackerReadsOnce(t *testing.T) {
	files := map[string]string{"attempt.jsonl": "x", "stdout": ""}
	l, id := attempt(t, files)
	if err := l.Pack(id, given); err != nil {
		t.Fatal(err)
	}
	unpack, packed := l.Unpacker(), filepath.Join(string(l), "trials", "packed.jsonl")
	for range 2 {
		if err := unpack(id); err != nil {
			t.Fatal(err)
		}
		holds(t, l, id, files)
		_ = os.Remove(packed) // the second time it is gone
		if err := os.Remove(filepath.Join(l.Attempt(id), "attempt.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
}
