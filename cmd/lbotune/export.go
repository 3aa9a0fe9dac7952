package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func newExport(g *global) *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "export STUDY",
		Short: "Write all trials as CSV, JSON Lines or an Optuna journal",
		Long: `Export writes all trials, with exact values. The format csv has one row for each trial;
jsonl has one object a line, as show --json prints it, with the course of its metrics;
optuna is a journal file that optuna and optuna-dashboard read, and with which Optuna can
go on.`,
		Example: `  lbotune export spec.study > trials.csv
  lbotune export spec.study -o trials.jsonl
  lbotune export spec.study -o optuna.log`,
		RunE: g.onStudy(func(_ *cobra.Command, st *study.State, l study.Layout) error {
			if end := filepath.Ext(out); format == "" && end != "" {
				if format = map[string]string{".csv": "csv", ".jsonl": "jsonl", ".log": "optuna"}[end]; format == "" {
					return usagef("-o %s: found %s; allowed are .csv, .jsonl, .log, or --format beside it", out, end)
				}
			}
			write := map[string]func(io.Writer) error{
				"csv": func(w io.Writer) error { return writeCSV(w, st) },
				"jsonl": func(w io.Writer) error {
					return printLines(w, st.Trials, func(t *study.Trial) any { return shownJSON{newTrialJSON(st, l, t), t.Measurements} })
				},
				"optuna": st.WriteOptuna,
			}[cmp.Or(format, either(g.json, "jsonl", "csv"))]
			if write == nil {
				return usagef("--format: found %q; allowed are csv, jsonl, optuna", format)
			}
			if info, err := os.Stat(out); err == nil && out != "-" && format == "optuna" && info.Mode().IsRegular() {
				return usagef("-o: %s exists, and may hold other studies of Optuna; remove it first", out)
			}
			for _, t := range st.Trials {
				t.Point = nil // of which nothing is written
			}
			return g.writeOut(out, func(w io.Writer) error {
				if (out == "" || out == "-") && isTerminal(g.out) {
					return write(w) // where the trials themselves can be seen
				}
				m := g.meter("writing")
				defer m.end()
				lines := 0 // of what is exported, one is a trial
				return write(writerFunc(func(p []byte) (int, error) {
					lines += bytes.Count(p, []byte("\n"))
					m.at(min(lines, len(st.Trials)), len(st.Trials))
					return w.Write(p)
				}))
			}, string(l))
		}),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`; its ending, .csv, .jsonl or .log, sets the format")
	cmd.Flags().StringVar(&format, "format", "", "csv, jsonl or optuna")
	completeFlag(cmd, "format", "csv", "jsonl", "optuna")
	return cmd
}

func writeCSV(w io.Writer, st *study.State) error {
	head := []string{"trial", "status", "seconds", "origin", "failure"}
	column := func(prefix, name string) {
		if slices.Contains(head, name) {
			name = prefix + name // a parameter may be called seconds
		}
		head = append(head, name)
	}
	for _, m := range st.Config.Metrics {
		column("metrics.", m.Name)
	}
	for _, p := range st.Config.Params {
		column("params.", p.Name)
	}
	table := csv.NewWriter(w)
	_ = table.Write(head) // Error says of all rows what went wrong
	for _, t := range st.Trials {
		row := []string{strconv.Itoa(t.Number), st.StandingOf(t), exact(t.Took.Seconds()), string(t.Origin), t.Failure.String()}
		_ = table.Write(append(row, cells(t, st.Config.Metrics, st.Config.Params, "", exact, spaces.Value.Text)...))
	}
	table.Flush()
	return table.Error()
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
