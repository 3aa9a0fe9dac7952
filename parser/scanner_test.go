package parser_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

func readings(t *testing.T, rule parser.Rule, chunks ...string) []parser.Reading {
	t.Helper()
	pattern, err := parser.Compile(rule)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	var got []parser.Reading
	scanner := pattern.Scanner(func(r parser.Reading) { got = append(got, r) })
	for _, chunk := range chunks {
		if n, err := scanner.Write([]byte(chunk)); n != len(chunk) || err != nil {
			t.Fatalf("Write gave %d, %v", n, err)
		}
	}
	if err := scanner.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestScannerCountsLinesByLF(t *testing.T) {
	text := "start\r\n\r\nloss=1\rloss=2\rloss=3\r\n\nx\x1b[32mloss\nloss=\x1b[1m4"
	var lines []string
	for _, r := range readings(t, parser.Rule{Metric: "loss"}, text) {
		lines = append(lines, fmt.Sprintf("%d:%d=%v", r.Line, r.Column, r.Value))
	}
	if want := []string{"3:6=1", "3:6=2", "3:6=3", "6:6=4"}; !slices.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}

func TestScannerEmitsWhenTheLineEnds(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	scanner := pattern.Scanner(func(parser.Reading) { count++ })
	for _, step := range []struct {
		text string
		want int
	}{{"loss=0.", 0}, {"3", 0}, {"\r", 1}, {"\n", 1}, {"loss=0.2\nloss=0.1", 2}} {
		t.Run(step.text, func(t *testing.T) {
			if _, err := scanner.Write([]byte(step.text)); err != nil {
				t.Fatal(err)
			}
			if count != step.want {
				t.Fatalf("after %q there are %d readings, want %d", step.text, count, step.want)
			}
		})
	}
	if scanner.Lines() != 3 {
		t.Errorf("Lines() = %d, want 3", scanner.Lines())
	}
	for range 2 {
		if err := scanner.Close(); err != nil || count != 3 {
			t.Fatalf("Close gave %v, %d readings", err, count)
		}
	}
	if _, err := scanner.Write([]byte("x")); err == nil {
		t.Error("Write after Close succeeded")
	}
}

func TestLongLineIsCut(t *testing.T) {
	filler := strings.Repeat("x", parser.MaxLine-len("loss=0.25 "))
	tests := []struct {
		name, text string
		want       []float64
	}{
		{"whole line fits", filler + " loss=0.25", []float64{0.25}},
		{"number touches the limit", filler + "  loss=0.25", nil},
		{"number beyond the limit", filler + strings.Repeat(" ", 20) + "loss=0.25", nil},
		{"number before the limit", "loss=0.25 " + filler + filler, []float64{0.25}},
		{"next line", filler + filler + "\nloss=0.25", []float64{0.25}},
		{"next line after CR", filler + filler + "\rloss=0.25", []float64{0.25}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{len(test.text), 4096} {
				var chunks []string
				for chunk := range slices.Chunk([]byte(test.text), size) {
					chunks = append(chunks, string(chunk))
				}
				var got []float64
				for _, r := range readings(t, parser.Rule{Metric: "loss"}, chunks...) {
					got = append(got, r.Value)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("%s, chunks of %d: got %v, want %v", test.name, size, got, test.want)
				}
			}
		})
	}
}

func TestRegex(t *testing.T) {
	tests := []struct {
		regex, text string
		want        float64
	}{
		{`loss is ([-+.\deE]+)`, "loss is 1e-05", 1e-5},
		{`loss.*?([-+.\d]+)`, "loss of model: -0.3 x 0.9", -0.3},
		{`(\d+)/100`, "accuracy 93/100", 93},
		{`(?P<value>\d+) of (\d+)`, "solved 9 of 10", 9},
		{`acc=(\S+)`, "acc=93.1%", 93.1},
		{`^\d+,(\d+\.\d+),`, "1,0.5,9\n2,0.25,9", 0.25},
		{`(?i)LOSS=(.*)`, "Loss= 0.5 ", 0.5},
		{`took ([\d.]+)s`, "took 12.5s", 12.5},
		{`is (\d+)`, "the answer is 5.", 5},
		{`a=(\d+)|b=(?:x)`, "a=1 b=x", 1},
		{`^(\d+),`, "12,34", 12},
		{`([^,]+)$`, "12,34", 34},
		{`a=(\d+)`, "a=12,b=34", 12},
		{`a=(\S+)`, "a=1.5D-03", 0.0015},
		{`a=(\S+)`, "a=0.93+0.01", 0.93},
		{`a=([-+.\w]+)s`, "a=1.5e-3s", 0.0015},
	}
	for _, test := range tests {
		t.Run(test.regex+" "+test.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Regex: test.regex}, parser.Stdout, test.text)
			if err != nil || got.Value != test.want {
				t.Errorf("%s in %q: got %v, %v, want %v", test.regex, test.text, got.Value, err, test.want)
			}
		})
	}
}

