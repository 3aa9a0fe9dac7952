package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// faults are the ways in which an operation fails; N is left to the test.
var faults = map[string]faultfs.Fault{
	"once":                     {Err: syscall.EIO},
	"for ever":                 {Err: syscall.ENOSPC, Forever: true},
	"half written, once":       {Err: syscall.ENOSPC, Partial: half},
	"half written, for ever":   {Err: syscall.EIO, Forever: true, Partial: half},
	"all but a byte":           {Err: syscall.EDQUOT, Partial: func(n int) int { return n - 1 }},
	"written nevertheless":     {Err: syscall.EIO, Partial: func(n int) int { return n }},
	"the process dies":         {Err: syscall.EIO, Forever: true, Dead: true, Partial: half},
	"syncs for ever":           {Err: syscall.EIO, Forever: true, Only: named("sync", "syncdir")},
	"writes for ever":          {Err: syscall.ENOSPC, Forever: true, Only: named("write", "create"), Partial: half},
	"no way back":              {Err: syscall.EIO, Forever: true, Only: named("write", "truncate"), Partial: half},
	"no way back after a sync": {Err: syscall.EIO, Forever: true, Only: named("sync", "truncate")},
}

// notLock spares the lock file, whose content nothing depends on.
func notLock(path string) bool { return path != "/journal.lock" }

func half(n int) int { return n / 2 }

func named(names ...string) func(faultfs.Op) bool {
	return func(op faultfs.Op) bool { return slices.Contains(names, op.Name) }
}

// A history is what a program did with a journal: what it tried to record, in
// order, and how much of that it was told is on disk.
type history struct {
	tried []string
	acked int
}

func (h *history) values(n int) []any {
	var values []any
	for range n {
		h.tried = append(h.tried, fmt.Sprint("record ", len(h.tried)))
		values = append(values, map[string]string{"v": h.tried[len(h.tried)-1]})
	}
	return values
}

// write makes a journal and appends to it until the first error, which it returns.
func (h *history) write(fsys journal.FS) error {
	h.tried = []string{"header"}
	j, err := journal.Create("/journal.jsonl", map[string]string{"v": "header"}, fsys)
	if err != nil {
		return err
	}
	h.acked = 1
	for _, step := range []struct {
		n    int
		lazy bool
	}{{1, false}, {3, false}, {2, true}, {1, true}, {1, false}, {2, false}, {2, true}} {
		if step.lazy {
			err = j.AppendLazy(h.values(step.n)...)
		} else if err = j.Append(h.values(step.n)...); err == nil {
			h.acked = len(h.tried)
		}
		if err != nil {
			if again := j.Append(struct{}{}); again != err {
				return fmt.Errorf("after %w, Append returned %w", err, again)
			}
			if again := j.Close(); again != err {
				return fmt.Errorf("after %w, Close returned %w", err, again)
			}
			return err
		}
	}
	if err = j.Close(); err == nil {
		h.acked = len(h.tried)
	}
	return err
}

// verify opens what is left on fsys: every record that was acknowledged must be
// there, after it nothing but what was tried, in order; and writing must go on.
func (h *history) verify(t *testing.T, fsys *faultfs.FS) {
	t.Helper()
	var found []string
	visit := func(r journal.Record) error {
		var record struct{ V string }
		decode(t, string(r.Raw), &record)
		found = append(found, record.V)
		return nil
	}
	j, _, err := journal.Open("/journal.jsonl", visit, fsys)
	if errors.Is(err, fs.ErrNotExist) && h.acked == 0 {
		j, err = journal.Create("/journal.jsonl", map[string]string{"v": "header"}, fsys)
		found = []string{"header"}
	}
	check(t, err)
	if len(found) < h.acked || len(found) > len(h.tried) || !slices.Equal(found, h.tried[:len(found)]) {
		t.Fatalf("%d of %d records were acknowledged, found %q", h.acked, len(h.tried), found)
	}
	err = j.Append(map[string]string{"v": "after"})
	check(t, err)
	check(t, j.Close())
	kept := found
	found = nil
	_, err = journal.Read("/journal.jsonl", visit, fsys)
	check(t, err)
	if want := append(kept, "after"); !slices.Equal(found, want) {
		t.Fatalf("going on, found %q, want %q", found, want)
	}
}

