package parser

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tuneReports reads lines such as [tune-metric]: {"loss": 0.31}. The
// keys are flat; they may have dots.
type tuneReports struct{ jsonMatcher }

const tuneMetricMark = "[tune-metric]:"

func joinTuneMetric(m *searched, rule Rule) {
	step := cmp.Or(rule.Step, "st_worker_iter") // the reporter's own count
	flat := &pathVisitor{path: jsonPath{{key: rule.Metric}}, step: jsonPath{{key: step}}}
	reports := sharedMatcher(m.stream, tuneMetricMark, &tuneReports{jsonMatcher{ends: "}"}}, true)
	none := "no line has " + tuneMetricMark + " before a JSON object"
	m.inTexts(&reports.jsonMatcher, &jsonSearch{what: "report", none: none, visit: func(value any) ([]occurrence, *dead) {
		found, end := flat.visit(value)
		if end != nil {
			end = &dead{why: "has " + quoteSome(slices.Sorted(maps.Keys(value.(map[string]any))))}
		}
		return found, end
	}})
}

func (m *tuneReports) match(l line, found []occurrence) []occurrence {
	for from := 0; ; {
		i := bytes.Index(l.text[from:], []byte(tuneMetricMark))
		if i < 0 {
			return found
		}
		from = skipBlanks(l.text, from+i+len(tuneMetricMark))
		m.shape = jsonShape{}
		size, complete, valid := m.shape.feed(l.text[from:])
		if complete && l.text[from] == '{' {
			found = m.decode(l.text[from:from+size], l.number, from, found)
		} else if !complete && valid {
			return found // the rest of the line is one torn text
		}
	}
}

// objectives reads a list of {name, type, value}, of which one has the type objective. The name
// is that of the objective; empty for the only one.
func objectives(name string) func(value any) ([]occurrence, *dead) {
	return func(value any) (found []occurrence, end *dead) {
		list, _ := value.([]any)
		var names []string
		for _, entry := range list {
			result, _ := entry.(map[string]any)
			if result["type"] != "objective" {
				continue
			}
			its, _ := result["name"].(string)
			names = append(names, its)
			if name == "" || name == its {
				o := jsonOccurrence(result["value"])
				if o.kind == notNumeric {
					o.kind, o.printed = unreadable, "null"
				}
				found = append(found, o)
			}
		}
		switch {
		case len(found) > 1:
			found = []occurrence{{kind: rivals, printed: strings.Join(names, ", ")}}
		case len(found) == 0 && len(names) == 0:
			end = &dead{why: "has no entry of the type objective"}
		case len(found) == 0:
			end = &dead{why: fmt.Sprintf("has no objective %q", name), near: names}
		}
		return found, end
	}
}
