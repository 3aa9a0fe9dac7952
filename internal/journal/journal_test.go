package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/journal"
)

func TestRoundTrip(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"s1", 7})
	check(t, err)
	var want []event
	for i := range 10 {
		want = append(want, sample("s1", i))
	}
	for _, step := range []struct {
		append  func(...any) error
		values  []any
		records uint64
	}{
		{j.Append, []any{want[0]}, 2},
		{j.Append, []any{want[1], want[2], &want[3]}, 5},
		{j.AppendLazy, []any{want[4]}, 6},
		{j.AppendLazy, nil, 6},
		{j.Append, nil, 6},
		{j.AppendLazy, []any{want[5], want[6]}, 8},
		{j.Append, []any{want[7]}, 9},
		{j.AppendLazy, []any{want[8]}, 10},
	} {
		check(t, step.append(step.values...))
		sum, err := journal.Read(path, ignore)
		check(t, err)
		if sum.Records != step.records {
			t.Errorf("after %v: %d records, want %d", step.values, sum.Records, step.records)
		}
	}
	check(t, j.Close())
	check(t, j.Close())

	var c collector
	j, sum, err := journal.Open(path, c.visit)
	check(t, err)
	err = j.Append(want[9])
	check(t, err)
	check(t, j.Close())
	if sum.Records != 10 || sum.Torn != nil {
		t.Errorf("Open summed up %+v", sum)
	}

	c = collector{}
	sum, err = journal.Read(path, c.visit)
	check(t, err)
	stat, err := os.Stat(path)
	check(t, err)
	if sum.Records != 11 || sum.Size != stat.Size() {
		t.Errorf("Read summed up %+v of %d bytes", sum, stat.Size())
	}
	var h header
	decode(t, c.lines[0], &h)
	if h != (header{"s1", 7}) {
		t.Errorf("header is %+v", h)
	}
	for i, line := range c.lines[1:] {
		var got event
		decode(t, line, &got)
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("record %d is %+v, want %+v", i+2, got, want[i])
		}
	}
}

// The bytes of a line are a promise to other programs.
func TestLineFormat(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"s1", 7})
	check(t, err)
	err = j.Append(struct{}{}, map[string]string{"a": "<&>\u2028"}, json.RawMessage("{ \"b\" :\n[1.50, 2] }"))
	check(t, err)
	check(t, j.Close())
	got, err := os.ReadFile(path)
	check(t, err)
	// The checksums were computed with Python's zlib.crc32.
	want := `{"seq":1,"format":"lbotune-journal","version":1,"study":"s1","seed":7,"crc":"2e53feda"}` + "\n" +
		`{"seq":2,"crc":"421de7aa"}` + "\n" +
		`{"seq":3,"a":"<&>\u2028","crc":"37295726"}` + "\n" +
		`{"seq":4,"b":[1.50,2],"crc":"244a75e3"}` + "\n"
	if string(got) != want {
		t.Errorf("journal is\n%swant\n%s", got, want)
	}
}

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	for _, umask := range []int{0, 0o077, 0o777} {
		t.Run(fmt.Sprintf("%#o", umask), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "journal.jsonl")
			func() {
				defer syscall.Umask(syscall.Umask(umask))
				j, err := journal.Create(path, header{"s1", 1})
				check(t, err)
				check(t, j.Close())
				content, err := os.ReadFile(path)
				check(t, err)
				check(t, os.WriteFile(path, append(content, "torn"...), 0o600))
				j, _, err = journal.Open(path, ignore)
				check(t, err)
				check(t, j.Close())
				_, err = journal.Repair(path, filepath.Join(dir, "repaired.jsonl"))
				check(t, err)
			}()
			entries, err := os.ReadDir(dir)
			check(t, err)
			if len(entries) != 4 {
				t.Errorf("umask %#o: files are %v", umask, entries)
			}
			for _, entry := range entries {
				info, err := entry.Info()
				check(t, err)
				if info.Mode() != 0o600 {
					t.Errorf("umask %#o: mode of %s is %v", umask, entry.Name(), info.Mode())
				}
			}
		})
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	path := newPath(t)
	dangling := newPath(t)
	check(t, os.WriteFile(path, []byte("mine"), 0o600))
	check(t, os.Symlink("nowhere", dangling))
	for _, p := range []string{path, dangling} {
		if _, err := journal.Create(p, header{}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create over a file: %v", err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
		t.Errorf("file is now %q, %v", content, err)
	}
	if _, err := journal.Create(filepath.Join(t.TempDir(), "none", "journal.jsonl"), header{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create in no directory: %v", err)
	}
}

// What a crash left of an earlier Create does not stand in the way.
func TestCreateAfterCrash(t *testing.T) {
	path := newPath(t)
	check(t, os.WriteFile(path+".new", []byte(`{"seq":1,"for`), 0o600))
	j, err := journal.Create(path, header{"s1", 1})
	check(t, err)
	check(t, j.Close())
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the draft is still there: %v", err)
	}
}

