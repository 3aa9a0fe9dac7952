package parser_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/parser"
)

// fuzzRules covers every kind of rule.
func fuzzRules() []parser.Rule {
	return []parser.Rule{
		{Metric: "loss"},
		{Metric: "loss", Step: "epoch"},
		{Metric: "loss:"},
		{Metric: "(loss"},
		{Metric: "los"},
		{Metric: "loss-"},
		{Metric: "train loss", Source: "both"},
		{Metric: "Acc@1"},
		{Metric: "valid loss", Step: "epoch"},
		{Metric: "mAP50", Step: "Epoch"},
		{Metric: "all mAP50"},
		{Metric: "AP"},
		{Metric: "f1-score"},
		{Metric: "macro avg"},
		{Metric: "macro avg f1-score"},
		{Metric: "l2"},
		{Metric: "loss", Step: `^\[(\d+)\]`, Pick: "min"},
		{Metric: "é", Pick: "mean"},
		{Regex: `l(?:oss)?[=:](.*?)(?:,|$)`, Pick: "max"},
		{Regex: `(?i)(?P<value>[\d.]+).*?(?P<step>\d*)`, Pick: "first"},
		{LastNumber: true, Step: "epoch"},
		{JSON: "eval.loss", Step: "epoch"},
		{JSON: "loss"},
		{JSON: "loss", Pick: "min", Source: parser.File},
		{JSON: "[-1].loss"},
		{Dialect: "bare-number"},
		{Dialect: "cost-status"},
		{Dialect: "result-line"},
		{Dialect: "metric-value", Metric: "loss"},
		{Dialect: "metric-value", Metric: "acc"},
		{Dialect: "tune-metric", Metric: "loss"},
		{Dialect: "tune-metric", Metric: "a", Step: "loss"},
		{Dialect: "results-file"},
	}
}

// hostile are texts that, repeated, tempt a parser to look at each byte often.
func hostile() []string {
	return []string{"loss=n", "loss loss ", "\x1b]", "\x1b[", "1e+1+", "{\"a\":", "{\"loss\":1}", "[[", "+-", "1,", "1'",
		"epoch  loss\n1  2\n", "a,loss\n1,2\n", "| loss | x |\n|--|--|\n| 1 | 2 |\n", "loss  ", "loss,", "'s loss 1 ", "| train | loss 1 ", "Result for SMAC: ", "{metricName: loss,", "[tune-metric]: {\"", "[tune-metric]: ,", "cost=1;", "epoch 1 loss 2 ",
		"lossloss", "1.1.", "{\"eval\":{\"loss\":", "'loss', ", "loss\xff1", "loss: tensor(", " - - loss 1 "}
}

// outcome is all that can be seen of a rule's run over chunks, as text.
func outcome(rule parser.Rule, chunks ...[]byte) string {
	return outcomes([]parser.Rule{rule}, chunks...)[0]
}

// outcomes is the same for several rules in one pass. The chunks are printed, and
// written to a file.
func outcomes(rules []parser.Rule, chunks ...[]byte) []string {
	seen := make([]strings.Builder, len(rules))
	emit := func(r parser.Reading) {
		metric := r.Metric
		r.Metric = 0
		fmt.Fprintf(&seen[metric], "%+v\n", r)
	}
	collector := parser.NewCollector(compile(rules)...)
	streams := []*parser.Scanner{collector.Scanner(parser.Stdout, emit), collector.Scanner(parser.File, emit)}
	for _, chunk := range chunks {
		lent := make([]byte, len(chunk))
		for _, scanner := range streams {
			copy(lent, chunk)
			if _, err := scanner.Write(lent); err != nil {
				panic(err)
			}
			for i := range lent {
				lent[i] = '7' // the scanner must not keep what it was lent
			}
		}
	}
	var all []string
	for _, scanner := range streams {
		if err := scanner.Close(); err != nil {
			panic(err)
		}
	}
	for i := range rules {
		result, err := collector.Result(i)
		result.Reading.Metric = 0
		fmt.Fprintf(&seen[i], "%+v %v", result, err)
		var none *parser.NoValueError
		if errors.As(err, &none) {
			fmt.Fprintf(&seen[i], " (%+v)", *none)
		}
		all = append(all, seen[i].String())
	}
	return all
}

func compile(rules []parser.Rule) []*parser.Pattern {
	patterns := make([]*parser.Pattern, len(rules))
	for i, rule := range rules {
		var err error
		if patterns[i], err = parser.Compile(rule); err != nil {
			panic(err)
		}
	}
	return patterns
}

