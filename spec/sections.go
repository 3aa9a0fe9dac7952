package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/command"
	"github.com/lbotune/lbotune/study"
)

const (
	defaultGrace        = 10 * time.Second
	defaultMaxLog       = 100 << 20
	defaultFailureGuard = 5
	maxWorkers          = 1024
)

// command reads what one trial runs.
func (t *table) command() command.Command {
	v, ok := t.get("command")
	if !ok {
		t.missing("command", `for example command = "python train.py --lr={lr}"`, "there is no command to run")
		return command.Command{}
	}
	switch v := v.(type) {
	case string:
		s := t.str("command", "")
		if strings.TrimSpace(s) == "" {
			t.at("command", "", "the command is empty")
		}
		return command.Command{Shell: s}
	case []any:
		argv := t.strings("command")
		if argv != nil && argv[0] == "" {
			t.at("command", "", "the first element, the program, is empty")
		}
		if len(v) == 0 {
			t.at("command", "", "the command is empty")
		}
		return command.Command{Argv: argv}
	}
	t.wrongType("command", v, `a string (run by /bin/sh) or an array of strings (run directly)`)
	return command.Command{}
}

// budget reads [budget].
func (t *table) budget() study.Budget {
	s := t.sub("budget")
	b := study.Budget{
		Trials:   int(s.integer("trials", 0, 1)),
		Time:     s.duration("time", 0),
		Patience: int(s.integer("patience", 0, 1)),
	}
	if goal, ok := s.number("goal"); ok {
		b.Goal = &goal
	}
	if gap, ok := s.number("gap"); ok {
		if gap <= 0 {
			s.at("gap", "", "found %v; want a positive number in the objective's units", gap)
		}
		b.Gap = gap
	}
	s.done()
	if b == (study.Budget{}) && len(s.data) == 0 {
		t.missing("budget", "for example\n\n    [budget]\n    trials = 50", "the study has no end: [budget] needs trials, time, goal, patience or gap")
	}
	return b
}

// run reads [run].
func (t *table) run() study.Run {
	s := t.sub("run")
	r := study.Run{
		Workers:       int(s.integer("workers", 1, 1)),
		Timeout:       s.duration("timeout", 0),
		Grace:         s.duration("grace", defaultGrace),
		Retries:       int(s.integer("retries", 0, 0)),
		MaxLog:        s.bytes("max_log", defaultMaxLog),
		Env:           s.pairs("env"),
		Cwd:           s.str("cwd", ""),
		Sources:       s.sources(),
		Repeats:       int(s.integer("repeats", 1, 1)),
		Combine:       s.oneOf("combine", "mean", "mean", "median"),
		Confirm:       int(s.integer("confirm", 0, 2)),
		FailureGuard:  int(s.integer("failure_guard", defaultFailureGuard, -1)),
		ParamsFromEnv: s.boolean("params_from_env", false),
	}
	if r.Workers > maxWorkers {
		s.at("workers", "", "found %d; want at most %d", r.Workers, maxWorkers)
	}
	s.slots(&r)
	s.done()
	return r
}

// slots reads where trials run.
func (t *table) slots(r *study.Run) {
	for _, slot := range t.subs("slots") {
		r.Slots = append(r.Slots, study.Slot{Env: slot.pairs("env")})
		slot.done()
	}
	r.GPUs = t.oneOf("gpus", "", "auto")
	r.PerGPU = int(t.integer("per_gpu", 1, 1))
	if t.has("per_gpu") && !t.has("gpus") {
		t.at("per_gpu", `add gpus = "auto"`, "says how many trials share a GPU, but gpus is not set")
	}
	switch {
	case len(r.Slots) > 0 && r.GPUs != "":
		t.at("gpus", "", "slots and gpus both say where trials run; keep one of them")
	case len(r.Slots) > 0 && !t.has("workers"):
		r.Workers = len(r.Slots)
	case len(r.Slots) > 0 && r.Workers > len(r.Slots):
		slots := fmt.Sprintf("%d slots", len(r.Slots))
		if len(r.Slots) == 1 {
			slots = "1 slot"
		}
		t.at("workers", "", "found %d workers for %s; each trial needs a slot to itself", r.Workers, slots)
	}
}

// sources reads run.sources.
func (t *table) sources() *study.Sources {
	if !t.has("sources") {
		t.get("sources")
		return nil
	}
	s := t.sub("sources")
	out := &study.Sources{From: s.str("from", ""), Mode: s.oneOf("mode", "copy", "copy", "link")}
	if out.From == "" && s.data != nil {
		s.missing("from", `for example sources = { from = "src" }`, "needs from, the directory to copy or link")
	}
	s.done()
	return out
}