func TestUnencodableValues(t *testing.T) {
	path := newPath(t)
	for name, bad := range map[string]any{"nil": nil, "number": 3, "list": []int{1}, "text": "x", "func": func() {}, "seq": map[string]int{"seq": 1},
		"crc": map[string]int{"crc": 1}, "format": map[string]int{"format": 1}, "version": map[string]int{"version": 1}} {
		t.Run(name, func(t *testing.T) {
			if _, err := journal.Create(path, bad); err == nil {
				t.Fatalf("Create accepted the header %v", bad)
			}
		})
	}
	j, err := journal.Create(path, map[string]any{"nested": map[string]int{"seq": 1, "crc": 2, "format": 3}})
	check(t, err)
	good := map[string]any{"n": []any{map[string]any{"seq": 1, "crc": "00000000"}}, "format": 1, "version": "x"}
	for _, bad := range []any{nil, 3, math.NaN(), []int{1}, make(chan int), json.RawMessage("{"), json.RawMessage("[]"),
		map[string]any{"x": math.Inf(1)}, map[string]int{"seq": 1}, json.RawMessage(`{"a":1, "crc" : "0"}`),
		map[string]string{"x": strings.Repeat("y", journal.MaxLine)}} {
		if err := j.Append(good, bad); err == nil || errors.As(err, new(*journal.WriteError)) {
			t.Errorf("Append of a %T: %v", bad, err)
		}
		err := j.Append(good)
		check(t, err)
	}
	check(t, j.Close())
	sum, err := journal.Verify(path)
	check(t, err)
	if sum.Records != 12 {
		t.Errorf("%d records, want 12", sum.Records)
	}
}

type rawText string

func (r rawText) MarshalJSON() ([]byte, error) { return []byte(`"` + r + `"`), nil }

// Outputs of trials may hold any bytes. They are text in the journal, come what may.
func TestAnyBytesInStrings(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"\xff\xfe", 1})
	check(t, err)
	text := "a\x00b\x1b[31m\r\nc\x80\xed\xa0\x80\"\\</script>\u2028é\U0001f600,\"crc\":\"00000000\"}"
	err = j.Append(map[string]string{"tail": text}, map[string]any{"tail": rawText("x\xc3\x28")})
	check(t, err)
	check(t, j.Close())
	var c collector
	_, err = journal.Read(path, c.visit)
	check(t, err)
	for i, want := range []string{strings.ToValidUTF8(text[:12], "\ufffd"), "x\ufffd("} {
		var got struct{ Tail string }
		decode(t, c.lines[i+1], &got)
		if !strings.HasPrefix(got.Tail, want) || !utf8.ValidString(c.lines[i+1]) {
			t.Errorf("text came back as %q", got.Tail)
		}
	}
	_, err = journal.Verify(path)
	check(t, err)
}

