package parser_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"unicode/utf16"

	"github.com/lbotune/lbotune/parser"
)

// What stands at the place of a value is read alike by name and as the last number of the
// last line: the whole number, or none, and never an older one.
func TestValuesBothWays(t *testing.T) {
	const none = 1e9
	for text, want := range map[string]float64{
		"0.5":             0.5,
		"0.93+0.01":       0.93,
		"0.93±0.01":       0.93,
		"0.93 ± 0.01":     0.93,
		"0.93 +/- 0.01":   0.93,
		"0.93+/-0.01":     0.93,
		"0.93 +- 0.01":    0.93,
		"0.93 (+/- 0.01)": 0.93,
		"0.93 (± 1e-2)":   0.93,
		"0.93 ± nan":      0.93,

		"0.93 ± 0.01 ± 0.02":               0.93,
		"0.93 +/- 0.01 +/- 0.02":           0.93,
		"0.93(1) ± 0.02":                   0.93,
		"0.93 ± 0.01 (stat) ± 0.02 (syst)": 0.93,
		"(9.3 ± 0.1 ± 0.2) x 10^-3":        none,

		"-0.93 ± 0.01 ":   -0.93,
		"\u22120.5":       -0.5,
		"\u20104":         -4,
		"\u20114":         -4,
		"\u20134":         -4,
		"\ufe634":         -4,
		"\uff0d4":         -4,
		"\u2212.5":        -0.5,
		"\u22121e\u22122": -0.01,
		"0.3\u20130.5":    none,
		"\u2212inf":       none,
		"2**3":            none,
		"2**-3":           none,
		"2*3":             none,
		"0.5*":            0.5,
		"0.5***":          0.5,
		"0\x000.5":        none,
		"0\x00.\x005\x00": none,
		"0.5\x00":         0.5,
		"0.5\b\b\b0.4":    none,
		"0.5\b\b\b":       0.5,
		"N/A":             none,
		"n/a":             none,
		"None":            none,
		"null":            none,
		"NA":              none,
		"--":              none,
		"nan":             none,
		"\u221e":          none,
		"-\u221e.":        none,
		"\u2212\u221e":    none,
		"***":             none,
		"********":        none,

		// with the uncertainty of its last digits, or an exponent that stands apart
		"0.93(1)":                  0.93,
		"0.930(12) more":           0.93,
		"9.30(10)e-3":              none,
		"(9.30+/-0.10)e-03":        none,
		"(9.30 ± 0.10)E-03":        none,
		"[9.3]e-3":                 none,
		"0.5 e-3":                  none,
		"3.1*^-7":                  none, // Wolfram
		"3.1`*^-7":                 none,
		"3.1`20.*^7":               none,
		"0.5 E+03":                 none,
		"(9.30 ± 0.10) x 10^-3":    none,
		"(9.30±0.10)×10⁻³":         none,
		"9.30(10)×10⁻³":            none,
		"9.30 ± 0.10 x 10^-3":      none,
		"9.30 (+/- 0.10) * 10**-3": none,
		"0.5 e-mail":               0.5,
		"(0.5) x 10^-3":            none,
		"--0.5":                    none,
		"+-0.5":                    none,
		"(9.30 ± 0.10)":            9.3,
		"(9.30+/-0.10), done":      9.3,
		"- 0.5":                    none,
		"\u2212 0.5":               none,
	} {
		t.Run(text, func(t *testing.T) {
			for _, rule := range []parser.Rule{{Metric: "loss"}, {LastNumber: true}} {
				got, err := read(t, rule, parser.Stdout, "loss: 7\nloss: "+text+"\n")
				var no *parser.NoValueError
				switch {
				case want == none && !errors.As(err, &no):
					t.Errorf("%+v of %q: %v, want none", rule, text, got.Value)
				case want != none && (err != nil || got.Value != want):
					t.Errorf("%+v of %q: %v, %v, want %v", rule, text, got.Value, err, want)
				}
			}
		})
	}
}

