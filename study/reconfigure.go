package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
)

// ConfigError says which changes of a spec a study that has begun cannot take.
type ConfigError struct{ Changes []string }

func (e *ConfigError) Error() string {
	return "the spec has changed in ways that make its trials incomparable:\n  " + strings.Join(e.Changes, "\n  ")
}

// SpecError says what else of a spec a study cannot take: a source of earlier results, or a constant
// that was stated for ranges which have become wider.
type SpecError struct{ error }

func (e *SpecError) Unwrap() error { return e.error }

// Reconfigured compares the config with that of the journal. It returns the
// event that takes over what has changed, nil if nothing has, or an error that
// names what cannot change any more.
//
// The configs themselves are compared, and not their fingerprints: what the journal states
// of its own is worth as much as the journal, which somebody may have made to run something
// else than the spec that lies beside it, and there are two configs with one fingerprint.
// So what the state holds after the event is what the caller has asked for.
func (s *State) Reconfigured(now Config) (*ConfigChanged, error) {
	if len(s.Trials) > 0 {
		now.Params = inOrder(s.Config.Params, now.Params)
	}
	print, err := now.Fingerprint()
	if err != nil {
		return nil, err
	}
	if sameJSON(now, s.Config) {
		return nil, nil
	}
	if refused := s.refused(now); len(refused) > 0 {
		return nil, &ConfigError{refused}
	}
	if text := widened(s.Config, now); text != "" && len(s.Trials) > 0 {
		return nil, &SpecError{errors.New(text)}
	}
	return &ConfigChanged{Fingerprint: print, Config: now}, nil
}

// ReconfiguredParams takes over the parameters of a config whose other changes can
// wait for the next session.
func (s *State) ReconfiguredParams(config Config) (*ConfigChanged, error) {
	if sameJSON(config.Params, s.Config.Params) && slices.Equal(config.Where, s.Config.Where) {
		return nil, nil
	}
	config.Dir = s.Config.Dir
	if len(s.Trials) > 0 && len(config.Params) <= len(s.Config.Params) { // more of them need another command
		now := s.Config
		now.Params, now.Where = config.Params, config.Where
		if a, b := now.Safety, config.Safety; a != nil && (b == nil || b.Metric == a.Metric) { // its constant is for the ranges
			now.Safety = b
		}
		config = now
	}
	return s.Reconfigured(config)
}

// refused lists the changes that the study cannot take. Before the first trial
// it can take all but another warm start, before the first value a new command.
func (s *State) refused(now Config) []string {
	was := s.Config
	var out []string
	if !sameJSON(was.WarmStart, now.WarmStart) {
		out = append(out, fmt.Sprintf("warm_start: was %s, is %s; it is read when a study begins", brief(was.WarmStart), brief(now.WarmStart)))
	}
	if len(s.Trials) == 0 {
		return out
	}
	out = append(out, changedParams(was, now)...)
	if was.Several() || now.Several() {
		out = append(out, differs("objectives", was.aims(), now.aims())...)
	} else {
		out = append(out, differs("direction", was.Objective().Direction, now.Objective().Direction)...)
	}
	out = append(out, differs("seed", was.Seed, now.Seed)...)
	if s.committed() {
		out = append(out, s.incomparable(now)...)
	}
	return out
}

// differs says what was and what is, if these are not the same.
func differs(what string, a, b any) []string {
	if sameJSON(a, b) {
		return nil
	}
	return []string{fmt.Sprintf("%s: was %s, is %s", what, brief(a), brief(b))}
}

