package study_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/study"
)

// A journal with more records than wait to be folded at a time is read in order.
func TestLongJournal(t *testing.T) {
	n := 512 * (2*runtime.GOMAXPROCS(0) + 4)
	events := []study.Event{study.Created{ID: "id", Fingerprint: "f", Config: config()}}
	for i := range n {
		events = append(events, study.Noted{Text: fmt.Sprint(i)})
	}
	st := &study.State{}
	_, err := st.Fold("journal", func(line func(journal.Record) error) (journal.Summary, error) {
		for i, r := range records(events) {
			text, err := json.Marshal(r)
			if err == nil {
				err = line(journal.Record{Seq: uint64(i + 1), Raw: text})
			}
			if err != nil {
				return journal.Summary{}, err
			}
		}
		return journal.Summary{}, nil
	})
	if err != nil || len(st.Notes) != n {
		t.Fatalf("%d notes, %v", len(st.Notes), err)
	}
	for i, note := range st.Notes {
		if note.Text != fmt.Sprint(i) {
			t.Fatalf("note %d is %q", i, note.Text)
		}
	}
}
