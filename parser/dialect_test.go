package parser_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

func TestDialects(t *testing.T) {
	type want struct {
		value  float64
		reason string // empty for a value
		status string // what the program reports of itself
	}
	tests := []struct {
		rule parser.Rule
		text string
		want want
	}{
		{parser.Rule{Dialect: "cost-status"}, "cost=0.5", want{value: 0.5}},
		{parser.Rule{Dialect: "cost-status"}, "cost = 0.5 ; status = SUCCESS ", want{value: 0.5}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: SAT, 2,5, 100, 0,31, 42", want{reason: "not a number"}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: SAT, 2.5, 100, 0.31, 42, a,b", want{value: 0.31}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: SAT,2.5,100,0.31,42,a, b", want{value: 0.31}},
		{parser.Rule{Dialect: "cost-status"}, "cost=1.5D-01; runtime=1", want{value: 0.15}},
		{parser.Rule{Dialect: "cost-status"}, "total cost=9\ncost=0.5; runtime=1\nbye", want{value: 0.5}},
		{parser.Rule{Dialect: "cost-status"}, "status=TIMEOUT", want{0, "failed", "timed out"}},
		{parser.Rule{Dialect: "cost-status"}, "cost=0.5; status=MEMORYOUT", want{0, "failed", "ran out of memory"}},
		{parser.Rule{Dialect: "cost-status"}, "cost=0.5; status=FINE", want{0, "failed", "ended with a status that is not known"}},
		{parser.Rule{Dialect: "cost-status"}, "cost=0.5, 0.4; status=SUCCESS", want{reason: "not a number"}},
		{parser.Rule{Dialect: "cost-status"}, "cost=inf; status=SUCCESS", want{reason: "not finite"}},
		{parser.Rule{Dialect: "cost-status"}, "cost=; status=SUCCESS", want{reason: "not a number"}},
		{parser.Rule{Dialect: "cost-status"}, "costs 5", want{reason: "no match"}},

		{parser.Rule{Dialect: "result-line"}, "Result for ParamILS: SAT, 1.5, 0, 0.25, 7, extra", want{value: 0.25}},
		{parser.Rule{Dialect: "result-line"}, "Final Result for HAL: SUCCESS, 1.5, 0, 0.25, 7", want{value: 0.25}},
		{parser.Rule{Dialect: "result-line"}, "Result of algorithm run: SUCCESS, 1.5, 0, 0.25, 7", want{value: 0.25}},
		{parser.Rule{Dialect: "result-line", Metric: "runtime"}, "Result of this algorithm run: UNSAT, 1.5, 0, 0.25, 7", want{value: 1.5}},
		{parser.Rule{Dialect: "result-line"}, `Result of this algorithm run: {"status": "SUCCESS", "cost": 0.25}`, want{value: 0.25}},
		{parser.Rule{Dialect: "result-line"}, `Result of this algorithm run: {"status": "SUCCESS", "cost": NaN}`, want{reason: "not finite"}},
		{parser.Rule{Dialect: "result-line"}, `Result of this algorithm run: {"status": "SUCCESS"}`, want{reason: "not a number"}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: CRASHED, 1.5, 0, 0.25, 7", want{0, "failed", "crashed"}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: ABORT, 1.5, 0, 0.25, 7", want{0, "failed", "aborted"}},
		{parser.Rule{Dialect: "result-line"}, "Result for SMAC: SUCCESS, 1.5", want{reason: "not a number"}},
		{parser.Rule{Dialect: "result-line"}, "results for SMAC: none", want{reason: "no match"}},

		{parser.Rule{Dialect: "metric-value", Metric: "f1-score"}, "{metricName: f1-score, metricValue: -0.25};{metricName: loss, metricValue: 1}", want{value: -0.25}},
		{parser.Rule{Dialect: "metric-value", Metric: "loss"}, `{"metricName": "loss", "metricValue": "1e-3"}`, want{value: 1e-3}},
		{parser.Rule{Dialect: "metric-value", Metric: "loss"}, "{metricName: loss, metricValue: high}", want{reason: "not a number"}},
		{parser.Rule{Dialect: "metric-value", Metric: "loss"}, "{metricName: val_loss, metricValue: 1}", want{reason: "no match"}},

		{parser.Rule{Dialect: "tune-metric", Metric: "a.b"}, `x [tune-metric]: {"a.b": 0.25} y`, want{value: 0.25}},
		{parser.Rule{Dialect: "tune-metric", Metric: "a"}, `[tune-metric]: {"a": NaN}`, want{reason: "not finite"}},
		{parser.Rule{Dialect: "tune-metric", Metric: "a"}, `[tune-metric]: {"a": "high"}`, want{reason: "not a number"}},
		{parser.Rule{Dialect: "tune-metric", Metric: "a"}, `[tune-metric]: {"a": 1`, want{reason: "no match"}},
		{parser.Rule{Dialect: "tune-metric", Metric: "a"}, `{"a": 1}`, want{reason: "no match"}},

		{parser.Rule{Dialect: "bare-number"}, "loss 1\n 0.25 \n\n", want{value: 0.25}},
		{parser.Rule{Dialect: "bare-number"}, "Inf\n", want{reason: "not finite"}},
		{parser.Rule{Dialect: "bare-number"}, "0,25", want{reason: "not a number"}},
		{parser.Rule{Dialect: "bare-number"}, "0.25 12", want{reason: "no match"}},
		{parser.Rule{Dialect: "bare-number"}, "0.25\ndone", want{reason: "no match"}},

		{parser.Rule{Dialect: "results-file"}, `[{"name": "a", "type": "objective", "value": 1}, {"name": "b", "type": "constraint", "value": 2}]`, want{value: 1}},
		{parser.Rule{Dialect: "results-file", Metric: "b"}, "[\n {\"name\": \"a\", \"type\": \"objective\", \"value\": 1},\n {\"name\": \"b\", \"type\": \"objective\", \"value\": 2}\n]\n", want{value: 2}},
		{parser.Rule{Dialect: "results-file"}, `[{"name": "a", "type": "objective", "value": 1}, {"name": "b", "type": "objective", "value": 2}]`, want{reason: "ambiguous"}},
		{parser.Rule{Dialect: "results-file"}, `[{"name": "a", "type": "objective", "value": null}]`, want{reason: "not a number"}},
		{parser.Rule{Dialect: "results-file"}, `[{"name": "a", "type": "objective", "value": Infinity}]`, want{reason: "not finite"}},
		{parser.Rule{Dialect: "results-file"}, `[{"name": "a", "type": "statistic", "value": 1}]`, want{reason: "no match"}},
		{parser.Rule{Dialect: "results-file"}, "", want{reason: "no match"}},
	}
	for _, test := range tests {
		t.Run(test.rule.Dialect+" "+test.text, func(t *testing.T) {
			source := parser.Stdout
			if test.rule.Dialect == "results-file" {
				source = parser.File
			}
			result, err := read(t, test.rule, source, test.text)
			got := want{value: result.Value}
			var e *parser.NoValueError
			if errors.As(err, &e) {
				got = want{reason: e.Reason}
				if _, report, failed := strings.Cut(e.Detail, "reports that it "); failed {
					got.status, _, _ = strings.Cut(report, " (")
				}
			}
			if got != test.want {
				t.Errorf("%s %s of %q: got %+v (%v), want %+v", test.rule.Dialect, test.rule.Metric, test.text, got, err, test.want)
			}
		})
	}
}

func TestDialectList(t *testing.T) {
	forms := map[string]string{
		"bare-number":  "0.31",
		"cost-status":  "cost=0.31; runtime=2.5; status=SUCCESS",
		"metric-value": "{metricName: loss, metricValue: 0.31}",
		"result-line":  "Result for SMAC: SUCCESS, 2.5, 100, 0.31, 42",
		"results-file": `[{"name": "loss", "type": "objective", "value": 0.31}]`,
		"tune-metric":  `[tune-metric]: {"epoch": 3, "loss": 0.31}`,
	}
	names := parser.Dialects()
	if want := slices.Sorted(maps.Keys(forms)); !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	for _, name := range names {
		rule := parser.Rule{Dialect: name}
		if name == "metric-value" || name == "tune-metric" {
			if _, err := parser.Compile(rule); err == nil {
				t.Errorf("%s compiled without its metric", name)
			}
			rule.Metric = "loss"
		}
		pattern, err := parser.Compile(rule)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := pattern.Variable(), map[string]string{"results-file": "ORION_RESULTS_PATH"}[name]; got != want {
			t.Errorf("%s: variable %q, want %q", name, got, want)
		}
		result, err := read(t, rule, pattern.Rule().Source, forms[name])
		if err != nil || result.Value != 0.31 {
			t.Errorf("%s: its form %q gives %v, %v", name, forms[name], result.Value, err)
		}
	}
}

func TestDialectRuleErrors(t *testing.T) {
	tests := []struct {
		rule  parser.Rule
		field string
		want  string
		hint  string
	}{
		{parser.Rule{Dialect: "tune_metrics"}, "dialect",
			`dialect = "tune_metrics": is unknown`,
			`write dialect = "tune-metric", or another one of bare-number, cost-status, metric-value, result-line, results-file, tune-metric`},
		{parser.Rule{Dialect: "katib"}, "dialect",
			`dialect = "katib": is unknown`,
			`write dialect = "metric-value", or another one of bare-number, cost-status, metric-value, result-line, results-file, tune-metric`},
		{parser.Rule{Dialect: "syne-tune"}, "dialect",
			`dialect = "syne-tune": is unknown`,
			`write dialect = "tune-metric", or another one of bare-number, cost-status, metric-value, result-line, results-file, tune-metric`},
		{parser.Rule{Dialect: "orion"}, "dialect",
			`dialect = "orion": is unknown`,
			`write dialect = "results-file", or another one of bare-number, cost-status, metric-value, result-line, results-file, tune-metric`},
		{parser.Rule{Dialect: "xyz"}, "dialect",
			`dialect = "xyz": is unknown`,
			"write one of bare-number, cost-status, metric-value, result-line, results-file, tune-metric"},
		{parser.Rule{Dialect: "metric-value"}, "dialect",
			`dialect = "metric-value": has reports of several metrics, and the rule does not say which one`,
			`write metric = "NAME" beside it`},
		{parser.Rule{Dialect: "bare-number", Metric: "loss"}, "metric",
			`metric = "loss": has no meaning beside the dialect bare-number, whose reports have no names`,
			"leave metric out"},
		{parser.Rule{Dialect: "result-line", Metric: "loss"}, "metric",
			`metric = "loss": is not in the reports of the dialect result-line`,
			"write quality, which is the default, or runtime"},
		{parser.Rule{Dialect: "results-file", Source: parser.Stdout}, "source",
			`source = "stdout": has no meaning beside the dialect results-file, which reports by a file`,
			"leave source out"},
		{parser.Rule{Dialect: "results-file", Step: "epoch"}, "step",
			`step = "epoch": has no meaning beside the dialect results-file, which reports once, at the end`,
			"leave step out"},
		{parser.Rule{Dialect: "bare-number", Pick: "min"}, "pick",
			`pick = "min": cannot be, since only the last line is read`,
			"leave pick out, or find the metric by metric or regex"},
		{parser.Rule{Dialect: "cost-status", JSON: "a"}, "dialect",
			"dialect cannot stand beside json: each is a way to find the metric by itself", "keep one of json, dialect"},
		{parser.Rule{JSON: "a..b"}, "json",
			`json = "a..b": has an empty key`, `a path is written as in eval.history[-1]["val.loss"]`},
		{parser.Rule{JSON: "a[x]"}, "json",
			`json = "a[x]": has "x" in brackets, which is neither an index nor a quoted key`,
			`a path is written as in eval.history[-1]["val.loss"]`},
		{parser.Rule{JSON: "a[1"}, "json",
			`json = "a[1": has a [ without a ]`, `a path is written as in eval.history[-1]["val.loss"]`},
		{parser.Rule{JSON: `a["b`}, "json",
			`json = "a[\"b": has a quoted key without its end`, `a path is written as in eval.history[-1]["val.loss"]`},
		{parser.Rule{JSON: "a[0]b"}, "json",
			`json = "a[0]b": has something after a bracket that is neither a dot nor a bracket`,
			`a path is written as in eval.history[-1]["val.loss"]`},
		{parser.Rule{JSON: "a", Step: "b["}, "step",
			`step = "b[": has a [ without a ]`, `a path is written as in eval.history[-1]["val.loss"]`},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%+v", test.rule), func(t *testing.T) {
			_, err := parser.Compile(test.rule)
			var e *parser.RuleError
			if !errors.As(err, &e) || e.Field != test.field || e.Error() != test.want || e.Hint != test.hint {
				t.Errorf("%+v: got %v, %+v, want %s: %s, with the hint %q", test.rule, err, e, test.field, test.want, test.hint)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	tests := []struct {
		path, text string
		want       []float64
	}{
		{"loss", `{"loss": 1}`, []float64{1}},
		{"loss", `2026-01-12 [INFO] {"loss": 1} {"loss": 2} {x}`, []float64{1, 2}},
		{"loss", "{\n[INFO] x\n{\"loss\": 1}\n", []float64{1}},
		{"loss", "{\n\"a\": {\"loss\": 5},\nwhat\n{\"loss\": 1}\n", []float64{1}},
		{"loss", "{\"loss\":\n1\n}\n{\"loss\": 2}", []float64{1, 2}},
		{"loss", "{\"text\": \"{ \\\" }\", \"loss\": 1}", []float64{1}},
		{"loss", `{"loss": null}` + "\n" + `{"loss": 1}`, []float64{1}},
		{"loss", `{"a": NaN, "b": "NaN \" NaN", "loss": 1}`, []float64{1}},
		{"loss", `{"loss": 1, "loss": 2}`, []float64{2}},
		{"loss", "{\"loss\": 1}\x1b[0m", []float64{1}},
		{"a b.c/d", `{"a b": {"c/d": 1}}`, []float64{1}},
		{"précision", `{"pr\u00e9cision": 1}`, []float64{1}},
		{"a[0][1]", `{"a": [[1, 2]]}`, []float64{2}},
		{"a.1", `{"a": [1, 2]}`, []float64{2}},
		{"[-1].x", `[{"x": 1}, {"x": 2}]`, []float64{2}},
		{"loss", `{"loss": 1`, nil},
		{"loss", `{'loss': 1}`, nil},
		{"loss", `{"loss": [1]}`, nil},
		{"loss", `{"loss": true}`, nil},
	}
	for _, test := range tests {
		t.Run(test.path+" "+test.text, func(t *testing.T) {
			var got []float64
			for _, r := range readings(t, parser.Rule{JSON: test.path}, test.text) {
				got = append(got, r.Value)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s in %q: got %v, want %v", test.path, test.text, got, test.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss", Step: "epoch"})
	if err != nil {
		t.Fatal(err)
	}
	log := "epoch 1 \x1b[32mloss\x1b[0m: 0.5\nepoch 2 loss: 0,4\r\x07" + strings.Repeat("é", 200) + " loss: nan " + strings.Repeat("é", 200) + "x\nepoch 3 loss: 0.25%\n"
	var got []string
	result, err := pattern.Explain(strings.NewReader(log), func(m parser.Match) {
		got = append(got, m.Problem+"|"+m.Excerpt[m.Start:m.End])
		if strings.ContainsAny(m.Excerpt, "\x07\x1b\r\ufffd") {
			t.Errorf("%q has control characters", m.Excerpt)
		}
		if len(m.Excerpt) > 400 {
			t.Errorf("%q is long", m.Excerpt)
		}
	})
	if want := []string{"|0.5", "not a number|0,4", "not finite|nan", "|0.25%"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err != nil || result.Value != 0.25 || result.Reading.Line != 3 || result.Reading.Step != 3 || result.Count != 3 {
		t.Errorf("got %+v, %v", result, err)
	}
	_, err = pattern.Explain(strings.NewReader("Loss: 1"), func(m parser.Match) { t.Errorf("matched %+v", m) })
	var e *parser.NoValueError
	if !errors.As(err, &e) || e.Hint != `write metric = "Loss"` {
		t.Errorf("got %v", err)
	}
}

// TestStreamedReadings checks what a pruner sees when qualifiers come and go.
func TestStreamedReadings(t *testing.T) {
	pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		text string
		want []float64
	}{
		{"val loss 1\nval loss 2\n", []float64{1, 2}},
		{"loss 1\nval loss 2\nloss 3\n", []float64{1, 3}},
		{"train loss 1\nval loss 2\ntrain loss 3\nloss 4\n", []float64{1, 4}},
		{"loss 1\n - - loss 2\n - - train loss 3\n - val - - loss 4\n", []float64{1, 2}},
		{"loss 1\nloss 0,5\nloss nan\nloss inf\nloss 2\n", []float64{1, 2}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			var got []float64
			scanner := parser.NewCollector(pattern).Scanner(parser.Stdout, func(r parser.Reading) {
				if r.Value-r.Value == 0 {
					got = append(got, r.Value)
				}
			})
			if _, err := scanner.Write([]byte(test.text)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q: got %v, want %v", test.text, got, test.want)
			}
		})
	}
}