// What goes on behind a blank is not cut there, wherever it stands, and brackets around one number do not hide it.
func TestValuesAllWays(t *testing.T) {
	const none = 1e9
	ways := []struct {
		name string
		rule parser.Rule
		log  string // with the value for %s
	}{
		{"by name", parser.Rule{Metric: "loss"}, "loss: 7\nloss: %s\n"},
		{"by name, then more", parser.Rule{Metric: "loss"}, "loss: 7\nloss: %s, acc: 1\n"},
		{"in bars", parser.Rule{Metric: "loss"}, "| epoch | loss |\n| 1 | 7 |\n| 2 | %s |\n"},
		{"between commas", parser.Rule{Metric: "loss"}, "epoch,loss\n1,7\n2,%s\n"},
		{"between blanks", parser.Rule{Metric: "loss"}, "epoch  loss\n1      7\n2      %s\n"},
		{"behind a blank", parser.Rule{Metric: "loss"}, "loss 7\nloss %s\n"},
		{"last number", parser.Rule{LastNumber: true}, "7\nloss: %s\n"},
	}
	const inBars, betweenCommas, behindBlank, last = 2, 3, 5, 6
	for _, c := range []struct {
		text   string
		want   float64
		differ map[int]float64 // where it is another value
	}{
		{"1.5 x 10^-3", none, nil},
		{"1.5×10⁻³", none, nil},
		{"1.5 × 10⁻³", none, nil},
		{"1.5*10^-3", none, nil},
		{"1.5 * 10**-3", none, nil},
		{"1.5 · 10^-3", none, nil},
		{"1 234.5", none, nil},
		{"-1 234 567", none, nil},
		{"\u22121 234.5", none, nil},
		{"\u20131 234 567", none, nil},
		{"1\u00a0234.5", none, nil},
		{"1\u202f234.5", none, nil},
		{"1 min 30 s", none, nil},
		{"2 hours, 3 minutes", none, map[int]float64{betweenCommas: 7}},
		{"1 h 2.5 min (total)", none, nil},
		{"2 days, 3:04:05", none, map[int]float64{betweenCommas: 7}}, // a timedelta of Python
		{"1 minute and 30 seconds", none, nil},
		{"1.5 min", 1.5, nil},
		{"12.5 s of 30 s", 12.5, map[int]float64{last: 30}},
		{"0.6 -> 0.4", none, map[int]float64{last: 0.4}},
		{"0.6 --> 0.4", none, map[int]float64{last: 0.4}},
		{"0.6 → 0.4", none, map[int]float64{last: 0.4}},
		{"0.6->0.4", none, map[int]float64{last: 0.4}},
		{"0.6 -> saved", 0.6, nil},
		{"3 / 10", none, map[int]float64{last: 10}},
		{"1: 0.3", none, map[int]float64{last: 0.3}},
		{"1 = 0.3", none, map[int]float64{last: 0.3}},
		{"0.1 * 3", none, map[int]float64{last: 3}},
		{"0.1 + 0.2 = 0.3", none, map[int]float64{last: 0.3}},
		{"0.5 = 0.3 + 0.2", 0.5, map[int]float64{last: 0.2}},
		{"0.310: 50%|#####     | 5/10 [00:01<00:01, 4.2it/s]", 0.31, map[int]float64{inBars: 7, betweenCommas: 7, last: none}}, // tqdm's description
		{"3: 50%|##########|", 3, map[int]float64{inBars: 7, last: 50}},
		{"2: nan", none, nil},
		{"3: 1e-3", none, map[int]float64{last: 1e-3}},
		{"3 / 10 runs", none, map[int]float64{last: 10}},
		{"95.2 / 96.1", 95.2, map[int]float64{last: 96.1}},
		{"95 / 96.1", 95, map[int]float64{last: 96.1}},
		{"88.9% / 90.1%", 88.9, map[int]float64{last: 90.1}},
		{"0.5 *0.4*", 0.5, map[int]float64{last: 0.4}},
		{"0.5* 0.4*", 0.5, map[int]float64{last: 0.4}},
		{"0.1 = best", 0.1, nil},
		{"0.1 / step", 0.1, nil},
		{"5 1234", 5, map[int]float64{last: 1234}},
		{"0.5 123", 0.5, map[int]float64{last: 123}},
		{"0.5 x 10 runs", 0.5, map[int]float64{last: 10}},
		{"0.5 ± 0.1", 0.5, nil},
		{"[0.3]", 0.3, nil},
		{"[3]", 3, map[int]float64{behindBlank: 7}}, // which counts something
		{"(0.3)", 0.3, map[int]float64{behindBlank: 7}},
		{"[[0.3]]", 0.3, nil},
	} {
		for i, way := range ways {
			t.Run(way.name+" "+c.text, func(t *testing.T) {
				want, differs := c.differ[i]
				if !differs {
					want = c.want
				}
				got, err := read(t, way.rule, parser.Stdout, fmt.Sprintf(way.log, c.text))
				if want == none && !errors.As(err, new(*parser.NoValueError)) || want != none && (err != nil || got.Value != want) {
					t.Errorf("%v, %v; want %v", got.Value, err, want)
				}
			})
		}
	}
	for text, want := range map[string]float64{"2 10 431.25\n": 431.25, "step 10 431.25\n": 431.25, "a: 3\nb: 10 431 runs\n": none} {
		t.Run(text, func(t *testing.T) {
			if got, err := read(t, parser.Rule{LastNumber: true}, parser.Stdout, text); (err != nil) != (want == none) || err == nil && got.Value != want {
				t.Errorf("the last number of %q: %v, %v; want %v", text, got.Value, err, want)
			}
		})
	}
}

