package journal_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// plainCount counts the intact lines at the start of content as docs/journal.md
// defines them, by way of the fact that a chained CRC-32 is that of all contents
// one after the other.
func plainCount(content []byte) int {
	var all strings.Builder
	lines := strings.Split(string(content), "\n")
	for n, line := range lines[:len(lines)-1] {
		at := strings.LastIndex(line, `,"crc":"`)
		if at < 0 {
			return n
		}
		all.WriteString(line[:at])
		seal := fmt.Sprintf(`,"crc":"%08x"}`, crc32.ChecksumIEEE([]byte(all.String())))
		if !strings.HasPrefix(line, fmt.Sprintf(`{"seq":%d,`, n+1)) || line[at:] != seal {
			return n
		}
	}
	return len(lines) - 1
}

func FuzzRead(f *testing.F) {
	good := build(f, "s1", 4)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(append(bytes.Clone(good), "\x00\x00"...))
	f.Add([]byte(sealed(`{"seq":1,"format":"lbotune-journal","version":2`)))
	f.Add([]byte(sealed(`{"seq":1,"a":{"crc":"00000000"}`)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		lines, sum, err := read(content)
		plain := plainCount(content)
		if !bytes.HasPrefix(content, []byte(`{"seq":1,"format":"lbotune-journal","version":1,`)) {
			plain = 0
		}
		if err == nil && sum.Torn != nil && sum.Torn.Whole {
			plain++
		}
		if len(lines) != plain {
			t.Fatalf("read %d lines of %d (%v) of %q", len(lines), plain, err, content)
		}
		if err != nil && sum.Torn != nil || err == nil && int(sum.Records) != len(lines) {
			t.Fatalf("summed up %+v, %v", sum, err)
		}
		repaired, result, err := repair(t, content)
		if err == nil && (int(result.Kept) < len(lines) || plainCount(repaired) != int(result.Kept)) {
			t.Fatalf("repaired %q to %q with %+v", content, repaired, result)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add("loss=0.25\n\x1b[0m", []byte("\xff\x00"))
	f.Add(`,"crc":"00000000"}`, []byte("\n\n"))
	f.Fuzz(func(t *testing.T, text string, more []byte) {
		type record struct {
			Text string `json:"text"`
			More []byte `json:"more"`
		}
		fsys := faultfs.New()
		j, err := journal.Create("/journal.jsonl", record{text, more}, fsys)
		check(t, err)
		err = j.Append(record{text, more}, map[string]string{"t": text})
		check(t, err)
		check(t, j.Close())
		content := fsys.Content("/journal.jsonl")
		if !utf8.Valid(content) || plainCount(content) != 3 {
			t.Fatalf("wrote %q", content)
		}
		var got record
		decode(t, splitLines(content)[1], &got)
		want := strings.Map(func(r rune) rune { return r }, text) // each invalid byte becomes U+FFFD
		if got.Text != want || !bytes.Equal(got.More, more) {
			t.Fatalf("wrote %q, %q, read %q, %q", text, more, got.Text, got.More)
		}
	})
}
