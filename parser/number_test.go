package parser

import (
	"math"
	"testing"
)

func TestScanNumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		text  string
		kind  kind
		value float64
		size  int
	}{
		{"0.31", finite, 0.31, 4},
		{"-0.31 rest", finite, -0.31, 5},
		{"+3", finite, 3, 2},
		{".5", finite, 0.5, 2},
		{"-.5", finite, -0.5, 3},
		{"5.", finite, 5, 2},
		{"1e-3", finite, 1e-3, 4},
		{"1E+3,", finite, 1e3, 4},
		{"2.50e-007)", finite, 2.5e-7, 9},
		{"0.31, 4", finite, 0.31, 4},
		{"0.31,acc", finite, 0.31, 4},
		{"0.31:acc", finite, 0.31, 4},
		{"0.31}", finite, 0.31, 4},
		{`0.31"`, finite, 0.31, 4},
		{`0.31\n`, finite, 0.31, 4},
		{"0.31\b\b", finite, 0.31, 4},
		{"0.31(0.40)", finite, 0.31, 4},
		{"0.31*", finite, 0.31, 4},
		{"0.31│", finite, 0.31, 4},
		{"0.31.", finite, 0.31, 5},
		{"0.31. Done", finite, 0.31, 5},
		{"93.1%", finite, 93.1, 5},
		{"93%|####", finite, 93, 3},
		{"0.93+0.01", finite, 0.93, 9},
		{"1e+2+1e-5", finite, 100, 9},
		{"0.93±0.01", finite, 0.93, 4},
		{"0.93+/-0.01", finite, 0.93, 4},
		{"1e-400", finite, 0, 6},
		{"1e999", nonFinite, inf, 5},
		{"-1e999", nonFinite, -inf, 6},
		{"inf", nonFinite, inf, 3},
		{"-Infinity", nonFinite, -inf, 9},
		{"+INF,", nonFinite, inf, 4},
		{"nan", nonFinite, nan, 3},
		{"NaN.", nonFinite, nan, 4},
		{"-nan(ind)", nonFinite, nan, 4},
		{"0,5", unreadable, 0, 3},
		{"1,234.5", unreadable, 0, 7},
		{"1_000", unreadable, 0, 5},
		{"0x1p-2", unreadable, 0, 6},
		{"0.5abc", unreadable, 0, 6},
		{"1'234.5", unreadable, 0, 7},
		{"1\u00a0234", unreadable, 0, 6},
		{"1.0D-3", finite, 1e-3, 6},
		{"0.15d+02, 4", finite, 15, 8},
		{"1.5D", unreadable, 0, 4},
		{"1.5d3", unreadable, 0, 5},
		{"1.0D-3x", unreadable, 0, 7},
		{"1.5+100", unreadable, 0, 7},
		{"1.5-100", unreadable, 0, 7},
		{"1.5+10", finite, 1.5, 6},
		{"1.5+100.0", finite, 1.5, 9},
		{"12:30", unreadable, 0, 5},
		{"3/10", unreadable, 0, 4},
		{"1.2.3", unreadable, 0, 5},
		{"0.31...", unreadable, 0, 7},
		{"1e", unreadable, 0, 2},
		{"12s", unreadable, 0, 3},
		{"50%abc", unreadable, 0, 3},
		{"", notNumeric, 0, 0},
		{"-", notNumeric, 0, 0},
		{".", notNumeric, 0, 0},
		{"info", notNumeric, 0, 0},
		{"infinite", notNumeric, 0, 0},
		{"nancy", notNumeric, 0, 0},
		{"None", notNumeric, 0, 0},
		{"-x", notNumeric, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got := scanNumber([]byte(test.text), numberMode{})
			same := got.value == test.value || math.IsNaN(got.value) && math.IsNaN(test.value)
			if got.kind != test.kind || got.size != test.size || test.kind != unreadable && !same {
				t.Errorf("scanNumber(%q) = %+v, want kind %d, value %v, size %d", test.text, got, test.kind, test.value, test.size)
			}
		})
	}
}

func TestScanNumberOfCutLine(t *testing.T) {
	for text, want := range map[string]kind{"0.3": unreadable, "0.3 ": finite, "na": notNumeric, "nan": notNumeric, "nan ": nonFinite} {
		t.Run(text, func(t *testing.T) {
			if got := scanNumber([]byte(text), numberMode{cut: true}); got.kind != want {
				t.Errorf("scanNumber(%q) of a cut line: kind %d, want %d", text, got.kind, want)
			}
		})
	}
}

func TestStripANSI(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"\x1b[1;31mlo\x1b[0mss: \x1b[38;5;12m0.3\x1b[m": "loss: 0.3",
		"0.3\x1b[K1":         "0.3 1",
		"\x1b[2K\x1b[1Aloss": "  loss",
		"\x1b]8;;http://x\x07loss\x1b]8;;\x1b\\: 0.3": "loss: 0.3",
		"\x1b(Bloss":      "loss",
		"\x1b]never ends": "never ends",
		"end\x1b":         "end",
		"end\x1b[3":       "end",
	} {
		t.Run(text, func(t *testing.T) {
			if got := string(stripANSI(nil, []byte(text))); got != want {
				t.Errorf("stripANSI(%q) = %q, want %q", text, got, want)
			}
		})
	}
}
