package parser

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tuneMetricMatcher reads lines such as [tune-metric]: {"loss": 0.31}. The
// keys are flat; they may have dots.
type tuneMetricMatcher struct {
	wanted []*tuneMetric
}

// tuneMetric is one metric of the reports.
type tuneMetric struct {
	metric     int
	name, step string
	line       int // of the first report without it
	keys       []string
}

const tuneMetricMark = "[tune-metric]:"

func (m *tuneMetricMatcher) needles() [][]byte { return [][]byte{[]byte(tuneMetricMark)} }

func (m *tuneMetricMatcher) match(l line, found []occurrence) []occurrence {
	for from := 0; ; {
		i := bytes.Index(l.text[from:], []byte(tuneMetricMark))
		if i < 0 {
			return found
		}
		from += i + len(tuneMetricMark)
		from = skipBlanks(l.text, from)
		var shape jsonShape
		size, complete, valid := shape.feed(l.text[from:])
		if !complete {
			if valid {
				return found // the rest of the line is one torn text
			}
			continue
		}
		value, _ := decodeJSON(l.text[from : from+size])
		report, ok := value.(map[string]any)
		if !ok {
			continue
		}
		for _, w := range m.wanted {
			if o := w.read(l, report); o.kind != notNumeric {
				o.at, o.end = from, from
				found = append(found, o)
			}
		}
	}
}

func (w *tuneMetric) read(l line, report map[string]any) occurrence {
	o := jsonOccurrence(report[w.name])
	o.metric = w.metric
	if o.kind == notNumeric && w.line == 0 {
		w.line, w.keys = l.number, slices.Sorted(maps.Keys(report))
	}
	if step := jsonOccurrence(report[w.step]); step.kind == finite {
		o.step, o.hasStep = step.value, true
	}
	return o
}

func (w *tuneMetric) explain() (detail, hint string) {
	if w.line == 0 {
		return "no line has " + tuneMetricMark + " before a JSON object", ""
	}
	return fmt.Sprintf("the report on line %d has %s", w.line, quoteSome(w.keys)), ""
}

// objectiveVisitor reads a list of {name, type, value}, of which one has the
// type objective.
type objectiveVisitor struct {
	name string // of the objective; empty for the only one
}

func (v objectiveVisitor) visit(value any, notes *jsonNotes) []occurrence {
	list, _ := value.([]any)
	var found []occurrence
	var names []string
	for _, entry := range list {
		result, _ := entry.(map[string]any)
		if result["type"] != "objective" {
			continue
		}
		name, _ := result["name"].(string)
		names = append(names, name)
		if v.name == "" || v.name == name {
			o := jsonOccurrence(result["value"])
			if o.kind == notNumeric {
				o.kind, o.printed = unreadable, "null"
			}
			found = append(found, o)
		}
	}
	switch {
	case len(found) > 1:
		return []occurrence{{kind: rivals, printed: strings.Join(names, ", ")}}
	case len(found) == 0 && len(names) == 0:
		notes.lacks(&dead{why: "has no entry of the type objective"})
	case len(found) == 0:
		notes.lacks(&dead{why: fmt.Sprintf("has no objective %q", v.name), near: names})
	}
	return found
}
