package spec

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

const (
	defaultGrace        = 10 * time.Second
	defaultMaxLog       = 100 << 20
	defaultFailureGuard = 5
	maxWorkers          = 1024
	minReduction        = 1.1 // as the pruner has it
)

func (t *table) command() command.Command {
	v, ok := t.get("command")
	if !ok {
		t.Missing("command", `for example command = "python train.py --lr={lr}"`, "there is no command to run")
		return command.Command{}
	}
	switch v := v.(type) {
	case string:
		s := t.Text("command")
		t.when(strings.TrimSpace(s) == "", "command", "", "the command is empty")
		return command.Command{Shell: s}
	case []any:
		argv := t.Texts("command")
		t.when(argv != nil && argv[0] == "", "command", "", "the first element, the program, is empty")
		if env, _ := command.Assignments(argv); len(env) > 0 {
			t.Wrong("command", "write "+command.EnvironmentKey(env)+" in [run]", "the first element, the program, is %q, which is a variable for one", env[0])
		}
		t.when(len(v) == 0, "command", "", "the command is empty")
		return command.Command{Argv: argv}
	}
	t.wrongType("command", v, `a string (run by /bin/sh) or an array of strings (run directly)`)
	return command.Command{}
}

func (t *table) budget() study.Budget {
	s := t.sub("budget")
	b := study.Budget{
		Trials:     s.Int("trials", 0, 1),
		Time:       study.Duration(s.Duration("time", 0)),
		TimeHard:   study.Duration(s.Duration("time_hard", 0)),
		WorkerTime: study.Duration(s.Duration("worker_time", 0)),
		Patience:   s.Int("patience", 0, 1),
		Goal:       s.limit("goal"),
	}
	if gap, ok := s.number("gap"); ok {
		s.when(gap <= 0, "gap", "", "found %v; want a positive number in the objective's units", gap)
		b.Gap = gap
	}
	s.regret(&b)
	if share, ok := s.number("enqueued"); ok {
		switch {
		case share < 0 || share > 1:
			s.Wrong("enqueued", "", "found %v; want a share from 0 to 1", share)
		case b.Trials == 0:
			s.Wrong("enqueued", "add trials = 50", "it is a share of the trials, whose number is not given")
		}
		b.Enqueued = &share
	}
	s.done()
	if b == (study.Budget{}) && len(s.data) == 0 {
		t.Missing("budget", "for example\n\n    [budget]\n    trials = 50", "the study has no end: [budget] needs trials, time, worker_time, goal, patience, gap or regret")
	}
	return b
}

// regret reads what may be left to gain: a number, or a share such as "1%".
func (t *table) regret(b *study.Budget) {
	raw, _ := t.get("regret")
	text, _ := raw.(string)
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		t.when(err != nil || !(percent > 0 && percent < 100), "regret", "", "found %q; want a share between 0%% and 100%%", text)
		b.RegretShare = percent / 100
	} else if left, ok := t.number("regret"); ok {
		t.when(left <= 0, "regret", "", "found %v; want a positive number in the objective's units, or a share such as \"1%%\"", left)
		b.Regret = left
	}
}

func (t *table) run() study.Run {
	s := t.sub("run")
	r := study.Run{
		Workers:       s.Int("workers", 1, 1),
		Timeout:       study.Duration(s.Duration("timeout", 0)),
		Grace:         study.Duration(s.Duration("grace", defaultGrace)),
		Retries:       s.Int("retries", 0, 0),
		MaxLog:        s.bytes("max_log", defaultMaxLog),
		Env:           s.pairs("env"),
		SecretEnv:     s.Texts("secret_env"),
		Cwd:           s.Text("cwd"),
		Sources:       s.sources(),
		Repeats:       s.Int("repeats", 1, 1),
		Combine:       s.OneOf("combine", "mean", "median"),
		Confirm:       s.Int("confirm", 0, 2),
		FailureGuard:  s.Int("failure_guard", defaultFailureGuard, -1),
		ParamsFromEnv: s.boolean("params_from_env"),
		FailedMeans:   s.Text("failed_means"),
		Keep:          s.keep(),
	}
	s.when(r.Workers > maxWorkers, "workers", "", "found %d; want at most %d", r.Workers, maxWorkers)
	if s.boolean("isolate") {
		for _, key := range []string{"cwd", "sources"} {
			s.when(s.has(key), key, "keep one of them", "isolate = true gives each trial a working directory of its own, and %s another", key)
		}
		r.Sources, r.Cwd = &study.Sources{From: ".", Mode: "isolate"}, "{trial_dir}/"+layout.SourcesName
	}
	s.slots(&r)
	s.checkSecrets(r)
	s.done()
	return r
}

