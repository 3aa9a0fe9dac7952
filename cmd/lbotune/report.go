package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/secrets"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// formats are what report writes, by the ends of files' names.
var formats = []string{"html", "md", "svg", "json"}

func newReport(g *global, above *cobra.Command) {
	var out, format, plot string
	cmd := newCommand(above, "report STUDY...", "Draw a study: one page with everything, or single pictures",
		`Report writes one HTML file that needs nothing else: pictures of the trials, of what
the model believes and of what matters, failures with the end of their output, and the
details of every trial. Of several studies it compares the values at the same budget.
A study may be running, or have ended or crashed.

As svg it writes one picture, of --plot `+strings.Join(report.Plots(), ", ")+`;
as md the page's text; as json all data of the page. Export writes the trials as csv.`)
	cmd.Example = `  lbotune report spec.study                    writes spec.html
  lbotune report spec.study -o history.svg --plot history
  lbotune report a.study b.study -o both.html
  lbotune report a.study b.study -o both.svg --plot history`
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write to `FILE`, - for standard output; its ending sets the format")
	f.StringVar(&format, "format", "", "html, md, svg or json")
	f.StringVar(&plot, "plot", "", "draw only the picture `NAME`, as svg")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		end := strings.TrimPrefix(filepath.Ext(out), ".")
		format = cmp.Or(format, when(slices.Contains(formats, end), "%s", end), when(g.json, "json"), when(plot != "", "svg"), "html")
		switch {
		case end != "" && out != "-" && !cmd.Flags().Changed("format") && !slices.Contains(formats, end):
			return usagef("-o %s: found .%s; allowed are .%s, or --format beside it", out, end, strings.Join(formats, ", ."))
		case !slices.Contains(formats, format):
			return usagef("--format: found %q; allowed are %s", format, strings.Join(formats, ", "))
		case plot != "" && format != "svg":
			return usagef("--plot draws an svg; found %s", format)
		case len(args) > 1 && format != "html" && (format != "svg" || plot != "history"):
			return hinted(usagef("--format %s is for one study; found %d", format, len(args)),
				"of several there is one picture: --plot history -o FILE.svg")
		}
		var studies []*report.Study
		for _, arg := range args {
			s, err := g.look(cmd.Context(), arg)
			if err != nil {
				return err
			}
			studies = append(studies, s)
		}
		ours := out == "" && format == "html"
		if ours {
			out = strings.TrimSuffix(filepath.Base(studies[0].Dir), ".study") + ".html"
			if err := replaceable(out, studies); err != nil {
				return hinted(&marked{err, errNoPlace}, "-o FILE writes it to another file, or replaces the one that you name")
			}
		}
		var b bytes.Buffer
		if err := writeReport(&b, studies, format, plot); err != nil {
			return err
		}
		dirs := lists.Map(studies, func(s *report.Study) string { return s.Dir })
		err := g.writeOut(out, func(w io.Writer) error { _, err := b.WriteTo(w); return err }, dirs...)
		if ours && isA[*fs.PathError](err) {
			return hinted(&marked{err, errNoPlace}, "-o FILE writes it elsewhere")
		}
		return err
	}
}

// replaceable refuses a path that nobody has named if anything but a page of the same studies is there.
func replaceable(path string, studies []*report.Study) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // whatever keeps it from being seen keeps it from being written, and writing says so
	}
	const most = 1 << 28 // of which no page has a tenth
	if text, err := door.ReadFile(path, most); err == nil && info.Mode().IsRegular() && report.IsPage(string(text), studies) {
		return nil
	}
	return fmt.Errorf("%s is there already, and is no page of %s", path, either(len(studies) == 1, "this study", "these studies"))
}

func writeReport(w io.Writer, studies []*report.Study, format, plot string) error {
	s := studies[0]
	switch format {
	case "md":
		return s.Markdown(w)
	case "json":
		return printJSON(w, s)
	case "svg":
		draw := func() (string, error) { return s.SVG(plot) }
		if len(studies) > 1 {
			draw = func() (string, error) { return report.Beside(studies) }
		}
		picture, err := draw()
		if err != nil {
			return usage(err)
		}
		_, err = io.WriteString(w, picture)
		return err
	}
	return report.HTML(w, studies)
}

// source reads the study that an argument names, as package report wants it.
func (g *global) source(arg string) (report.Source, error) {
	dir, err := g.studyDir(arg)
	if err != nil {
		return report.Source{}, err
	}
	return readSource(layout.Of(dir), func() (*study.State, error) {
		st, _, err := g.load(arg)
		return st, err
	})
}

// look prepares what is shown of the study that an argument names.
func (g *global) look(ctx context.Context, arg string) (*report.Study, error) {
	src, err := g.source(arg)
	if err != nil {
		return nil, err
	}
	m := g.meter("asking the model")
	defer m.end()
	return report.Of(ctx, src), nil
}

