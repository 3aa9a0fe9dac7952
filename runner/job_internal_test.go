package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The first fault of a job is named, each alone being one.
func TestValidate(t *testing.T) {
	job := func(change func(*Job)) Job {
		j := Job{Dir: "/d", ID: "a1", Argv: []string{"true"}, Env: []string{"A=", "B=c=d"}, Files: []File{{Name: "in/conf"}}}
		change(&j)
		return j
	}
	env := func(s string) func(*Job) { return func(j *Job) { j.Env = []string{"A=1", s} } }
	file := func(s string) func(*Job) { return func(j *Job) { j.Files = []File{{Name: "a"}, {Name: s}} } }
	for _, c := range []struct {
		change func(*Job)
		want   string
	}{
		{func(*Job) {}, ""},
		{func(j *Job) { j.Argv = []string{"a", "-b", ""} }, ""},
		{func(j *Job) { j.Dir = "" }, "job has no directory"},
		{func(j *Job) { j.ID = "" }, `job id "" must be one word`},
		{func(j *Job) { j.ID = "a b" }, `job id "a b" must be one word`},
		{func(j *Job) { j.Argv = nil }, "job needs a shell command line or a program, and not both"},
		{func(j *Job) { j.Shell = "true" }, "job needs a shell command line or a program, and not both"},
		{func(j *Job) { j.Argv = []string{"", "-b"} }, `job has "" for a program`},
		{func(j *Job) { j.Argv = []string{"-b"} }, `job has "-b" for a program`},
		{func(j *Job) { j.Cwd = "a\x00" }, `"a\x00" contains a NUL byte, which no command can be given`},
		{env("A"), `"A" is not an environment variable`},
		{env("=1"), `"=1" is not an environment variable`},
		{env("A=\x00"), `"A=\x00" is not an environment variable`},
		{file("../a"), `file "../a" is not within the attempt's directory`},
		{file("."), `file "." is not within the attempt's directory`},
		{file(StdoutName), `file "stdout" has a name that the launcher needs itself`},
		{file(StderrName), `file "stderr" has a name that the launcher needs itself`},
		{file(recordName), `file "attempt.jsonl" has a name that the launcher needs itself`},
	} {
		t.Run(c.want, func(t *testing.T) {
			j := job(c.change)
			if err := j.Validate(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("%+v: %v; want %q", j, err, c.want)
			}
		})
	}
	for limit, want := range map[int64]int64{-1: DefaultMaxLog, 0: DefaultMaxLog, 1: 1} {
		t.Run(fmt.Sprint("max_log ", limit), func(t *testing.T) {
			if got := newBoundedLog(&Job{MaxLog: limit}).max; got != want {
				t.Errorf("max_log %d allows %d bytes", limit, got)
			}
		})
	}
}

// Of each kind of line the first counts, of what was used the last; a start begins anew.
func TestLinesOfARecord(t *testing.T) {
	at := func(s int64) *time.Time { u := time.Unix(s, 0).UTC(); return &u }
	code := func(n int) *int { return &n }
	lines := []entry{
		{PID: 5}, {Exit: code(9)}, {Version: 1, ID: "a"}, // a start after one that failed
		{PID: 7}, {PID: 8}, {Stop: "cancel"}, {Stop: "kill"}, {Full: true},
		{Exit: code(1), Printed: &Lengths{Stdout: 1}}, {Exit: code(2), Killed: true}, {Fork: code(3)}, {Fork: code(4)},
		{usage: usage{CPU: 10, Peak: 20}, Ended: at(50)}, {usage: usage{CPU: 11}}, {},
	}
	path := filepath.Join(t.TempDir(), recordName)
	read := func(lines []entry) record {
		t.Helper()
		var text []byte
		for _, e := range lines {
			line, _ := json.Marshal(e)
			text = append(append(text, line...), '\n')
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, *at(99), *at(99)); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rec, err := readRecord(int(f.Fd()), 0)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	rec := read(lines)
	want := entry{Version: 1, ID: "a", PID: 7, Stop: "cancel", Full: true, Exit: code(1), Printed: &Lengths{Stdout: 1}, Fork: code(3), Ended: at(50), usage: usage{CPU: 11, Peak: 20}}
	if !reflect.DeepEqual(rec.entry, want) || !rec.lastSeen.Equal(*at(50)) {
		t.Errorf("read %+v, ended %v; want %+v", rec.entry, rec.lastSeen, want)
	}
	rec = read([]entry{{Version: 1}, {Counted: &Lengths{Stdout: 3}}, {Counted: &Lengths{Stdout: 4}, Ended: at(60)}})
	if rec.Counted.Stdout != 3 || !rec.lastSeen.Equal(*at(99)) {
		t.Errorf("counted %+v, ended %v", rec.Counted, rec.lastSeen)
	}
	if rec = read([]entry{{Version: 1}, {Counted: &Lengths{Stdout: 3}, Ended: at(60)}}); !rec.lastSeen.Equal(*at(60)) {
		t.Errorf("ended %v", rec.lastSeen)
	}
}

// Machines of one name are told apart by their ids.
func TestWhereAmI(t *testing.T) {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		t.Skip(err)
	}
	if at := whereAmI(); !strings.HasSuffix(at.host, "/"+strings.TrimSpace(string(id))) {
		t.Errorf("this is %+v", at)
	}
}

// A log that another process has launched goes on with the hole that it has.
func TestReopenedLog(t *testing.T) {
	dir := t.TempDir()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, c := range []struct {
		from, length int64
		hole         int64
	}{{0, 0, 0}, {4 * holeUnit, 2 * holeUnit, 6 * holeUnit}} {
		t.Run(fmt.Sprint("hole up to ", c.hole), func(t *testing.T) {
			path := filepath.Join(dir, StdoutName)
			if err := os.WriteFile(path, make([]byte, 10*holeUnit), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.length > 0 {
				if err := punchHole(int(f.Fd()), c.from, c.length); err != nil {
					t.Skip("no holes on this file system")
				}
			}
			f.Close()
			b := newBoundedLog(&Job{})
			if grew, err := b.trim(); grew || err != nil || b.fd >= 0 {
				t.Errorf("a log that is not open: grew %v, %v", grew, err)
			}
			b.reopen(fd, StdoutName)
			if b.truncated != (c.length > 0) || b.hole != c.hole {
				t.Errorf("with %+v: truncated %v, hole up to %d", c, b.truncated, b.hole)
			}
			unix.Close(b.fd)
		})
	}
}

// A shell hands on the variables whose names are identifiers, but those of its own.
func TestVariablesOfAShell(t *testing.T) {
	plain := []string{"a=1", "Z=", "_=x=y", "z9_A=", "A0=", "IFSX="}
	awkward := []string{"1a=", "a-b=", "a.b=", "`=", "{=", "@=", "[=", "/=", "a/=", "a:=", "a`=", "a{=", "a@=", "a[=", "é=", "BASH_FUNC_f%%=() { :; }", "IFS= ", "PPID=1"}
	gotPlain, gotAwkward := splitEnv(append(append([]string{"=none"}, plain...), awkward...))
	if !slices.Equal(gotPlain, plain) || !slices.Equal(gotAwkward, awkward) {
		t.Errorf("plain %q, awkward %q", gotPlain, gotAwkward)
	}
}
