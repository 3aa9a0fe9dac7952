package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// formats are what report writes, by the ends of files' names.
var formats = []string{"html", "md", "svg", "png", "json"}

func newReport(g *global) *cobra.Command {
	var out, format, plot string
	cmd := &cobra.Command{
		Use:   "report STUDY...",
		Short: "Draw a study: one page with everything, or single pictures",
		Long: `Report writes one HTML file that needs nothing else: pictures of the trials, of what
the model believes and of what matters, failures with the end of their output, and the
details of every trial. Of several studies it compares the values at the same budget.
A study may run, have ended, or have crashed.

As svg or png it writes one picture, of --plot ` + strings.Join(report.Plots(), ", ") + `;
as md the page's text; as json all that the page shows. Export writes the trials as csv.`,
		Example: `  lbotune report spec.study                    writes spec.html
  lbotune report spec.study -o history.svg --plot history
  lbotune report a.study b.study -o both.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			end := strings.TrimPrefix(filepath.Ext(out), ".")
			switch {
			case format != "":
			case g.json:
				format = "json"
			case plot != "" && end != "png":
				format = "svg"
			case slices.Contains(formats, end):
				format = end
			default:
				format = "html"
			}
			switch {
			case format == "csv" || end == "csv":
				return hinted(usagef("a report is not written as csv"), "lbotune export writes the trials as csv")
			case end != "" && out != "-" && !cmd.Flags().Changed("format") && !slices.Contains(formats, end):
				return usagef("-o %s: found .%s; allowed are .%s, or --format beside it", out, end, strings.Join(formats, ", ."))
			}
			if !slices.Contains(formats, format) {
				return usagef("--format: found %q; allowed are %s", format, strings.Join(formats, ", "))
			}
			if len(args) > 1 && format != "html" {
				return usagef("--format %s is for one study; found %d", format, len(args))
			}
			var studies []*report.Study
			for _, arg := range args {
				s, err := look(cmd.Context(), arg)
				if err != nil {
					return err
				}
				studies = append(studies, s)
			}
			if out == "" && format == "html" {
				out = strings.TrimSuffix(filepath.Base(studies[0].Dir), ".study") + ".html"
			}
			var b bytes.Buffer
			if err := writeReport(&b, studies, format, plot); err != nil {
				return err
			}
			if out == "" || out == "-" {
				_, err := g.out.Write(b.Bytes())
				return err
			}
			var dirs []string
			for _, s := range studies {
				dirs = append(dirs, s.Dir)
			}
			return g.writeOut(out, b.Bytes(), dirs...)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write to `FILE`, - for standard output; its end says the format")
	f.StringVar(&format, "format", "", "html, md, svg, png or json")
	f.StringVar(&plot, "plot", "", "draw this `NAME` alone, as svg or png")
	return cmd
}

func writeReport(w io.Writer, studies []*report.Study, format, plot string) error {
	s := studies[0]
	switch format {
	case "md":
		return s.Markdown(w)
	case "json":
		return printJSON(w, s)
	case "svg":
		picture, err := s.SVG(plot)
		if err != nil {
			return usage(err)
		}
		_, err = io.WriteString(w, picture)
		return err
	case "png":
		if err := s.PNG(w, plot); err != nil {
			return usage(err)
		}
		return nil
	}
	return report.HTML(w, studies, "")
}

// look prepares what is shown of the study that an argument names.
func look(ctx context.Context, arg string) (*report.Study, error) {
	st, l, err := load(arg)
	if err != nil {
		return nil, err
	}
	src, err := sourceOf(st, l)
	if err != nil {
		return nil, err
	}
	return report.Of(ctx, src), nil
}

// sourceOf is a study as package report wants it, with its secrets hidden.
func sourceOf(st *study.State, l study.Layout) (report.Source, error) {
	running, err := journal.InUse(l.Journal())
	secrets := session.SecretsOf(&st.Config)
	return report.Source{State: st, Dir: string(l), Running: running,
		Command: func(t *study.Trial) string { return secrets.Hide(commandLine(st, l, t)) },
		Output: func(t *study.Trial) string {
			dir := l.Attempt(study.AttemptID{Trial: t.Number, Attempt: max(t.Attempt, 1)})
			for _, name := range []string{runner.StderrName, runner.StdoutName} {
				if text, err := runner.ReadTail(l.Output(filepath.Join(dir, name)), 2<<10); err == nil && strings.TrimSpace(text) != "" {
					return secrets.Hide(runner.Sanitize(text))
				}
			}
			return ""
		},
		Log: func(ctx context.Context, t *study.Trial, stderr bool, w io.Writer, ended <-chan struct{}) error {
			name := runner.StdoutName
			if stderr {
				name = runner.StderrName
			}
			return followLog(ctx, l, study.AttemptID{Trial: t.Number, Attempt: resultAttempt(t)}, name, &sanitizer{w: w, secrets: secrets}, ended)
		},
	}, err
}
