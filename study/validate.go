package study

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
)

// Problem is one thing that is wrong with a Config.
type Problem struct {
	// Key is the path of what is at fault, as a spec calls it: metrics stand under their
	// names, and elements of arrays under their numbers from 0.
	Key           []string
	Message, Hint string
	// Text is the whole text of which Piece, from the byte At, is at fault; empty if it is
	// not one piece of a text.
	Text, Piece string
	At          int
}

func (p Problem) Error() string {
	text := p.Message
	if len(p.Key) > 0 {
		text = strings.Join(p.Key, ".") + ": " + text
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

// An InvalidError lists what is wrong with a Config.
type InvalidError []Problem

func (e InvalidError) Error() string {
	return "invalid configuration: " + strings.Join(lists.Map(e, Problem.Error), "\n")
}

// Validate says what is wrong with a config, wherever it comes from: an InvalidError. It reads
// no file. A config without a command is for trials that are handed out and told.
func (c *Config) Validate() error {
	copied := *c
	copied.Params = slices.Clone(c.Params)
	k := check{config: &copied}
	k.words()
	if len(k.problems) == 0 {
		k.problems = copied.Problems()
	}
	if len(k.problems) == 0 {
		k.parts()
	}
	if len(k.problems) == 0 {
		return nil
	}
	return InvalidError(k.problems)
}

// Problems lists what is wrong between parts of a config that are right by themselves: a
// placeholder that no parameter provides, a rule for pruning that the objective does not
// allow. It gives each parameter the format in which its placeholders have it written.
func (c *Config) Problems() []Problem {
	k := check{config: c}
	k.placeholders()
	k.grid()
	k.safety()
	k.several()
	k.warmStart()
	k.measured()
	k.pruning()
	return k.problems
}

type check struct {
	config   *Config
	index    map[string]int // of the parameters, by name
	problems []Problem
}

func (c *check) at(hint, message string, key ...string) {
	c.problems = append(c.problems, Problem{Key: key, Message: message, Hint: hint})
}

func (c *check) when(wrong bool, hint, message string, key ...string) {
	if wrong {
		c.at(hint, message, key...)
	}
}

// piece complains about a piece of a template.
func (c *check) piece(tpl template, p command.Part, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{Key: tpl.key, Message: fmt.Sprintf(format, args...), Hint: hint, Text: tpl.text, Piece: p.Text, At: p.Start})
}

// words finds words and numbers that mean nothing. A spec's reader has its own words for them.
func (c *check) words() {
	cfg := c.config
	word := func(found string, allowed []string, key ...string) {
		c.when(!slices.Contains(allowed, found), spelling.DidYouMean(found, allowed), fmt.Sprintf("found %q", found), key...)
	}
	for _, m := range cfg.Metrics {
		if m.Direction != "" {
			word(string(m.Direction), []string{string(Minimize), string(Maximize)}, "metrics", m.Name, "direction")
		}
		if m.Measure == "" {
			if _, err := parser.Compile(m.Rule); err != nil {
				c.at("", err.Error(), "metrics", m.Name)
			}
		}
	}
	for _, p := range cfg.Optimizer.Validate() {
		c.at("", p.Message, "optimizer", p.Field)
	}
	if cfg.Run.Combine != "" {
		word(cfg.Run.Combine, []string{"mean", "median"}, "run", "combine")
	}
	if s := cfg.Run.Sources; s != nil {
		word(s.Mode, []string{"copy", "link", "isolate"}, "run", "sources", "mode")
	}
	for _, n := range []struct {
		key   string
		found float64
	}{
		{"budget.trials", float64(cfg.Budget.Trials)}, {"budget.time", float64(cfg.Budget.Time)},
		{"budget.time_hard", float64(cfg.Budget.TimeHard)}, {"budget.worker_time", float64(cfg.Budget.WorkerTime)},
		{"budget.patience", float64(cfg.Budget.Patience)},
		{"budget.gap", cfg.Budget.Gap}, {"budget.regret", cfg.Budget.Regret}, {"budget.regret", cfg.Budget.RegretShare},
		{"run.workers", float64(cfg.Run.Workers)}, {"run.timeout", float64(cfg.Run.Timeout)},
		{"run.grace", float64(cfg.Run.Grace)}, {"run.retries", float64(cfg.Run.Retries)},
		{"run.max_log", float64(cfg.Run.MaxLog)}, {"run.repeats", float64(cfg.Run.Repeats)},
		{"run.confirm", float64(cfg.Run.Confirm)}, {"run.keep", float64(cfg.Run.Keep)},
	} {
		c.when(!(n.found >= 0), "", fmt.Sprintf("found %v; want at least 0", n.found), strings.Split(n.key, ".")...)
	}
	if b := cfg.Budget; b.TimeHard > 0 && (cfg.lastCall() <= 0 || b.TimeHard < b.Time) {
		c.at("give it more, or a shorter grace in [run]", fmt.Sprintf("found %v; want more than run.grace, %v, the time to end what runs, and at least time", b.TimeHard, cfg.Run.Grace),
			"budget", "time_hard")
	}
	runs := cfg.Command.Shell != "" || len(cfg.Command.Argv) > 0
	c.when(cfg.Budget == (Budget{}) && runs && cfg.Optimizer.Method != "grid", "trials = 50, for example", "the study has no end", "budget")
	c.when(cfg.Budget.WorkerTime > 0 && !runs, "", "only runs of a command count, and there is none", "budget", "worker_time")
	c.when(cfg.Run.Confirm == 1, "", "found 1; want at least 2: one run says nothing of how certain it is", "run", "confirm")
	if share := cfg.Budget.Enqueued; share != nil && (!(*share >= 0 && *share <= 1) || cfg.Budget.Trials == 0) {
		c.at("", fmt.Sprintf("found %v; want a share of trials from 0 to 1", *share), "budget", "enqueued")
	}
	if h := cfg.Hooks; h != nil && h.Timeout <= 0 {
		c.at("", fmt.Sprintf("found %v; want a positive duration", h.Timeout), "hooks", "timeout")
	}
	for _, e := range cfg.Run.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			c.at("", fmt.Sprintf("found %q; want NAME=value", e), "run", "env")
		}
	}
	c.when(cfg.Command.Shell != "" && len(cfg.Command.Argv) > 0 || len(cfg.Command.Argv) > 0 && cfg.Command.Argv[0] == "",
		"", "want a text for the shell or a list of words, the program first", "command")
	for _, f := range cfg.Files {
		c.when(!filepath.IsLocal(f.To) || filepath.Clean(f.To) == ".",
			"", fmt.Sprintf("found %q; want the name of a file inside the trial's directory", f.To), "files", "to")
	}
}

