package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// A study whose pruner names a resource (an int parameter such as epochs)
// starts every trial with little of it, and gives more to the best of each rung:
// successive halving by promotion in place. The resource is no dimension of the
// search: the optimizer never sees it.

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
	if c.Prune == nil || c.Prune.Method != PruneASHA {
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
// parameter's maximum.
func (c *Config) rungs() []int64 {
	name := c.resource()
	for _, p := range c.Params {
		if name == "" || p.Name != name {
			continue
		}
		var out []int64
		for r := max(c.Prune.MinResource, p.Min); r < p.Max; r *= c.Prune.Reduction {
			if n := int64(math.Round(r)); len(out) == 0 || n > out[len(out)-1] {
				out = append(out, n)
			}
		}
		return append(out, int64(p.Max))
	}
	return nil
}

// given are the values of a trial's next attempt: its own and the resource of
// its rung, in the order of the parameters.
func (c *Config) given(t *Trial) spaces.Values {
	rungs := c.rungs()
	if len(rungs) == 0 {
		return t.Values
	}
	out := make(spaces.Values, 0, len(t.Values)+1)
	for _, p := range c.Params {
		if v, ok := t.Values.Get(p.Name); ok {
			out = append(out, spaces.Assignment{Name: p.Name, Value: v})
		} else if p.Name == c.resource() {
			out = append(out, spaces.Assignment{Name: p.Name, Value: spaces.Int(rungs[min(len(t.Rungs), len(rungs)-1)])})
		}
	}
	return out
}

// promoted decides what becomes of a trial that has ended its rung with value
// v. It goes on if it is among the best 1/eta that have ended this rung, and
// stops with the reason if not. After the last rung it has succeeded.
func (s *State) promoted(t *Trial, v float64) (goesOn bool, why string) {
	rungs := s.Config.rungs()
	rung := len(t.Rungs)
	if rung >= len(rungs)-1 {
		return false, ""
	}
	var there []float64
	for _, o := range s.Trials {
		if len(o.Rungs) > rung && o.Number != t.Number && !o.Excluded {
			there = append(there, s.worth(o.Rungs[rung]))
		}
	}
	rank, ok := rankAmong(s.worth(v), there, s.Config.Prune.Reduction)
	if ok || len(there)+1 < s.Config.Prune.MinTrials {
		return true, ""
	}
	return false, fmt.Sprintf("place %d of %d with %s=%d", rank, len(there)+1, s.Config.resource(), rungs[rung])
}