func TestRegexExplained(t *testing.T) {
	tests := []struct {
		regex, text string
		reason      string
		want        string
	}{
		{`loss=([\d.]+)`, "loss=1e-05", "not a number",
			`the group of regex "loss=([\\d.]+)" captures only "1" of the number "1e-05" on line 1 of stdout`},
		{`loss.*([\d.]+)`, "loss = 0.31", "not a number",
			`the group of regex "loss.*([\\d.]+)" captures only "1" of the number "0.31" on line 1 of stdout`},
		{`loss=-?([\d.]+)`, "loss=-0.3", "not a number",
			`the group of regex "loss=-?([\\d.]+)" captures only "0.3" of the number "-0.3" on line 1 of stdout`},
		{`loss=(\d+)`, "loss=0.31", "not a number",
			`the group of regex "loss=(\\d+)" captures only "0" of the number "0.31" on line 1 of stdout`},
		{`loss=([\d.]+)`, "loss=0,31", "not a number",
			`the group of regex "loss=([\\d.]+)" captures only "0" of the number "0,31" on line 1 of stdout`},
		{`loss=([\d.]+)`, "loss=1_000", "not a number",
			`the group of regex "loss=([\\d.]+)" captures only "1" of the number "1_000" on line 1 of stdout`},
		{`loss=([ \d.]+)`, "loss=  1e-05", "not a number",
			`the group of regex "loss=([ \\d.]+)" captures only "1" of the number "1e-05" on line 1 of stdout`},
		{`loss=([-\d. ]+)`, "loss= 1 e-05", "not a number",
			`the group of regex "loss=([-\\d. ]+)" captures only "1" of the number "1 e-05" on line 1 of stdout`},
		{`loss=([\d.]+)`, "loss=1.5D-03", "not a number",
			`the group of regex "loss=([\\d.]+)" captures only "1.5" of the number "1.5D-03" on line 1 of stdout`},
		{`loss (\S+)`, "loss 9.3 e-3", "not a number",
			`the group of regex "loss (\\S+)" captures only "9.3" of the number "9.3 e-3" on line 1 of stdout`},
		{`loss ([\d.]+)`, "loss 0.93(1)e-3", "not a number",
			`the group of regex "loss ([\\d.]+)" captures only "0.93" of the number "0.93(1)e-3" on line 1 of stdout`},
		{`loss=([-+.\w]+)`, "loss=0.3\nloss=nan", "not finite",
			`match of regex "loss=([-+.\\w]+)" is nan on line 2 of stdout`},
		{`took ([-+.\w]+)s`, "took 3s\ntook 5ms", "not a number",
			`match of regex "took ([-+.\\w]+)s": "5m" on line 2 of stdout is not a number`},
		{`loss=(.*)`, "loss=0.3 acc=0.9", "not a number",
			`match of regex "loss=(.*)": "0.3 acc=0.9" on line 1 of stdout is not a number`},
		{`loss=(\S+)`, "loss=0,3", "not a number",
			`match of regex "loss=(\\S+)": "0,3" on line 1 of stdout is not a number`},
		{`loss=(\S+)`, "loss=NaN", "not finite", `match of regex "loss=(\\S+)" is NaN on line 1 of stdout`},
		{`loss=(\S+)`, "loss = 0.3", "no match",
			`no match of regex "loss=(\\S+)" in 1 line of stdout; no line has its "loss="`},
		{`loss: (\d+) z`, "\nloss: 3", "no match",
			`no match of regex "loss: (\\d+) z" in 2 lines of stdout; the nearest is line 2: "loss: 3"`},
	}
	for _, test := range tests {
		t.Run(test.regex+" "+test.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Regex: test.regex}, parser.Stdout, test.text)
			var e *parser.NoValueError
			if !errors.As(err, &e) || e.Reason != test.reason || e.Error() != test.want {
				t.Errorf("%s in %q: got %+v, %v, want %q: %s", test.regex, test.text, got, err, test.reason, test.want)
			}
		})
	}
}

