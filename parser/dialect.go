package parser

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
)

// dialect is a way to report results that the programs of another optimizer use.
type dialect struct {
	name  string // what a rule calls it
	peers string // whose programs report like this
	// metric says what the rule's metric is for: "required", "optional", or
	// empty where reports have no names.
	metric string
	way
}

func dialects() []dialect {
	return []dialect{
		{name: "bare-number", peers: "irace (targetRunner), Advisor", way: way{lastLine: true, join: alone(bareNumber)}},
		{name: "cost-status", peers: "SMAC3 (scripts as target functions)", way: way{join: alone(costStatus)}},
		{name: "metric-value", peers: "Katib (text metrics)", metric: "required", way: way{join: joinMetricValue}},
		{name: "result-line", peers: "SMAC 2, ParamILS, AClib", metric: "optional", way: way{join: func(m *searched, rule Rule) {
			alone(resultLines[rule.Metric].match)(m, rule)
		}}},
		{name: "results-file", peers: "Oríon (report_objective)", metric: "optional", way: way{variable: "ORION_RESULTS_PATH", ownStep: true, join: func(m *searched, rule Rule) {
			m.inJSON(jsonTexts('['), jsonSearch{visit: objectives(rule.Metric)})
		}}},
		{name: "tune-metric", peers: "Syne Tune (Reporter)", metric: "required", way: way{ownStep: true, join: joinTuneMetric}},
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
func Dialects() []string {
	return lists.Map(dialects(), func(d dialect) string { return d.name })
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
	r, senseless := &p.rule, "has no meaning beside the dialect "+d.name
	_, known := resultLines[r.Metric]
	bad := checkName("metric", r.Metric)
	err := first(
		fault{d.metric == "required" && r.Metric == "", RuleError{"dialect", d.name, 0,
			"has reports of several metrics, and the rule does not say which one", `write metric = "NAME" beside it`}},
		fault{d.metric == "" && r.Metric != "", RuleError{"metric", r.Metric, 0, senseless + ", whose reports have no names", "leave metric out"}},
		fault{d.variable != "" && r.Source != "" && r.Source != File, RuleError{"source", string(r.Source), 0,
			senseless + ", which reports by a file", "leave source out"}},
		fault{d.variable != "" && r.Step != "", RuleError{"step", r.Step, 0, senseless + ", which reports once, at the end", "leave step out"}},
		fault{d.name == "result-line" && !known && bad == nil, RuleError{"metric", r.Metric, 0,
			"is not in the reports of the dialect result-line", "write quality, which is the default, or runtime"}},
	)
	if err = cmp.Or(err, bad); err != nil {
		return err
	}
	if p.way = d.way; p.variable != "" {
		r.Source = File
	}
	return nil
}