// The message says what to print instead.
func TestHintsForValues(t *testing.T) {
	const (
		power      = "let the program print it as in 1.5e-3"
		separators = "numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number"
	)
	for text, want := range map[string]string{
		"1.5 x 10^-3": power, "1.5×10⁻³": power, "1 234.5": separators, "\u22121 234.5": separators, "1\u202f234.5": separators,
		"2 hours, 3 minutes": "it has units: let the program print one plain number, such as seconds (in bash TIMEFORMAT=%R)",
		"1 min 30 s":         "it has units: let the program print one plain number, such as seconds (in bash TIMEFORMAT=%R)",
		"0.6 -> 0.4":         "if a part of it is the value, find it by regex, with a group around that part",
	} {
		t.Run(text, func(t *testing.T) {
			var none *parser.NoValueError
			if _, err := read(t, parser.Rule{Metric: "loss"}, parser.Stdout, "loss: "+text+"\n"); !errors.As(err, &none) || none.Hint != want {
				t.Errorf("%s: %s; want the hint %s", text, none.Hint, want)
			}
		})
	}
}

// What is missing is not the last value, and that is all: it leaves the least of the values
// known, belongs to the name it stands behind, and ends with the next value.
func TestMissingValues(t *testing.T) {
	const none = 1e9
	loss := parser.Rule{Metric: "loss"}
	least := parser.Rule{Metric: "loss", Pick: "min"}
	const benchmark = "BenchmarkFit-8   \t 1000000\t      1234.5 ns/op\t      16 B/op\t       2 allocs/op\nPASS\n"
	for _, c := range []struct {
		rule parser.Rule
		text string
		want float64
	}{
		{loss, "loss: N/A\nloss: 3\n", 3},
		{loss, "loss: 3\nval loss: N/A\n", 3},
		{loss, "val loss: 3\nloss: N/A\n", 3},
		{loss, "val loss: 3\nval loss: N/A\n", none},
		{loss, "val loss: N/A, loss: None\n", none},
		{loss, "val loss: N/A, train loss: None\n", none},
		{loss, "loss: 3 acc: 1\nloss: None acc: 1\n", none},
		{loss, "loss: 3\nloss none of these\n", 3},
		{loss, "loss: 3\nloss: nothing\n", 3},
		{loss, "loss = 3\nloss = n.a.\n", none}, // Vowpal Wabbit
		{loss, "loss: 3\nloss: nil\n", none},
		{loss, "loss: 3\nloss: <nil>\n", none},
		{loss, "train: 0.9 loss: 3\ntest: 0.8 loss: 2\n", 2},
		{parser.Rule{Metric: "test loss"}, "train: 0 [5/5] loss: 3\ntest: [5/5] loss: 2\n", 2},
		{parser.Rule{Metric: "train loss"}, "train: 50%|█    | 5/10 [00:01, loss=3]\nval: 50%|█    | 5/10 [00:01, loss=2]\n", 3},
		{loss, "train: 99.5%, loss: 3\ntrain: 100%, loss: 2\n", 2},
		{loss, "loss: 3\nloss: diverged\n", none},
		{loss, "loss: 3\nloss = DIVERGED.\n", none},
		{loss, "loss: 3, acc: 1\nloss: failed, acc: 1\n", none},
		{loss, "loss: 3\nloss: error at step 7\n", none},
		{loss, "loss: diverged\nloss: 3\n", 3},
		{loss, "loss: 3\nloss: mse\n", 3},
		{loss, "loss: 3\nloss diverged from that of the paper\n", 3},
		{loss, "epoch,loss\n1,3\n2,diverged\n", none},
		{loss, "epoch,loss\n1,3\n2,failed\n3,5\n", 5},
		{loss, "epoch,loss\n1,3\n2,N/A\n", 3},
		{loss, "{'loss': 3}\n{'loss': 'N/A'}\n", none},
		{loss, "{\"loss\": 3}\n{\"loss\": \"diverged\"}\n", none},
		{loss, "loss: 3\nloss 'none' is meant\n", 3},
		{loss, "loss: 3\nloss: ~2\n", none},
		{loss, "loss: 3\nloss: < 2e-16\n", none},
		{loss, "loss: 3\nloss = $2\n", none},
		{loss, "loss: 3\nwait until loss < 4\n", 3},
		{loss, "loss: 3\nloss: >>> see above\n", 3},
		{loss, "loss: 3\nloss: [5, 3]\n", 3}, // a history
		{loss, "loss: 3\nloss: [[5], [3]]\n", 3},
		{loss, "loss: 3\nloss: [1] 5\n", 3}, // R counts what it prints
		{parser.Rule{Metric: ">"}, "> min(fit$cvm)\n[1] 0.3127419\n", none},
		{loss, "loss: 3\nloss: (1) mean\n", 3},
		{loss, "loss: 3\nloss: [0,5]\n", 3},
		{loss, "loss: 3\nloss: 0.6 -> nan\n", none},
		{loss, "loss: 3\nloss: 0.6 => -inf\n", none},
		{loss, "loss: 3\nloss: 0.6 → \u22120.4\n", none},
		{loss, "loss: 3\nloss: 0.6 -> .inf\n", none},
		{loss, "loss: 3\nloss: 0.6 -> -\u221e\n", none},
		{loss, "loss: 3\nloss: 0.6 -> info.txt\n", 0.6},
		{loss, "loss: 3\nloss: [2][5/10]\n", 3},
		{loss, "loss: 3\nloss: [0.91 ± 0.02, 0.88 ± 0.01]\n", 3},
		{loss, "loss: 3\nloss: [0.91±0.02,0.88]\n", 3},
		{loss, "loss 3\nloss [0.93(1), 0.92(2)]\n", 3},
		{loss, "loss: 3\nloss: (0.93 ± 0.01, 0.91 ± 0.02)\n", 3},
		{loss, "loss: 3\nloss: (0.93 (+/- 0.01), 0.91 (+/- 0.02))\n", 3},
		{loss, "loss: 3\nloss: (0.93 (+/- 0.01))\n", 0.93},
		{loss, "loss: 3\nloss: (0.93 ± 0.01,)\n", 0.93},
		{loss, "loss: 3\nloss: [0.93(1) ]\n", 0.93},
		{loss, "loss: 3\nloss: array([12.5+/-0.3], dtype=object)\n", 12.5},
		{loss, "loss: 3\nloss: array(12.5+/-0.3, dtype=object)\n", 12.5},
		{loss, "loss: 3\nloss: array(-0.52+/-0.01, dtype=object)\n", -0.52},
		{loss, "loss: 3\nloss: Some(12.5 ± 0.3)\n", 12.5},
		{loss, "loss: [5] acc: [1]\nloss: [2.5] acc: [1]\n", 2.5},
		{loss, "loss: 3\nloss: Some(2)\n", 2},
		{loss, "loss: 3\nloss: (2,)\n", 2},
		{loss, "loss: 3\nloss: tensor([2.5], device='cuda:0')\n", 2.5},
		{loss, "loss: 3\nloss = array([[2.5]])\n", 2.5},
		{loss, "loss: 3\nloss: tensor([2.5, 1])\n", 3},
		{loss, "loss: 3\nloss: [nan]\n", none},
		{loss, "{\"loss\": 3}\n{\"loss\": [2]}\n", 2},
		{loss, "{\"loss\": 3}\n{\"loss\": true}\n", none},
		{loss, "{'loss': 3}\n{'loss': False}\n", none},
		{loss, "Namespace(loss=True, lr=0.1)\nloss: 3\n", 3},
		{loss, "Namespace(loss='mse', lr=0.1)\nloss: 3\nloss = cross_entropy\n", 3},
		{loss, "loss: 3\nloss: ?\n", none},
		{loss, "loss: 3\nWhat is its loss?\n", 3},
		{loss, "loss: 3\nloss ≈ 2\n", none},
		{loss, "loss: 3\nloss≈2\n", none},
		{loss, "loss: 3\nloss ~= 2\n", none},
		{loss, "loss: 3\nloss: <= 2\n", none},
		{loss, "loss: 3\nloss ~ 1 + x\n", 3}, // a formula of R
		{loss, "loss: 3\nloss == 2\n", none}, // a comparison, perhaps
		{loss, "loss: 3\n**loss:** 2\n", 2},
		{loss, "loss: 3\n**loss**: 2\n", 2},
		{loss, "loss: 3\n- loss: **2**\n", 2},
		{loss, "loss: 3\nx = loss** 2\n", 3},
		{parser.Rule{Metric: "error"}, "error: 3\nerror: (28) timed out\nerror: no such file\n", 3},
		{loss, "epoch,loss\n1,3\n2,<2\n", none},
		{least, "loss: 3\nloss: <2\n", none},
		{loss, "loss: 3\nloss: .inf\n", none},
		{loss, "loss: 3\nloss: -.Inf\n", none},
		{loss, "loss: 3\nloss: .nan\n", none},
		{loss, "loss: 3\nloss：2\n", 2},
		{loss, "\ufeffloss,acc\n3,1\n2,1\n", 2},
		{parser.Rule{JSON: "loss"}, "\ufeff{\"acc\": 1,\n\"loss\": 2}\n", 2},
		{loss, "  epoch loss acc\n1     1    3   1\n2     2    2   1\n", 2},
		{loss, "  epoch loss acc\n1     1    3   1\n10   10  2.5   1\n", 2.5},
		{loss, "  epoch loss  val\n1     1    3  0.6\n2     2  2.5 0.4\n", 2.5},
		{parser.Rule{Metric: "val"}, "  epoch loss  val\n1     1    3  0.6\n2     2  2.5 0.4\n", 0.4},
		{loss, "epoch loss acc\n1 3 1\n2 diverged 1\n", none},
		{loss, "epoch loss acc\n1 3 1\n2 <2 1\n", none},
		{loss, "epoch loss acc\n1 3 1\n2 has 1\n", 3},
		{parser.Rule{Metric: "mpg"}, "      mpg cyl\nMazda  21   6\nFiat   32   4\n", none},
		{parser.Rule{Metric: "Fiat mpg"}, "      mpg cyl\nMazda  21   6\nFiat   32   4\n", 32},
		{least, "loss: None\nloss: 3\nloss: 4\nloss: N/A\n", 3},
		{parser.Rule{Metric: "loss", Pick: "mean"}, "loss: 3\nloss: 5\nloss: N/A\n", 4},
		{parser.Rule{Metric: "loss", Pick: "first"}, "loss: N/A\nloss: 5\n", 5},
		{parser.Rule{Regex: `loss.*?([\d.]+)`}, "loss=\u22124\n", none},
		{parser.Rule{Regex: `loss -> ([-+.\w]+)`}, "loss -> 3.1*^-7\n", none},
		{loss, "[0]\tloss:3+0.1\n[1]\tloss:nan+nan\n", none}, // xgboost.cv
		{loss, "loss: 3\nloss: inf+nan acc: 1\n", none},
		{loss, "loss: 3\nloss: +inf\n", none},
		{loss, "loss: 3\nloss: tensor(0.5) / 2\n", 0.5},
		{loss, "loss: 3\nloss:inf+1e+05\n", none},
		{loss, "loss: 3\nloss: 0.31 + 0.02\n", 0.31}, // lightgbm.cv
		{loss, "loss: 3\nloss=\n", none},
		{loss, "loss: 3\nloss= acc=1\n", none},
		{loss, "loss: 3\nloss=, acc=1\n", none},
		{loss, "loss: 3\nloss = ''\n", none},
		{loss, "loss=\nloss=3\n", 3},
		{loss, "loss: 3\n= loss =\n", 3},
		{loss, "loss: 3\n=loss=\n", 3},
		{loss, "loss: 3\n  == loss ==\n", 3},
		{loss, "loss: 3\n=== Validation loss ===\n", 3},
		{loss, "loss: 3\n== epoch 2 == loss=\n", none},
		{loss, "loss: 3\n== loss =\n", none},
		{loss, "epoch,loss\n1,3\n2\n", 3},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\n50,2\n3,45\n", 0.5},
		{loss, "epoch,loss\n1,3\n2", 3},
		{loss, "epoch,loss\n1,3\n10000\n", 3},
		{loss, "epoch,loss\n1,3\n2\n3,2\n", 2},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\n2,2.5\n", none},
		{name("acc"), "epoch;loss;acc\r\n1;3;0.5\r\n2;2.5\r\n", none},
		{name("acc"), "epoch\tloss\tacc\n1\t3\t0.5\n2\t2.5\n", none},
		{name("acc"), "| epoch | loss | acc |\n| 1 | 3 | 0.5 |\n| 2 | 2.5 |\n", none},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\n2,2.5", 0.5},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\nsaved 2,2.5\n", 0.5},
		{name("acc"), "epoch,loss,acc\n1,2\n", none}, // no table yet
		{name("loss"), "epoch,loss,acc\n1,3,0.5\n2,2.5\n", 2.5},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\n\nclass,count\n0,7\n1,8\n", 0.5}, // of another table
		{name("acc"), "| epoch | loss | acc |\n|---|---|---|\n| 1 | 3 | 0.5 |\n\n| size | time |\n|---|---|\n| 2 | 7 |\n", 0.5},
		{name("acc"), "epoch\tloss\tacc\n1\t3\t0.5\nfinal scores:\n0.7\t0.8\n", 0.5},
		{name("acc"), "epoch,loss,acc\n1,3,0.5\n\n2,7\n", 0.5},
		{name("acc"), "epoch,loss,acc\n0,3,0.5\nepochs run: 1\n", 0.5},
		{name("acc"), "INFO: epoch,loss,acc\nINFO: 1,3,0.5\nINFO: 2,2.5\n", none},
		{least, "epoch,loss\n1,3\n2,4\n3\n", 3},
		{parser.Rule{Regex: `(\d+)`}, "\x005\x00\r\x00\n", 5},
		{parser.Rule{Regex: `loss=([\d.]+)`}, "loss=0.5\x00acc=0.9\x00\n", 0.5},
		{name("val loss"), "epoch,set,loss\n1,val,3\n1,2\n", 3},
		{loss, "loss: 3\n  loss = criterion(input=x, target=y)\n", 3},
		{loss, "loss: 3\nModel(loss=CrossEntropyLoss(reduction='mean'), lr=0.1)\n", 3},
		{loss, "loss: 3\nhttps://h/p?loss=a&b=c\n", 3},
		{loss, "loss: 3\nsaved to loss=mse_lr=0.1.ckpt\n", 3},
		{loss, "loss: 3\npython train.py loss=x>=3\n", 3},
		{loss, "loss: 3\nloss:\n  plotted\n", 3},
		{name("ns/op"), benchmark, 1234.5},
		{name("B/op"), benchmark, 16},
		{name("allocs/op"), benchmark, 2},
		{name("BenchmarkFit-8"), benchmark, none},
		{name("ns/op"), "2024-01-02 10:00:00 INFO BenchmarkFit-8 \t 1000\t 1234 ns/op\t 16 B/op\n", 1234},
		{name("acc"), "acc: 0.5 BenchmarkFit-8 \t 1000\t 1234 ns/op\n", 0.5},
		{name("ns/op"), "bench-1  | BenchmarkFit-8 \t 1000\t 1234 ns/op\t 16 B/op\n", 1234},
		{name("ns/op"), " 1000000\t      1234 ns/op\t      16 B/op\t       2 allocs/op\n", 1234}, // of testing.Benchmark
		{name("B/op"), "1000\t 1234.5 ns/op\t 9.5 MB/s\t 16 B/op\t 2 allocs/op\n", 16},
		{name("ns/op"), "BenchmarkFit 1000 1234 ns/op -0.9 acc NaN % 16 B/op\n", 1234},
		{name("acc"), "BenchmarkFit 1000 1234 ns/op -0.9 acc NaN % 16 B/op\n", -0.9},
		{name("%"), "BenchmarkFit 1000 1234 ns/op -0.9 acc NaN % 16 B/op\n", none},
		{name("p99-ns"), "BenchmarkFit 1000 1.5e+09 p99-ns 16 B/op\n", 1.5e9},
		{loss, "loss: 3\nBenchmark 5 loss: unknown\n", 3},
		{name("real"), "        0.62 real         0.50 user         0.10 sys\n", 0.62},
		{name("sys"), "        0.62 real         0.50 user         0.10 sys\n", 0.10},
		{loss, "100 loss 3 time 12.5 s\n", 3},
		{name("time"), "3 time 12.5 s\n", 12.5},
		{loss, "if loss == 0: stop\n0 loss 3 acc 1\n", 3},
		{loss, "loss: 3\nif loss == 0: stop\n", 3},
		{loss, "loss: 3\nassert (loss == 0)\n", 3},
		{loss, "loss: 3\nloss == 0.5, lr == 0.1\n", none},
		{loss, "loss [3.5] acc [0.5]\n", 3.5},
		{loss, "loss 3\nloss [0.5] 0.3\n", 3},
		{loss, "  Test metric   DataLoader 0   DataLoader 1\n     loss          3.5            2.5\n", 3.5},
		{parser.Rule{Metric: "loss DataLoader 1"}, "  Test metric   DataLoader 0   DataLoader 1\n     loss          3.5            2.5\n", 2.5},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := read(t, c.rule, parser.Stdout, c.text)
			if (err != nil) != (c.want == none) || err == nil && got.Value != c.want {
				t.Errorf("%+v of %q: %v, %v, want %v", c.rule, c.text, got.Value, err, c.want)
			}
		})
	}
}