// incomparable lists the changes after which values are other ones than those so far.
func (s *State) incomparable(now Config) []string {
	was := s.Config
	var out []string
	fixed := func(what string, a, b any) { out = append(out, differs(what, a, b)...) }
	if !was.Command.Alike(now.Command) && !commandExtends(was, now) {
		out = append(out, fmt.Sprintf("command: was %s, is %s", was.Command, now.Command))
	}
	a, b := was.Objective(), now.Objective()
	fixed("metric", withDefaults(a.Rule), withDefaults(b.Rule))
	if a.Name != b.Name {
		out = append(out, fmt.Sprintf("name of the metric: was %s, is %s", a.Name, b.Name))
	}
	fixed("file of the metric", a.File, b.File)
	fixed("measure", a.Measure, b.Measure)
	for _, m := range now.Metrics { // trials are judged by these, too
		i := slices.IndexFunc(was.Metrics, func(w Metric) bool { return w.Name == m.Name })
		if i >= 0 && m.Direction == "" && (m.Limited() || now.Safety != nil && now.Safety.Metric == m.Name) {
			fixed("metric "+m.Name, withDefaults(was.Metrics[i].Rule), withDefaults(m.Rule))
			fixed("file of "+m.Name, was.Metrics[i].File, m.File)
			fixed("measure of "+m.Name, was.Metrics[i].Measure, m.Measure)
		}
	}
	ofParams := func(p command.Part) bool {
		return p.IsPlaceholder() && (strings.HasPrefix(p.Name, "params_") || !slices.Contains(builtins, p.Name))
	}
	for slot := range max(1, min(len(was.Run.Slots), len(now.Run.Slots))) {
		before, after := was.env(slot), now.env(slot)
		for _, e := range before {
			name, _, _ := strings.Cut(e, "=")
			a, b := variable(before, name), variable(after, name)
			other := differs("variable of a parameter", a, b)
			if slices.ContainsFunc(command.Parse(a), ofParams) && !extends(fields(a), fields(b), was, now) && !slices.Contains(out, strings.Join(other, "")) {
				out = append(out, other...)
			}
		}
	}
	if !filesExtend(was, now) {
		fixed("files", contents(was.Files), contents(now.Files))
	}
	fixed("repeats", max(was.Run.Repeats, 1), max(now.Run.Repeats, 1))
	fixed("combine", cmp.Or(was.Run.Combine, "mean"), cmp.Or(now.Run.Combine, "mean"))
	place := func(cwd string) string {
		if strings.Contains(cwd, "..") { // what stands before it may be a link
			return cwd
		}
		return filepath.Clean(cwd)
	}
	fixed("cwd", place(was.Run.Cwd), place(now.Run.Cwd))
	fixed("sources", was.Run.Sources, now.Run.Sources)
	fixed("setup", was.Setup, now.Setup)
	for i, p := range was.Params[:min(len(was.Params), len(now.Params))] {
		fixed("inactive of "+p.Name, p.Inactive, now.Params[i].Inactive)
	}
	after := now.wording()
	for _, what := range slices.Sorted(maps.Keys(after)) {
		if before, had := s.wording[what]; had {
			fixed(what, before, after[what])
		}
	}
	return out
}

// variable is the last of its name, which holds.
func variable(env []string, name string) (last string) {
	for _, e := range env {
		if strings.HasPrefix(e, name+"=") {
			last = e
		}
	}
	return last
}

// wording is what the command is given for each value of a choice or a bool.
func (c *Config) wording() map[string][]string {
	out := map[string][]string{}
	for _, p := range c.Params {
		values := p.Choices
		if p.Kind == spaces.KindBool {
			values = []spaces.Value{spaces.Bool(false), spaces.Bool(true)}
		}
		for _, v := range values {
			own, has := p.Words[v.Text()]
			if !has {
				own = []string{v.Text()}
			}
			out[fmt.Sprintf("words of %s = %s", p.Name, v.Text())] = own
		}
	}
	return out
}

// aims are the objectives as far as trials depend on them: without what was still to be
// said of their worth.
func (c *Config) aims() []Metric {
	out := c.Objectives()
	for i := range out {
		out[i] = Metric{Name: out[i].Name, Rule: withDefaults(out[i].Rule), Measure: out[i].Measure, File: out[i].File, Direction: out[i].Direction}
	}
	return out
}

