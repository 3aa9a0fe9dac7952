package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

func newCheck(g *global, above *cobra.Command) {
	cmd := newCommand(above, "check SPEC", "Validate a spec and show the first commands",
		`Check validates SPEC and shows the space, the first three commands exactly as they
would run, and the configuration files of the first trial. If trials run on a
cluster it shows their job and asks Slurm whether it would take it. With --smoke it
also runs setup and one trial at the middle of the space, in a temporary study, and
shows the value that it found and the files that it wrote where all trials run. A second
trial with other values runs beside it if there are several workers, or after it if it
was short; check names parameters that seem to change nothing. With --smoke=all it runs
as many trials as it takes to try every choice and both positions of every switch. If
SPEC does not say how to find the metric, --smoke lists the candidates.`)
	smoke := cmd.Flags().String("smoke", "", "run setup and one trial at the middle of the space; `WHAT` may be all: enough trials to try every choice and switch")
	cmd.Flags().Lookup("smoke").NoOptDefVal = smokeMiddle
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadSpec(g, args[0])
		layout := layout.Of(layout.DirFor(either(isStream(args[0]), "stdin", args[0])))
		base := filepath.Dir(string(layout))
		if wrong := (*spec.Error)(nil); errors.As(err, &wrong) && wrong.OnlyRule && *smoke != "" {
			return listMetrics(cmd.Context(), g, &cfg, base)
		}
		if err != nil {
			return asUsage(err)
		}
		if *smoke != "" && *smoke != smokeMiddle && *smoke != smokeAll {
			return asUsage(fmt.Errorf("--smoke=%s: allowed are %s and %s", *smoke, smokeMiddle, smokeAll))
		}
		if m, shared := cfg.SharedResult(nil); shared && cfg.Run.SlotCount() == 1 {
			fmt.Fprintf(g.err, "warning: every trial writes the same file %q for %s: a trial that writes nothing fails, and only one can run at a time; "+
				"write file = \"{trial_dir}/result.json\" instead\n", m.File, oneLine(m.Name))
		}
		if cfg.Several() && cfg.Prune != nil {
			fmt.Fprintln(g.err, "warning: with several objectives stopping trials early has found less than no stopping with the same work; leave [prune] out, or see docs/pruning.md")
		} else if early := earlyRung(&cfg); early != "" {
			fmt.Fprintf(g.err, "warning: [prune] compares trials at %s already: below a tenth of the whole, "+
				"the order often says little about that at the end, and the best may be stopped; "+
				"a larger min_resource looks later, see docs/pruning.md\n", oneLine(early))
		}
		if c := cfg.Safety; c != nil && c.Noise == 0 && max(cfg.Run.Repeats, cfg.Run.Confirm) > 1 {
			fmt.Fprintf(g.err, "warning: [safety] without noise holds only if all runs of a trial have the same %s; if it varies by 0.1 up and down, say noise = 0.1\n", oneLine(c.Metric))
		}
		for about, text := range (&study.State{Config: cfg}).Mistakes {
			if about != "direction" || *smoke == "" { // which the study of the smoke test says
				fmt.Fprintln(g.err, "warning: "+oneLine(text))
			}
		}
		if err := runnable(&cfg); err != nil {
			return err
		}
		warnOfAbsent(g, &cfg, args[0])
		p, err := newPreview(cmd.Context(), &cfg, layout)
		if err != nil {
			return err
		}
		if *smoke == "" || !g.json {
			if err := g.show(p, p.text()); err != nil {
				return err
			}
		}
		if *smoke == "" || p.refused != nil {
			return p.refused
		}
		return smokeTest(cmd.Context(), g, &cfg, base, *smoke == smokeAll)
	}
}

type preview struct {
	Study  string      `json:"study"`
	Dir    string      `json:"dir"`
	Params []paramJSON `json:"params"`
	// Where are the relations between them, and Allowed is about what share they leave.
	Where    []string        `json:"where,omitempty"`
	Allowed  float64         `json:"allowed,omitempty"`
	Setup    string          `json:"setup,omitempty"`
	Commands []string        `json:"commands"`
	Files    []previewFile   `json:"files,omitempty"`
	Script   string          `json:"script,omitempty"`  // of the first trial's job, or the pilots'
	Safety   *study.Safety   `json:"safety,omitempty"`  // with the constant as it is in the cube
	Earlier  []study.Earlier `json:"earlier,omitempty"` // what the study would begin with
	refused  error           // why the batch system would not take it
}

