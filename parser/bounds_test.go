package parser_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/parser"
)

// repeat is a reader of size bytes that repeats a text.
type repeat struct {
	text []byte
	at   int
	size int64
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.size == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.size)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.size -= int64(n)
	return n, nil
}

// allocated runs f and tells how many bytes it allocated in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestMemoryIsBounded(t *testing.T) {
	const gigabyte = 1 << 30
	size := int64(gigabyte)
	if testing.Short() {
		size = 64 << 20
	}
	block := func(text string) []byte { return bytes.Repeat([]byte(text), 1+(32<<10)/len(text)) }
	tests := []struct {
		name string
		rule parser.Rule
		text []byte
		size int64
	}{
		{"no newline", parser.Rule{Metric: "loss"}, block("loss "), size},
		{"no newline, every line looked at", parser.Rule{LastNumber: true}, block("1.5 x"), size / 32},
		{"no newline, JSON", parser.Rule{JSON: "loss"}, block(`{"a":[`), size / 32},
		{"JSON that never ends", parser.Rule{JSON: "loss"}, block("{\"a\":\n"), size / 256},
		{"a metric on every line", parser.Rule{Metric: "loss", Step: "epoch"}, block("epoch 3 train loss: 0.25 acc: 0.9\n"), size / 64},
		{"unreadable on every line", parser.Rule{Metric: "loss"}, block("loss: 0,25\n"), size / 128},
		{"only CR", parser.Rule{Metric: "loss"}, block("12%|#### | loss=0.25\r"), size / 64},
		{"zeros", parser.Rule{Metric: "loss"}, make([]byte, 32<<10), size / 32},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pattern, err := parser.Compile(test.rule)
			if err != nil {
				t.Fatal(err)
			}
			collector := parser.NewCollector(pattern)
			bytes := allocated(func() {
				scanner := collector.Scanner(parser.Stdout, nil)
				buffer := make([]byte, 64<<10)
				if n, err := io.CopyBuffer(scanner, struct{ io.Reader }{&repeat{text: test.text, size: test.size}}, buffer); n != test.size || err != nil {
					t.Errorf("%s: copied %d, %v", test.name, n, err)
				}
				if err := scanner.Close(); err != nil {
					t.Error(err)
				}
			})
			if limit := uint64(24 << 20); bytes > limit {
				t.Errorf("%s: %d bytes allocated for %d bytes of log, limit %d", test.name, bytes, test.size, limit)
			}
		})
	}
}

func TestJSONOverTooManyLines(t *testing.T) {
	log := "{\"list\": [\n" + strings.Repeat("1234567,\n", 1<<19) + "1],\n\"loss\": 1}\n"
	_, err := read(t, parser.Rule{JSON: "loss"}, parser.Stdout, log)
	var e *parser.NoValueError
	if !errors.As(err, &e) || !strings.Contains(e.Error(), "on line 1 is longer than can be read") {
		t.Errorf("got %v", err)
	}
}

func TestMetricAfterAFlood(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "accuracy"})
	if err != nil {
		t.Fatal(err)
	}
	flood := strings.Repeat("noise without end ", effort.Of(1<<18, 1<<20, 1<<20))
	for text, want := range map[string]string{
		flood + "\naccuracy: 0.5\n":            "",
		flood + "\naccuracy=0.5":               "",
		"accuracy=0.5\r" + flood:               "",
		flood + "\n" + flood + "\nAccuracy: 1": `"Accuracy" on line 3`,
	} {
		t.Run(text[len(text)-20:], func(t *testing.T) {
			collector := parser.NewCollector(pattern)
			scanner := collector.Scanner(parser.Stdout, nil)
			if _, err := io.Copy(scanner, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			if err := scanner.Close(); err != nil {
				t.Fatal(err)
			}
			result, err := collector.Result(0)
			var e *parser.NoValueError
			switch {
			case want == "" && (err != nil || result.Value != 0.5):
				t.Errorf("...%q: got %v, %v", text[len(text)-20:], result.Value, err)
			case want != "" && (!errors.As(err, &e) || !strings.Contains(e.Error(), want)):
				t.Errorf("...%q: got %v, want %q", text[len(text)-20:], err, want)
			}
		})
	}
}

func benchmarkLog(b *testing.B, text string, rules ...parser.Rule) {
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(scanLog(b, text, rules...))
	}
}

