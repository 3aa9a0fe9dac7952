package study_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A request waits until it is removed, and only whole ones are ever seen.
func TestRequestsWait(t *testing.T) {
	l := layout.Of(t.TempDir())
	first, err := study.Request{Action: study.ActionNote, Text: "a <b> & é"}.Submit(l)
	if err != nil {
		t.Fatal(err)
	}
	second, err := study.Request{Action: study.ActionAdjust, Time: study.Duration(time.Minute)}.Submit(l)
	if err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"1-1-f.json.new": 0, "1-1-0.json.new": 2 * time.Hour, "old.json.new": 2 * time.Hour, "package.json": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			path, then := filepath.Join(l.Requests(), name), time.Now().Add(-age)
			if err := errors.Join(os.WriteFile(path, []byte("{"), 0o600), os.Chtimes(path, then, then)); err != nil {
				t.Fatal(err)
			}
		})
	}
	rs, err := study.ReadRequests(l)
	if err != nil || len(rs) != 2 || rs[0].Unreadable != nil || rs[1].Unreadable != nil || rs[0].Text != "a <b> & é" || rs[1].Time != study.Duration(time.Minute) {
		t.Fatalf("requests %+v: %v", rs, err)
	}
	for name, stays := range map[string]bool{"1-1-f.json.new": true, "1-1-0.json.new": false, "old.json.new": true, "package.json": true} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Lstat(filepath.Join(l.Requests(), name)); (err == nil) != stays {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if err := errors.Join(rs[0].Remove(l), first.Remove(l)); err != nil || first.Waits(l) || !second.Waits(l) {
		t.Errorf("removed twice: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(l.Requests(), "full.json", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (study.Request{ID: "full"}).Remove(l); err == nil || !strings.Contains(err.Error(), "remove a request") {
		t.Errorf("what cannot be removed: %v", err)
	}
}

// What somebody else has put there, who may write to the directory, is nobody's request.
func TestRequestsOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	l := layout.Of(t.TempDir())
	own, err := study.Request{Action: study.ActionNote, Text: "own"}.Submit(l)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := study.Request{Action: study.ActionNote, Text: "theirs"}.Submit(l)
	if err == nil {
		err = os.Chown(filepath.Join(l.Requests(), theirs.ID+".json"), 54321, 54321)
	}
	if err != nil {
		t.Fatal(err)
	}
	if rs, err := study.ReadRequests(l); err != nil || len(rs) != 1 || rs[0].Text != "own" || !theirs.Waits(l) {
		t.Errorf("requests %+v: %v", rs, err)
	}
	if err := errors.Join(os.Chown(l.Requests(), 54321, 54321), os.Chown(filepath.Join(l.Requests(), own.ID+".json"), 54321, 54321)); err != nil {
		t.Fatal(err)
	}
	if rs, err := study.ReadRequests(l); err != nil || len(rs) != 2 {
		t.Errorf("where they belong to whom the directory does: %+v: %v", rs, err)
	}
}

