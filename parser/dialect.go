package parser

import (
	"cmp"
	"fmt"
	"strings"
)

// Dialect is a way to report results that the programs of another optimizer
// use. A [Rule] with one lets them run unmodified.
type Dialect struct {
	Name string // what a rule calls it
	Peer string // whose programs report like this
	Form string // what a report looks like
	// Metric says what the rule's metric is for: "required", "optional", or
	// empty where reports have no names.
	Metric string
	// Variable is the environment variable that names the file for the results.
	// The file must exist, empty, before the program starts. It is empty for
	// dialects that are printed.
	Variable string

	// How reports are found: by a matcher for each metric, or as compile has it.
	alone    func() matcher
	lastLine bool
	compile  func(p *Pattern) error
}

// Dialects lists the dialects by name.
func Dialects() []Dialect {
	return []Dialect{
		{Name: "bare-number", Peer: "irace (targetRunner), Advisor", Form: "0.31 alone on the last line that is not blank",
			alone: func() matcher { return bareNumberMatcher{} }, lastLine: true},
		{Name: "cost-status", Peer: "SMAC3 (scripts as target functions)", Form: "cost=0.31; runtime=2.5; status=SUCCESS",
			alone: func() matcher { return costStatusMatcher{} }},
		{Name: "metric-value", Peer: "Katib (text metrics)", Form: "{metricName: loss, metricValue: 0.31}", Metric: "required",
			compile: (*Pattern).compileMetricValue},
		{Name: "result-line", Peer: "SMAC 2, ParamILS, AClib", Form: "Result for SMAC: SUCCESS, 2.5, 100, 0.31, 42", Metric: "optional",
			compile: (*Pattern).compileResultLine},
		{Name: "results-file", Peer: "Oríon (report_objective)", Form: `[{"name": "loss", "type": "objective", "value": 0.31}] in a file`,
			Metric: "optional", Variable: "ORION_RESULTS_PATH", compile: (*Pattern).compileResultsFile},
		{Name: "tune-metric", Peer: "Syne Tune (Reporter)", Form: `[tune-metric]: {"epoch": 3, "loss": 0.31}`, Metric: "required",
			compile: (*Pattern).compileTuneMetric},
	}
}

// Variable returns the environment variable that must name the file from which
// the pattern's readings come, or "" if the program need not be told.
func (p *Pattern) Variable() string { return p.variable }

func (p *Pattern) compileDialect() error {
	name := p.rule.Dialect
	var names []string
	for _, d := range Dialects() {
		if d.Name == name {
			return p.useDialect(d)
		}
		names = append(names, d.Name)
	}
	hint := "write one of " + strings.Join(names, ", ")
	for _, known := range Dialects() {
		peer := name != "" && strings.Contains(plainName(known.Peer), plainName(name))
		if peer || distance(name, known.Name) != unrelated {
			hint = fmt.Sprintf("write dialect = %q, or another one of %s", known.Name, strings.Join(names, ", "))
			break
		}
	}
	return &RuleError{Field: "dialect", Value: name, Problem: "is unknown", Hint: hint}
}

// plainName is the name of a program as people write it: in small letters, without
// blanks, dashes and accents.
func plainName(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "", "í", "i").Replace(strings.ToLower(s))
}

func (p *Pattern) useDialect(d Dialect) error {
	switch {
	case d.Metric == "required" && p.rule.Metric == "":
		return &RuleError{Field: "dialect", Value: d.Name, Problem: "has reports of several metrics, and the rule does not say which one",
			Hint: `write metric = "NAME" beside it`}
	case d.Metric == "" && p.rule.Metric != "":
		return &RuleError{Field: "metric", Value: p.rule.Metric, Problem: "has no meaning beside the dialect " + d.Name + ", whose reports have no names",
			Hint: "leave metric out"}
	case d.Variable != "" && p.rule.Source != "" && p.rule.Source != File:
		return &RuleError{Field: "source", Value: string(p.rule.Source), Problem: "has no meaning beside the dialect " + d.Name + ", which reports by a file",
			Hint: "leave source out"}
	case d.Variable != "" && p.rule.Step != "":
		return &RuleError{Field: "step", Value: p.rule.Step, Problem: "has no meaning beside the dialect " + d.Name + ", which reports once, at the end",
			Hint: "leave step out"}
	case p.rule.Metric != "":
		if err := checkName("metric", p.rule.Metric); err != nil {
			return err
		}
	}
	if p.variable = d.Variable; p.variable != "" {
		p.rule.Source = File
	}
	if d.compile != nil {
		return d.compile(p)
	}
	p.lastLine = d.lastLine
	p.findAlone(d.alone)
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
