package parser

import (
	"cmp"
	"fmt"
	"strings"
)

// dialect is a way to report results that the programs of another optimizer use.
type dialect struct {
	name  string // what a rule calls it
	peers string // whose programs report like this
	// metric says what the rule's metric is for: "required", "optional", or
	// empty where reports have no names.
	metric string
	// variable names the file for the results, in the environment; empty for
	// dialects that are printed.
	variable string
	compile  func(p *Pattern) error // how reports are found
}

func dialects() []dialect {
	return []dialect{
		{name: "bare-number", peers: "irace (targetRunner), Advisor", compile: (*Pattern).compileBareNumber},
		{name: "cost-status", peers: "SMAC3 (scripts as target functions)", compile: (*Pattern).compileCostStatus},
		{name: "metric-value", peers: "Katib (text metrics)", metric: "required", compile: (*Pattern).compileMetricValue},
		{name: "result-line", peers: "SMAC 2, ParamILS, AClib", metric: "optional", compile: (*Pattern).compileResultLine},
		{name: "results-file", peers: "Oríon (report_objective)", metric: "optional", variable: "ORION_RESULTS_PATH", compile: (*Pattern).compileResultsFile},
		{name: "tune-metric", peers: "Syne Tune (Reporter)", metric: "required", compile: (*Pattern).compileTuneMetric},
	}
}

// Dialects lists what a [Rule] may have as its Dialect. What the programs of irace, SMAC3,
// Katib, SMAC 2, Oríon and Syne Tune report is, in the order of the names:
//
//	bare-number   0.31, alone on the last line that is not blank
//	cost-status   cost=0.31; runtime=2.5; status=SUCCESS
//	metric-value  {metricName: loss, metricValue: 0.31}
//	result-line   Result for SMAC: SUCCESS, 2.5, 100, 0.31, 42
//	results-file  [{"name": "loss", "type": "objective", "value": 0.31}], in a file
//	tune-metric   [tune-metric]: {"epoch": 3, "loss": 0.31}
func Dialects() (names []string) {
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

// Variable returns the environment variable that must name the file from which
// the pattern's readings come, or "" if the program need not be told. The file
// must exist, empty, before the program starts.
func (p *Pattern) Variable() string { return p.variable }

func (p *Pattern) compileDialect() error {
	name := p.rule.Dialect
	names := strings.Join(Dialects(), ", ")
	hint := ""
	for _, d := range dialects() {
		if d.name == name {
			return p.useDialect(d)
		}
		peer := name != "" && strings.Contains(plainName(d.peers), plainName(name))
		if hint == "" && (peer || distance(name, d.name) != unrelated) {
			hint = fmt.Sprintf("write dialect = %q, or another one of %s", d.name, names)
		}
	}
	return &RuleError{Field: "dialect", Value: name, Problem: "is unknown", Hint: cmp.Or(hint, "write one of "+names)}
}

// plainName is the name of a program as people write it: in small letters, without
// blanks, dashes and accents.
func plainName(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "", "í", "i").Replace(strings.ToLower(s))
}

func (p *Pattern) useDialect(d dialect) error {
	switch {
	case d.metric == "required" && p.rule.Metric == "":
		return &RuleError{Field: "dialect", Value: d.name, Problem: "has reports of several metrics, and the rule does not say which one",
			Hint: `write metric = "NAME" beside it`}
	case d.metric == "" && p.rule.Metric != "":
		return &RuleError{Field: "metric", Value: p.rule.Metric, Problem: "has no meaning beside the dialect " + d.name + ", whose reports have no names",
			Hint: "leave metric out"}
	case d.variable != "" && p.rule.Source != "" && p.rule.Source != File:
		return &RuleError{Field: "source", Value: string(p.rule.Source), Problem: "has no meaning beside the dialect " + d.name + ", which reports by a file",
			Hint: "leave source out"}
	case d.variable != "" && p.rule.Step != "":
		return &RuleError{Field: "step", Value: p.rule.Step, Problem: "has no meaning beside the dialect " + d.name + ", which reports once, at the end",
			Hint: "leave step out"}
	case p.rule.Metric != "":
		if err := checkName("metric", p.rule.Metric); err != nil {
			return err
		}
	}
	if p.variable = d.variable; p.variable != "" {
		p.rule.Source = File
	}
	return d.compile(p)
}

func (p *Pattern) compileBareNumber() error {
	p.lastLine = true
	p.findAlone(func() matcher { return bareNumberMatcher{} })
	return nil
}

func (p *Pattern) compileCostStatus() error {
	p.findAlone(func() matcher { return costStatusMatcher{} })
	return nil
}

func (p *Pattern) compileTuneMetric() error {
	step := cmp.Or(p.rule.Step, "st_worker_iter") // the reporter's own count
	p.ownStep = true
	p.join = func(m *matchers, metric int) {
		own := &tuneMetric{metric: metric, name: p.rule.Metric, step: step}
		reports := sharedMatcher(m, tuneMetricMark, &tuneMetricMatcher{})
		reports.wanted = append(reports.wanted, own)
		m.why[metric] = own
	}
	return nil
}

func (p *Pattern) compileResultsFile() error {
	p.ownStep = true
	p.findInJSON('[', jsonSearch{visitor: objectiveVisitor{name: p.rule.Metric}})
	return nil
}

func (p *Pattern) compileResultLine() error {
	m := resultLineMatcher{field: 3, key: "cost"}
	switch p.rule.Metric {
	case "", "quality":
	case "runtime":
		m = resultLineMatcher{field: 1, key: "runtime"}
	default:
		return &RuleError{Field: "metric", Value: p.rule.Metric, Problem: "is not in the reports of the dialect result-line",
			Hint: "write quality, which is the default, or runtime"}
	}
	p.findAlone(func() matcher { return m })
	return nil
}

func (p *Pattern) compileMetricValue() error {
	p.join = func(m *matchers, metric int) {
		reports := sharedMatcher(m, "metricValue", &metricValueMatcher{wanted: map[string][]int{}})
		reports.wanted[p.rule.Metric] = append(reports.wanted[p.rule.Metric], metric)
		m.why[metric] = reports
	}
	return nil
}