func TestFloat(t *testing.T) {
	type record struct{ V journal.Float }
	for _, v := range []float64{0, math.Copysign(0, -1), 0.1, 1.0 / 3, 1e21, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Nextafter(1, 2), -math.Pi, 1 << 53, math.NaN(), math.Inf(1), math.Inf(-1)} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			data, err := json.Marshal(record{journal.Float(v)})
			check(t, err)
			var got record
			check(t, json.Unmarshal(data, &got))
			if math.Float64bits(float64(got.V)) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(float64(got.V))) {
				t.Errorf("%v was written as %s and read as %v", v, data, got.V)
			}
		})
	}
	got := record{3}
	for _, bad := range []string{`null`, `"1"`, `"nan"`, `"inf"`, `true`, `{}`, `[1]`, `""`, `1e999`} {
		t.Run(bad, func(t *testing.T) {
			if err := json.Unmarshal([]byte(`{"V":`+bad+`}`), &got); err == nil {
				t.Errorf("%s was read as %v", bad, got.V)
			}
		})
	}
}

func TestVisitCanRefuse(t *testing.T) {
	path := newPath(t)
	check(t, os.WriteFile(path, append(build(t, "s1", 5), "torn"...), 0o600))
	before, err := os.ReadFile(path)
	check(t, err)
	stop := errors.New("stop")
	visit := func(r journal.Record) error {
		if r.Seq == 3 {
			return stop
		}
		return nil
	}
	if _, err := journal.Read(path, visit); err != stop {
		t.Errorf("Read: %v", err)
	}
	if _, _, err := journal.Open(path, visit); err != stop {
		t.Errorf("Open: %v", err)
	}
	after, err := os.ReadFile(path)
	check(t, err)
	if string(after) != string(before) {
		t.Error("the journal was changed")
	}
	j, _, err := journal.Open(path, ignore) // and it is not locked
	check(t, err)
	check(t, j.Close())
}

func TestAppendAfterClose(t *testing.T) {
	j, err := journal.Create(newPath(t), header{})
	check(t, err)
	check(t, j.Close())
	err = j.Append(struct{}{})
	is[*journal.WriteError](t, err)
}

// A program that changes its directory keeps its journal.
func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	j, err := journal.Create("journal.jsonl", header{})
	check(t, err)
	t.Chdir(t.TempDir())
	err = j.Append(struct{}{})
	check(t, err)
	check(t, j.Close())
}

// A record may take a whole line of the longest kind, and not a byte more.
func TestLongestLine(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"s", 1})
	check(t, err)
	value := func(n int) map[string]string { return map[string]string{"x": strings.Repeat("y", n)} }
	err = j.Append(value(0))
	check(t, err)
	text, err := os.ReadFile(path)
	check(t, err)
	empty := len(text) - bytes.LastIndexByte(text[:len(text)-1], '\n') - 2 // without its end
	if err := j.Append(value(journal.MaxLine - empty + 1)); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("record 3: it takes %d bytes, more than the %d", journal.MaxLine+1, journal.MaxLine)) {
		t.Errorf("a line that is a byte too long: %v", err)
	}
	if err := j.Append(map[string]float64{"x": math.NaN()}); err == nil || !strings.Contains(err.Error(), "encode record 3: ") {
		t.Errorf("a value that cannot be encoded: %v", err)
	}
	err = j.Append(value(journal.MaxLine-empty), value(1)) // it is the line that counts, not what is written at once
	check(t, err)
	check(t, j.Close())
	if sum, err := journal.Verify(path); err != nil || sum.Records != 4 {
		t.Errorf("%d records, %v", sum.Records, err)
	}
}

// What stands in the place of a journal is told from a journal that is there.
func TestPlaceIsTaken(t *testing.T) {
	path := newPath(t)
	check(t, os.Mkdir(path, 0o700))
	if _, _, err := journal.Open(path, func(journal.Record) error { return nil }); errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	is[*journal.PlaceError](t, func() error {
		_, err := journal.Read(path, func(journal.Record) error { return nil })
		return err
	}())
}
