package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

func TestDamageIsExplained(t *testing.T) {
	good := string(build(t, "s1", 5))
	lines := splitLines([]byte(good))
	join := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	huge := strings.Repeat("x", journal.MaxLine+1)
	for name, c := range map[string]struct {
		content string
		line    int
		reason  string
	}{
		"empty":                {"", 1, "file is empty"},
		"only a line end":      {"\n", 1, "line is empty"},
		"first line cut":       {good[:20], 1, "cut short"},
		"first line cut later": {good[:60], 1, "cut short"},
		"zeros":                {string(make([]byte, 4096)), 1, "zero bytes"},
		"another file":         {"# notes\n", 1, "not the first line of an lbotune-journal"},
		"another JSON":         {`{"seq":1,"a":1,"crc":"00000000"}` + "\n", 1, "not the first line of an lbotune-journal"},
		"sealed, not ours":     {sealed(`{"seq":1,"a":1`), 1, "not the first line of an lbotune-journal"},
		"byte order mark":      {"\xef\xbb\xbf" + good, 1, "byte order mark"},
		"CR LF":                {strings.ReplaceAll(good, "\n", "\r\n"), 1, "CR LF"},
		"CR LF in one line":    {join(lines[0], lines[1]+"\r", lines[2]), 2, "CR LF"},
		"line missing":         {join(lines[0], lines[1], lines[3]), 3, "record 4 stands where record 3 belongs"},
		"line repeated":        {join(lines[0], lines[1], lines[1], lines[2]), 3, "record 2 stands where record 3 belongs"},
		"empty line":           {join(lines[0], "", lines[1]), 2, "line is empty"},
		"zeros inside":         {join(lines[0], lines[1]+"\x00\x00", lines[2]), 2, "zero bytes"},
		"two files":            {good + good, 6, "record 1 stands where record 6 belongs"},
		"other value":          {strings.Replace(good, "started", "stopped", 1), 3, "its checksum is"},
		"no checksum":          {join(lines[0], lines[1][:40]+"}", lines[2]), 2, "does not end in a checksum"},
		"other text":           {join(lines[0], "hello", lines[1]), 2, `does not begin with {"seq":2`},
		"huge line":            {join(lines[0], huge, lines[1]), 2, "longer than 16777216 bytes"},
		"huge first line":      {huge + "\n", 1, "longer than 16777216 bytes"},
		"huge sealed line":     {sealed(`{"seq":1,"format":"lbotune-journal","version":1,"x":"` + huge + `"`), 1, "longer than"},
		"last line damaged":    {strings.TrimSuffix(good, "}\n") + "]\n", 5, "does not end in a checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read([]byte(c.content))
			corrupt := is[*journal.CorruptError](t, err)
			if corrupt.Line != c.line || !strings.Contains(corrupt.Error(), c.reason) {
				t.Errorf("%.300v; want line %d, %q", corrupt, c.line, c.reason)
			}
			if at := lineStart(c.content, c.line); corrupt.Offset != at {
				t.Errorf("offset %d, want %d", corrupt.Offset, at)
			}
		})
	}
}

func lineStart(content string, line int) int64 {
	at := 0
	for range line - 1 {
		at += strings.Index(content[at:], "\n") + 1
	}
	return int64(at)
}

// sealed completes the first line that begins with body.
func sealed(body string) string {
	return fmt.Sprintf("%s,\"crc\":\"%08x\"}\n", body, crc32.ChecksumIEEE([]byte(body)))
}

func TestTornEnds(t *testing.T) {
	good := string(build(t, "s1", 5))
	for name, tail := range map[string]string{
		"a zero byte":        "\x00",
		"a page of zeros":    string(make([]byte, 4096)),
		"many zeros":         string(make([]byte, 3*journal.MaxLine)),
		"half a line, zeros": `{"seq":6,"event":` + string(make([]byte, 100)),
		"garbage":            "\xff\x00\r,\"crc\":\"00000000\"}",
		"a huge start":       `{"seq":6,"event":"` + strings.Repeat("x", 2*journal.MaxLine),
	} {
		t.Run(name, func(t *testing.T) {
			if len(tail) > journal.MaxLine {
				effort.Thorough(t, "reads tens of megabytes")
			}
			fsys := faultfs.New()
			fsys.Put("/journal.jsonl", []byte(good+tail))
			j, sum, err := journal.Open("/journal.jsonl", ignore, fsys)
			check(t, err)
			check(t, j.Close())
			want := journal.Torn{Line: 6, Offset: int64(len(good)), Length: int64(len(tail)), Kept: "/journal.jsonl.torn-1"}
			if *sum.Torn != want || sum.Records != 5 || sum.Size != int64(len(good)) {
				t.Errorf("torn is %+v of %+v", *sum.Torn, sum)
			}
			if string(fsys.Content("/journal.jsonl")) != good || string(fsys.Content(want.Kept)) != tail {
				t.Error("bytes were lost")
			}
		})
	}
}

