package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/parser"
)

// Direction says whether a smaller or a larger value of the objective is better.
type Direction string

// The directions of an objective.
const (
	Minimize Direction = "minimize"
	Maximize Direction = "maximize"
)

// Maximized turns a value so that larger is better. It is its own inverse.
func (d Direction) Maximized(v float64) float64 {
	if d == Minimize {
		return 0 - v // -v would make 0 a -0
	}
	return v
}

// Measure is what lbotune itself measures of the last attempt at a trial.
type Measure string

// The measures: the time that passed, the processor time of all processes, and the most
// memory in bytes. What they are exactly, runner.Exit says.
const (
	Seconds    Measure = "seconds"
	CPUSeconds Measure = "cpu_seconds"
	PeakMemory Measure = "peak_memory"
)

// Metric is a number that every trial reports. One with a direction is an objective and one with a
// limit a constraint, which a trial must report to succeed; the others are only looked at.
type Metric struct {
	Name string `json:"name"`
	// Rule finds the readings in the output.
	Rule parser.Rule `json:"rule"`
	// Measure, if there is one, stands in place of a rule.
	Measure Measure `json:"measure,omitempty"`
	// File is a file that the program writes, read instead of its output when
	// the rule's source is "file". Placeholders are replaced.
	File      string    `json:"file,omitempty"`
	Direction Direction `json:"direction,omitempty"`
	// Threshold, of one of several objectives, is the value beyond which it counts, and
	// Goal the one that is good enough; none is nil.
	Threshold *float64 `json:"threshold,omitempty"`
	Goal      *float64 `json:"goal,omitempty"`
	// Min and Max are limits, ends included; none is nil. A trial that breaks one has
	// succeeded, and does not count as long as another holds them all.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// Stop says that a trial is stopped at the first reading that breaks a limit.
	Stop bool `json:"stop,omitempty"`
}

// StopsEarly reports whether a trial may be stopped for its readings of the metric: it has
// a limit, and readings of it come while the trial runs.
func (m Metric) StopsEarly() bool {
	return m.Stop && m.Limited() && m.Measure == "" && m.Rule.Source != parser.File
}

// MaxMetrics is how many metrics a study may have.
const MaxMetrics = 100

// Objective is the metric that is optimized: the first with a direction.
func (c *Config) Objective() Metric {
	for i := range c.Metrics {
		if c.Metrics[i].Direction != "" {
			return c.Metrics[i]
		}
	}
	return Metric{}
}

// checkMetrics refuses metrics that do not make a study.
func (c *Config) checkMetrics() error {
	if c.Objective().Name == "" {
		return errors.New("there is no metric with a direction and a name: nothing to optimize")
	}
	names := map[string]bool{}
	for _, m := range c.Metrics {
		if m.Name == "" || names[m.Name] {
			return fmt.Errorf("metrics need names of their own: found %q twice or empty", m.Name)
		}
		names[m.Name] = true
		if m.Min != nil && m.Max != nil && *m.Min > *m.Max {
			return fmt.Errorf("metric %s: nothing is at least %v and at most %v", m.Name, *m.Min, *m.Max)
		}
		if m.Stop && !m.StopsEarly() {
			return fmt.Errorf("metric %s: no trial can be stopped without a limit and readings of its output", m.Name)
		}
		if m.Measure != "" && !slices.Contains([]Measure{Seconds, CPUSeconds, PeakMemory}, m.Measure) {
			return fmt.Errorf("metric %s: nothing measures %q", m.Name, m.Measure)
		}
	}
	if len(c.Metrics) > MaxMetrics {
		return fmt.Errorf("there are %d metrics: at most %d can be watched", len(c.Metrics), MaxMetrics)
	}
	return nil
}

// Metrics are values of metrics by their names. One that is missing was not reported.
type Metrics map[string]float64

// Get returns the value of a metric, if there is one.
func (m Metrics) Get(name string) (v float64, ok bool) {
	v, ok = m[name]
	return v, ok
}

// MarshalJSON writes each value as journal.Float does.
func (m Metrics) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	out := make(map[string]journal.Float, len(m))
	for name, v := range m {
		out[name] = journal.Float(v)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Metrics) UnmarshalJSON(text []byte) error {
	var in map[string]journal.Float
	if err := json.Unmarshal(text, &in); err != nil || in == nil {
		return err
	}
	*m = make(Metrics, len(in))
	for name, v := range in {
		(*m)[name] = float64(v)
	}
	return nil
}

// Reported are the Metrics of a finished trial, sorted by name. A study keeps many of
// them, and a map would take ten times the room.
type Reported []ofMetric

type ofMetric struct {
	Name  string
	Value float64
}

// reported returns m in little room.
func (m Metrics) reported() Reported {
	out := make(Reported, 0, len(m))
	for name, v := range m {
		out = append(out, ofMetric{name, v})
	}
	slices.SortFunc(out, func(a, b ofMetric) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Get returns the value of a metric, if there is one.
func (r Reported) Get(name string) (v float64, ok bool) {
	for _, m := range r {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// MarshalJSON writes what the Metrics are written as.
func (r Reported) MarshalJSON() ([]byte, error) {
	m := Metrics{}
	for _, of := range r {
		m[of.Name] = of.Value
	}
	return json.Marshal(m)
}

// outcomes are values of metrics by their names.
type outcomes interface {
	Get(name string) (v float64, ok bool)
}

// Combine folds the metrics of several runs, each metric for itself: its mean, or its
// median, over the runs that have it.
func Combine(runs []Metrics, how string) Metrics {
	values := map[string][]float64{}
	for _, run := range runs {
		for name, v := range run {
			values[name] = append(values[name], v)
		}
	}
	out := Metrics{}
	for name := range values {
		out[name] = combine(values[name], how)
	}
	return out
}

func combine(values []float64, how string) float64 {
	if how == "median" {
		if slices.ContainsFunc(values, math.IsNaN) {
			return math.NaN()
		}
		sorted := slices.Sorted(slices.Values(values))
		n := len(sorted)
		return sorted[(n-1)/2]/2 + sorted[n/2]/2
	}
	mean := 0.0
	for i, v := range values {
		mean += (v - mean) / float64(i+1) // no sum that could overflow
	}
	return mean
}

// Reading is an intermediate value of the objective.
type Reading struct {
	Step, Value float64
	// Others are, of several objectives, the values of those after the first.
	Others []float64
}

// MarshalJSON writes [step, value, others...].
func (r Reading) MarshalJSON() ([]byte, error) {
	all := append([]float64{r.Step, r.Value}, r.Others...)
	return json.Marshal(lists.Map(all, func(v float64) journal.Float { return journal.Float(v) }))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reading) UnmarshalJSON(b []byte) error {
	var all []journal.Float
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if len(all) < 2 {
		return fmt.Errorf("reading: found %d numbers; want a step and a value", len(all))
	}
	others := lists.Map(all[2:], func(v journal.Float) float64 { return float64(v) })
	*r = Reading{Step: float64(all[0]), Value: float64(all[1]), Others: others}
	return nil
}
