package study_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/study"
)

// A study can be followed while it is written, to its end.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	rs := records(everyEvent())
	for rs[len(rs)-1].Event.Type() != study.TypeClosed {
		rs = rs[:len(rs)-1]
	}
	j, err := journal.Create(study.Layout(dir).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = study.Follow(t.Context(), dir, func(st *study.State, r study.Record) error {
		if st.Updated != r.At || r.Event.Type() != rs[seen].Event.Type() {
			t.Errorf("record %d is %s at %v", seen+1, r.Event.Type(), st.Updated)
		}
		seen++
		if seen == len(rs) {
			return nil
		}
		_, err := j.Append(rs[seen])
		return err
	})
	if err != nil || seen != len(rs) {
		t.Errorf("saw %d of %d records, %v", seen, len(rs), err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := study.Follow(ctx, t.TempDir(), nil); !errors.Is(err, study.ErrNoStudy) {
		t.Errorf("no study: %v", err)
	}
}