// paramJSON is a parameter with its bounds, of which one may be 0.
type paramJSON struct {
	spaces.Param
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

type previewFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

const previewed, previewedLines = 3, 40 // commands, and lines of a file

func newPreview(ctx context.Context, cfg *study.Config, l layout.Study) (*preview, error) {
	setup, err := command.Command{Shell: cfg.Setup}.Render(study.TrialBindings(l, cfg, &study.Trial{}, 0, 0))
	if err != nil {
		return nil, err
	}
	p := &preview{Study: cfg.Name, Dir: string(l), Setup: setup.Shell, Safety: cfg.Safety}
	for _, param := range cfg.Params {
		ranged := param.Kind == spaces.KindFloat || param.Kind == spaces.KindInt
		p.Params = append(p.Params, paramJSON{param, maybe(ranged, param.Min), maybe(ranged, param.Max)})
	}
	search, errSearch := cfg.Search()
	space, errSpace := cfg.Space()
	if err := cmp.Or(errSearch, errSpace); err != nil {
		return nil, err
	}
	st, err := begins(cfg, search, l)
	if err != nil {
		return nil, err
	}
	p.Earlier = st.Earlier
	if space.Related() {
		p.Where, p.Allowed = cfg.Where, space.Share()
	}
	opt, err := optimizer.New(search.Space, cfg.Seed, search.Settings, st.Inherited()...)
	if err != nil {
		return nil, err
	}
	p.Script, p.refused = previewScript(ctx, cfg, l)
	q, files := optimizer.Query{}, cfg.Files
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
		b := study.TrialBindings(l, cfg, &study.Trial{Number: q.Trial}, 1, 0)
		b.Values = values
		point, errPoint := search.Encode(values)
		line, errLine := cfg.Command.Paste(here(cfg))(b)
		if err := cmp.Or(errPoint, errLine); err != nil {
			return nil, err
		}
		p.Commands = append(p.Commands, line)
		for _, f := range files {
			text, err := f.Render(b)
			if err != nil {
				return nil, err
			}
			p.Files = append(p.Files, previewFile{f.To, text})
		}
		files = nil // those of the first trial are shown
		q.Pending = append(q.Pending, optimizer.Pending{Trial: q.Trial, Point: point})
	}
	return p, nil
}

// begins is a study of the config as far as earlier ones are known: after its first trial they are not read again.
func begins(cfg *study.Config, search *study.Search, l layout.Study) (*study.State, error) {
	if st, err := study.Load(string(l)); err == nil && len(st.Trials) > 0 {
		change, err := st.Reconfigured(*cfg)
		if err == nil && change != nil {
			err = st.Apply(study.Record{Event: *change})
		}
		if err == nil {
			return st, nil
		}
	}
	earlier, err := cfg.ReadEarlier(0)
	return &study.State{Config: *cfg, Search: search, Earlier: earlier}, err
}

func (p *preview) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "study %s, kept in %s\n\nparameters\n", oneLine(p.Study), oneLine(p.Dir))
	s.WriteString(tableText(lists.Map(p.Params, func(p paramJSON) []string {
		return []string{"  " + p.Name, string(p.Kind), oneLine(rangeOf(p.Param)), oneLine(when(p.When != "", "when %s", p.When))}
	}), 0))
	share := either(p.Allowed < 0.995, fmt.Sprintf("about %.2g", 100*p.Allowed), either(p.Allowed < 1, ">99", "about 100")) // as report.Percent
	line := func(text string) string { return "  " + oneLine(text) + "\n" }
	s.WriteString(when(p.Where != nil, "\nwhere, which allows %s %% of the space\n", share))
	s.WriteString(strings.Join(lists.Map(p.Where, line), ""))
	if c := p.Safety; c != nil {
		side := either(c.Least, "at least", "at most")
		fmt.Fprintf(&s, "\nsafety: %s %s %s, changing by at most %s per unit of the cube\n", oneLine(c.Metric), side, exact(c.At), short(c.Constant))
	}
	s.WriteString(when(p.Earlier != nil, "\nwarm start\n"))
	s.WriteString(strings.Join(lists.Map(lists.Map(p.Earlier, earlierText), line), ""))
	s.WriteString(when(p.Setup != "", "\nsetup\n%s", previewText(p.Setup)))
	s.WriteString("\nfirst commands\n" + strings.Join(lists.Map(p.Commands, previewText), ""))
	s.WriteString(when(p.Script != "", "\njob\n%s", printable(p.Script)))
	for _, f := range p.Files {
		lines := strings.Split(strings.TrimRight(printable(f.Text), "\n"), "\n")
		if len(lines) > previewedLines {
			lines = append(lines[:previewedLines], "...")
		}
		fmt.Fprintf(&s, "\n%s of the first trial\n  %s\n", oneLine(f.Name), strings.Join(lines, "\n  "))
	}
	return s.String()
}

