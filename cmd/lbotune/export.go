package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

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
				err = st.WriteOptuna(&b)
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
		row := []string{strconv.Itoa(t.Number), st.StandingOf(t), exact(t.Took.Seconds()), string(t.Origin), t.Failure.String()}
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
