package inbox_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A request waits until it is removed, and only whole ones are ever seen.
func TestRequestsWait(t *testing.T) {
	l := layout.Of(t.TempDir())
	first, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "a <b> & é"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := inbox.Leave(l, study.Request{Action: study.ActionAdjust, Time: study.Duration(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"1-1-f.json.new": 0, "1-1-0.json.new": 2 * time.Hour, "old.json.new": 2 * time.Hour, "package.json": 2 * time.Hour,
		"1-1-a": 2 * time.Hour, second.ID + ".json": 2 * time.Hour} {
		path, then := filepath.Join(l.Requests(), name), time.Now().Add(-age)
		var err error
		if name != second.ID+".json" { // a request waits however long
			err = os.WriteFile(path, []byte("{"), 0o600)
		}
		if err = errors.Join(err, os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := inbox.Read(l)
	if err != nil || len(rs) != 2 || rs[0].Unreadable != nil || rs[1].Unreadable != nil || rs[0].Text != "a <b> & é" || rs[1].Time != study.Duration(time.Minute) {
		t.Fatalf("requests %+v: %v", rs, err)
	}
	for name, stays := range map[string]bool{"1-1-f.json.new": true, "1-1-0.json.new": false, "old.json.new": true, "package.json": true, "1-1-a": true} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Lstat(filepath.Join(l.Requests(), name)); (err == nil) != stays {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if err := errors.Join(inbox.Remove(l, rs[0]), inbox.Remove(l, first)); err != nil || inbox.Waits(l, first) || !inbox.Waits(l, second) {
		t.Errorf("removed twice: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(l.Requests(), "full.json", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := inbox.Remove(l, study.Request{ID: "full"}); err == nil || !strings.Contains(err.Error(), "remove a request") {
		t.Errorf("what cannot be removed: %v", err)
	}
}

// A request is read whatever its size, if it may be left, and what no request is says why.
func TestRequestsAreRead(t *testing.T) {
	l := layout.Of(t.TempDir())
	largest := study.Request{Action: study.ActionNote, Text: strings.Repeat("x", 1<<20-len(`{"version":1,"action":"note","text":""}`))}
	if _, err := inbox.Leave(l, largest); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"2000000000000000000-1-0.json": "{", "3000000000000000000-1-0.json": `{"version":2,"action":"note"}`} {
		if err := os.WriteFile(filepath.Join(l.Requests(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := inbox.Read(l)
	if err != nil || len(rs) != 3 || rs[0].Unreadable != nil || rs[0].Text != largest.Text {
		t.Fatalf("%d requests, %v", len(rs), err)
	}
	for i, want := range []string{"", "it cannot be read: unexpected EOF",
		"it was written by another version of lbotune: its format is 2, and not 1"} {
		if err := rs[i].Unreadable; i > 0 && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v; want %q", rs[i].ID, err, want)
		}
	}
}

// What of a file is no request is said in words that need no Go.
func TestRequestsThatAreNone(t *testing.T) {
	l := layout.Of(t.TempDir())
	if err := os.MkdirAll(l.Requests(), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"version":1,"action":"enqueue","values":{"x":NaN}}`:       "it cannot be read: byte 47 is no JSON, which has no NaN or infinity either",
		`{"version":1,"action":"enqueue","values":{"x":-Infinity}}`: "it cannot be read: byte 48 is no JSON, which has no NaN or infinity either",
		`{"version":1,"action":"enqueue","values":{"x":1e999}}`:     "it cannot be read: parameter x: parameter value 1e999: beyond the range of a float64",
		`{"version":1,"action":"exclude","trial":"3"}`:              "it cannot be read: trial cannot be a string",
		`{"version":1,"action":"exclude","trial":1.5}`:              "it cannot be read: trial cannot be a number 1.5",
	} {
		if err := os.WriteFile(filepath.Join(l.Requests(), "1-1-0.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rs, err := inbox.Read(l)
		if err != nil || len(rs) != 1 || rs[0].Unreadable == nil || rs[0].Unreadable.Error() != want {
			t.Errorf("%s: %+v, %v; want %q", text, rs, err, want)
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
		"the request has 1048615 bytes; allowed are 1048576": {t.TempDir(), study.Request{Action: study.ActionNote, Text: strings.Repeat("x", 1<<20)}},
		"leave a request: open FILE: not a directory":        {file, study.Request{Action: study.ActionNote}},
		"write the request: parameter x: parameter value NaN is not a finite number": {t.TempDir(), study.Request{Action: study.ActionEnqueue,
			Values: spaces.Values{{Name: "x", Value: spaces.Float(math.NaN())}}}},
	} {
		t.Run(want, func(t *testing.T) {
			r, err := inbox.Leave(layout.Of(c.dir), c.request)
			if err == nil || strings.ReplaceAll(err.Error(), file, "FILE") != want || inbox.Waits(layout.Of(c.dir), r) {
				t.Errorf("got %v; want %q", err, want)
			}
		})
	}
	l := layout.Of(t.TempDir())
	if err := os.WriteFile(l.Requests(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.Read(l); err == nil || !strings.Contains(err.Error(), "look for requests") {
		t.Errorf("read from a file: %v", err)
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
	rs, err := inbox.Read(l)
	if len(rs) != 0 || err == nil || !strings.Contains(err.Error(), l.Requests()+": it is a symbolic link, which is not followed") {
		t.Errorf("%d requests, %v", len(rs), err)
	}
	if _, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "x"}); err == nil || !strings.Contains(err.Error(), l.Requests()+": it is a symbolic link, which is not followed") {
		t.Errorf("a request was left: %v", err)
	}
	entries, err := os.ReadDir(others)
	if err != nil || len(entries) != len(names) {
		t.Errorf("behind the link are %v, %v", entries, err)
	}
}

// What somebody else has put there, who may write to the directory, is nobody's request.
func TestRequestsOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	l := layout.Of(t.TempDir())
	own, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "own"})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "theirs"})
	if err == nil {
		err = os.Chown(filepath.Join(l.Requests(), theirs.ID+".json"), 54321, 54321)
	}
	if err != nil {
		t.Fatal(err)
	}
	if rs, err := inbox.Read(l); err != nil || len(rs) != 1 || rs[0].Text != "own" || !inbox.Waits(l, theirs) {
		t.Errorf("requests %+v: %v", rs, err)
	}
	if err := errors.Join(os.Chown(l.Requests(), 54321, 54321), os.Chown(filepath.Join(l.Requests(), own.ID+".json"), 54321, 54321)); err != nil {
		t.Fatal(err)
	}
	if rs, err := inbox.Read(l); err != nil || len(rs) != 2 {
		t.Errorf("where they belong to whom the directory does: %+v: %v", rs, err)
	}
}

// Requests are taken in the order in which they were left, also where the clock was set back in between, or
// another host's is behind.
func TestOrderOfRequests(t *testing.T) {
	l := layout.Study(t.TempDir())
	first, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "0"})
	if err != nil {
		t.Fatal(err)
	}
	ahead := fmt.Sprintf("%019d-1-0", time.Now().Add(time.Hour).UnixNano())
	if err := os.Rename(filepath.Join(l.Requests(), first.ID+".json"), filepath.Join(l.Requests(), ahead+".json")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1", "2", "3"} {
		if _, err := inbox.Leave(l, study.Request{Action: study.ActionNote, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	requests, err := inbox.Read(l)
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