// A request is read whatever its size, if it may be left, and what no request is says why.
func TestRequestsAreRead(t *testing.T) {
	l := layout.Of(t.TempDir())
	largest := study.Request{Action: study.ActionNote, Text: strings.Repeat("x", 1<<20-len(`{"version":1,"action":"note","text":""}`))}
	if _, err := largest.Submit(l); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"2000000000000000000-1-0.json": "{", "3000000000000000000-1-0.json": `{"version":2,"action":"note"}`} {
		if err := os.WriteFile(filepath.Join(l.Requests(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := study.ReadRequests(l)
	if err != nil || len(rs) != 3 || rs[0].Unreadable != nil || rs[0].Text != largest.Text {
		t.Fatalf("%d requests, %v", len(rs), err)
	}
	for i, want := range []string{"", "it cannot be read", "its format is 2, and not 1"} {
		if err := rs[i].Unreadable; i > 0 && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", rs[i].ID, err, want)
		}
	}
}

// Who leaves a request that cannot be kept hears why.
func TestRequestsThatCannotBeLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		dir     string
		request study.Request
	}{
		"bytes; allowed are 1048576": {t.TempDir(), study.Request{Action: study.ActionNote, Text: strings.Repeat("x", 1<<20)}},
		"leave a request: open":      {file, study.Request{Action: study.ActionNote}},
		"write the request: ": {t.TempDir(), study.Request{Action: study.ActionEnqueue,
			Values: spaces.Values{{Name: "x", Value: spaces.Float(math.NaN())}}}},
	} {
		r, err := c.request.Submit(layout.Of(c.dir))
		if err == nil || !strings.Contains(err.Error(), want) || r.Waits(layout.Of(c.dir)) {
			t.Errorf("got %v; want %q", err, want)
		}
	}
	l := layout.Of(t.TempDir())
	if err := os.WriteFile(l.Requests(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := study.ReadRequests(l); err == nil || !strings.Contains(err.Error(), "look for requests") {
		t.Errorf("read from a file: %v", err)
	}
}

// Budget and workers are adjusted only to what the study can follow.
func TestAdjusted(t *testing.T) {
	c := config()
	c.Run.Slots = make([]study.Slot, 2)
	c.Budget.TimeHard = study.Duration(time.Hour)
	st := begun(t, c)
	for want, r := range map[string]study.Request{
		"trials, time and workers are positive":                                             {Trials: -1},
		"the study has slots for 2 trials at a time, and not for 3":                         {Workers: 3},
		"time_hard, 1h0m0s, ends the study before 2h0m0s: write a larger one into the spec": {Time: study.Duration(2 * time.Hour)},
		"": {Trials: 20, Workers: 2, Time: study.Duration(time.Hour)},
	} {
		t.Run(want, func(t *testing.T) {
			r.Action, r.ID = study.ActionAdjust, "7"
			e, err := st.Event(r)
			if want != "" {
				if err == nil || err.Error() != want {
					t.Errorf("%+v: %v; want %q", r, err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			apply(t, st, e)
			why, known := st.Answered("7")
			if b := st.Config.Budget; !known || why != "" || b.Trials != 20 || b.Time != r.Time || st.Config.Run.Workers != 2 {
				t.Errorf("adjusted to %+v, answered %v %q", b, known, why)
			}
		})
	}
	for _, r := range []study.Request{{Trials: 30}, {Time: study.Duration(time.Minute)}, {Workers: 1}} {
		r.Action = study.ActionAdjust
		e, err := st.Event(r)
		if err != nil {
			t.Fatal(err)
		}
		now, was := e.(study.ConfigChanged).Config, st.Config
		if now.Budget.Trials != cmp.Or(r.Trials, was.Budget.Trials) || now.Budget.Time != cmp.Or(r.Time, was.Budget.Time) || now.Run.Workers != cmp.Or(r.Workers, was.Run.Workers) {
			t.Errorf("%+v makes %+v and %d workers", r, now.Budget, now.Run.Workers)
		}
	}
	c = config()
	c.Metrics[0].File = "out.txt"
	for workers, fits := range map[int]bool{1: true, 2: false} {
		_, err := begun(t, c).Event(study.Request{Action: study.ActionAdjust, Workers: workers})
		if (err == nil) != fits || err != nil && !strings.Contains(err.Error(), `would write the same file "out.txt" for loss`) {
			t.Errorf("%d at a time: %v", workers, err)
		}
	}
}

// A share of the trials counts exactly: in floating point 0.29*100 is less than 29.
func TestShareOfEnqueued(t *testing.T) {
	c, share := config(), 0.29
	c.Budget.Trials, c.Budget.Enqueued = 100, &share
	s := &study.State{}
	for _, r := range records([]study.Event{study.Created{ID: "0123456789abcdef", Fingerprint: "f1", Config: c}}) {
		if err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 30 {
		e, err := s.Event(study.Request{Action: study.ActionEnqueue, Values: values(0.25, 3)})
		if (err == nil) != (n < 29) {
			t.Fatalf("after %d enqueued trials: %v", n, err)
		}
		if n < 29 {
			if err := s.Apply(study.Record{Event: e}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Behind a link lie the files of others: none is taken for a request, and none removed.
func TestRequestsBehindALink(t *testing.T) {
	l, others := layout.Of(t.TempDir()), t.TempDir()
	names := []string{"package.json", "1-1-0.json", "1-1-0.json.new"}
	for _, name := range names {
		path, then := filepath.Join(others, name), time.Now().Add(-2*time.Hour)
		if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(others, l.Requests()); err != nil {
		t.Fatal(err)
	}
	rs, err := study.ReadRequests(l)
	if len(rs) != 0 || err == nil || !strings.Contains(err.Error(), l.Requests()+": it is a symbolic link, which is not followed") {
		t.Errorf("%d requests, %v", len(rs), err)
	}
	if _, err := (study.Request{Action: study.ActionNote, Text: "x"}).Submit(l); err == nil || !strings.Contains(err.Error(), l.Requests()+": it is a symbolic link, which is not followed") {
		t.Errorf("a request was left: %v", err)
	}
	entries, err := os.ReadDir(others)
	if err != nil || len(entries) != len(names) {
		t.Errorf("behind the link are %v, %v", entries, err)
	}
}

// Requests are taken in the order in which they were left, also where the clock was set back in between, or
// another host's is behind.
func TestOrderOfRequests(t *testing.T) {
	l := layout.Study(t.TempDir())
	first, err := study.Request{Action: study.ActionNote, Text: "0"}.Submit(l)
	if err != nil {
		t.Fatal(err)
	}
	ahead := fmt.Sprintf("%019d-1-0", time.Now().Add(time.Hour).UnixNano())
	if err := os.Rename(filepath.Join(l.Requests(), first.ID+".json"), filepath.Join(l.Requests(), ahead+".json")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1", "2", "3"} {
		if _, err := (study.Request{Action: study.ActionNote, Text: text}).Submit(l); err != nil {
			t.Fatal(err)
		}
	}
	requests, err := study.ReadRequests(l)
	if err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, r := range requests {
		order += r.Text
	}
	if order != "0123" {
		t.Errorf("they are taken in the order %s", order)
	}
}