// Whatever fails while a journal is written, and whenever, and whether the process
// or the whole machine dies then: no acknowledged record is lost or changed.
func TestFaultsWhileWriting(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			for fault.N = 1; ; fault.N += effort.Of(7, 1, 1) {
				fsys := faultfs.New()
				fsys.Inject(fault)
				var h history
				err := h.write(fsys)
				if !fsys.Fired() {
					check(t, err)
					break
				}
				if err != nil { // else what failed was a courtesy
					is[*journal.WriteError](t, err)
					if !errors.Is(err, fault.Err) {
						t.Fatalf("cause is hidden: %v", err)
					}
				}
				h.verify(t, fsys.Kill())
				for state := range fsys.PowerCuts(notLock) {
					h.verify(t, state)
				}
			}
			if fault.N < 8 {
				t.Errorf("only %d faults", fault.N-1)
			}
		})
	}
}

// A machine may die at any moment in which nothing has failed as well.
func TestPowerCutWhileWriting(t *testing.T) {
	for stop := 1; ; stop++ {
		// From operation stop on nothing happens any more, as if the power were gone.
		fsys := faultfs.New()
		fsys.Inject(faultfs.Fault{N: stop, Forever: true, Err: errors.New("power cut")})
		var h history
		_ = h.write(fsys)
		for state := range fsys.PowerCuts(notLock) {
			h.verify(t, state)
		}
		if !fsys.Fired() {
			break
		}
	}
}

// What Open has shown is on disk, also if the process that wrote it died before it
// had synced it.
func TestOpenSyncsWhatItShows(t *testing.T) {
	fsys := faultfs.New()
	j, err := journal.Create("/journal.jsonl", header{}, fsys)
	check(t, err)
	err = j.AppendLazy(sample("s1", 1), sample("s1", 2))
	check(t, err)
	fsys = fsys.Kill()
	var c collector
	j, _, err = journal.Open("/journal.jsonl", c.visit, fsys)
	check(t, err)
	if len(c.lines) != 3 {
		t.Fatalf("Open shows %q", c.lines)
	}
	for state := range fsys.PowerCuts(notLock) {
		lines, _, err := read(state.Content("/journal.jsonl"))
		if err != nil || !slices.Equal(lines, c.lines) {
			t.Errorf("after a power cut: %q, %v", lines, err)
		}
	}
	check(t, j.Close())
}

// So is its name, also if the process that made it died before it had synced that.
func TestOpenSyncsTheName(t *testing.T) {
	fsys := faultfs.New()
	fsys.Inject(faultfs.Fault{N: 1, Forever: true, Dead: true, Err: syscall.EIO, Only: named("syncdir")})
	_, err := journal.Create("/journal.jsonl", header{}, fsys)
	is[*journal.WriteError](t, err)
	fsys = fsys.Kill()
	j, _, err := journal.Open("/journal.jsonl", ignore, fsys)
	check(t, err)
	for state := range fsys.PowerCuts(notLock) {
		if len(state.Content("/journal.jsonl")) == 0 {
			t.Error("after a power cut there is no journal")
		}
	}
	check(t, j.Close())
}

// Each torn end is kept in a file of its own.
func TestTornEndsAreNumbered(t *testing.T) {
	fsys := faultfs.New()
	for i := range 3 {
		fsys.Put("/journal.jsonl", append(build(t, "s1", 2), "torn"...))
		j, sum, err := journal.Open("/journal.jsonl", ignore, fsys)
		check(t, err)
		check(t, j.Close())
		if want := fmt.Sprintf("/journal.jsonl.torn-%d", i+1); sum.Torn == nil || sum.Torn.Kept != want {
			t.Errorf("kept as %+v, want %s", sum.Torn, want)
		}
	}
}

// What a killed process has not synced and Open could not sync either may be gone, although
// the system goes on showing it. The next to open the journal does not build on it.
func TestNothingStandsOnAFailedSync(t *testing.T) {
	fsys := faultfs.New()
	j, err := journal.Create("/journal.jsonl", header{}, fsys)
	check(t, err)
	err = j.Append(sample("s1", 1))
	check(t, err)
	err = j.AppendLazy(sample("s1", 2))
	check(t, err)
	fsys = fsys.Kill()
	fsys.Inject(faultfs.Fault{N: 1, Err: syscall.EIO, Only: func(op faultfs.Op) bool { return op.Name == "sync" && notLock(op.Path) }})
	_, _, err = journal.Open("/journal.jsonl", ignore, fsys)
	is[*journal.WriteError](t, err)
	fsys = fsys.Kill()
	j, sum, err := journal.Open("/journal.jsonl", ignore, fsys)
	check(t, err)
	if sum.Records != 2 {
		t.Errorf("found %d records, the last of which may not be on disk", sum.Records)
	}
	err = j.Append(sample("s1", 3))
	check(t, err)
	for state := range fsys.PowerCuts(notLock) {
		if lines, _, err := read(state.Content("/journal.jsonl")); err != nil || len(lines) != 3 {
			t.Errorf("after a power cut: %q, %v", lines, err)
		}
	}
}