const defaultHookTimeout = time.Minute

func (t *table) hooks(params []spaces.Param) *study.Hooks {
	s := t.sub("hooks")
	if s.data == nil {
		return nil
	}
	h := &study.Hooks{Trial: s.Text("trial"), Best: s.Text("best"), End: s.Text("end"), Timeout: study.Duration(s.Duration("timeout", defaultHookTimeout))}
	for key, text := range map[string]string{"trial": h.Trial, "best": h.Best, "end": h.End} {
		s.noPlaceholders(key, text, params)
	}
	s.when(s.has("timeout") && h.Trial+h.Best+h.End == "", "timeout", `for example end = "mail -s done me"`, "says how long a hook may take, and there is none")
	s.done()
	return h
}

// noPlaceholders complains of placeholders in a hook, which has variables instead. In quotes they
// may belong to a script in another language.
func (t *table) noPlaceholders(key, text string, params []spaces.Param) {
	parts, _ := command.ParseShell(text)
	for _, p := range parts {
		variable := ""
		switch {
		case !p.IsPlaceholder() || p.Context != command.InWord:
		case slices.ContainsFunc(params, func(q spaces.Param) bool { return q.Name == p.Name }):
			variable = "PARAM_" + strings.ToUpper(p.Name)
		case slices.Contains([]string{"trial", "trial_dir", "study"}, p.Name):
			variable = strings.ToUpper(p.Name)
		}
		if variable != "" {
			t.inText(key, text, p.Start, len(p.Text), "write \"$LBOTUNE_"+variable+"\"", "placeholders are not replaced in hooks")
		}
	}
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
	t.Wrong("keep", "", `found %v; want "all", "best", or how many of the best trials keep their directories`, v)
	return 0
}

func (t *table) slots(r *study.Run) {
	for _, slot := range t.subs("slots") {
		r.Slots = append(r.Slots, study.Slot{Env: slot.pairs("env")})
		slot.done()
	}
	r.GPUs = t.oneOf("gpus", "", "auto")
	r.PerGPU = t.Int("per_gpu", 1, 1)
	t.when(t.has("per_gpu") && !t.has("gpus"), "per_gpu", `add gpus = "auto"`, "says how many trials share a GPU, but gpus is not set")
	switch {
	case len(r.Slots) > 0 && r.GPUs != "":
		t.Wrong("gpus", "", "slots and gpus both say where trials run; keep one of them")
	case len(r.Slots) > 0 && !t.has("workers"):
		r.Workers = len(r.Slots)
	case len(r.Slots) > 0 && r.Workers > len(r.Slots):
		t.Wrong("workers", "", "found %d workers, and slots for %d; each trial needs a slot to itself", r.Workers, len(r.Slots))
	}
}

func (t *table) sources() *study.Sources {
	s := t.sub("sources")
	if s.data == nil {
		return nil
	}
	out := &study.Sources{From: s.Text("from"), Mode: s.OneOf("mode", "copy", "link")}
	if out.From == "" {
		s.Missing("from", `for example sources = { from = "src" }`, "needs from, the directory to copy or link")
	}
	s.done()
	return out
}

