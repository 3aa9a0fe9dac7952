package parser

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const tuneMetricMark = "[tune-metric]:"

// joinTuneMetric adds the search in lines such as [tune-metric]: {"loss": 0.31}. The
// keys are flat; they may have dots.
func joinTuneMetric(m *searched, rule Rule) {
	step := cmp.Or(rule.Step, "st_worker_iter") // the reporter's own count
	flat := &pathVisitor{path: jsonPath{{key: rule.Metric}}, step: jsonPath{{key: step}}}
	reports := &jsonMatcher{open: '{', ends: "}", mark: []byte(tuneMetricMark),
		what: "report", none: "no line has " + tuneMetricMark + " before a JSON object"}
	m.inJSON(reports, jsonSearch{visit: func(value any) ([]occurrence, *dead) {
		found, end := flat.visit(value)
		if end != nil {
			end = &dead{why: "has " + quoteSome(slices.Sorted(maps.Keys(value.(map[string]any))))}
		}
		return found, end
	}})
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