// changedParams lists the changes of parameters beyond their ranges. Where a
// range has changed, the trials inside the new one are kept; the others stay in
// the journal, but count no more. New parameters need a default, which the trials had.
func changedParams(was, now Config) []string {
	a, b := was.Params, now.Params
	if len(a) > len(b) {
		return []string{fmt.Sprintf("params: was %s, is %s", nameList(was.Params), nameList(now.Params))}
	}
	if x, y := was.Resource(), now.Resource(); x != y {
		return []string{fmt.Sprintf("resource: was %s, is %s", cmp.Or(x, "none"), cmp.Or(y, "none"))}
	}
	var out []string
	x, _ := was.rungs() // a config without rungs, or with wrong ones, has none
	y, _ := now.rungs()
	if !sameJSON(x, y) {
		out = append(out, fmt.Sprintf("rungs of %s: were %s, are %s", was.Resource(), brief(x), brief(y)))
	}
	for i, p := range a {
		q := b[i]
		if p.Name != q.Name {
			return []string{fmt.Sprintf("params: was %s, is %s", nameList(was.Params), nameList(now.Params))}
		}
		if p.Kind != q.Kind {
			out = append(out, fmt.Sprintf("type of %s: was %s, is %s", p.Name, p.Kind, q.Kind))
		}
		out = append(out, differs("when of "+p.Name, p.When, q.When)...)
	}
	for _, p := range added(was, now) {
		if !p.Default.IsValid() {
			out = append(out, fmt.Sprintf("params: %s is new: give it default = ..., the value that the trials so far had", p.Name))
		}
	}
	return out
}

// Dropped lists the enqueued values that a change leaves no room for.
func (s *State) Dropped(change ConfigChanged) []spaces.Values {
	space, err := change.Config.Space()
	if err != nil {
		return nil // Apply will say so
	}
	return slices.DeleteFunc(slices.Clone(s.Queue), func(v spaces.Values) bool { return holds(space, withAdded(v, space, len(s.Config.Params))) })
}

func holds(space *spaces.Space, v spaces.Values) bool {
	_, err := space.Encode(v)
	return err == nil
}

func namesOf(ps []spaces.Param) []string {
	return lists.Map(ps, func(p spaces.Param) string { return p.Name })
}

func nameList(ps []spaces.Param) string { return strings.Join(namesOf(ps), ", ") }

func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// brief is the JSON of v as far as a message needs it.
func brief(v any) string {
	b, _ := journal.Plain(v) // as it was for the fingerprint
	if string(b) == "null" || string(b) == `""` {
		return "none"
	}
	if r := []rune(string(b)); len(r) > 120 {
		return string(r[:120]) + "..."
	}
	return string(b)
}

// inOrder returns the parameters in the order that they had before, if all of those are
// there by their names, and others after them. So a spec's parameters may change places:
// what is known of the trials, and the optimizer's notes of them, hold in the old order.
func inOrder(before, now []spaces.Param) []spaces.Param {
	names, out := namesOf(before), slices.Clone(now)
	slices.SortStableFunc(out, func(p, q spaces.Param) int {
		return cmp.Compare(uint(slices.Index(names, p.Name)), uint(slices.Index(names, q.Name))) // -1 comes last
	})
	if len(out) < len(before) || !slices.Equal(namesOf(out[:len(before)]), names) {
		return now
	}
	return out
}

// withDefaults is a rule with its defaults written out, if it is a right one.
func withDefaults(r parser.Rule) parser.Rule {
	if p, err := parser.Compile(r); err == nil {
		return p.Rule()
	}
	return r
}

// contents are files without the places that their templates came from, where the
// name does not say how to read them.
func contents(files []command.File) []command.File {
	out := slices.Clone(files)
	for i := range out {
		if len(out[i].Set) == 0 {
			out[i].From = ""
		}
	}
	return out
}