// readSource is sourceOf a study that read reads.
func readSource(l layout.Study, read func() (*study.State, error)) (report.Source, error) {
	before, errBefore := journal.InUse(l.Journal())
	st, err := read()
	if err := cmp.Or(err, errBefore); err != nil {
		return report.Source{}, err
	}
	return sourceOf(st, l, before)
}

// sourceOf is a study as package report wants it, with its secrets hidden. Before says that it was
// in use before it was read: what has ended since was running, as it was read.
func sourceOf(st *study.State, l layout.Study, before bool) (report.Source, error) {
	running, err := journal.InUse(l.Journal())
	running = running || before && st.Closed == nil
	hidden := secrets.Of(st.Config.Run.SecretEnv)
	line := commandLines(st, l)
	return report.Source{State: st, Dir: string(l), Running: running,
		Command: func(t *study.Trial) string { return hidden.Hide(line(t)) },
		Output: func(t *study.Trial) string {
			dir := l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: report.ResultAttempt(t)})
			_, text := endOfOutput(l, dir, &st.Config, 2<<10, runner.StderrName, runner.StdoutName)
			return text
		},
		Log: func(ctx context.Context, id layout.AttemptID, stderr bool, w io.Writer, ended <-chan struct{}) error {
			return followLog(ctx, l, id, either(stderr, runner.StderrName, runner.StdoutName), &sanitizer{w: w, secrets: hidden}, ended)
		},
	}, err
}

func newPlot(g *global, above *cobra.Command) {
	cmd := newCommand(above, "plot STUDY PICTURE", "Draw a picture of a study in the terminal",
		`Plot draws in characters what report draws: `+strings.Join(report.Texts(), ", ")+`.
A green @ or full circle is the best trial, x a failed one, a point one of the initial design. Without a
UTF-8 locale, or with --ascii, it uses only ASCII.`)
	cmd.Example = "  lbotune plot spec.study history"
	width := cmd.Flags().Int("width", 0, "draw in `N` columns, 60 to 200 (default: the terminal's, or 80)")
	plain := cmd.Flags().Bool("ascii", false, "use only ASCII characters")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		columns, _, _ := sizeOf(g.out)
		c := report.Cells{Columns: cmp.Or(*width, min(max(cmp.Or(columns, 80), 60), 200)), Plain: *plain || !unicodeLocale(),
			Colours: isTerminal(g.out) && os.Getenv("NO_COLOR") == ""}
		if c.Columns < 60 || c.Columns > 200 {
			return usagef("--width: found %d; want 60 to 200", *width)
		}
		s, err := g.look(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		text, err := s.Text(args[1], c)
		if err != nil {
			return usage(err)
		}
		return g.print("%s", text)
	}
}

func newImportance(g *global, above *cobra.Command) {
	cmd := newCommand(above, "importance STUDY", "Show which parameters matter",
		`Importance asks a model made for this question, from trials that represent the space,
whatever method chose them. VARIANCE is the share of the objective's variance over the
whole space in which a parameter has a part, ALONE the share due to it alone. GOOD is the
share of the variance that is left in the best tenth of the space: a parameter that has
none can be left as it is in the best trial. GAIN is its share of the way from today's
values, or the first trial, to the best one (Shapley values). Each has a 90 % interval. If
the model cannot tell, importance says so instead, and the exit code is 5.`)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := g.look(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if err := s.Unimportant(); err != nil {
			return hinted(&marked{fmt.Errorf("what matters is not known: %w", err), errNoValue}, "more trials that succeed help")
		}
		texts := lists.Map(s.Model.Importances(), func(im report.Importance) string { return importanceText(&im) })
		return g.show(s.Model.Importance, strings.Join(texts, ""))
	}
}

func importanceText(im *report.Importance) string {
	rows := [][]string{{"parameter", "variance", "", "alone", "", "good", "", "gain", ""}}
	for _, r := range im.Ranked() {
		row := []string{r.Param}
		if r.Never {
			rows = append(rows, append(row, "never varied"))
			continue
		}
		for _, v := range []report.Interval{r.Total, r.Main, r.Good, im.Share(r.Gain)} {
			row = append(row, report.Percent(v.Value)+" %", report.Percent(v.Low)+" to "+report.Percent(v.High))
		}
		rows = append(rows, row)
	}
	return tableText(rows, 0) + fmt.Sprintf("shares of %s; gain: %sfrom %s (%s) to %s (trial %d)\n",
		oneLine(im.Variance()), when(im.Start == im.End, "none, "), short(im.Start), im.From, short(im.End), im.Trial)
}

func newExplain(g *global, above *cobra.Command) {
	cmd := newCommand(above, "explain STUDY N", "Show why a trial was proposed and how surprising its result was",
		`Explain shows what the model predicted for trial N when it was proposed: mean and deviation,
the Lipschitz bounds, the probability of success, the acquisition. --json adds the model's state: length scales, noise, L.`)
	cmd.RunE = g.onTrial(func(ctx context.Context, st *study.State, l layout.Study, t *study.Trial) error {
		r, err := report.Explain(ctx, string(l), t)
		if err != nil {
			return err
		}
		return g.show(r, reasonText(r, originOf(t), st.Refuted))
	})
}

