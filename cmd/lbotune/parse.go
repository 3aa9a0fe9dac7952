package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/parser"
)

func newParse(g *global) *cobra.Command {
	var rule parser.Rule
	cmd := &cobra.Command{
		Use:   "parse FILE",
		Short: "Try a metric rule on a saved log",
		Long: `Parse reads FILE (- for standard input) as if a trial had printed it, shows every
match of the rule with its line, and says which value the trial would get. Without a
rule it lists the candidates.`,
		Example: "  lbotune parse --metric loss train.log",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in := g.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return usage(err)
				}
				defer f.Close()
				in = f
			}
			return parseLog(g, rule, in)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&rule.Metric, "metric", "m", "", "find the metric by its `NAME`")
	f.StringVar(&rule.Regex, "regex", "", "find it by a regular `EXPRESSION` with one group")
	f.StringVar(&rule.JSON, "json-path", "", "find it at a `PATH` in JSON")
	f.BoolVar(&rule.LastNumber, "last-number", false, "take the last number of the last line")
	f.StringVar(&rule.Dialect, "dialect", "", "read the reports of another optimizer's programs, by its `NAME`:\n"+strings.Join(parser.Dialects(), ", "))
	f.StringVar(&rule.Step, "step", "", "find the step by its `NAME`")
	f.StringVar(&rule.Pick, "pick", "", "`WHICH` reading counts: last, first, min, max or mean")
	completeFlag(cmd, "dialect", parser.Dialects()...)
	completeFlag(cmd, "pick", "last", "first", "min", "max", "mean")
	return cmd
}

// matchJSON is one match, a line of its own with --json.
type matchJSON struct {
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Text    string   `json:"text"`
	Value   *float64 `json:"value"`
	Step    *float64 `json:"step,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// parsedJSON is the last line that parse prints with --json.
type parsedJSON struct {
	Value    float64 `json:"value"`
	Readings int     `json:"readings"`
	Lines    int     `json:"lines"`
}

func parseLog(g *global, rule parser.Rule, in io.Reader) error {
	if rule == (parser.Rule{}) {
		return listCandidates(g, in)
	}
	pattern, err := parser.Compile(rule)
	if err != nil {
		return wrongRule(rule, err)
	}
	var printErr error
	result, err := pattern.Explain(in, func(m parser.Match) {
		if printErr != nil {
			return
		}
		if g.json {
			printErr = printLine(g.out, newMatchJSON(m))
			return
		}
		_, printErr = fmt.Fprintf(g.out, "%s\n", describeMatch(m))
	})
	var none *parser.NoValueError
	switch {
	case printErr != nil:
		return printErr
	case errors.As(err, &none) && none.Hint != "":
		return &marked{hinted(none, none.Hint), errNoValue}
	case errors.As(err, &none):
		return &marked{none, errNoValue}
	case err != nil:
		return usage(err)
	case g.json:
		return printLine(g.out, parsedJSON{result.Value, result.Count, result.Lines})
	}
	_, err = fmt.Fprintf(g.out, "value %s, the %s of %s in %s\n", exact(result.Value), pattern.Rule().Pick,
		count(result.Count, "reading"), count(result.Lines, "line"))
	return err
}

// wrongRule adds to the complaints about a rule how to mend it.
func wrongRule(r parser.Rule, err error) error {
	if r.Metric == "" && r.Regex == "" && r.JSON == "" && r.Dialect == "" && !r.LastNumber {
		return hinted(usagef("nothing says how to find the metric"),
			"give --metric NAME, --regex EXPRESSION, --json-path PATH, --last-number or --dialect NAME")
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var hints []string
	for _, e := range list {
		var re *parser.RuleError
		if errors.As(e, &re) && re.Hint != "" && !slices.Contains(hints, re.Hint) {
			hints = append(hints, re.Hint)
		}
	}
	if len(hints) == 0 {
		return usage(err)
	}
	return hinted(usage(err), strings.Join(hints, "; "))
}

func newMatchJSON(m parser.Match) matchJSON {
	out := matchJSON{Line: m.Reading.Line, Column: m.Reading.Column, Text: m.Reading.Text, Problem: m.Problem}
	if m.Problem == "" {
		out.Value = &m.Reading.Value
	}
	if m.Reading.HasStep {
		out.Step = &m.Reading.Step
	}
	return out
}

func describeMatch(m parser.Match) string {
	text := fmt.Sprintf("line %d: %s", m.Reading.Line, oneLine(m.Reading.Text))
	if m.Reading.HasStep {
		text += " at step " + exact(m.Reading.Step)
	}
	if m.Problem != "" {
		text += " (" + m.Problem + ")"
	}
	return text + "    " + oneLine(m.Excerpt)
}