// Memory does not grow with a line that is too long.
func TestEndlessLine(t *testing.T) {
	path := newPath(t)
	check(t, os.WriteFile(path, build(t, "s1", 5), 0o600))
	const length = 256 << 20
	info, err := os.Stat(path)
	check(t, err)
	check(t, os.Truncate(path, info.Size()+length)) // a hole, which is read as zeros
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sum, err := journal.Read(path, ignore)
	check(t, err)
	runtime.ReadMemStats(&after)
	if sum.Records != 5 || sum.Torn.Length != length {
		t.Errorf("read %+v, torn %v", sum, sum.Torn)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*journal.MaxLine {
		t.Errorf("it took %d MiB", grown>>20)
	}
}

func TestTornIsDescribed(t *testing.T) {
	good := string(build(t, "s1", 5))
	for content, want := range map[string]string{
		good + "abc":                                    "line 6 is incomplete: its 3 bytes are not a whole record",
		strings.TrimSuffix(good, "\n"):                  "line 5 lacks its line end",
		strings.TrimSuffix(good, "\n") + "\x00\x00\x00": "line 5 is followed by 3 stray bytes instead of a line end",
	} {
		t.Run(want, func(t *testing.T) {
			_, sum, err := read([]byte(content))
			check(t, err)
			if sum.Torn.String() != want {
				t.Errorf("said %q, want %q", sum.Torn, want)
			}
		})
	}
}

func TestOtherVersions(t *testing.T) {
	for _, v := range []string{"2", "0", "10", "01", `"1"`, "1.0"} {
		t.Run(v, func(t *testing.T) {
			content := []byte(sealed(`{"seq":1,"format":"lbotune-journal","version":` + v + `,"x":1`))
			fsys := faultfs.New()
			fsys.Put("/journal.jsonl", content)
			_, _, openErr := journal.Open("/journal.jsonl", ignore, fsys)
			_, readErr := journal.Read("/journal.jsonl", ignore, fsys)
			_, repairErr := journal.Repair("/journal.jsonl", "/new.jsonl", fsys)
			for _, err := range []error{openErr, readErr, repairErr} {
				if !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), "format version "+v+",") {
					t.Errorf("version %s: %v", v, err)
				}
			}
			if !bytes.Equal(fsys.Content("/journal.jsonl"), content) || fsys.Content("/new.jsonl") != nil {
				t.Error("a journal of an unknown version was touched")
			}
		})
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	check(t, syscall.Mkfifo(fifo, 0o600))
	for path, want := range map[string]string{dir: "a directory", fifo: "a named pipe"} {
		t.Run(want, func(t *testing.T) {
			_, _, err := journal.Open(path, ignore)
			if err == nil || err.Error() != path+" cannot be a journal: it is "+want {
				t.Errorf("Open: %v", err)
			}
			if _, err := journal.Read(path, ignore); err == nil || err.Error() != path+" cannot be a journal: it is "+want {
				t.Errorf("Read: %v", err)
			}
		})
	}
	missing := filepath.Join(dir, "journal.jsonl")
	_, _, openErr := journal.Open(missing, ignore)
	_, readErr := journal.Read(missing, ignore)
	_, repairErr := journal.Repair(missing, filepath.Join(dir, "new.jsonl"))
	for _, err := range []error{openErr, readErr, repairErr} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing file: %v", err)
		}
	}
	if _, err := os.Stat(journal.LockPath(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock file was made for no journal: %v", err)
	}
}

// Verify looks into lines that only another program can have written.
func TestVerifyChecksJSON(t *testing.T) {
	for _, body := range []string{`"x":"` + "\xff" + `"`, `"x":`, `"x":"` + "\x01" + `"`, `"x":1}{"y":2`} {
		t.Run(body, func(t *testing.T) {
			content := sealed(`{"seq":1,"format":"lbotune-journal","version":1,` + body)
			fsys := faultfs.New()
			fsys.Put("/journal.jsonl", []byte(content))
			if _, err := journal.Read("/journal.jsonl", ignore, fsys); err != nil {
				t.Errorf("Read of %q: %v", body, err)
			}
			_, err := journal.Verify("/journal.jsonl", fsys)
			if corrupt := is[*journal.CorruptError](t, err); corrupt.Line != 1 || !strings.Contains(corrupt.Reason, "not valid JSON") {
				t.Errorf("Verify of %q: %v", body, err)
			}
		})
	}
}

// A changingFS shows the bytes of old where the file is first read, and those of the
// file from then on: what a reader may see while a torn end is repaired.
type changingFS struct {
	journal.FS
	old []byte
}

type changingFile struct {
	journal.File
	old []byte
}

func (f changingFS) OpenFile(path string, flag int) (journal.File, error) {
	file, err := f.FS.OpenFile(path, flag)
	return &changingFile{file, f.old}, err
}

func (f *changingFile) ReadAt(p []byte, off int64) (int, error) {
	if old := f.old; old != nil {
		f.old = nil
		return copy(p, old[off:]), nil
	}
	return f.File.ReadAt(p, off)
}

func TestRepairMeanwhileIsNoDamage(t *testing.T) {
	before, after := build(t, "s1", 10), build(t, "s1", 12)
	torn := append(bytes.Clone(before), "{\"seq\":11,\"was torn"...)
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", after)
	sum, err := journal.Read("/journal.jsonl", ignore, changingFS{fsys, torn})
	check(t, err)
	if sum.Records != 12 {
		t.Errorf("%d records, want 12", sum.Records)
	}
}

// A reader of a journal that is being written sees a beginning of it, never damage.
func TestReadWhileWriting(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"s1", 1})
	check(t, err)
	done := make(chan error)
	go func() {
		for i := range 2000 {
			if err := j.AppendLazy(sample("s1", i), sample("s1", i+1)); err != nil {
				done <- err
				return
			}
		}
		done <- j.Close()
	}()
	var last uint64
	for running := true; running; {
		select {
		case err := <-done:
			check(t, err)
			running = false
		default:
		}
		sum, err := journal.Read(path, ignore)
		check(t, err)
		if sum.Records < last {
			t.Fatalf("%d records after %d", sum.Records, last)
		}
		last = sum.Records
	}
	if last != 4001 {
		t.Errorf("%d records in the end", last)
	}
}