func earlierText(e study.Earlier) string {
	text := fmt.Sprintf("%s: %s of %s objective", e.From, count(len(e.Trials), "trial"), either(e.Same, "the same", "a related"))
	for i, name := range slices.Sorted(maps.Keys(e.Columns)) {
		text += either(i == 0, "; ", ", ") + name + " from " + e.Columns[name]
	}
	text += when(len(e.Ignored) > 0, "; ignoring %s", strings.Join(e.Ignored, ", "))
	text += when(len(e.Defaults) > 0, "; with the default of %s", strings.Join(e.Defaults, ", "))
	return text + when(e.Left > 0, "; %d left out, the first is %s", e.Left, e.Why)
}

// previewText is a command of one line indented, and one of several as it is.
func previewText(command string) string {
	command = printable(strings.TrimRight(command, "\n"))
	return either(strings.Contains(command, "\n"), command+"\n", "  "+command) + "\n"
}

func rangeOf(p spaces.Param) string {
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		text := spaces.Float(p.Min).Text() + " to " + spaces.Float(p.Max).Text()
		text += when(p.Scale != "" && p.Scale != spaces.Linear, ", %s", p.Scale)
		text += when(p.Step > 0, ", in steps of %s", spaces.Float(p.Step).Text())
		return text + when(p.Format != "", ", as %s", p.Format)
	case spaces.KindBool:
		return "false, true"
	}
	return strings.Join(lists.Map(p.Choices, valueText), ", ")
}

// earlyRung is where asha first stops trials, if that is below a tenth of a known whole. One that ends at a rung
// of a resource may be continued.
func earlyRung(cfg *study.Config) string {
	p := cfg.Prune
	if p == nil || p.Method != "asha" || p.Resource != "" {
		return ""
	}
	first := max(p.MinResource, p.Warmup)
	return when(first < p.MaxStep/10, "step %s of %s", short(first), short(p.MaxStep))
}

// scriptRE is a word of a command that names a script, or a program by its path.
var scriptRE = pattern.Lazy(`^(\./[\w./-]+|[\w./-]+\.(py|sh|R|jl|pl|rb|js|lua|m))$`)

// warnOfAbsent names on standard error the first script of a command that is not where trials look
// for it, and what to do; nothing of a study whose setup or files may make it.
func warnOfAbsent(g *global, cfg *study.Config, spec string) {
	specDir, err := filepath.Abs(filepath.Dir(spec))
	if err != nil || cfg.Setup != "" || len(cfg.Files) > 0 || strings.Contains(cfg.Command.Shell, "cd ") {
		return
	}
	dir := cfg.Dir
	if cwd := cfg.Run.Cwd; cwd != "" && (cfg.Run.Sources == nil || cfg.Run.Sources.Mode != "isolate") {
		if strings.Contains(cwd, "{") {
			return
		}
		dir = command.Inside(dir, cwd)
	}
	words := either(cfg.Command.Shell != "", strings.Fields(cfg.Command.Shell), cfg.Command.Argv)
	in := func(dir, word string) bool {
		_, err := os.Stat(command.Inside(dir, word))
		return !errors.Is(err, fs.ErrNotExist)
	}
	for i, word := range words {
		output := i > 0 && (strings.HasPrefix(words[i-1], "-") || strings.HasSuffix(words[i-1], ">")) // it may be one
		if !scriptRE().MatchString(word) || output || in(dir, word) {
			continue
		}
		text := fmt.Sprintf("there is no %s in %s, where trials run", word, dir)
		text += when(specDir != dir && in(specDir, word), ", but one in %s: start lbotune there, or write cwd = %[1]q in [run]", specDir)
		fmt.Fprintln(g.err, "warning: "+oneLine(text))
		return
	}
}
