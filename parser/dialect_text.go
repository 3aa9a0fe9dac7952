package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
)

// bareNumber takes a line that is one number and nothing else.
func bareNumber(l line, found []occurrence) []occurrence {
	if l.blank() {
		return found
	}
	start := skipBlanks(l.text, 0)
	size := len(trimBlanks(l.text[start:]))
	n := scanNumber(l.text[start:], numberMode{cut: l.cut})
	o := occurrence{kind: absent, at: start, end: start + size}
	if n.size == size && n.kind != notNumeric {
		o.kind, o.value = n.kind, n.value
	}
	return append(found, o)
}

// fieldPattern finds the fields of cost=0.31; runtime=2.5; status=SUCCESS.
var fieldPattern = pattern.Lazy(`(?:^|;)([^;=]*)=([^;]*)`)

// costStatus reads lines of such fields. A cost beside a status of failure is not a value.
func costStatus(l line, found []occurrence) []occurrence {
	cost, status := occurrence{}, occurrence{}
	for _, field := range fieldPattern().FindAllSubmatchIndex(l.text, -1) {
		o := occurrence{at: field[4], end: field[5]}
		value := l.text[o.at:o.end]
		switch string(bytes.TrimSpace(l.text[field[2]:field[3]])) {
		case "cost":
			if cost = readField(o, value); l.cut && o.end == len(l.text) {
				cost.kind = unreadable
			}
		case "status":
			status = readStatus(o, value)
		}
	}
	switch {
	case status.kind == failed:
		return append(found, status)
	case !cost.empty():
		return append(found, cost)
	}
	return found
}

// readField reads a field that is a number and nothing else.
func readField(o occurrence, field []byte) occurrence {
	o.printed = strings.TrimSpace(string(field))
	o.value, o.kind = wholeNumber([]byte(o.printed))
	return o
}

// readStatus gives an occurrence of the kind failed, or notNumeric for success.
func readStatus(o occurrence, field []byte) occurrence {
	o.printed = strings.Trim(string(field), " \t\"'")
	status, known := statuses[strings.ToUpper(o.printed)]
	if !known {
		status = "ended with a status that is not known"
	}
	if o.status = status; status != "" {
		o.kind = failed
	}
	return o
}

// statuses are what programs call how they ended, empty for success.
var statuses = map[string]string{"SUCCESS": "", "SAT": "", "UNSAT": "", "CRASHED": "crashed", "TIMEOUT": "timed out",
	"CAPPED": "timed out", "MEMORYOUT": "ran out of memory", "MEMOUT": "ran out of memory", "ABORT": "aborted"}

// resultLinePattern finds the line by which target algorithms report.
var resultLinePattern = pattern.Lazy(
	`^\s*(?:[Ff]inal\s+)?[Rr]esult\s+(?:[Ff]or|[Oo]f)\s+(?:HAL|ParamILS|SMAC|[Tt]his\s+[Ww]rapper|(?:[Tt]his\s+)?[Aa]lgorithm\s+[Rr]un)\s*:`)

// spacedRE separates the fields of most programs, and resultFields are how many there are without further text.
var spacedRE = pattern.Lazy(`,\s+`)

const resultFields = 5

// resultLineMatcher reads Result for SMAC: status, runtime, run length,
// quality, seed, and the same as a JSON object.
type resultLineMatcher struct {
	field int    // in the list
	key   string // in the object
}

// resultLines are the matchers of the metrics that such a line has.
var resultLines = map[string]resultLineMatcher{"": {3, "cost"}, "quality": {3, "cost"}, "runtime": {1, "runtime"}}

func (m resultLineMatcher) match(l line, found []occurrence) []occurrence {
	mark := resultLinePattern().FindIndex(l.text)
	if mark == nil || l.cut {
		return found
	}
	o := occurrence{at: mark[1], end: len(l.text)}
	rest := l.text[mark[1]:]
	if value, ok := decodeJSON(rest); ok {
		if report, ok := value.(map[string]any); ok {
			return append(found, m.fromObject(o, report))
		}
	}
	fields := bytes.Split(rest, []byte(","))
	if apart := spacedRE().Split(string(rest), -1); len(fields) > resultFields && len(apart) >= resultFields { // a comma may be a decimal one
		for i, field := range apart {
			fields[i] = []byte(field)
		}
	}
	if status := readStatus(o, fields[0]); status.kind == failed {
		return append(found, status)
	}
	if len(fields) <= m.field {
		o.kind, o.printed = unreadable, strings.TrimSpace(string(rest))
		return append(found, o)
	}
	return append(found, readField(o, fields[m.field]))
}

func (m resultLineMatcher) fromObject(o occurrence, report map[string]any) occurrence {
	if word, ok := report["status"].(string); ok {
		if status := readStatus(o, []byte(word)); status.kind == failed {
			return status
		}
	}
	value := jsonOccurrence(report[m.key])
	if value.kind == notNumeric {
		value.kind, value.printed = unreadable, "no "+m.key
	}
	value.at, value.end = o.at, o.end
	return value
}

// metricValuePattern finds {metricName: loss, metricValue: 0.31}.
var metricValuePattern = pattern.Lazy(
	`\{\s*["']?metricName["']?\s*:\s*["']?([^"',}]+?)["']?\s*,\s*["']?metricValue["']?\s*:\s*["']?([^"'}]*?)["']?\s*\}`)

// metricValueMatcher reads the reports of some metrics among others.
type metricValueMatcher struct {
	wanted map[string][]int // metrics by their name
	names  []string         // of the first reports, each once
}

func joinMetricValue(m *searched, rule Rule) {
	reports := sharedMatcher(m.stream, "metricValue", &metricValueMatcher{wanted: map[string][]int{}}, true)
	reports.wanted[rule.Metric] = append(reports.wanted[rule.Metric], m.metric)
	m.why = reports
}

func (m *metricValueMatcher) match(l line, found []occurrence) []occurrence {
	const enough = 8
	for _, groups := range metricValuePattern().FindAllSubmatchIndex(l.text, -1) {
		name := l.text[groups[2]:groups[3]]
		o := readField(occurrence{at: groups[4], end: groups[5]}, l.text[groups[4]:groups[5]])
		for _, o.metric = range m.wanted[string(name)] {
			found = append(found, o)
		}
		if len(m.names) < enough && !slices.Contains(m.names, string(name)) {
			m.names = append(m.names, string(name))
		}
	}
	return found
}

func (m *metricValueMatcher) explain() (detail, hint string) {
	if len(m.names) == 0 {
		return "no line has {metricName: ..., metricValue: ...}", ""
	}
	return "there are reports of " + quoteSome(m.names), ""
}
