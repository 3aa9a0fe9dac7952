package parser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// fuzzRules covers every kind of rule.
func fuzzRules() []parser.Rule {
	return []parser.Rule{
		{Metric: "loss", Step: "epoch"},
		{Metric: "loss", Step: `^\[(\d+)\]`, Pick: parser.PickMin},
		{Metric: "é", Pick: parser.PickMean},
		{Regex: `l(?:oss)?[=:](.*?)(?:,|$)`, Pick: parser.PickMax},
		{Regex: `(?i)(?P<value>[\d.]+).*?(?P<step>\d*)`, Pick: parser.PickFirst},
		{LastNumber: true, Step: "epoch"},
		{JSON: "eval.loss", Step: "epoch"},
		{JSON: "[-1].loss"},
		{Dialect: "bare-number"},
		{Dialect: "cost-status"},
		{Dialect: "result-line"},
		{Dialect: "metric-value", Metric: "loss"},
		{Dialect: "tune-metric", Metric: "loss"},
		{Dialect: "results-file"},
	}
}

// hostile are texts that, repeated, tempt a parser to look at each byte often.
func hostile() []string {
	return []string{"loss=n", "loss loss ", "\x1b]", "\x1b[", "1e+1+", "{\"a\":", "{\"loss\":1}", "[[", "+-", "1,", "1'",
		"Result for SMAC: ", "{metricName: loss,", "[tune-metric]: {\"", "[tune-metric]: ,", "cost=1;", "epoch 1 loss 2 ",
		"lossloss", "1.1.", "{\"eval\":{\"loss\":", "'loss', ", "loss\xff1", "loss: tensor("}
}

// outcome is all that can be seen of a rule's run over chunks, as text.
func outcome(rule parser.Rule, chunks ...[]byte) string {
	pattern, err := parser.Compile(rule)
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	collector := pattern.Collector()
	scanner := collector.Scanner(pattern.Rule().Source, func(r parser.Reading) { fmt.Fprintf(&out, "%+v\n", r) })
	for _, chunk := range chunks {
		if _, err := scanner.Write(chunk); err != nil {
			panic(err)
		}
		for i := range chunk {
			chunk[i] = '7' // the scanner must not keep what it was lent
		}
	}
	if err := scanner.Close(); err != nil {
		panic(err)
	}
	result, err := collector.Result()
	fmt.Fprintf(&out, "%+v %v", result, err)
	return out.String()
}

// pieces cuts text into pieces whose sizes are given by cuts, again and again.
func pieces(text, cuts []byte) [][]byte {
	var chunks [][]byte
	for i := 0; len(text) > 0; i++ {
		size := 1
		if len(cuts) > 0 {
			size = min(int(cuts[i%len(cuts)]), len(text))
		}
		chunks = append(chunks, append([]byte(nil), text[:size]...))
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
		whole := outcome(rule, append([]byte(nil), text...))
		if cut := outcome(rule, pieces(text, cuts)...); cut != whole {
			t.Errorf("%+v over %q:\nin one piece: %s\nin pieces:    %s", rule, text, whole, cut)
		}
	})
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
			whole := outcome(rule, append([]byte(nil), text...))
			for at := 0; at <= len(text); at += 1 + len(text)/60 {
				cut := outcome(rule, append([]byte(nil), text[:at]...), append([]byte(nil), text[at:]...))
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
