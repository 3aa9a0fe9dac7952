package pruner

import (
	"fmt"
	"math"
)

// halving is asynchronous successive halving by stopping: the rungs of Li et
// al. 2020, with the decision taken when a trial comes to a rung (Klein et al.
// 2020) instead of when a worker is free, so that no trial has to be continued
// later. Rung k lies at step r η^k, k = 0, 1, ... A trial that is the n-th at
// its rung goes on if fewer than ⌊n/η⌋ of the others there are strictly better
// or if ⌊n/η⌋ = 0; else it is stopped. There need be no last rung. What is better with
// several objectives is said by ahead.
//
// A reading counts for the highest rung at or below its step, if the trial was
// at none as high before: one that jumps over a rung says nothing about it.
type halving struct {
	settings Settings
	rungs    map[int]map[int][]float64 // rung, trial, values of the objectives
	highest  map[int]int               // of a trial
}

func newHalving(s Settings) *halving {
	return &halving{settings: s, rungs: map[int]map[int][]float64{}, highest: map[int]int{}}
}

func (h *halving) read(r Reading) Decision {
	if r.Step < h.settings.MinResource {
		return Decision{}
	}
	k := h.rung(r.Step)
	if before, any := h.highest[r.Trial]; any && k <= before {
		return Decision{}
	}
	h.highest[r.Trial] = k
	if h.rungs[k] == nil {
		h.rungs[k] = map[int][]float64{}
	}
	h.rungs[k][r.Trial] = append([]float64{r.Value}, r.Others...)
	d := Decision{Keep: true}
	n := len(h.rungs[k])
	keep := int(float64(n) / h.settings.Reduction)
	if r.Step < h.settings.Warmup || n-1 < h.settings.MinTrials || keep == 0 {
		return d
	}
	better := ahead(h.rungs[k], r.Trial)
	if better >= keep {
		d.Stop = true
		what, most := h.settings.tellOne(r.Value), fmt.Sprintf("best %d continue", keep)
		if r.Others != nil {
			what = "all objectives together"
		}
		if keep == 1 {
			most = "best continues"
		}
		d.Why = fmt.Sprintf("%s, rank %d of %d; only the %s", what, better+1, n, most)
	}
	return d
}

// rung is the largest k with r η^k ≤ step; the tolerance is for rungs whose
// logarithm is rounded.
func (h *halving) rung(step float64) int {
	return int(math.Log(step/h.settings.MinResource)/math.Log(h.settings.Reduction) + 1e-9)
}

// finish changes nothing: a trial is compared with from the moment it is there.
func (h *halving) finish(int, float64) {}

func (h *halving) forget(trial int) {
	for _, rung := range h.rungs {
		delete(rung, trial)
	}
	delete(h.highest, trial)
}
