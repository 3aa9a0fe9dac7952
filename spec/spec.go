// Package spec turns a TOML file into a study.Config. Whatever is wrong with
// the file is reported at once, each complaint with its line, its column, what
// was found and what is allowed.
package spec

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
)

// maxSize bounds a spec file: a larger one is surely some other file.
const maxSize = 1 << 20

// Load reads and checks the spec at path. Complaints about its content come
// back as an *Error; if it is OnlyRule, with the configuration.
func Load(path string) (study.Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return study.Config{}, fmt.Errorf("read spec: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return study.Config{}, fmt.Errorf("read spec: %s is not a TOML file of at most 1 MiB", path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return study.Config{}, fmt.Errorf("read spec: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return study.Config{}, fmt.Errorf("read spec: find the working directory: %w", err)
	}
	return Parse(path, src, dir)
}

// Parse checks the content of the spec that is named path in complaints. Setup
// and trials of the study run in dir; templates are looked up beside the spec.
func Parse(path string, src []byte, dir string) (study.Config, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if at := invalidUTF8(src); at >= 0 {
		line := 1 + bytes.Count(src[:at], []byte("\n"))
		return study.Config{}, &Error{Path: path, lines: strings.Split(string(src), "\n"), Problems: []Problem{{
			Line: line, Col: at - bytes.LastIndexByte(src[:at], '\n'), Message: "the file is not UTF-8 text",
		}}}
	}
	d := parseDocument(string(src))
	cfg := study.Config{Dir: dir}
	if len(d.problems) == 0 {
		d.config(&cfg, path)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(p, q Problem) int { return cmp.Or(p.Line-q.Line, p.Col-q.Col) })
		err := &Error{Path: path, Problems: d.problems, OnlyRule: d.noRule && len(d.problems) == 1, lines: d.lines}
		if !err.OnlyRule {
			cfg = study.Config{}
		}
		return cfg, err
	}
	return cfg, nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, -1 if all are.
func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// config reads the whole document.
func (d *document) config(cfg *study.Config, path string) {
	t := &table{doc: d, element: -1, data: d.root}
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	cfg.Name = t.str("name", base)
	if cfg.Name == "" || strings.ContainsAny(cfg.Name, "\n\r\x1b") {
		t.at("name", "", "found %q; want one line of text", cfg.Name)
	}
	cfg.Seed = uint64(t.integer("seed", 0, 0))
	cfg.Setup = t.str("setup", "")
	cfg.Command = t.command()
	var okExit []int
	cfg.Metrics = t.metrics(&okExit)
	limited := t.constraints(cfg)
	cfg.Params = t.params()
	cfg.Where = t.where()
	cfg.WarmStart = t.warmStart()
	cfg.Budget = t.budget()
	cfg.Run = t.run()
	cfg.Run.OKExit = okExit
	t.sub("run").failedMeans(&cfg.Run, limited)
	t.optimizer(&cfg.Optimizer)
	if cfg.Budget.Gap > 0 && cfg.Optimizer.LipschitzConstant == 0 && !cfg.Several() {
		t.sub("budget").at("gap", "state lipschitz_constant in [optimizer], or write patience = 20 in its place",
			"what is left to gain is certain only under a stated lipschitz_constant: by an estimated one studies end too early")
	}
	cfg.Prune = t.prune()
	cfg.Safety = t.safety(*cfg)
	cfg.Hooks = t.hooks()
	if cfg.Run.Keep > 0 && cfg.Resource() != "" {
		t.sub("run").at("keep", "", "the checkpoints from which successive halving continues trials lie in their directories: keep all")
	}
	cfg.Files = t.files(filepath.Dir(path), cfg.Reserved())
	cfg.Launcher = t.launcher(cfg.Run)
	t.done()
	t.checkPlaceholders(cfg)
	t.checkTogether(*cfg)
	t.checkWhere(cfg)
	t.checkDirectories(*cfg)
}

// checkDirectories finds directories that are named and not there, unless setup
// may make them.
func (t *table) checkDirectories(cfg study.Config) {
	if cfg.Setup != "" {
		return
	}
	run := t.sub("run")
	there := func(in *table, key, path string) {
		abs := path
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(cfg.Dir, abs)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			in.at(key, "relative ones are looked for in "+cfg.Dir+", where lbotune is started", "there is no directory %q", path)
		}
	}
	if cwd := cfg.Run.Cwd; cwd != "" && !slices.ContainsFunc(command.Parse(cwd), command.Part.IsPlaceholder) {
		there(run, "cwd", cwd)
	}
	if src := cfg.Run.Sources; src != nil && src.From != "" {
		there(run.sub("sources"), "from", src.From)
	}
}