func (t *table) prune() *study.Prune {
	s := t.sub("prune")
	if s.data == nil {
		return nil
	}
	p := &study.Prune{
		Method:    s.oneOf("method", "", "median", "percentile", "asha", "patience", "threshold", "reachable"),
		Patience:  s.Int("patience", 0, 1),
		MinTrials: s.Int("min_trials", 4, 0),
		Resource:  s.Text("resource"),
	}
	if !s.has("method") {
		s.Missing("method", `for example method = "median"`, "needs a method")
	}
	p.Warmup, _ = s.number("warmup")
	p.MaxStep = s.within("max_step", 0, 0, math.Inf(1))
	p.Percentile = s.within("percentile", 25, 0, 100)
	p.MinResource = s.within("min_resource", 1, 0, math.Inf(1))
	p.Reduction = s.within("reduction", 3, 1, math.Inf(1))
	s.when(p.Reduction < minReduction, "reduction", "", "found %v; want at least %v", p.Reduction, minReduction)
	p.Slope = s.within("slope", 0, 0, math.Inf(1))
	if factor := s.within("factor", 2, 0, math.Inf(1)); p.Method == "reachable" {
		p.Factor = factor
	}
	p.Threshold = s.limit("threshold")
	switch {
	case p.Method == "threshold" && p.Threshold == nil:
		s.self("add threshold = ...", "method threshold needs a threshold")
	case p.Method == "patience" && p.Patience == 0:
		s.self("add patience = 5", "method patience needs a number of readings")
	case p.Method == "reachable" && p.MaxStep == 0:
		s.Missing("max_step", "add max_step = ...", "method reachable needs the last step, max_step")
	case p.Slope > 0 && s.has("factor"):
		s.Wrong("factor", "leave it out", "is for a slope that is not stated")
	}
	if p.MaxStep > 0 && p.Resource == "" {
		const never = "no trial could be stopped: one that has reached max_step, %v, is complete"
		s.when(p.Warmup >= p.MaxStep, "warmup", "", never, p.MaxStep)
		s.when(p.Method == "asha" && p.MinResource >= p.MaxStep, "min_resource", "", never, p.MaxStep)
	}
	for _, k := range []struct{ key, method string }{
		{"percentile", "percentile"}, {"patience", "patience"}, {"threshold", "threshold"},
		{"slope", "reachable"}, {"factor", "reachable"},
		{"min_resource", "asha"}, {"reduction", "asha"}, {"resource", "asha"},
	} {
		s.when(s.has(k.key) && p.Method != "" && p.Method != k.method, k.key, "", "is for method %s; the method here is %s", k.method, p.Method)
	}
	s.done()
	return p
}

func (t *table) optimizer(s *optimizer.Settings) {
	sub := t.sub("optimizer")
	sub.structure(s)
	sub.done()
	for _, p := range s.Validate() {
		sub.Wrong(p.Field, didYouMeanWord(p.Found, p.Allowed), "%s", p.Message)
	}
}

// structure fills a struct from a table, whose keys are the names of its fields in JSON, but for
// fields with the tag toml:"-". An integer is welcome where a float is wanted.
func (t *table) structure(out any) {
	v := reflect.ValueOf(out).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if tag.Get("toml") == "-" {
			continue
		}
		key, _, _ := strings.Cut(tag.Get("json"), ",")
		raw, there := t.get(key)
		if !there {
			continue
		}
		switch f := v.Field(i).Addr().Interface().(type) {
		case toml.Unmarshaler:
			if err := f.UnmarshalTOML(raw); err != nil {
				t.Wrong(key, "", "%v", err)
			}
		case *string:
			*f = t.Text(key)
		case *parser.Source:
			*f = parser.Source(t.Text(key))
		case *bool:
			*f = t.boolean(key)
		case *int:
			n, _ := read(t, key, int64(0), "a whole number")
			*f = int(n)
		case *float64:
			*f, _ = t.number(key)
		}
	}
}

// warmStart reads what the study begins with: paths, or tables with a path and what it is.
func (t *table) warmStart() []study.WarmStart {
	const key, want = "warm_start", `a path, or a table such as { from = "runs.csv", same = true }`
	var out []study.WarmStart
	for i, e := range t.array(key, `an array such as ["old.study", "runs.csv"]`) {
		w := study.WarmStart{}
		switch e := e.(type) {
		case string:
			w.From = e
		case map[string]any:
			s := t.element(key, i, e)
			w = study.WarmStart{From: s.Text("from"), Study: s.Text("study"), Same: s.boolean("same")}
			s.done()
		default:
			t.Wrong(key, "", "element %d is %s; want %s", i+1, describe(e), want)
			continue
		}
		t.when(w.From == "", key, "", "element %d names nothing; want %s", i+1, want)
		out = append(out, w)
	}
	return out
}

// checkSecrets finds names in secret_env that no trial can be handed.
func (t *table) checkSecrets(r study.Run) {
	given := slices.Clone(r.Env)
	for _, slot := range r.Slots {
		given = append(given, slot.Env...)
	}
	for _, name := range r.SecretEnv {
		switch {
		case !shell.IsName(name):
			t.Wrong("secret_env", "", "%q is not the name of an environment variable", name)
		case ownVariableRE().MatchString(name):
			t.Wrong("secret_env", "", "lbotune itself sets %s for each trial", name)
		case slices.ContainsFunc(given, func(e string) bool { return strings.HasPrefix(e, name+"=") }):
			t.Wrong("secret_env", "take it out of env", "the value of %s comes from lbotune's own environment, and env sets it too", name)
		}
	}
}
