package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/parser"
)

func newParse(g *global, above *cobra.Command) {
	var rule parser.Rule
	cmd := newCommand(above, "parse FILE", "Try a metric rule on a saved log",
		`Parse reads FILE (- for standard input) as if a trial had printed it, shows every
match of the rule with its line, and says which value the trial would get. Without a
rule it lists the candidates.`)
	cmd.Example = "  lbotune parse --metric loss train.log"
	f := cmd.Flags()
	f.StringVarP(&rule.Metric, "metric", "m", "", "find the metric by its `NAME`")
	f.StringVar(&rule.Regex, "regex", "", "find the metric by a regular `EXPRESSION` with one group")
	f.StringVar(&rule.JSON, "json-path", "", "find the metric at a `PATH` in JSON")
	f.BoolVar(&rule.LastNumber, "last-number", false, "take the last number of the last line")
	f.StringVar(&rule.Dialect, "dialect", "", "read the reports of another optimizer's programs, by its `NAME`:\n"+strings.Join(parser.Dialects(), ", "))
	f.StringVar(&rule.Step, "step", "", "find the step by its `NAME`")
	f.StringVar(&rule.Pick, "pick", "", "`WHICH` reading counts: last, first, min, max or mean")
	completeFlag(cmd, "dialect", parser.Dialects()...)
	completeFlag(cmd, "pick", "last", "first", "min", "max", "mean")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if args[0] == "-" {
			return parseLog(g, rule, g.in)
		}
		f, err := os.Open(args[0])
		if err != nil {
			return usage(err)
		}
		defer f.Close()
		return parseLog(g, rule, f)
	}
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
		if printErr == nil {
			printErr = showMatch(g, m)
		}
	})
	var none *parser.NoValueError
	switch {
	case printErr != nil:
		return printErr
	case errors.As(err, &none):
		return &marked{hinted(none, none.Hint), errNoValue}
	case err != nil:
		return usage(err)
	}
	return g.showLine(parsedJSON{result.Value, result.Count, result.Lines},
		fmt.Sprintf("value %s, the %s of %s in %s", exact(result.Value), pattern.Rule().Pick, count(result.Count, "reading"), count(result.Lines, "line")))
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
	return hinted(usage(err), strings.Join(hints, "; "))
}

func showMatch(g *global, m parser.Match) error {
	r, text := m.Reading, fmt.Sprintf("line %d: %s", m.Reading.Line, oneLine(m.Reading.Text))
	text += when(r.HasStep, " at step %s", exact(r.Step)) + when(m.Problem != "", " (%s)", m.Problem)
	return g.showLine(matchJSON{r.Line, r.Column, r.Text, maybe(m.Problem == "", r.Value), maybe(r.HasStep, r.Step), m.Problem},
		text+"    "+oneLine(m.Excerpt))
}

// candidateJSON is one candidate, a line of its own with --json.
type candidateJSON struct {
	Metric     string   `json:"metric,omitempty"`
	JSON       string   `json:"json,omitempty"`
	LastNumber bool     `json:"last_number,omitempty"`
	Readings   int      `json:"readings"`
	Value      *float64 `json:"value"`
	Line       int      `json:"line"`
	Problem    string   `json:"problem,omitempty"`
}

// listCandidates shows what a rule may ask for in a log.
func listCandidates(g *global, in io.Reader) error {
	log, err := io.ReadAll(in)
	if err != nil {
		return usage(fmt.Errorf("read the log: %w", err))
	}
	candidates := parser.Candidates(log)
	if len(candidates) == 0 {
		return &marked{hinted(errors.New("no number follows a name, fills a column or ends the last line"),
			"if a number is there nevertheless, find it by --regex"), errNoValue}
	}
	if g.json {
		return printLines(g.out, candidates, func(c parser.Candidate) any {
			out := candidateJSON{Metric: c.Rule.Metric, JSON: c.Rule.JSON, LastNumber: c.Rule.LastNumber,
				Readings: c.Result.Count, Line: c.Result.Reading.Line, Value: maybe(c.Problem == nil, c.Result.Value)}
			if c.Problem != nil {
				out.Problem = c.Problem.Detail
			}
			return out
		})
	}
	rows := [][]string{{"how to find it", "readings", "last", "line"}}
	for _, c := range candidates {
		row := []string{oneLine(ruleFlag(c.Rule)), "", "", ""}
		if c.Problem != nil {
			row[2] = oneLine(c.Problem.Reason)
		} else {
			row[1], row[2], row[3] = strconv.Itoa(c.Result.Count), oneLine(c.Result.Reading.Text), strconv.Itoa(c.Result.Reading.Line)
		}
		rows = append(rows, row)
	}
	return g.print("%s", tableText(rows, 0))
}

// ruleFlag is a candidate's rule as parse takes it.
func ruleFlag(r parser.Rule) string {
	switch {
	case r.JSON != "":
		return "--json-path " + shell.Word(r.JSON)
	case r.LastNumber:
		return "--last-number"
	}
	return "--metric " + shell.Word(r.Metric)
}