// A cut-back file ends with the last record before the failed write, to the byte, however
// that came to be on disk.
func TestFailedWriteIsTakenBack(t *testing.T) {
	for _, op := range []string{"write", "sync"} {
		for _, last := range []string{"Create", "Append", "Open"} {
			fsys := faultfs.New()
			j, err := journal.Create("/journal.jsonl", header{}, fsys)
			check(t, err)
			if last != "Create" {
				err = j.Append(struct{}{})
				check(t, err)
			}
			if last == "Open" {
				check(t, j.Close())
				j, _, err = journal.Open("/journal.jsonl", ignore, fsys)
				check(t, err)
			}
			before := fsys.Content("/journal.jsonl")
			fsys.Inject(faultfs.Fault{N: 1, Err: syscall.ENOSPC, Only: named(op), Partial: half})
			err = j.Append(struct{}{}, struct{}{})
			is[*journal.WriteError](t, err)
			if after := fsys.Content("/journal.jsonl"); !bytes.Equal(after, before) {
				t.Errorf("%s, and after a failed %s the file is %q", last, op, after)
			}
			for state := range fsys.PowerCuts(notLock) {
				if after := state.Content("/journal.jsonl"); !bytes.Equal(after, before) {
					t.Errorf("%s, and after a failed %s and a power cut the file is %q", last, op, after)
				}
			}
		}
	}
}

// What another program has cut off meanwhile is not replaced by zero bytes.
func TestFailedWriteLengthensNothing(t *testing.T) {
	fsys := faultfs.New()
	j, err := journal.Create("/journal.jsonl", header{}, fsys)
	check(t, err)
	err = j.AppendLazy(struct{}{})
	check(t, err)
	f, err := fsys.OpenFile("/journal.jsonl", os.O_RDWR)
	check(t, err)
	check(t, f.Truncate(10))
	fsys.Inject(faultfs.Fault{N: 1, Err: syscall.EIO, Only: named("sync")})
	err = j.Append()
	is[*journal.WriteError](t, err)
	if n := len(fsys.Content("/journal.jsonl")); n != 10 {
		t.Errorf("the file has %d bytes", n)
	}
}

// unclosable is a file system whose files fail to close.
type unclosable struct{ journal.FS }

type unclosableFile struct{ journal.File }

func (u unclosable) OpenFile(path string, flag int) (journal.File, error) {
	f, err := u.FS.OpenFile(path, flag)
	return unclosableFile{f}, err
}

func (u unclosableFile) Close() error { return errors.Join(syscall.EIO, u.File.Close()) }

func TestCloseFails(t *testing.T) {
	j, err := journal.Create("/journal.jsonl", header{}, unclosable{faultfs.New()})
	check(t, err)
	err = j.Close()
	is[*journal.WriteError](t, err)
	if !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// What fails while a torn end is repaired costs neither a record nor the torn bytes.
func TestFaultsWhileRepairing(t *testing.T) {
	content := build(t, "s1", 5)
	lines := splitLines(content)
	torn := `{"seq":6,"event":"fini`
	for start, want := range map[string]string{
		string(content) + torn:                                 torn,
		strings.TrimSuffix(string(content), "\n"):              "",
		strings.TrimSuffix(string(content), "\n") + "\x00\x00": "\x00\x00",
	} {
		for name, fault := range faults {
			t.Run(name, func(t *testing.T) {
				for fault.N = 1; ; fault.N++ {
					fsys := faultfs.New()
					fsys.Put("/journal.jsonl", []byte(start))
					fsys.Inject(fault)
					j, _, err := journal.Open("/journal.jsonl", ignore, fsys)
					if err == nil {
						check(t, j.Close())
					} else {
						is[*journal.WriteError](t, err)
					}
					checkRepaired(t, fsys.Kill(), lines, want)
					for state := range fsys.PowerCuts(notLock) {
						checkRepaired(t, state, lines, want)
					}
					if !fsys.Fired() {
						check(t, err)
						break
					}
				}
			})
		}
	}
}

func checkRepaired(t *testing.T, fsys *faultfs.FS, lines []string, torn string) {
	t.Helper()
	var c collector
	j, _, err := journal.Open("/journal.jsonl", c.visit, fsys)
	check(t, err)
	check(t, j.Close())
	if !slices.Equal(c.lines, lines) {
		t.Fatalf("found %q", c.lines)
	}
	kept := torn == ""
	for path, content := range fsys.Files() {
		kept = kept || strings.Contains(path, ".torn-") && string(content) == torn
	}
	if !kept {
		t.Fatalf("%q is in none of %q", torn, fsys.Files())
	}
}
