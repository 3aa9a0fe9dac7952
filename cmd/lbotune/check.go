package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

func newCheck(g *global) *cobra.Command {
	var smoke string
	cmd := &cobra.Command{
		Use:   "check SPEC",
		Short: "Validate a spec and show the first commands",
		Long: `Check validates SPEC and shows the space, the first three commands exactly as they
would run, and the configuration files of the first trial. If trials run on a
cluster it shows their job and asks Slurm whether it would take it. With --smoke it also
runs setup and one trial at the middle of the space, in a temporary study, and
shows the value that it found and the files that it wrote where all trials run. Where
there are several workers a second trial runs beside it. With --smoke=all it runs as many trials as it takes
to try every choice and both positions of every switch. If SPEC does not say how to
find the metric, --smoke lists the candidates.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadSpec(g, args[0])
			layout := study.LayoutOf(study.DirFor(args[0]))
			if isStream(args[0]) {
				layout = study.LayoutOf(study.DirFor("stdin"))
			}
			base := filepath.Dir(string(layout))
			if wrong := (*spec.Error)(nil); errors.As(err, &wrong) && wrong.OnlyRule && smoke != "" {
				return listMetrics(cmd.Context(), g, &cfg, base)
			}
			if err != nil {
				return asUsage(err)
			}
			if smoke != "" && smoke != smokeMiddle && smoke != smokeAll {
				return asUsage(fmt.Errorf("--smoke=%s: allowed are %s and %s", smoke, smokeMiddle, smokeAll))
			}
			if m, shared := cfg.SharedResult(); shared && cfg.Run.SlotCount() == 1 {
				fmt.Fprintf(g.err, "warning: every trial writes the same file %q for %s: a trial that writes nothing fails, and only one can run at a time; "+
					"write file = \"{trial_dir}/result.json\" instead\n", m.File, oneLine(m.Name))
			}
			if cfg.Several() && cfg.Prune != nil {
				fmt.Fprintln(g.err, "warning: with several objectives stopping trials early has found less than no stopping with the same work; leave [prune] out, or see docs/pruning.md")
			}
			if err := runnable(&cfg); err != nil {
				return err
			}
			warnOfAbsent(g, &cfg, args[0])
			p, err := newPreview(cmd.Context(), &cfg, layout)
			if err != nil {
				return err
			}
			if smoke == "" || !g.json {
				if err := p.print(g); err != nil {
					return err
				}
			}
			if smoke == "" || p.refused != nil {
				return p.refused
			}
			return smokeTest(cmd.Context(), g, &cfg, base, smoke == smokeAll)
		},
	}
	cmd.Flags().StringVar(&smoke, "smoke", "", "run setup and one trial at the middle of the space; `WHAT` may be all: enough trials to try every choice and switch")
	cmd.Flags().Lookup("smoke").NoOptDefVal = smokeMiddle
	return cmd
}

// preview is what check shows of a study.
type preview struct {
	Study  string      `json:"study"`
	Dir    string      `json:"dir"`
	Params []paramJSON `json:"params"`
	// Where are the relations between them, and Allowed is about what share they leave.
	Where    []string      `json:"where,omitempty"`
	Allowed  float64       `json:"allowed,omitempty"`
	Setup    string        `json:"setup,omitempty"`
	Commands []string      `json:"commands"`
	Files    []previewFile `json:"files,omitempty"`
	Script   string        `json:"script,omitempty"` // of the first trial's job, or the pilots'
	// Safety has the constant as it is in the cube.
	Safety *study.Safety `json:"safety,omitempty"`
	// Earlier is what the study would begin with.
	Earlier []study.Earlier `json:"earlier,omitempty"`
	refused error           // why the batch system would not take it
}

// paramJSON is a parameter with its bounds, of which one may be 0.
type paramJSON struct {
	spaces.Param
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

func newParamsJSON(params []spaces.Param) []paramJSON {
	var out []paramJSON
	for _, p := range params {
		j := paramJSON{Param: p}
		if p.Kind == spaces.KindFloat || p.Kind == spaces.KindInt {
			j.Min, j.Max = &p.Min, &p.Max
		}
		out = append(out, j)
	}
	return out
}

// previewFile is a configuration file as the first trial finds it.
type previewFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

const (
	previewed      = 3
	previewedLines = 40 // of a file
)

func newPreview(ctx context.Context, cfg *study.Config, l study.Layout) (*preview, error) {
	p := &preview{Study: cfg.Name, Dir: string(l), Params: newParamsJSON(cfg.Params), Setup: cfg.RenderSetup(l), Safety: cfg.Safety}
	search, err := cfg.Search()
	if err != nil {
		return nil, err
	}
	space, err := cfg.Space()
	if err != nil {
		return nil, err
	}
	if space.Related() {
		p.Where, p.Allowed = cfg.Where, space.Share()
	}
	if p.Earlier, err = cfg.ReadEarlier(0); err != nil {
		return nil, err
	}
	opt, err := optimizer.New(search.Space, cfg.Seed, search.Settings, cfg.Inherited(search, p.Earlier)...)
	if err != nil {
		return nil, err
	}
	p.Script, p.refused = previewScript(ctx, cfg, l)
	q := optimizer.Query{}
	for q.Trial = 1; q.Trial <= previewed; q.Trial++ {
		values, known := search.Default(space)
		if !known || q.Trial > 1 {
			proposal, err := opt.Ask(ctx, q)
			if errors.Is(err, optimizer.ErrExhausted) {
				break
			}
			if err != nil {
				return nil, err
			}
			values = search.Decode(proposal.Point)
		}
		point, err := search.Encode(values)
		if err != nil {
			return nil, err
		}
		t := &study.Trial{Number: q.Trial, Values: values}
		b := study.TrialBindings(l, cfg, t, 1, 0)
		line, err := cfg.Paste(b, here(cfg))
		if err != nil {
			return nil, err
		}
		p.Commands = append(p.Commands, line)
		if q.Trial == 1 {
			for _, f := range cfg.Files {
				text, err := f.Render(b)
				if err != nil {
					return nil, err
				}
				p.Files = append(p.Files, previewFile{f.To, text})
			}
		}
		q.Pending = append(q.Pending, optimizer.Pending{Trial: q.Trial, Point: point})
	}
	return p, nil
}

func (p *preview) print(g *global) error {
	if g.json {
		return printJSON(g.out, p)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "study %s, kept in %s\n\nparameters\n", oneLine(p.Study), oneLine(p.Dir))
	var rows [][]string
	for _, par := range p.Params {
		when := ""
		if par.When != "" {
			when = "when " + par.When
		}
		rows = append(rows, []string{"  " + par.Name, string(par.Kind), oneLine(rangeOf(par.Param)), oneLine(when)})
	}
	if err := printTable(&s, rows); err != nil {
		return err
	}
	if p.Where != nil {
		fmt.Fprintf(&s, "\nwhere, which allows about %.2g %% of the space\n", 100*p.Allowed)
		for _, r := range p.Where {
			s.WriteString("  " + oneLine(r) + "\n")
		}
	}
	if c := p.Safety; c != nil {
		side := map[bool]string{false: "at most", true: "at least"}[c.Least]
		fmt.Fprintf(&s, "\nsafety: %s %s %s, changing by at most %s per unit of the cube\n", oneLine(c.Metric), side, exact(c.At), short(c.Constant))
	}
	if p.Earlier != nil {
		s.WriteString("\nwarm start\n")
	}
	for _, e := range p.Earlier {
		s.WriteString("  " + oneLine(earlierText(e)) + "\n")
	}
	if p.Setup != "" {
		fmt.Fprintf(&s, "\nsetup\n%s", previewText(p.Setup))
	}
	s.WriteString("\nfirst commands\n")
	for _, c := range p.Commands {
		s.WriteString(previewText(c))
	}
	if p.Script != "" {
		fmt.Fprintf(&s, "\njob\n%s", printable(p.Script))
	}
	for _, f := range p.Files {
		lines := strings.Split(strings.TrimRight(printable(f.Text), "\n"), "\n")
		if len(lines) > previewedLines {
			lines = append(lines[:previewedLines], "...")
		}
		fmt.Fprintf(&s, "\n%s of the first trial\n  %s\n", oneLine(f.Name), strings.Join(lines, "\n  "))
	}
	_, err := io.WriteString(g.out, s.String())
	return err
}

// earlierText says what a study begins with.
func earlierText(e study.Earlier) string {
	objective := "a related objective"
	if e.Same {
		objective = "the same objective"
	}
	text := fmt.Sprintf("%s: %s of %s", e.From, count(len(e.Trials), "trial"), objective)
	for i, name := range slices.Sorted(maps.Keys(e.Columns)) {
		text += [2]string{"; ", ", "}[min(i, 1)] + name + " from " + e.Columns[name]
	}
	if len(e.Ignored) > 0 {
		text += "; ignoring " + strings.Join(e.Ignored, ", ")
	}
	if len(e.Defaults) > 0 {
		text += "; with the default of " + strings.Join(e.Defaults, ", ")
	}
	if e.Left > 0 {
		text += fmt.Sprintf("; %d left out, the first is %s", e.Left, e.Why)
	}
	return text
}

// previewText is a command of one line indented, and one of several as it is.
func previewText(command string) string {
	command = printable(strings.TrimRight(command, "\n"))
	if strings.Contains(command, "\n") {
		return command + "\n\n"
	}
	return "  " + command + "\n"
}

// rangeOf says which values a parameter takes.
func rangeOf(p spaces.Param) string {
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		text := spaces.Float(p.Min).Text() + " to " + spaces.Float(p.Max).Text()
		if p.Scale != "" && p.Scale != spaces.Linear {
			text += ", " + string(p.Scale)
		}
		if p.Step > 0 {
			text += ", in steps of " + spaces.Float(p.Step).Text()
		}
		if p.Format != "" {
			text += ", as " + p.Format
		}
		return text
	case spaces.KindBool:
		return "false, true"
	}
	var words []string
	for _, c := range p.Choices {
		words = append(words, valueText(c))
	}
	return strings.Join(words, ", ")
}