// No part of a number in UTF-16 is taken for it, nor is a number before it.
func TestWideCharacters(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var text []byte
		for _, u := range utf16.Encode([]rune("\ufeffepoch 1 loss=0.25\r\nepoch 2 loss=-12.75\r\n")) {
			text = order.AppendUint16(text, u)
		}
		for _, rule := range []parser.Rule{{Metric: "loss"}, {LastNumber: true}, {Regex: `([\d.]+)`}, {Regex: `=\D*([-+.\w]+)`}, {Regex: `=\D*([-+.\w]+)`, Pick: "first"}, {Regex: `(.)\D*$`}} {
			if got, err := read(t, rule, parser.Stdout, string(text)); err == nil {
				t.Errorf("%+v, %v: %v", rule, order, got.Value)
			}
		}
	}
}

// JSON has no word for what is not finite, and programs write one all the same.
func TestWordsThatAreNoJSON(t *testing.T) {
	const none = 1e9
	for word, want := range map[string]float64{
		"nan": none, "-nan": none, "inf": none, "-inf": none, "INF": none, "None": none, "1_000": none, "0x10": none, "\u221e": none, "-\u221e": none,
		".5": 0.5, "+0.5": 0.5, "5.": 5, "007": 7,
	} {
		t.Run(word, func(t *testing.T) {
			got, err := read(t, parser.Rule{JSON: "loss"}, parser.Stdout, `{"loss": 0.25}`+"\n"+`{"loss": `+word+`, "done": True}`+"\n")
			if want == none && !errors.As(err, new(*parser.NoValueError)) || want != none && (err != nil || got.Value != want) {
				t.Errorf("%s: %v, %v; want %v", word, got.Value, err, want)
			}
		})
	}
}

