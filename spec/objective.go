package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study"
)

// metrics reads [objective], or [objectives.NAME], and [metrics.NAME].
func (t *table) metrics(ok *[]int) []study.Metric {
	out := t.objectives(ok)
	if out == nil {
		out = []study.Metric{t.objective(ok)}
	}
	all := t.sub("metrics")
	for _, name := range all.keys() {
		if len(out) == study.MaxMetrics {
			all.Wrong(name, "", "there are more than %d metrics", study.MaxMetrics)
			break
		}
		out = append(out, all.sub(name).watched(name, out))
	}
	return out
}

// objectives reads [objectives.NAME], nil if there are none.
func (t *table) objectives(ok *[]int) []study.Metric {
	if !t.has("objectives") {
		return nil
	}
	all := t.sub("objectives")
	var out []study.Metric
	for _, name := range all.keys() {
		s := all.sub(name)
		direction := s.direction()
		threshold, goal := s.limit("threshold"), s.limit("goal")
		if codes := s.exitCodes("ok_exit"); codes != nil {
			s.when(*ok != nil && !slices.Equal(*ok, codes), "ok_exit", "say it once for all", "another objective has the exit codes %v", *ok)
			*ok = codes
		}
		m := s.watched(name, nil)
		m.Direction, m.Threshold, m.Goal = direction, threshold, goal
		out = append(out, m)
	}
	if out != nil && t.has("objective") {
		t.sub("objective").self("write all of them as [objectives.NAME]", "cannot stand beside [objectives.%s]", out[0].Name)
	}
	return out
}

func (t *table) direction() study.Direction {
	return study.Direction(t.OneOf("direction", string(study.Minimize), string(study.Maximize)))
}

func (t *table) objective(ok *[]int) study.Metric {
	s := t.sub("objective")
	o := s.metric()
	o.Direction = s.direction()
	o.Name = cmp.Or(o.Rule.Metric, o.Rule.JSON, string(o.Measure), "value")
	*ok = s.exitCodes("ok_exit")
	s.done()
	switch {
	case s.data == nil && t.misread("objective", "objectives"): // it is no table, which has been said
	case len(s.data) == 0:
		t.doc.noRule = true
		t.Missing("objective", "for example\n\n    [objective]\n    metric = \"loss\"\n    direction = \"minimize\"", "nothing says what to optimize: add a table [objective]")
	default:
		s.checkRule(o.Rule)
	}
	return o
}

// watched reads [metrics.NAME]. Without a rule, the metric is found by its name.
func (t *table) watched(name string, others []study.Metric) study.Metric {
	m := t.metric()
	m.Name = name
	if !t.hasRule() {
		m.Rule.Metric = name
	}
	t.done()
	switch {
	case slices.ContainsFunc(others, func(o study.Metric) bool { return o.Direction != "" && o.Name == name }):
		t.self("give it another name", "is what the objective is called")
	case name == "" || strings.ContainsFunc(name, unicode.IsControl):
		t.self("", "found the name %q; want a line of text", name)
	}
	t.checkRule(m.Rule)
	return m
}

// hasRule reports whether the table says itself where its metric is found.
func (t *table) hasRule() bool {
	return slices.ContainsFunc([]string{"metric", "regex", "json", "last_number", "dialect", "measure"}, t.has)
}

// metric reads the keys that say where a metric is found.
func (t *table) metric() study.Metric {
	var m study.Metric
	t.structure(&m.Rule)
	m.File = t.Text("file")
	m.Measure = study.Measure(t.oneOf("measure", "", string(study.Seconds), string(study.CPUSeconds), string(study.PeakMemory)))
	for _, k := range ruleKeys {
		t.when(t.has("measure") && t.has(k), k, "leave it out", "has no meaning beside measure, which is not looked for in any output")
	}
	if m.File != "" && m.Rule.Source == "" {
		m.Rule.Source = parser.File
	}
	t.when(m.Rule.Source == parser.File && m.File == "" && m.Rule.Dialect == "",
		"source", `add file = "{trial_dir}/result.json"`, "source file needs the name of the file")
	t.when(m.File != "" && m.Rule.Source != parser.File, "file", "", "is read only when source is file; found source = %q", m.Rule.Source)
	return m
}

// ruleKeys are the keys that say where in its output a metric is found.
var ruleKeys = []string{"metric", "regex", "json", "last_number", "dialect", "source", "step", "pick", "file"}

// misread reports whether there is a complaint about one of the keys, or about a
// key that may misspell one.
func (t *table) misread(keys ...string) bool {
	for k := range t.data {
		near := k
		if !slices.Contains(t.known(), k) {
			near, _ = spelling.Nearest(k, keys)
		}
		if slices.Contains(keys, near) && slices.ContainsFunc(t.doc.problems, func(p Problem) bool { return p.Key == t.name(k) }) {
			return true
		}
	}
	return false
}