func TestLastNumber(t *testing.T) {
	rule := parser.Rule{LastNumber: true}
	for text, want := range map[string]float64{
		"0.3":                             0.3,
		"epoch 1\nfinal 0.5 0.3\n\n \r\n": 0.3,
		"v1.2 P@1 x=0.3 (12th":            math.NaN(),
		"Accuracy = 96.6%\n":              96.6,
		"elapsed 12:30 loss 0.3":          0.3,
		"loss 0.3 after epoch3":           0.3,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := read(t, rule, parser.Stdout, text)
			if math.IsNaN(want) {
				if err == nil {
					t.Errorf("%q: got %v, want an error", text, got.Value)
				}
			} else if err != nil || got.Value != want {
				t.Errorf("%q: got %v, %v, want %v", text, got.Value, err, want)
			}
		})
	}
	_, err := read(t, rule, parser.Stdout, "0.3\nbye\n")
	var e *parser.NoValueError
	if !errors.As(err, &e) || e.Reason != "no match" || e.Line != 2 || !strings.Contains(e.Error(), `"bye"`) {
		t.Errorf("a last line without a number: got %v", err)
	}
}

func TestPick(t *testing.T) {
	inf := "loss=inf\n"
	tests := []struct {
		pick   string
		text   string
		want   float64
		reason string
	}{
		{"last", "loss=2\nloss=1\nloss=4\n", 4, ""},
		{"first", "loss=2\nloss=1\nloss=4\n", 2, ""},
		{"min", "loss=2\nloss=1\nloss=4\n", 1, ""},
		{"max", "loss=2\nloss=1\nloss=4\n", 4, ""},
		{"mean", "loss=2\nloss=1\nloss=6\n", 3, ""},
		{"min", "loss=2\nloss=nan\n", 2, ""},
		{"max", "loss=nan\nloss=2\n", 2, ""},
		{"min", "loss=2\n" + inf, 2, ""},
		{"max", "loss=2\n" + inf, 0, "not finite"},
		{"mean", "loss=2\nloss=nan\n", 0, "not finite"},
		{"min", "loss=nan\n", 0, "not finite"},
		{"min", "loss=2\nloss=1,5\n", 0, "not a number"},
		{"first", "loss=2\nloss=1,5\n", 2, ""},
		{"mean", "loss=1e308\nloss=1e308\nloss=1e308\n", 1e308, ""},
		{"mean", "loss=1.5e308\nloss=-1.5e308\n", 0, ""},
	}
	for _, test := range tests {
		t.Run(test.pick+" "+test.text, func(t *testing.T) {
			got, err := read(t, parser.Rule{Metric: "loss", Pick: test.pick}, parser.Stdout, test.text)
			var e *parser.NoValueError
			switch {
			case test.reason == "" && (err != nil || got.Value != test.want):
				t.Errorf("%s of %q: got %v, %v, want %v", test.pick, test.text, got.Value, err, test.want)
			case test.reason != "" && (!errors.As(err, &e) || e.Reason != test.reason):
				t.Errorf("%s of %q: got %v, %v, want %q", test.pick, test.text, got.Value, err, test.reason)
			}
		})
	}
}

func TestSources(t *testing.T) {
	both := map[parser.Source]string{parser.Stdout: "loss=1\n", parser.Stderr: "x\nloss=2\n", parser.File: "loss=3"}
	for source, want := range map[parser.Source]float64{parser.Stdout: 1, parser.Stderr: 2, parser.File: 3} {
		t.Run(string(source), func(t *testing.T) {
			got, err := readAll(t, parser.Rule{Metric: "loss", Source: source}, both)
			if err != nil || got.Value != want || got.Reading.Source != source {
				t.Errorf("%s: got %+v, %v", source, got, err)
			}
		})
	}
	for pick, want := range map[string]float64{"min": 1, "max": 2, "mean": 1.5} {
		t.Run(pick, func(t *testing.T) {
			got, err := readAll(t, parser.Rule{Metric: "loss", Source: "both", Pick: pick}, both)
			if err != nil || got.Value != want || got.Count != 2 || got.Lines != 3 {
				t.Errorf("%s of both: got %+v, %v", pick, got, err)
			}
		})
	}
	far := map[parser.Source]string{parser.Stdout: "loss=-1.7e308\n", parser.Stderr: strings.Repeat("loss=1.7e308\n", 9)}
	if got, err := readAll(t, parser.Rule{Metric: "loss", Source: "both", Pick: "mean"}, far); err != nil || math.Abs(got.Value/1.36e308-1) > 1e-12 {
		t.Errorf("mean of what lies far apart: got %+v, %v", got, err)
	}
	_, err := readAll(t, parser.Rule{Metric: "loss", Source: "both"}, both)
	var e *parser.NoValueError
	if !errors.As(err, &e) || e.Reason != "ambiguous" || !strings.Contains(e.Error(), "stdout (line 1: 1) and in stderr (line 2: 2)") {
		t.Errorf("last of both: got %v", err)
	}
	delete(both, parser.Stdout)
	if _, err = readAll(t, parser.Rule{Metric: "loss"}, both); !errors.As(err, &e) || e.Hint != `write source = "stderr"` {
		t.Errorf("metric on stderr: got %v, hint %q", err, e.Hint)
	}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		step, text string
		want       []float64
	}{
		{"epoch", "epoch 1 loss 0.5\nepoch 2 loss 0.4", []float64{1, 2}},
		{"Epoch", "Epoch 1/10\nloss: 0.5\rloss: 0.4\nEpoch 2/10\nloss: 0.3", []float64{1, 1, 2}},
		{"Epoch", "Epoch: [3][ 10/391]\tLoss 0.5 loss 0.4", []float64{3}},
		{"epoch", "{'loss': 0.5, 'epoch': 1.5}", []float64{1.5}},
		{"step", "step #1: loss 0.5 step #2: loss 0.4", []float64{1, 2}},
		{`^\[(\d+)\]`, "[0] loss:0.5\n[1] loss:0.4", []float64{0, 1}},
		{"epoch", "loss 0.5\nepoch 1 loss 0.4", []float64{-1, 1}},
	}
	for _, test := range tests {
		t.Run(test.step+" "+test.text, func(t *testing.T) {
			var got []float64
			for _, r := range readings(t, parser.Rule{Metric: "loss", Step: test.step}, test.text) {
				if !r.HasStep {
					r.Step = -1
				}
				got = append(got, r.Step)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("steps %q in %q: got %v, want %v", test.step, test.text, got, test.want)
			}
		})
	}
	got := readings(t, parser.Rule{Regex: `e(?P<step>\d+) (?P<value>\S+)`}, "e7 0.5")
	if len(got) != 1 || got[0].Step != 7 || !got[0].HasStep || got[0].Value != 0.5 {
		t.Errorf("step by named group: got %+v", got)
	}
}

