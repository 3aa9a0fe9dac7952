package parser

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Source names the stream that a reading comes from, or the ones that a rule
// reads.
type Source string

// The sources.
const (
	Stdout Source = "stdout"
	Stderr Source = "stderr"
	File   Source = "file" // a file that the program writes; the caller reads it
)

// both are stdout and stderr, for rules.
const both Source = "both"

// Which of a trial's readings is its value: see Rule.
const (
	pickLast  = "last"
	pickFirst = "first"
	pickMin   = "min"
	pickMax   = "max"
	pickMean  = "mean"
)

// Rule says how to find a metric. Exactly one of Metric, Regex, JSON,
// LastNumber and Dialect is set, but for Metric, which names the metric within
// the dialects that print names.
type Rule struct {
	// Metric is the metric's name as printed. It is found as a whole word,
	// before a separator and a number.
	Metric string `json:"metric,omitempty"`
	// Regex is a regular expression (RE2) for a part of one line. Its group is
	// the number; of several groups the one named value, and one named step is
	// the step.
	Regex string `json:"regex,omitempty"`
	// JSON is the path of the number in a JSON text: keys joined by dots,
	// indices in brackets, as in eval.history[-1].loss.
	JSON string `json:"json,omitempty"`
	// LastNumber takes the last number of the last line that is not blank.
	LastNumber bool `json:"last_number,omitempty"`
	// Dialect is the name of a way to report that another optimizer's programs
	// use: one of [Dialects].
	Dialect string `json:"dialect,omitempty"`

	// Source is where to look: one of the streams, or "both" for stdout and
	// stderr. Empty is Stdout, or File for a dialect that reports by a file.
	Source Source `json:"source,omitempty"`
	// Step is the name of the epoch or step that goes with a reading, or, if it
	// has parentheses, a regular expression for it. With JSON it is a path,
	// with a dialect that has names a name.
	Step string `json:"step,omitempty"`
	// Pick chooses among several readings: "last", as does the empty one,
	// "first", "min", "max" or "mean". The least and the greatest are chosen
	// among those that are not nan. If the chosen one is infinite, or any of
	// those that a mean is made of is not finite, there is no value.
	Pick string `json:"pick,omitempty"`
}

// RuleError is one thing that is wrong with a [Rule].
type RuleError struct {
	Field   string // the rule's field as a spec calls it: metric, regex, last_number ...
	Value   string // what the field says
	Offset  int    // the byte of Value where the trouble is
	Problem string // what is wrong, to be read after the field and its value
	Hint    string // how to mend it; may be empty
}

// Error gives the problem in one line, without the hint.
func (e *RuleError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s %s", e.Field, e.Problem)
	}
	return fmt.Sprintf("%s = %q: %s", e.Field, e.Value, e.Problem)
}

// fault is an error of a rule that has it.
type fault struct {
	has bool
	RuleError
}

// first gives the first error that a rule has, nil for none.
func first(faults ...fault) error {
	for _, f := range faults {
		if f.has {
			return &f.RuleError
		}
	}
	return nil
}

// Pattern is a checked rule. It may be used by many trials at once. The zero Pattern
// finds nothing.
type Pattern struct {
	rule Rule
	step matcher // of the steps, nil for none
	way
}

// way is how a metric is found.
type way struct {
	join     joiner // nil for none
	lastLine bool   // only the last line that is not blank counts
	ownStep  bool   // what is found has its step
	variable string // see Pattern.Variable
}

// Rule returns the rule with its defaults filled in.
func (p *Pattern) Rule() Rule { return p.rule }

// Compile checks a rule. The error joins a [*RuleError] for each thing that is
// wrong.
func Compile(rule Rule) (*Pattern, error) {
	p := &Pattern{rule: rule}
	err := p.checkKind()
	if err == nil {
		err = p.compileKind()
	}
	err = errors.Join(err, p.checkSource(), p.checkPick())
	if err == nil && rule.Step != "" && !p.ownStep {
		p.step, err = stepMatcher(rule.Step)
		err = errors.Join(err)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkKind finds out whether the rule says exactly one way to find the metric.
func (p *Pattern) checkKind() error {
	var given []string
	r := p.rule
	for i, set := range []bool{r.Metric != "" && r.Dialect == "", r.Regex != "", r.JSON != "", r.LastNumber, r.Dialect != ""} {
		if set {
			given = append(given, []string{"metric", "regex", "json", "last_number", "dialect"}[i])
		}
	}
	switch len(given) {
	case 0:
		return &RuleError{Field: "objective", Problem: "does not say how to find the metric",
			Hint: `write metric = "NAME", or one of regex, json, last_number = true, dialect`}
	case 1:
		return nil
	}
	return &RuleError{Field: given[1],
		Problem: "cannot stand beside " + given[0] + ": each is a way to find the metric by itself",
		Hint:    "keep one of " + strings.Join(given, ", ")}
}

func (p *Pattern) compileKind() error {
	switch {
	case p.rule.Dialect != "":
		return p.compileDialect()
	case p.rule.JSON != "":
		return p.compileJSON()
	case p.rule.Regex != "":
		m, err := newRegexMatcher("regex", p.rule.Regex)
		if err != nil {
			return err
		}
		p.join = alone(m.match)
	case p.rule.LastNumber:
		p.lastLine = true
		p.join = alone(lastNumber)
	default:
		if err := checkName("metric", p.rule.Metric); err != nil {
			return err
		}
		p.join = func(m *searched, rule Rule) {
			sharedMatcher(m.stream, "names", &nameMatcher{}, false).add(&soughtName{metric: m.metric, step: rule.Step}, rule.Metric)
		}
	}
	return nil
}

// checkName refuses names that no line can have.
func checkName(field, name string) error {
	control := strings.IndexFunc(name, unicode.IsControl)
	return first(
		fault{!utf8.ValidString(name), RuleError{field, name, 0, "is not UTF-8", "use regex"}},
		fault{strings.TrimSpace(name) != name, RuleError{field, name, 0, "begins or ends with a blank, which is never part of the name",
			fmt.Sprintf("write %q", strings.TrimSpace(name))}},
		fault{control >= 0, RuleError{field, name, control, "has a control character, but a rule sees one line of plain text at a time",
			"write the name as it is printed"}},
	)
}

func (p *Pattern) checkSource() error {
	p.rule.Source = cmp.Or(p.rule.Source, Stdout)
	source := p.rule.Source
	return first(
		fault{source == both && p.lastLine, RuleError{"source", string(both), 0, "leaves open which stream's last line is meant",
			`write source = "stdout" or source = "stderr"`}},
		fault{!slices.Contains([]Source{Stdout, Stderr, File, both}, source), RuleError{"source", string(source), 0, "is unknown",
			"write stdout, stderr, both or file"}},
	)
}

func (p *Pattern) checkPick() error {
	p.rule.Pick = cmp.Or(p.rule.Pick, pickLast)
	pick, picks := p.rule.Pick, []string{pickLast, pickFirst, pickMin, pickMax, pickMean}
	return first(
		fault{!slices.Contains(picks, pick), RuleError{"pick", pick, 0, "is unknown", "write last, first, min, max or mean"}},
		fault{pick != pickLast && p.lastLine, RuleError{"pick", pick, 0, "cannot be, since only the last line is read",
			`leave pick out, or find the metric by metric or regex`}},
	)
}
