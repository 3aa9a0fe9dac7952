package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// FuzzViews goes from the bytes of a journal, of which one value is replaced and which is sealed
// anew, through the state and every view: none panics, commands the terminal, or prints what is no
// JSON where it should.
func FuzzViews(f *testing.F) {
	golden, err := os.ReadFile("../../study/testdata/v1/journal.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	if !bytes.Equal(resealed(golden), golden) {
		f.Fatal("the golden journal is sealed otherwise")
	}
	values := len(valueRE.FindAllIndex(golden, -1))
	step := effort.Of(1499, effort.Daily(173, 41), 1) // which has no divisor in common with the number of hostile values
	for i := 0; i < values*len(hostileValues); i += step {
		f.Add(golden, uint(i/len(hostileValues)), hostileValues[i%len(hostileValues)])
	}
	// A mean needs two confirmations; those of the golden journal are one and a failure.
	huge := strings.NewReplacer(`"failure":{"kind":"timeout","text":"timed out after 1s"},"seconds":1,"crc":"d2345416"`, `"metrics":{"loss":1e308},"seconds":1,"crc":""`,
		`"metrics":{"loss":3.25},"seconds":1,"crc":"734fcd77"`, `"metrics":{"loss":1e308},"seconds":1,"crc":""`).Replace(string(golden))
	f.Add([]byte(huge), uint(1), `"lbotune-journal"`)
	f.Fuzz(func(t *testing.T, text []byte, which uint, value string) {
		if found := valueRE.FindAllSubmatchIndex(text, -1); len(found) > 0 {
			at := found[which%uint(len(found))]
			text = slices.Concat(text[:at[2]], []byte(value), text[at[3]:])
		}
		dir := filepath.Join(t.TempDir(), "s.study")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), resealed(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, words := range hostileViews {
			var out, said bytes.Buffer
			args := strings.Fields(words)
			for i := range args {
				args[i] = strings.Replace(args[i], "S", dir, 1)
			}
			code := execute(args, streams{strings.NewReader(""), &out, &said})
			if strings.Contains(said.String(), "a mistake of lbotune's own") {
				t.Fatalf("%s: %s", words, &said)
			}
			both := out.String() + said.String()
			if strings.ContainsAny(both, "\x1b\x07\u009b") && !strings.Contains(words, "csv") { // which has values bit for bit
				t.Fatalf("%s: a control sequence: %q", words, both)
			}
			if strings.Contains(words, "json") && code == 0 {
				in := json.NewDecoder(&out)
				for in.More() {
					var any any
					if err := in.Decode(&any); err != nil {
						t.Fatalf("%s: no JSON: %v", words, err)
					}
				}
			}
			if strings.Contains(both, "json: unsupported") {
				t.Fatalf("%s: %s", words, both)
			}
		}
	})
}

// hostileViews are the commands that look at a study S.
var hostileViews = []string{"status S", "status S --json", "best S", "best S --json", "trials S", "trials S --json", "show S 1", "show S 1 --json",
	"export S --format csv", "export S --format jsonl", "log S 1", "report S --format json -o -", "report S --format md -o -", "plot S history", "journal verify S",
	"journal verify S --json", "journal replay S --json", "explain S 1 --json", "importance S --json", "ls S/.. --json"}

// valueRE finds the texts, numbers, words and plain lists of a journal, but for its seals.
var valueRE = regexp.MustCompile(`"(?:[a-bd-z][a-z_]*|c[a-qs-z][a-z_]*|x)":("(?:[^"\\]|\\.)*"|[-0-9.e+]+|true|false|null|\[[^\[\]{}]*\])`)

// hostileValues are such as nobody writes by mistake.
var hostileValues = []string{"null", `""`, "-1", "0", "1e308", "-1e308", "1000000000000000000", "1" + strings.Repeat("0", 30), `"NaN"`, `"Infinity"`,
	`"` + strings.Repeat("x", 5000) + `"`, `"\u001b[31m\u0007\u009b"`, `"<script>"`, `"../../../etc/passwd"`, `"\ud800"`, "[]", "[1,2,3,4,5,6,7,8,9,10]", `[null,-1,"x"]`, "{}", "true", "NaN"}

var sealRE = regexp.MustCompile(`^\{"seq":[0-9]*,|,"crc":"[0-9a-f]*"\}$`)

// resealed is a journal whose lines have the numbers and checksums that they should have.
func resealed(text []byte) (out []byte) {
	sum := uint32(0)
	for line := range bytes.Lines(text) {
		body := sealRE.ReplaceAll(bytes.TrimSuffix(line, []byte("\n")), nil)
		body = fmt.Appendf(nil, `{"seq":%d,%s`, bytes.Count(out, []byte("\n"))+1, body)
		sum = crc32.Update(sum, crc32.IEEETable, body)
		out = fmt.Appendf(append(out, body...), `,"crc":"%08x"}`+"\n", sum)
	}
	return out
}