// checkGrid reports parameters whose values a grid could not list.
func (t *table) checkGrid(cfg study.Config) {
	if cfg.Optimizer.Method != optimizer.MethodGrid {
		return
	}
	for _, p := range cfg.Params {
		if _, finite := p.Levels(); !finite {
			t.sub("optimizer").at("method", "give it a step, or make it type = \"ordered\" with values",
				"a grid tries every value, and %s has no end of them", p.Name)
		}
	}
}

// checkSeveral reports what has no meaning with several objectives.
func (t *table) checkSeveral(cfg study.Config) {
	if !cfg.Several() {
		return
	}
	first := cfg.Objective().Name
	for _, k := range []struct{ section, key, hint string }{
		{"budget", "goal", "write goal into [objectives." + first + "]"},
		{"budget", "gap", "leave it out"},
		{"optimizer", "acquisition", "leave it out"}, {"optimizer", "local", "leave it out"},
	} {
		if sub := t.sub(k.section); sub.has(k.key) {
			sub.at(k.key, k.hint, "is for one objective")
		}
	}
	if cfg.Optimizer.Method == optimizer.MethodLipschitz {
		t.sub("optimizer").at("method", "", "method %s is for one objective", cfg.Optimizer.Method)
	}
	switch p := cfg.Prune; {
	case p == nil:
	case p.Method != "asha":
		t.sub("prune").at("method", "write method = \"asha\", which ranks trials by all objectives", "method %s is for one objective", p.Method)
	case p.Resource != "":
		t.sub("prune").at("resource", "leave it out: trials are stopped at the rungs instead of being continued", "is for one objective")
	}
}

// checkTogether finds what is wrong between sections that are right alone.
func (t *table) checkTogether(cfg study.Config) {
	t.checkGrid(cfg)
	t.checkSeveral(cfg)
	t.checkWarmStart(cfg)
	if m, shared := cfg.SharedResult(); shared && cfg.Run.SlotCount() > 1 {
		in := t.sub("objective")
		switch {
		case m.Direction != "" && t.has("objectives"):
			in = t.sub("objectives").sub(m.Name)
		case m.Name != cfg.Objective().Name:
			in = t.sub("metrics").sub(m.Name)
		}
		in.at("file", `write file = "{trial_dir}/result.json", and have the program write there`,
			"%d trials at a time would write the same file %q", cfg.Run.SlotCount(), m.File)
	}
	p := cfg.Prune
	if p == nil {
		return
	}
	sub := t.sub("prune")
	if p.Resource == "" && cfg.Objective().Measure != "" {
		sub.self("leave [prune] out", "cannot be, since the objective is measured when a trial has ended: there are no readings to judge it by")
	}
	pick, best := cfg.Objective().Rule.Pick, "max"
	if cfg.Objective().Direction == study.Minimize {
		best = "min"
	}
	if p.Method == "reachable" && pick != "" && pick != "last" && pick != best {
		sub.at("method", fmt.Sprintf("pick = %q or \"last\"", best), "reachable bounds the last reading and the best one; the objective has pick = %q", pick)
	}
	if p.Method == "reachable" && cfg.Run.Repeats > 1 {
		sub.at("method", "choose another method, or leave repeats out", "reachable compares readings of single runs, and with repeats a trial counts by the mean or median of several")
	}
	if p.Resource == "" {
		return
	}
	t.checkResource(cfg)
}

// checkResource reports what is wrong with the training budget: trials that continue another
// have more of it and else the same values, so that none may come or go with it.
func (t *table) checkResource(cfg study.Config) {
	p, sub := cfg.Prune, t.sub("prune")
	for i, par := range cfg.Params {
		if r, err := spaces.ParseRelation(par.When, cfg.Params[:i]); par.When != "" && err == nil && slices.Contains(r.Params, p.Resource) {
			t.sub("params").sub(par.Name).at("when", "leave it out", "the training budget %s cannot be part of a condition: a trial that is continued keeps its values", p.Resource)
		}
	}
	for _, par := range cfg.Params {
		if par.Name != p.Resource {
			continue
		}
		if par.Kind != spaces.KindInt || par.When != "" {
			sub.at("resource", "", "a training budget must be an int parameter without a condition; %s is not", p.Resource)
		}
		return
	}
	var names []string
	for _, par := range cfg.Params {
		names = append(names, par.Name)
	}
	sub.at("resource", didYouMean(p.Resource, names), "there is no parameter %s", p.Resource)
}
