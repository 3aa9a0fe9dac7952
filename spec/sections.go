package spec

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
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
		if env, _ := command.Assignments(argv); len(env) > 0 {
			w := &writer{}
			w.env(env)
			t.at("command", "write "+strings.TrimSpace(w.b.String())+" in [run]", "the first element, the program, is %q, which is a variable for one", env[0])
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
	if share, ok := s.number("enqueued"); ok {
		switch {
		case share < 0 || share > 1:
			s.at("enqueued", "", "found %v; want a share from 0 to 1", share)
		case b.Trials == 0:
			s.at("enqueued", "add trials = 50", "it is a share of the trials, whose number is not given")
		}
		b.Enqueued = &share
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
		SecretEnv:     s.strings("secret_env"),
		Cwd:           s.str("cwd", ""),
		Sources:       s.sources(),
		Repeats:       int(s.integer("repeats", 1, 1)),
		Combine:       s.oneOf("combine", "mean", "mean", "median"),
		Confirm:       int(s.integer("confirm", 0, 2)),
		FailureGuard:  int(s.integer("failure_guard", defaultFailureGuard, -1)),
		ParamsFromEnv: s.boolean("params_from_env"),
		FailedMeans:   s.str("failed_means", ""),
		Keep:          s.keep(),
	}
	if r.Workers > maxWorkers {
		s.at("workers", "", "found %d; want at most %d", r.Workers, maxWorkers)
	}
	if s.boolean("isolate") {
		for _, key := range []string{"cwd", "sources"} {
			if s.has(key) {
				s.at(key, "keep one of them", "isolate = true gives each trial a working directory of its own, and %s another", key)
			}
		}
		r.Sources, r.Cwd = &study.Sources{From: ".", Mode: study.SourcesIsolate}, "{trial_dir}/"+study.SourcesName
	}
	s.slots(&r)
	s.checkSecrets(r)
	s.done()
	return r
}

// defaultHookTimeout is how long a hook may take.
const defaultHookTimeout = time.Minute

// hooks reads [hooks].
func (t *table) hooks() *study.Hooks {
	s := t.sub("hooks")
	if s.data == nil {
		return nil
	}
	h := &study.Hooks{Trial: s.str("trial", ""), Best: s.str("best", ""), End: s.str("end", ""), Timeout: s.duration("timeout", defaultHookTimeout)}
	if h.Timeout <= 0 && s.has("timeout") {
		s.at("timeout", "", "found %v; want a positive duration", h.Timeout)
	}
	s.done()
	return h
}

// keep reads how many of the best trials keep their directories.
func (t *table) keep() int {
	v, ok := t.get("keep")
	switch n, whole := v.(int64); {
	case !ok || v == "all":
		return 0
	case v == "best":
		return 1
	case whole && n >= 1:
		return int(n)
	}
	t.at("keep", "", `found %v; want "all", "best", or how many of the best trials keep their directories`, v)
	return 0
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
	s := t.sub("sources")
	if s.data == nil {
		return nil
	}
	out := &study.Sources{From: s.str("from", ""), Mode: s.oneOf("mode", study.SourcesCopy, study.SourcesCopy, study.SourcesLink)}
	if out.From == "" {
		s.missing("from", `for example sources = { from = "src" }`, "needs from, the directory to copy or link")
	}
	s.done()
	return out
}

// prune reads [prune].
func (t *table) prune() *study.Prune {
	s := t.sub("prune")
	if s.data == nil {
		return nil
	}
	p := &study.Prune{
		Method:    s.oneOf("method", "", "median", "percentile", "asha", "patience", "threshold", "reachable"),
		Patience:  int(s.integer("patience", 0, 1)),
		MinTrials: int(s.integer("min_trials", 4, 0)),
		Resource:  s.str("resource", ""),
	}
	if !s.has("method") {
		s.missing("method", `for example method = "median"`, "needs a method")
	}
	p.Warmup, _ = s.number("warmup")
	p.MaxStep = s.within("max_step", 0, 0, math.Inf(1))
	p.Percentile = s.within("percentile", 25, 0, 100)
	p.MinResource = s.within("min_resource", 1, 0, math.Inf(1))
	p.Reduction = s.within("reduction", 3, 1, math.Inf(1))
	p.Slope = s.within("slope", 0, 0, math.Inf(1))
	if factor := s.within("factor", 2, 0, math.Inf(1)); p.Method == "reachable" {
		p.Factor = factor
	}
	if x, ok := s.number("threshold"); ok {
		p.Threshold = &x
	}
	switch {
	case p.Method == "threshold" && p.Threshold == nil:
		s.self("add threshold = ...", "method threshold needs a threshold")
	case p.Method == "patience" && p.Patience == 0:
		s.self("add patience = 5", "method patience needs a number of readings")
	case p.Method == "reachable" && p.MaxStep == 0:
		s.missing("max_step", "add max_step = ...", "method reachable needs the last step, max_step")
	case p.Slope > 0 && s.has("factor"):
		s.at("factor", "leave it out", "is for a slope that is not stated")
	}
	for _, k := range []struct{ key, method string }{
		{"percentile", "percentile"}, {"patience", "patience"}, {"threshold", "threshold"},
		{"slope", "reachable"}, {"factor", "reachable"},
		{"min_resource", "asha"}, {"reduction", "asha"}, {"resource", "asha"},
	} {
		if s.has(k.key) && p.Method != "" && p.Method != k.method {
			s.at(k.key, "", "is for method %s; the method here is %s", k.method, p.Method)
		}
	}
	s.done()
	return p
}
