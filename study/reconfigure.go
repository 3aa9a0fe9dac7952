package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// ConfigError says which changes of a spec a study that has begun cannot take.
type ConfigError struct{ Changes []string }

func (e *ConfigError) Error() string {
	return "the spec has changed in ways that make its trials incomparable:\n  " + strings.Join(e.Changes, "\n  ")
}

// WidenedError says that a constant was stated for ranges that have become wider.
type WidenedError struct{ Detail string }

func (e *WidenedError) Error() string { return e.Detail }

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
		return nil, &WidenedError{text}
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
	fixed := func(what string, a, b any) {
		if !sameJSON(a, b) {
			out = append(out, fmt.Sprintf("%s: was %s, is %s", what, brief(a), brief(b)))
		}
	}
	out = append(out, changedParams(was, now)...)
	if was.Several() || now.Several() {
		fixed("objectives", was.aims(), now.aims())
	} else {
		fixed("direction", was.Objective().Direction, now.Objective().Direction)
	}
	if !sameOptimizer(was, now) {
		fixed("optimizer", was.Optimizer, now.Optimizer)
	}
	fixed("seed", was.Seed, now.Seed)
	if s.committed() {
		if !was.Command.Alike(now.Command) && !commandExtends(was, now) {
			out = append(out, fmt.Sprintf("command: was %s, is %s", was.Command, now.Command))
		}
		fixed("metric", withDefaults(was.Objective().Rule), withDefaults(now.Objective().Rule))
		if a, b := was.Objective().Name, now.Objective().Name; a != b {
			out = append(out, fmt.Sprintf("name of the metric: was %s, is %s", a, b))
		}
		if !filesExtend(was, now) {
			fixed("files", contents(was.Files), contents(now.Files))
		}
		fixed("repeats", was.Run.Repeats, now.Run.Repeats)
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
		if p.When != q.When {
			out = append(out, fmt.Sprintf("when of %s: was %s, is %s", p.Name, brief(p.When), brief(q.When)))
		}
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
	var out []spaces.Values
	for _, v := range s.Queue {
		if !holds(space, withAdded(v, space, len(s.Config.Params))) {
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether a space has these values.
func holds(space *spaces.Space, v spaces.Values) bool {
	_, err := space.Encode(v)
	return err == nil
}

func nameList(ps []spaces.Param) string {
	var names []string
	for _, p := range ps {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// brief is the JSON of v as far as a message needs it.
func brief(v any) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // as it was for the fingerprint
	b := bytes.TrimRight(text.Bytes(), "\n")
	if string(b) == "null" || string(b) == `""` {
		return "none"
	}
	if r := []rune(string(b)); len(r) > 120 {
		return string(r[:120]) + "..."
	}
	return string(b)
}