func (c *check) parts() {
	cfg := c.config
	_, _, err := cfg.spaces()
	if err == nil {
		_, err = cfg.Fingerprint() // no number is NaN or infinite
	}
	if err != nil {
		c.at("", err.Error())
		return
	}
	if cfg.Resource() != "" {
		if _, err := cfg.Search(); err != nil {
			c.at("", err.Error())
		}
	}
	if _, err := pruner.For(cfg.Prune, cfg.Objective().Direction == Minimize); err != nil {
		c.at("", err.Error())
	}
	limited := func(name string) bool {
		return slices.ContainsFunc(cfg.Metrics, func(m Metric) bool { return m.Name == name && m.Limited() })
	}
	if m := cfg.Run.FailedMeans; m != "" && !limited(m) {
		c.at("", fmt.Sprintf("metric %q has no limit", m), "run", "failed_means")
	}
	if s := cfg.Safety; s != nil {
		if !slices.ContainsFunc(cfg.Metrics, func(m Metric) bool { return m.Name == s.Metric }) {
			c.at("", fmt.Sprintf("there is no metric %s", s.Metric), "safety", "metric")
		}
		c.when(!(s.Constant > 0) || !(s.Noise >= 0), "", "want a positive constant, and noise of at least 0", "safety")
	}
}

func (c *check) safety() {
	cfg := c.config
	if cfg.Safety == nil {
		return
	}
	if i := slices.IndexFunc(cfg.Params, func(p spaces.Param) bool { return !p.Default.IsValid() || p.Sure != "" }); i >= 0 {
		c.at("add default = ..., which is tried first", fmt.Sprintf("begins with values that are known to be safe: parameter %s needs a default", cfg.Params[i].Name), "safety")
	}
	method := cmp.Or(cfg.Optimizer.Method, "lbo")
	c.when(method != "lbo", "", "is for method lbo; the method here is "+method, "safety")
	c.when(cfg.Resource() != "", "", "cannot stand beside successive halving, which runs proposals with less of the resource", "safety")
}

func (c *check) grid() {
	if c.config.Optimizer.Method != "grid" {
		return
	}
	for _, p := range c.config.Params {
		if _, finite := p.Levels(); !finite {
			c.at("give it a step, or make it type = \"ordered\" with values",
				fmt.Sprintf("a grid tries every value, and %s has no end of them", p.Name), "optimizer", "method")
		}
	}
}

