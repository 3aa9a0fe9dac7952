package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/parser"
)

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
	rows := [][]string{{"how to find it", "readings", "last", "line"}}
	for _, c := range candidates {
		if g.json {
			if err := printLine(g.out, newCandidateJSON(c)); err != nil {
				return err
			}
			continue
		}
		row := []string{oneLine(ruleFlag(c.Rule)), "", "", ""}
		if c.Problem != nil {
			row[2] = oneLine(c.Problem.Reason)
		} else {
			row[1], row[2], row[3] = strconv.Itoa(c.Result.Count), oneLine(c.Result.Reading.Text), strconv.Itoa(c.Result.Reading.Line)
		}
		rows = append(rows, row)
	}
	if g.json {
		return nil
	}
	return printTable(g.out, rows)
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

func newCandidateJSON(c parser.Candidate) candidateJSON {
	out := candidateJSON{Metric: c.Rule.Metric, JSON: c.Rule.JSON, LastNumber: c.Rule.LastNumber,
		Readings: c.Result.Count, Line: c.Result.Reading.Line}
	if c.Problem != nil {
		out.Problem = c.Problem.Detail
	} else {
		out.Value = &c.Result.Value
	}
	return out
}
