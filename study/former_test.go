package study_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// testdata/former holds a journal of each form that there was before the present one, as it
// was written then. They read as they did, but for the first, which says what it is.
func TestFormerJournals(t *testing.T) {
	for n, want := range []int{0, 25, 28, 33, 34, 35} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			name := fmt.Sprintf("testdata/former/%d.jsonl", n+1)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(layout.Study(dir).Journal(), text, 0o600); err != nil {
				t.Fatal(err)
			}
			seen := 0
			st, err := study.Load(dir, func(*study.State, study.Record) error { seen++; return nil })
			if want == 0 {
				if !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), `record 1 of lbotune "v0.1.0"`) || !strings.Contains(err.Error(), `the key "objective"`) {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			if err != nil || seen != want || st.Best().Number != 1 || st.Count("failed") != 1 {
				t.Errorf("%s: %d records, %v", name, seen, err)
			}
		})
	}
}

// What a configuration says is never left unread: a key that is not known here is named,
// wherever it stands and whenever it came.
func TestUnknownKeys(t *testing.T) {
	created := records(everyEvent())[0]
	for name, add := range map[string]func(config map[string]any){
		"shelter": func(c map[string]any) { c["shelter"] = map[string]any{"metric": "loss", "max": 1} },
		"energy":  func(c map[string]any) { c["budget"].(map[string]any)["energy"] = 1 },
		"forbid":  func(c map[string]any) { c["params"].([]any)[0].(map[string]any)["forbid"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			for _, late := range []bool{false, true} {
				path := filepath.Join(t.TempDir(), "journal.jsonl")
				first, second := plain(t, created), plain(t, records(everyEvent())[19])
				if late {
					add(second["config"].(map[string]any))
				} else {
					add(first["config"].(map[string]any))
				}
				j, err := journal.Create(path, first)
				if err != nil {
					t.Fatal(err)
				}
				err = j.Append(second)
				if err := errors.Join(err, j.Close()); err != nil {
					t.Fatal(err)
				}
				_, err = study.Load(filepath.Dir(path))
				var damage *journal.CorruptError
				if !errors.Is(err, journal.ErrVersion) || errors.As(err, &damage) || !strings.Contains(err.Error(), fmt.Sprintf("the key %q", name)) {
					t.Errorf("%s, in a change: %v: %v", name, late, err)
				}
			}
		})
	}
}

// plain is a record as JSON holds it.
func plain(t *testing.T, r study.Record) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
