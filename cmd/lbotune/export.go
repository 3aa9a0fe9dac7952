package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/optuna"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

func newExport(g *global) *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "export STUDY",
		Short: "Write all trials as CSV, JSON Lines or a journal of Optuna",
		Long: `Export writes all trials, with exact values. As csv one row for each; as jsonl one object
a line, as show --json prints it, with the course of its metrics; as optuna a journal file,
which optuna and optuna-dashboard read, and with which Optuna can go on.`,
		Example: `  lbotune export spec.study > trials.csv
  lbotune export spec.study -o trials.jsonl
  lbotune export spec.study -o optuna.log`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			st, l, err := load(args[0])
			if err != nil {
				return err
			}
			if end := filepath.Ext(out); format == "" && end != "" {
				if format = map[string]string{".csv": "csv", ".jsonl": "jsonl", ".log": "optuna"}[end]; format == "" {
					return usagef("-o %s: found %s; allowed are .csv, .jsonl, .log, or --format beside it", out, end)
				}
			}
			var b bytes.Buffer
			switch {
			case format == "optuna":
				err = optuna.Write(&b, optunaStudy(st))
			case format == "jsonl" || format == "" && g.json:
				for _, t := range st.Trials {
					err = errors.Join(err, printLine(&b, shownJSON{newTrialJSON(st, l, t), t.Measurements}))
				}
			case format == "csv" || format == "":
				err = writeCSV(&b, st)
			default:
				err = usagef("--format: found %q; allowed are csv, jsonl, optuna", format)
			}
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				_, err = g.out.Write(b.Bytes())
				return err
			}
			if _, err := os.Stat(out); format == "optuna" && !errors.Is(err, fs.ErrNotExist) {
				return usagef("-o: %s exists, and may hold other studies of Optuna; remove it first", out)
			}
			return g.writeOut(out, b.Bytes(), string(l))
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`; .csv, .jsonl or .log at its end says the format")
	cmd.Flags().StringVar(&format, "format", "", "csv, jsonl or optuna")
	completeFlag(cmd, "format", "csv", "jsonl", "optuna")
	return cmd
}

func writeCSV(w io.Writer, st *study.State) error {
	rows := [][]string{{"trial", "status", "seconds", "origin", "failure"}}
	for _, m := range st.Config.Metrics {
		rows[0] = append(rows[0], m.Name)
	}
	for _, p := range st.Config.Params {
		rows[0] = append(rows[0], p.Name)
	}
	for _, t := range st.Trials {
		row := []string{strconv.Itoa(t.Number), standingOf(st, t), exact(t.Took.Seconds()), string(t.Origin), t.Failure.String()}
		for _, m := range st.Config.Metrics {
			text := ""
			if v, ok := t.Metrics.Get(m.Name); ok {
				text = exact(v)
			}
			row = append(row, text)
		}
		for _, p := range st.Config.Params {
			v, _ := t.Values.Get(p.Name)
			row = append(row, v.Text())
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// optunaStudy is a study as Optuna sees it: trial 1 is number 0 there. Trials that do not
// count have failed, and what it has no place for are attributes.
func optunaStudy(st *study.State) *optuna.Study {
	s := &optuna.Study{Name: st.Config.Name, Params: st.Config.Params}
	for _, o := range st.Config.Objectives() {
		s.Metrics = append(s.Metrics, o.Name)
		s.Directions = append(s.Directions, map[study.Direction]int{study.Minimize: optuna.Minimize, study.Maximize: optuna.Maximize}[o.Direction])
	}
	for _, t := range st.Trials {
		u := &optuna.Trial{Params: t.Values, Start: t.Proposed, End: t.Finished, Course: map[int]journal.Float{}, System: map[string]any{},
			User: map[string]any{"lbotune:trial": t.Number, "lbotune:status": standingOf(st, t), "lbotune:origin": t.Origin, "lbotune:seconds": t.Took.Seconds()}}
		if len(t.Attempts) > 0 && !t.Attempts[0].Started.IsZero() {
			u.Start = t.Attempts[0].Started
		}
		if t.Failure != nil {
			u.User["lbotune:failure"] = t.Failure.String()
		}
		for _, m := range st.Config.Metrics {
			switch v, ok := t.Metrics.Get(m.Name); {
			case !ok:
			case m.Direction != "" && t.Teaches():
				u.Values = append(u.Values, journal.Float(v))
			default:
				u.User[m.Name] = journal.Float(v)
			}
		}
		if len(u.Values) < len(s.Metrics) {
			u.Values = nil
		}
		switch {
		case t.Done() && (t.Status == optimizer.Failed || !t.Teaches()):
			u.State, u.Values = optuna.Failed, nil
		case t.Done():
			u.State = map[optimizer.Status]optuna.State{optimizer.Succeeded: optuna.Complete, optimizer.Pruned: optuna.Pruned}[t.Status]
			var over []journal.Float
			for _, limit := range st.Config.AllLimits() {
				over = append(over, journal.Float(limit.Over(t.Metrics)))
			}
			if over != nil {
				u.System["constraints"] = over
			}
		}
		for i, m := range t.Measurements {
			if m.Step != math.Trunc(m.Step) {
				m.Step = float64(i)
			}
			if v, ok := m.Metrics[s.Metrics[0]]; ok && len(s.Metrics) == 1 {
				u.Course[int(m.Step)] = v
			}
		}
		s.Trials = append(s.Trials, u)
	}
	return s
}