// prune reads [prune].
func (t *table) prune() *study.Prune {
	if !t.has("prune") {
		t.get("prune")
		return nil
	}
	s := t.sub("prune")
	p := &study.Prune{
		Method:    s.oneOf("method", "", "median", "percentile", "asha", "patience", "threshold"),
		Patience:  int(s.integer("patience", 0, 1)),
		MinTrials: int(s.integer("min_trials", 4, 0)),
		Resource:  s.str("resource", ""),
	}
	if !s.has("method") && s.data != nil {
		s.missing("method", `for example method = "median"`, "needs a method")
	}
	p.Warmup, _ = s.number("warmup")
	p.MaxStep = s.within("max_step", 0, 0, math.Inf(1))
	p.Percentile = s.within("percentile", 25, 0, 100)
	p.MinResource = s.within("min_resource", 1, 0, math.Inf(1))
	p.Reduction = s.within("reduction", 3, 1, math.Inf(1))
	if x, ok := s.number("threshold"); ok {
		p.Threshold = &x
	}
	switch {
	case p.Method == "threshold" && p.Threshold == nil:
		s.self("add threshold = ...", "method threshold needs a threshold")
	case p.Method == "patience" && p.Patience == 0:
		s.self("add patience = 5", "method patience needs a number of readings")
	}
	for _, k := range []struct{ key, method string }{
		{"percentile", "percentile"}, {"patience", "patience"}, {"threshold", "threshold"},
		{"min_resource", "asha"}, {"reduction", "asha"}, {"resource", "asha"},
	} {
		if s.has(k.key) && p.Method != "" && p.Method != k.method {
			s.at(k.key, "", "is for method %s; the method here is %s", k.method, p.Method)
		}
	}
	s.done()
	return p
}

// maxTemplate bounds a template file, which is kept in the journal.
const maxTemplate = 1 << 20

// files reads [[files]] and the templates that they name.
func (t *table) files(base string) []command.File {
	var out []command.File
	taken := map[string]bool{}
	for _, f := range t.subs("files") {
		tpl := command.File{From: f.str("from", ""), Text: f.str("text", ""), To: f.str("to", "")}
		if f.has("from") == f.has("text") {
			f.missing("from", `for example from = "config.yaml.in"`, "needs either from, a template file, or text")
		} else if f.has("from") {
			tpl.Text = f.template(base, tpl.From)
		}
		if tpl.To == "" && tpl.From != "" {
			tpl.To = strings.TrimSuffix(filepath.Base(tpl.From), ".in")
		}
		f.settings(&tpl)
		switch {
		case tpl.To == "":
			f.missing("to", `for example to = "config.yaml"`, "the file has no name: add to")
		case !filepath.IsLocal(tpl.To):
			f.at("to", "", "found %q; want the name of a file inside the trial's directory", tpl.To)
		case taken[filepath.Clean(tpl.To)]:
			f.at("to", "", "two files are rendered to %q", tpl.To)
		}
		taken[filepath.Clean(tpl.To)] = true
		f.done()
		out = append(out, tpl)
	}
	return out
}

// settings reads the values that are set in a base file.
func (t *table) settings(f *command.File) {
	if !t.has("set") {
		t.get("set")
		return
	}
	if !f.Settable() {
		t.at("set", "name it in from or to, as base.yaml", "values are set in JSON, YAML and TOML files; %q is none by its name", cmp.Or(f.From, f.To))
	}
	t.inElement("set").setting(f, "")
}

// setting reads the settings in a table, whose own place in the file is prefix.
func (t *table) setting(f *command.File, prefix string) {
	for _, k := range slices.Sorted(maps.Keys(t.data)) {
		path := prefix + k
		if _, nested := t.data[k].(map[string]any); nested { // model.lr = "{lr}" without quotes
			t.inElement(k).setting(f, path+".")
			continue
		}
		s := command.Setting{Path: path, Value: t.value(k)}
		f.Set = append(f.Set, s)
		if !f.Settable() || f.Text == "" {
			continue
		}
		err := f.CheckSet(s)
		var pe *command.PathError
		switch {
		case errors.As(err, &pe):
			t.at(k, didYouMean(pe.Missing, pe.Allowed), "%v", pe)
		case err != nil:
			t.at(k, "", "%v", err)
		}
	}
}

// template reads a template file, which a relative path looks for in base.
func (t *table) template(base, from string) string {
	path := from
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		t.at("from", "", "cannot read the template: %v", err)
		return ""
	case !info.Mode().IsRegular() || info.Size() > maxTemplate:
		t.at("from", "", "%s is not a regular file of at most 1 MiB", path)
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.at("from", "", "cannot read the template: %v", err)
	}
	return string(text)
}