// pieces cuts text into pieces whose sizes are given by cuts, again and again.
func pieces(text, cuts []byte) [][]byte {
	var chunks [][]byte
	for i := 0; len(text) > 0; i++ {
		size := 1
		if len(cuts) > 0 {
			size = min(int(cuts[i%len(cuts)]), len(text))
		}
		chunks = append(chunks, text[:size])
		text = text[size:]
		if size == 0 && i > 1000 {
			cuts = nil
		}
	}
	return chunks
}

func FuzzChunks(f *testing.F) {
	logs, err := filepath.Glob("testdata/*.log")
	if err != nil || len(logs) == 0 {
		f.Fatalf("no logs: %v", err)
	}
	for i, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte{byte(i), 1, 40}, uint8(i))
		f.Add(text, []byte{}, uint8(i))
	}
	f.Add([]byte("loss: 0.\x1b[1m3\r\n{\"eval\":\n{\"loss\": NaN}}\n"), []byte{2}, uint8(6))
	rules := fuzzRules()
	for _, text := range hostile() {
		for i := range rules {
			f.Add([]byte(strings.Repeat(text, 20)), []byte{3}, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text, cuts []byte, which uint8) {
		rule := rules[int(which)%len(rules)]
		whole := outcome(rule, text)
		if cut := outcome(rule, pieces(text, cuts)...); cut != whole {
			t.Errorf("%+v over %q:\nin one piece: %s\nin pieces:    %s", rule, text, whole, cut)
		}
	})
}

// FuzzTogether reads with all rules in one pass over pieces, and must find what
// each rule alone finds in the whole.
func FuzzTogether(f *testing.F) {
	for _, text := range append(hostile(), "loss->1 loss-->2 loss: 3 (loss) 4 Acc@1->5 los-1\n", "{\"loss\":1}\n[{\"loss\":2}]\n{\"a\":1,\n\"eval\":{\"loss\":3}}") {
		f.Add([]byte(strings.Repeat(text, 20)), []byte{3})
		f.Add([]byte(strings.Repeat(text+"\n", 20)), []byte{200, 1})
	}
	rules := fuzzRules()
	f.Fuzz(func(t *testing.T, text, cuts []byte) { together(t, rules, text, cuts) })
}

func TestLogsTogether(t *testing.T) {
	logs, err := filepath.Glob("testdata/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for i, log := range logs {
		if i%effort.Sequential(3, 1, 1) != 0 {
			continue
		}
		text := []byte(readLog(t, strings.TrimSuffix(filepath.Base(log), ".log")))
		together(t, fuzzRules(), text, []byte{7, 100})
	}
}

func together(t *testing.T, rules []parser.Rule, text, cuts []byte) {
	t.Helper()
	all := outcomes(rules, pieces(text, cuts)...)
	for i, rule := range rules {
		if alone := outcome(rule, text); all[i] != alone {
			t.Errorf("%+v over %q:\ntogether: %s\nalone:    %s", rule, text, all[i], alone)
		}
	}
}

// TestChunkBorders cuts every log in two at many places.
func TestChunkBorders(t *testing.T) {
	logs, err := filepath.Glob("testdata/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for i, log := range logs {
		text := []byte(readLog(t, strings.TrimSuffix(filepath.Base(log), ".log")))
		rule := fuzzRules()[i%len(fuzzRules())]
		for _, rule := range []parser.Rule{rule, {Metric: "loss"}, {JSON: "metrics.accuracy"}} {
			whole := outcome(rule, text)
			for at := 0; at <= len(text); at += 1 + len(text)/effort.Of(5, 60, 60) {
				cut := outcome(rule, text[:at], text[at:])
				if cut != whole {
					t.Fatalf("%+v over %s cut at %d:\nwhole: %s\ncut:   %s", rule, log, at, whole, cut)
				}
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("loss", "epoch", "a.b[0]", "tune-metric", `(\d+)`)
	f.Fuzz(func(t *testing.T, metric, step, path, dialect, regex string) {
		for _, rule := range []parser.Rule{
			{Metric: metric, Step: step}, {JSON: path, Step: step}, {Dialect: dialect, Metric: metric}, {Regex: regex, Step: step},
		} {
			pattern, err := parser.Compile(rule)
			if (pattern == nil) == (err == nil) {
				t.Fatalf("%+v: got %v and %v", rule, pattern, err)
			}
			if err == nil {
				outcome(rule, []byte(metric+": 0.5\n"+step+" 3\n{\"a\":{\"b\":[1]}}\n"+regex))
			}
		}
	})
}
