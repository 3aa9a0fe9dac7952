package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/pruner"
	"github.com/lbotune/lbotune/spaces"
)

// A study whose pruner names a resource (an int parameter such as epochs)
// starts every trial with little of it, and gives more to the best of each rung.
// What is decided when a trial ends its rung stays decided (Klein et al. 2020),
// so that the optimizer is told of every trial as soon as it can be. The
// resource is no dimension of the search: the optimizer never sees it.

// Space is what the optimizer searches.
func (c *Config) Space() (*spaces.Space, error) { return spaces.New(c.searched()...) }

// searched are the parameters that the optimizer chooses.
func (c *Config) searched() []spaces.Param {
	name := c.resource()
	if name == "" {
		return c.Params
	}
	var out []spaces.Param
	for _, p := range c.Params {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}

// resource names the parameter that is the training budget, if there is one.
func (c *Config) resource() string {
	if c.Prune == nil || c.Prune.Method != string(pruner.ASHA) {
		return ""
	}
	return c.Prune.Resource
}

// checkpoints reports whether trials have a directory for checkpoints.
func (c *Config) checkpoints() bool {
	if c.resource() != "" {
		return true
	}
	texts := append([]string{c.Command.Shell, c.Run.Cwd, c.Objective.File}, c.Command.Argv...)
	texts = append(texts, c.Run.Env...)
	for _, f := range c.Files {
		texts = append(texts, f.Text)
	}
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "{checkpoint_dir}") })
}

// rungs lists the amounts of the resource, the smallest first; the last is the
// parameter's maximum. A config without a resource has none.
func (c *Config) rungs() ([]int, error) {
	name := c.resource()
	for _, p := range c.Params {
		if name != "" && p.Name == name {
			return pruner.Ladder{Min: int(p.Min), Max: int(p.Max), MinResource: c.Prune.MinResource, Reduction: c.Prune.Reduction}.Rungs()
		}
	}
	return nil, nil
}

// given are the values of a trial's next attempt: its own and the resource of
// its rung, in the order of the parameters.
func (c *Config) given(t *Trial) spaces.Values {
	rungs, err := c.rungs()
	if err != nil || len(rungs) == 0 {
		return t.Values
	}
	out := make(spaces.Values, 0, len(t.Values)+1)
	for _, p := range c.Params {
		if v, ok := t.Values.Get(p.Name); ok {
			out = append(out, spaces.Assignment{Name: p.Name, Value: v})
		} else if p.Name == c.resource() {
			out = append(out, spaces.Assignment{Name: p.Name, Value: spaces.Int(int64(rungs[min(len(t.Rungs), len(rungs)-1)]))})
		}
	}
	return out
}

// rungStep is the pruner's step of a rung: with min_resource 1, rung k lies at
// reduction^k.
func (s *State) rungStep(rung int) float64 { return math.Pow(s.Config.Prune.Reduction, float64(rung)) }

// climbed decides what becomes of a trial that has ended its rung with value v:
// whether it goes on to the next, or why it is stopped. After the last rung it
// has succeeded.
func (l *loop) climbed(t *Trial, v float64) (goesOn bool, why string) {
	rungs, err := l.state.Config.rungs()
	if err != nil {
		return false, ""
	}
	rung := len(t.Rungs)
	d := l.pruner.Read(l.state.maximised(t.Number, Reading{Step: l.state.rungStep(rung), Value: v}))
	if rung >= len(rungs)-1 {
		return false, ""
	}
	if d.Stop {
		return false, fmt.Sprintf("stopped with %s=%d: %s", l.state.Config.resource(), rungs[rung], d.Why)
	}
	return true, ""
}