func TestRuleErrors(t *testing.T) {
	tests := []struct {
		rule  parser.Rule
		field string
		text  string
	}{
		{parser.Rule{}, "objective", "objective does not say how to find the metric"},
		{parser.Rule{Metric: "loss", Regex: "(x)"}, "regex", "regex cannot stand beside metric: each is a way to find the metric by itself"},
		{parser.Rule{Metric: " loss"}, "metric", `metric = " loss": begins or ends with a blank, which is never part of the name`},
		{parser.Rule{Metric: "lo\nss"}, "metric", `metric = "lo\nss": has a control character, but a rule sees one line of plain text at a time`},
		{parser.Rule{Regex: "loss"}, "regex", `regex = "loss": has no group, so that it does not say which part of the match is the number`},
		{parser.Rule{Regex: "(a)(b)"}, "regex", `regex = "(a)(b)": has several groups, and does not say which one is the number`},
		{parser.Rule{Regex: "(a"}, "regex", `regex = "(a": missing closing ): (a`},
		{parser.Rule{Regex: `loss=(?!x)(\d)`}, "regex", `regex = "loss=(?!x)(\\d)": invalid or unsupported Perl syntax: (?!`},
		{parser.Rule{Regex: `a\n(\d)`}, "regex", `regex = "a\\n(\\d)": asks for a line break, but a rule sees one line at a time`},
		{parser.Rule{Metric: "loss", Source: "stdin"}, "source", `source = "stdin": is unknown`},
		{parser.Rule{Metric: "loss", Pick: "best"}, "pick", `pick = "best": is unknown`},
		{parser.Rule{Metric: "loss", Step: "a(b"}, "step", `step = "a(b": missing closing ): a(b`},
		{parser.Rule{LastNumber: true, Source: "both"}, "source", `source = "both": leaves open which stream's last line is meant`},
		{parser.Rule{LastNumber: true, Pick: "min"}, "pick", `pick = "min": cannot be, since only the last line is read`},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			_, err := parser.Compile(test.rule)
			var e *parser.RuleError
			if !errors.As(err, &e) || e.Field != test.field || err.Error() != test.text {
				t.Errorf("got %v, want %s of %s", err, test.text, test.field)
			}
		})
	}
}

func TestStreamsSideBySide(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss", Source: "both", Pick: "min"})
	if err != nil {
		t.Fatal(err)
	}
	collector := parser.NewCollector(pattern)
	var group sync.WaitGroup
	for i, source := range []parser.Source{parser.Stdout, parser.Stderr} {
		scanner := collector.Scanner(source, func(parser.Reading) {})
		group.Go(func() {
			for line := range 1000 {
				if _, err := fmt.Fprintf(scanner, "loss=%d\n", 1000*i+line); err != nil {
					t.Error(err)
				}
			}
			if err := scanner.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got, err := collector.Result(0)
	if err != nil || got.Value != 0 || got.Count != 2000 || got.Lines != 2000 || got.Reading.Source != parser.Stdout {
		t.Errorf("got %+v, %v", got, err)
	}
}