func (c *check) several() {
	cfg := c.config
	if !cfg.Several() {
		return
	}
	const one = "is for one objective"
	c.when(cfg.Budget.Goal != nil, "write goal into [objectives."+cfg.Objective().Name+"]", one, "budget", "goal")
	c.when(cfg.Budget.Gap != 0, "leave it out", one, "budget", "gap")
	c.when(cfg.Budget.bounded(), "leave it out", one, "budget", "regret")
	c.when(cfg.Optimizer.Acquisition != "", "leave it out", one, "optimizer", "acquisition")
	c.when(cfg.Optimizer.Local != "", "leave it out", one, "optimizer", "local")
	c.when(cfg.Optimizer.Method == "lipschitz", "", "method lipschitz is for one objective", "optimizer", "method")
	switch p := cfg.Prune; {
	case p == nil:
	case p.Method != pruner.ASHA:
		c.at("write method = \"asha\", which ranks trials by all objectives", fmt.Sprintf("method %s is for one objective", p.Method), "prune", "method")
	case p.Resource != "":
		c.at("leave it out: trials are stopped at the rungs instead of being continued", one, "prune", "resource")
	}
}

func (c *check) warmStart() {
	cfg := c.config
	switch method := cmp.Or(cfg.Optimizer.Method, "lbo"); {
	case len(cfg.WarmStart) == 0:
	case cfg.Several():
		c.at("leave it out", "is for one objective", "warm_start")
	case len(cfg.Limits()) > 0:
		c.at("leave it out", "cannot stand beside constraints: nothing would be known of them where the objective is", "warm_start")
	case method != "lbo":
		c.at("leave it out", "is for method lbo; the method here is "+method, "warm_start")
	}
}

// measured finds values that could not be had, or not be trusted.
func (c *check) measured() {
	cfg := c.config
	c.when(cfg.Budget.Gap > 0 && cfg.Optimizer.LipschitzConstant == 0 && !cfg.Several(), "state lipschitz_constant in [optimizer], or write patience = 20 in its place",
		"what is left to gain is certain only under a stated lipschitz_constant: by an estimated one studies end too early", "budget", "gap")
	unknown := cmp.Or(cfg.Optimizer.Method, "lbo") != "lbo" || len(cfg.Limits()) > 0 || cfg.Safety != nil || cfg.Prune != nil || len(cfg.WarmStart) > 0
	c.when(cfg.Budget.bounded() && !cfg.Several() && unknown, "write patience = 20 in its place",
		"what is left to gain is known to method lbo alone, and not beside constraints, safety, [prune] or warm_start", "budget", "regret")
	if m, shared := cfg.SharedResult(nil); shared && cfg.Run.SlotCount() > 1 {
		c.at(`write file = "{trial_dir}/result.json", and have the program write there`,
			fmt.Sprintf("%d trials at a time would write the same file %q", cfg.Run.SlotCount(), m.File), "metrics", m.Name, "file")
	}
}

func (c *check) pruning() {
	cfg := c.config
	p, objective := cfg.Prune, cfg.Objective()
	if p == nil {
		return
	}
	c.when(p.Resource == "" && objective.Measure != "",
		"leave [prune] out", "cannot be, since the objective is measured when a trial has ended: there are no readings to judge it by", "prune")
	pick, best := objective.Rule.Pick, "max"
	if objective.Direction == Minimize {
		best = "min"
	}
	reachable := p.Method == pruner.Reachable
	c.when(reachable && pick != "" && pick != "last" && pick != best,
		fmt.Sprintf("pick = %q or \"last\"", best), fmt.Sprintf("reachable bounds the last reading and the best one; the objective has pick = %q", pick), "prune", "method")
	c.when(reachable && cfg.Run.Repeats > 1,
		"choose another method, or leave repeats out", "reachable compares readings of single runs, and with repeats a trial counts by the mean or median of several", "prune", "method")
	if p.Resource == "" {
		return
	}
	const leave = "leave it and gap out, or leave resource out: trials are stopped at the rungs instead of being continued"
	c.when(cfg.Optimizer.LipschitzConstant > 0, leave, fmt.Sprintf("says nothing of what is left to gain beside the training budget %s, whose rungs count as distances", p.Resource), "optimizer", "lipschitz_constant")
	c.when(cfg.Run.Keep > 0, "", "the checkpoints from which successive halving continues trials lie in their directories: keep all", "run", "keep")
	c.resource(p.Resource)
}

// resource finds what is wrong with the training budget: trials that continue another
// have more of it and else the same values, so that none may come or go with it.
func (c *check) resource(name string) {
	params := c.config.Params
	for i, p := range params {
		if r, err := spaces.ParseRelation(p.When, params[:i]); p.When != "" && err == nil && slices.Contains(r.Params, name) {
			c.at("leave it out", fmt.Sprintf("the training budget %s cannot be part of a condition: a trial that is continued keeps its values", name), "params", p.Name, "when")
		}
	}
	if i := slices.Index(namesOf(params), name); i >= 0 {
		c.when(params[i].Kind != spaces.KindInt || params[i].When != "",
			"", fmt.Sprintf("a training budget must be an int parameter without a condition; %s is not", name), "prune", "resource")
		return
	}
	c.at(spelling.DidYouMean(name, namesOf(params)), fmt.Sprintf("there is no parameter %s", name), "prune", "resource")
}
