package journal_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
)

// The files testdata/v1*.jsonl were written by the first version of the format. They
// are never made anew: every later version must open them.
func TestVersion1Opens(t *testing.T) {
	for name, torn := range map[string]bool{"v1": false, "v1-torn": true} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile("testdata/" + name + ".jsonl")
			check(t, err)
			fsys := faultfs.New()
			fsys.Put("/journal.jsonl", content)
			var c collector
			j, sum, err := journal.Open("/journal.jsonl", c.visit, fsys)
			check(t, err)
			if sum.Records != 9 || sum.CRC != 0x0bbd34e8 || (sum.Torn != nil) != torn {
				t.Errorf("%s: %+v", name, sum)
			}
			checkGolden(t, c.lines)
			err = j.Append(struct{}{})
			check(t, err)
			check(t, j.Close())
			sum, err = journal.Verify("/journal.jsonl", fsys)
			check(t, err)
			if sum.Records != 10 || sum.Torn != nil {
				t.Errorf("%s, one record later: %+v", name, sum)
			}
		})
	}
}

func checkGolden(t *testing.T, lines []string) {
	t.Helper()
	var first struct {
		Study  string
		Config struct{ Params []struct{ Min, Max float64 } }
	}
	decode(t, lines[0], &first)
	if p := first.Config.Params[0]; first.Study != "3f1c9a52-golden" || p.Min != 1e-7 || p.Max != 0.05 {
		t.Errorf("first line is %+v", first)
	}
	var numbers struct{ Values []journal.Float }
	decode(t, lines[5], &numbers)
	want := []float64{0, math.Copysign(0, -1), 0.1, 1.0 / 3, 1e21, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.NaN(), math.Inf(1), math.Inf(-1)}
	same := func(a journal.Float, b float64) bool {
		return math.Float64bits(float64(a)) == math.Float64bits(b) || math.IsNaN(float64(a)) && math.IsNaN(b)
	}
	if !slices.EqualFunc(numbers.Values, want, same) {
		t.Errorf("numbers are %v, want %v", numbers.Values, want)
	}
	var note struct{ Text string }
	decode(t, lines[6], &note)
	if want := "é 漢字 \U0001f600 <b>&amp;</b> \u2028 \x00\x1b[31m\r\n\t\\ \" \ufffd"; note.Text != want {
		t.Errorf("text is %q, want %q", note.Text, want)
	}
}