// scanLog reads a megabyte of text in one pass.
func scanLog(b *testing.B, text string, rules ...parser.Rule) int64 {
	patterns := make([]*parser.Pattern, len(rules))
	for i, rule := range rules {
		var err error
		if patterns[i], err = parser.Compile(rule); err != nil {
			b.Fatal(err)
		}
	}
	scanner := parser.NewCollector(patterns...).Scanner(parser.Stdout, nil)
	size := 0
	for block := []byte(strings.Repeat(text, 1+(64<<10)/len(text))); size < 1<<20; size += len(block) {
		if _, err := scanner.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := scanner.Close(); err != nil {
		b.Fatal(err)
	}
	return int64(size)
}

func BenchmarkScan(b *testing.B) {
	const noise = "2026-01-12 09:15:02,123 INFO worker-3 processed 512 records in 0.031 s, queue 17\n"
	const metric = "epoch 3/10 step 1500 train_loss: 0.4127 loss: 0.3123 acc: 93.1%\n"
	const colour = "\x1b[90m12:01:03\x1b[0m \x1b[1;34mINFO\x1b[0m nothing of interest here\n"
	for _, bench := range []struct {
		name string
		rule parser.Rule
		text string
	}{
		{"name/none", parser.Rule{Metric: "loss"}, noise},
		{"name/every-line", parser.Rule{Metric: "loss"}, metric},
		{"name-step/every-line", parser.Rule{Metric: "loss", Step: "epoch"}, metric},
		{"name/colours", parser.Rule{Metric: "loss"}, colour},
		{"regex/none", parser.Rule{Regex: `loss: ([-+.\deE]+)`}, noise},
		{"regex/every-line", parser.Rule{Regex: ` loss: ([-+.\deE]+)`}, metric},
		{"regex-no-literal/none", parser.Rule{Regex: `(?i)loss: ([-+.\deE]+)`}, noise},
		{"last-number", parser.Rule{LastNumber: true}, noise},
		{"json/none", parser.Rule{JSON: "loss"}, noise},
		{"json/every-line", parser.Rule{JSON: "eval.loss"}, `{"time":"2026-01-12T09:16:02Z","epoch":1,"eval":{"loss":0.72,"f1":0.61}}` + "\n"},
	} {
		b.Run(bench.name, func(b *testing.B) { benchmarkLog(b, bench.text, bench.rule) })
	}
}

// BenchmarkHostile has lines as long as they can be, on which a rule that goes
// back and forth would take minutes.
func BenchmarkHostile(b *testing.B) {
	for _, text := range hostile() {
		b.Run(text, func(b *testing.B) {
			line := strings.Repeat(text, parser.MaxLine/len(text)) + "\n"
			for _, rule := range fuzzRules() {
				benchmarkLine(b, rule, line)
			}
		})
	}
}

func benchmarkLine(b *testing.B, rule parser.Rule, line string) {
	name := rule.Metric + rule.Regex + rule.JSON + rule.Dialect
	b.Run(name, func(b *testing.B) { benchmarkLog(b, line, rule) })
}

// manyRules are a hundred rules of a kind, and a log in which all metrics are
// printed again and again, or none.
func manyRules(kind string) (rules []parser.Rule, log string) {
	const metrics = 100
	var line strings.Builder
	for i := range metrics {
		name := fmt.Sprintf("%s/%s_%d", []string{"train", "valid"}[i%2], []string{"loss", "acc", "f1", "time"}[i%4], i)
		rule := parser.Rule{Metric: name, Step: "epoch"}
		switch kind {
		case "json":
			rule = parser.Rule{JSON: `metrics["` + name + `"]`, Step: "epoch"}
		case "regex", "regex-none":
			rule = parser.Rule{Regex: name + `=([-+.\deE]+)`, Step: "epoch"}
		case "tune-metric":
			rule = parser.Rule{Dialect: "tune-metric", Metric: name, Step: "epoch"}
		}
		rules = append(rules, rule)
		switch kind {
		case "json", "tune-metric":
			fmt.Fprintf(&line, `%q: %d.25, `, name, i)
		default:
			fmt.Fprintf(&line, "%s=%d.25 ", name, i)
		}
	}
	const noise = "2026-01-12 09:15:02,123 INFO worker-3 processed 512 records in 0.031 s, queue 17\n"
	switch kind {
	case "json":
		return rules, `{"epoch": 3, "metrics": {` + strings.TrimSuffix(line.String(), ", ") + "}}\n" + noise
	case "tune-metric":
		return rules, `[tune-metric]: {"epoch": 3, ` + strings.TrimSuffix(line.String(), ", ") + "}\n" + noise
	case "none", "regex-none":
		return rules, noise
	}
	return rules, "epoch 3 " + line.String() + "\n" + noise
}

// BenchmarkMany reads a hundred metrics in one pass, and in a hundred.
func BenchmarkMany(b *testing.B) {
	for _, kind := range []string{"none", "name", "regex-none", "regex", "json", "tune-metric"} {
		rules, text := manyRules(kind)
		b.Run(kind+"/together", func(b *testing.B) { benchmarkLog(b, text, rules...) })
		b.Run(kind+"/apart", func(b *testing.B) {
			for b.Loop() {
				for _, rule := range rules {
					scanLog(b, text, rule)
				}
			}
		})
	}
}

// No older reading takes the place of one in a JSON text that is too long to read.
func TestReadingInTooLongJSON(t *testing.T) {
	line := func(epoch, size int, loss float64) string {
		return fmt.Sprintf("{\"epoch\": %d, \"history\": [%s0], \"loss\": %v}\n", epoch, strings.Repeat("0.25, ", size), loss)
	}
	const long = parser.MaxLine / 6
	growing := line(1, 10, 0.9) + line(2, long, 0.7) + line(3, long, 0.5)
	lines := "{\n\"loss\": 0.9}\n{\"history\": [\n" + strings.Repeat("0.25,\n", 4<<20/6) + "0],\n\"loss\": 0.5}\n"
	objects := "{\n\"history\": [\n" + strings.Repeat("{\"loss\": 0.25},\n", 4<<20/15+1000) +
		"{\"loss\": 0.3}],\n\"loss\": 0.5}\n"
	for i, c := range []struct {
		rule  parser.Rule
		log   string
		value float64
		line  int // of the text that is too long
	}{
		{parser.Rule{Metric: "loss"}, growing, 0, 3},
		{parser.Rule{JSON: "loss"}, growing, 0, 3},
		{parser.Rule{JSON: "loss", Pick: "max"}, growing, 0, 3},
		{parser.Rule{JSON: "loss", Pick: "first"}, growing, 0.9, 0},
		{parser.Rule{JSON: "loss"}, growing + line(4, 10, 0.4), 0.4, 0},
		{parser.Rule{Metric: "loss"}, growing + "loss=0.4\n", 0.4, 0},
		{parser.Rule{Metric: "epoch"}, growing, 3, 0}, // before what is too long
		{parser.Rule{Metric: "loss"}, "loss=0.9\n" + strings.Repeat("noise ", long) + "\n", 0.9, 0},
		{parser.Rule{JSON: "loss"}, lines, 0, 3},
		{parser.Rule{JSON: "loss"}, "{\"loss\": 0.9}\n" + objects, 0, 2},
		{parser.Rule{JSON: "loss", Pick: "min"}, "{\"loss\": 0.9}\n" + objects, 0, 2},
		{parser.Rule{JSON: "loss"}, objects + "{\"loss\": 0.4}\n", 0.4, 0},
		{parser.Rule{JSON: "loss"}, strings.TrimSuffix(objects, "\n") + "{\"loss\": 0.4}\n", 0.4, 0},
		{parser.Rule{JSON: "loss"}, strings.TrimSuffix(objects, ",\n\"loss\": 0.5}\n") + "\n{\"loss\":\n0.4}\n", 0.4, 0},
	} {
		if i%effort.Sequential(2, 1, 1) != 0 {
			continue
		}
		t.Run(fmt.Sprintf("%+v of %d bytes", c.rule, len(c.log)), func(t *testing.T) {
			result, err := read(t, c.rule, parser.Stdout, c.log)
			var e *parser.NoValueError
			switch {
			case c.line == 0 && (err != nil || result.Value != c.value):
				t.Errorf("%+v: got %v, %v; want %v", c.rule, result.Value, err, c.value)
			case c.line > 0 && (!errors.As(err, &e) || e.Reason != "incomplete" || !strings.Contains(e.Detail, fmt.Sprintf("on line %d of stdout is longer", c.line))):
				t.Errorf("%+v: got %v, %v; want none", c.rule, result.Value, err)
			}
		})
	}
	const want = `no JSON value at "loss" in 280624 lines of stdout; the JSON text on line 1 is longer than can be read`
	if _, err := read(t, parser.Rule{JSON: "loss"}, parser.Stdout, objects); err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}