// Only a number that is too large is beyond the range of a float64, and nothing is not quoted.
func TestReasonIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"inf.": `metric "loss" is inf. on line 1 of stdout`, "\u2212inf": "metric \"loss\" is \u2212inf on line 1 of stdout",
		"1e999": `metric "loss" is 1e999 on line 1 of stdout, beyond the range of a float64`,
		"":      `metric "loss": nothing stands behind it on line 1 of stdout`, " acc=1": `metric "loss": nothing stands behind it on line 1 of stdout`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := read(t, parser.Rule{Metric: "loss"}, parser.Stdout, "loss="+text+"\n"); err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		})
	}
}

// A power of ten behind a group is a part of the number, unless the expression knows of it.
func TestPowersBehindGroups(t *testing.T) {
	const none = 1e9
	for _, c := range []struct {
		expr, text string
		want       float64
	}{
		{`loss (\S+)`, "1.5 x 10^-3", none},
		{`loss ([\d.]+)`, "1.5×10⁻³", none},
		{`loss (\S+).*`, "1.5 * 10**-3 J", none},
		{`loss (\S+) x 10\^-3`, "1.5 x 10^-3", 1.5},
		{`loss (\S+)`, "0.6 -> 0.4", 0.6},
		{`loss (\S+)`, "0.5 x 10 runs", 0.5},
		{`loss (\S+)`, "0.5 e-mail", 0.5},
		{`loss ([\d.]+)`, "0.5d", 0.5},
		{`loss([ \d.]+)`, "  0.5  ", 0.5},
		{`loss (\d+)`, "5 D-3", 5},
	} {
		t.Run(c.expr+" "+c.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Regex: c.expr}, parser.Stdout, "loss 7\nloss "+c.text+"\n")
			if (err != nil) != (c.want == none) || err == nil && got.Value != c.want {
				t.Errorf("%s of %q: %v, %v; want %v", c.expr, c.text, got.Value, err, c.want)
			}
		})
	}
}