// reasonText says it in words; refuted is what has disproved the constant of the bounds, even if only since then.
func reasonText(r report.Reason, origin, refuted string) string {
	s := rows{width: 9}
	s.add("trial", "%d: %s", r.Trial, shortValues(r.Values))
	s.add("origin", "%s", origin)
	s.add("knew", "%s, and %d that ran", count(r.Told, "finished trial"), len(r.Pending))
	if b := r.Before; b != nil {
		s.add("predicted", "%s, between %s and %s with 95 %%", report.Around(float64(b.Mean), float64(b.SD)), short(float64(b.Low)), short(float64(b.High)))
		s.add("best then", "%s", short(float64(b.Best)))
		s.when(refuted != "", "bounds", "%s", oneLine(refuted))
		if b.AtBest != nil && b.AtWorst != nil && refuted == "" {
			s.add("bounds", "at best %s, at worst %s", short(*b.AtBest), short(*b.AtWorst))
		}
		if l := r.Model.Lipschitz; l != nil && refuted == "" {
			s.add("", "L = %s rules out %s %% of the space", short(l.Constant), report.Percent(l.Excluded))
			if x := b.ExcludedBelow; x != nil && *x > 0 {
				s.add("", "and would have excluded this trial below %s L", short(*x))
			}
		}
		s.when(b.Success < 1, "success", "with a probability of %s %%", report.Percent(b.Success))
		s.add("lengths", "%s", strings.Trim(fmt.Sprintf("%.3g", r.Model.Lengths), "[]"))
		if b.Surprise != nil {
			s.add("surprise", "%+.1f standard deviations", *b.Surprise)
		}
	} else {
		s.add("model", "none: %s", r.NoModel)
	}
	if r.Value != nil {
		s.add("value", "%s", short(*r.Value))
	}
	return s.String()
}

func newExport(g *global, above *cobra.Command) {
	var out, format string
	cmd := newCommand(above, "export STUDY", "Write all trials as CSV, JSON Lines or an Optuna journal",
		`Export writes all trials, with exact values. The format csv has one row for each trial;
jsonl has one object a line, as show --json prints it, with the course of its metrics;
optuna is a journal file that optuna and optuna-dashboard read, and with which Optuna can
go on.`)
	cmd.Example = `  lbotune export spec.study > trials.csv
  lbotune export spec.study -o trials.jsonl
  lbotune export spec.study -o optuna.log`
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`; its ending, .csv, .jsonl or .log, sets the format")
	cmd.Flags().StringVar(&format, "format", "", "csv, jsonl or optuna")
	completeFlag(cmd, "format", "csv", "jsonl", "optuna")
	cmd.RunE = g.onStudy(func(_ *cobra.Command, st *study.State, l layout.Study) error {
		if end := filepath.Ext(out); format == "" && end != "" {
			if format = map[string]string{".csv": "csv", ".jsonl": "jsonl", ".log": "optuna"}[end]; format == "" {
				return usagef("-o %s: found %s; allowed are .csv, .jsonl, .log, or --format beside it", out, end)
			}
		}
		write := map[string]func(io.Writer) error{
			"csv": func(w io.Writer) error { return writeCSV(w, st) },
			"jsonl": func(w io.Writer) error {
				of := trialsJSON(st, l)
				return printLines(w, st.Trials, func(t *study.Trial) any { return shownJSON{of(t), t.Measurements} })
			},
			"optuna": st.WriteOptuna,
		}[cmp.Or(format, either(g.json, "jsonl", "csv"))]
		if write == nil {
			return usagef("--format: found %q; allowed are csv, jsonl, optuna", format)
		}
		if info, err := os.Stat(out); err == nil && out != "-" && format == "optuna" && info.Mode().IsRegular() {
			return usagef("-o: %s exists, and may hold other studies of Optuna; remove it first", out)
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
	})
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
	notes := report.NotesByTrial(st)
	if len(notes) > 0 {
		column("trial.", "note")
	}
	table := csv.NewWriter(w)
	_ = table.Write(head) // Error says of all rows what went wrong
	for _, t := range st.Trials {
		row := []string{strconv.Itoa(t.Number), st.StandingOf(t), textOr("", exact)(journal.Seconds(t.Took), t.Done() && !t.Hand), string(t.Origin), t.Failure.String()}
		row = append(row, cells(t, st.Config.Metrics, st.Config.Params, "", exact, spaces.Value.Text)...)
		if len(notes) > 0 {
			row = append(row, strings.Join(notes[t.Number], "; "))
		}
		_ = table.Write(row)
	}
	table.Flush()
	return table.Error()
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
