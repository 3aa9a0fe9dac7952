package study_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// A study can be followed while it is written, to its end.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	rs := records(everyEvent())
	for !isClosed(rs[len(rs)-1].Event) {
		rs = rs[:len(rs)-1]
	}
	j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = study.Follow(t.Context(), dir, func(st *study.State, r study.Record) error {
		if st.Updated != r.At || typeOf(t, r.Event) != typeOf(t, rs[seen].Event) {
			t.Errorf("record %d is %T at %v", seen+1, r.Event, st.Updated)
		}
		seen++
		if seen == len(rs) {
			return nil
		}
		err := j.Append(rs[seen])
		return err
	}, nil)
	if err != nil || seen != len(rs) {
		t.Errorf("saw %d of %d records, %v", seen, len(rs), err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := study.Follow(t.Context(), t.TempDir(), nil, nil); !errors.Is(err, study.ErrNoStudy) {
		t.Errorf("no study: %v", err)
	}
}

// Who watches sees the state once what has been written is read, and at the end.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	rs := records(everyEvent())
	for !isClosed(rs[len(rs)-1].Event) {
		rs = rs[:len(rs)-1]
	}
	last := len(rs) - 1
	j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
	for _, r := range rs[1:last] {
		if more := j.Append(r); more != nil {
			err = more
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var ended []bool
	err = study.Follow(t.Context(), dir, nil, func(st *study.State) error {
		if ended = append(ended, st.Ended()); st.Updated != rs[last].At && st.Updated != rs[last-1].At {
			t.Errorf("seen before all was read: %v", st.Updated)
		}
		if len(ended) > 1 {
			return nil
		}
		err := j.Append(rs[last])
		return err
	})
	if err := errors.Join(err, j.Close()); err != nil || !slices.Equal(ended, []bool{false, true}) {
		t.Errorf("looked at %v, %v", ended, err)
	}
}

// A study that the failure guard has ended is followed as long as somebody works on it, who may go on.
func TestFollowAfterTheGuard(t *testing.T) {
	dir := t.TempDir()
	rs := records(append(everyEvent()[:2], study.Closed{Why: study.EndGuard}))
	j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(rs[1], rs[2]); err != nil {
		t.Fatal(err)
	}
	looks := 0
	err = study.Follow(t.Context(), dir, nil, func(st *study.State) error {
		switch looks++; looks {
		case 3:
			return j.Close()
		case 20:
			return errors.New("it is followed on")
		}
		return nil
	})
	if err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

// Who has seen enough stops, and what makes no sense is damage at its line.
func TestFollowStops(t *testing.T) {
	for _, last := range []study.Event{study.Noted{Text: "enough"}, study.Excluded{Trial: 9}} {
		dir := t.TempDir()
		rs := records(append(everyEvent()[:2], last))
		j, err := journal.Create(layout.Study(dir).Journal(), rs[0])
		if err != nil {
			t.Fatal(err)
		}
		err = j.Append(rs[1], rs[2])
		if err := errors.Join(err, j.Close()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = study.Follow(ctx, dir, func(st *study.State, r study.Record) error {
			if len(st.Notes) > 0 {
				cancel()
			}
			return nil
		}, nil)
		cancel()
		var damage *journal.CorruptError
		if _, note := last.(study.Noted); note && !errors.Is(err, context.Canceled) || !note && (!errors.As(err, &damage) || damage.Line != 3) {
			t.Errorf("after %+v: %v", last, err)
		}
	}
}

func isClosed(e study.Event) bool { _, ok := e.(study.Closed); return ok }

// typeOf is the name of an event in a journal.
func typeOf(t *testing.T, e study.Event) string {
	t.Helper()
	line, err := json.Marshal(study.Record{Event: e})
	var head struct{ Type string }
	if err = errors.Join(err, json.Unmarshal(line, &head)); err != nil {
		t.Fatal(err)
	}
	return head.Type
}

// A path leads where the system finds it, also with ".." behind a link.
func TestBehindLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "data/deep"), 0o700), os.Symlink("data/deep", filepath.Join(dir, "link")))
	}
	if err != nil {
		t.Fatal(err)
	}
	path := dir + "/link/../s.study"
	_, loaded := study.Load(path)
	for _, err := range []error{loaded, study.Follow(t.Context(), path, nil, nil)} {
		if !errors.Is(err, study.ErrNoStudy) || !strings.Contains(err.Error(), filepath.Join(dir, "data/s.study")) {
			t.Error(err)
		}
	}
}