// checkRule hands the parser's complaints about a rule on, each at its key, unless there is
// another one about it.
func (t *table) checkRule(rule parser.Rule) {
	if t.has("measure") || t.misread(ruleKeys...) {
		return
	}
	_, err := parser.Compile(rule)
	for _, e := range parts(err) {
		var re *parser.RuleError
		switch {
		case errors.As(e, &re) && t.has(re.Field):
			t.ruleProblem(re)
		case re != nil:
			if t.doc.noRule = re.Field == "objective"; t.doc.noRule {
				re.Hint += "; lbotune check --smoke lists what there is"
			}
			t.self(re.Hint, "%s", re.Problem)
		default:
			t.self("", "%v", e)
		}
	}
}

// parts are the errors that were joined to one.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

// ruleProblem points at the byte of the rule where the trouble is, if the file
// shows the rule as it is.
func (t *table) ruleProblem(re *parser.RuleError) {
	msg := re.Problem
	if re.Value != "" {
		msg = fmt.Sprintf("found \"%s\": %s", re.Value, re.Problem)
		if strings.HasPrefix(re.Problem, "is ") {
			msg = fmt.Sprintf("\"%s\" %s", re.Value, re.Problem)
		}
	}
	t.inText(re.Field, re.Value, re.Offset, len(re.Value)-re.Offset, re.Hint, "%s", msg)
}

func (t *table) exitCodes(k string) []int {
	var out []int
	for _, e := range t.array(k, "an array of exit codes such as [0, 10, 20]") {
		n, ok := e.(int64)
		if !ok || n < 0 || n > 255 {
			t.Wrong(k, "", "found %s; an exit code is a whole number from 0 to 255", describe(e))
			return nil
		}
		out = append(out, int(n))
	}
	return out
}

// constraints reads [constraints.NAME]: limits on metrics that the config has, or on new
// ones. It returns the metric that each name limits.
func (t *table) constraints(cfg *study.Config) map[string]string {
	all := t.sub("constraints")
	out := map[string]string{}
	for _, name := range all.keys() {
		s := all.sub(name)
		low, high, stop := s.limit("min"), s.limit("max"), s.boolean("stop")
		if low == nil && high == nil && s.data != nil && !s.misread("min", "max") {
			s.Missing("max", "for example max = 8", "needs a limit, max or min")
		}
		if low != nil && high != nil && *low > *high {
			s.Wrong("min", "", "min is %v and max is %v: nothing is both", *low, *high)
		}
		i := slices.IndexFunc(cfg.Metrics, func(m study.Metric) bool { return m.Name == s.refersTo(name) })
		if i >= 0 {
			s.metric() // so that its keys are known
			s.done()
		} else {
			if slices.ContainsFunc(cfg.Metrics[1:], func(m study.Metric) bool { return m.Name == name }) {
				s.self("give it another name, or leave out where it is found", "is what another metric is called")
			}
			i = len(cfg.Metrics)
			cfg.Metrics = append(cfg.Metrics, s.watched(name, cfg.Metrics))
		}
		m := &cfg.Metrics[i]
		switch {
		case i == study.MaxMetrics:
			s.self("", "there are more than %d metrics", study.MaxMetrics)
		case m.Limited():
			s.self("write min and max into one table", "metric %s has a limit already", m.Name)
		}
		m.Min, m.Max, m.Stop = low, high, stop
		s.when(m.Stop && !m.StopsEarly() && m.Limited(),
			"stop", "leave it out", "a trial can be stopped only for what it prints while it runs, and %s is known when it has ended", m.Name)
		out[name] = m.Name
	}
	return out
}

// refersTo is the name of the metric that a constraint limits if there is one: its own,
// or the one after the key metric where no other key says how to find it.
func (t *table) refersTo(name string) string {
	if !t.hasRule() {
		return name
	}
	other := slices.ContainsFunc(append([]string{"measure"}, ruleKeys...), func(k string) bool { return k != "metric" && t.has(k) })
	if metric, ok := t.data["metric"].(string); ok && !other {
		return metric
	}
	return ""
}

// limit reads a number that may not be there.
func (t *table) limit(k string) *float64 {
	if x, ok := t.number(k); ok {
		return &x
	}
	return nil
}

// failedMeans checks which limit a failure means to be broken.
func (t *table) failedMeans(r *study.Run, limited map[string]string) {
	if r.FailedMeans == "" {
		return
	}
	metric, ok := limited[r.FailedMeans]
	if !ok {
		names := slices.Sorted(maps.Keys(limited))
		t.Wrong("failed_means", didYouMeanWord(r.FailedMeans, names), "there is no table [constraints.%s]", r.FailedMeans)
	}
	r.FailedMeans = metric
}
