package pruner

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lbotune/lbotune/internal/pareto"
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
}

func (h *halving) read(r Reading, decide bool) Decision {
	if r.Step < h.settings.MinResource {
		return Decision{}
	}
	k := h.rung(r.Step)
	for at, rung := range h.rungs {
		if rung[r.Trial] != nil && at >= k {
			return Decision{}
		}
	}
	if h.rungs[k] == nil {
		h.rungs[k] = map[int][]float64{}
	}
	h.rungs[k][r.Trial] = append([]float64{r.Value}, r.Others...)
	d := Decision{Keep: true}
	n := len(h.rungs[k])
	keep := int(float64(n) / h.settings.Reduction)
	if !decide || r.Step < h.settings.Warmup || n-1 < h.settings.MinTrials || keep == 0 {
		return d
	}
	better := 0
	for _, v := range h.rungs[k] {
		if v[0] > r.Value {
			better++
		}
	}
	if r.Others != nil {
		better = ahead(h.rungs[k], r.Trial)
	}
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

// rung is the largest k with r η^k ≤ step, but for the rounding of the logarithm.
func (h *halving) rung(step float64) int {
	return int(math.Log(step/h.settings.MinResource)/math.Log(h.settings.Reduction) + 1e-9)
}

// finish changes nothing: a trial is compared with from the moment it is there.
func (h *halving) finish(int, float64) {}

func (h *halving) forget(trial int) {
	for _, rung := range h.rungs {
		delete(rung, trial)
	}
}

// ahead is how many trials of a rung are strictly better than one of them, with several
// objectives: the trials of better fronts and, on its own front, those that have
// more room around them: non-dominated sorting with crowding distances (Deb et al. 2002),
// as multi-objective ASHA ranks a rung (Schmucker et al. 2021).
func ahead(rung map[int][]float64, trial int) int {
	left, better := slices.Sorted(maps.Keys(rung)), 0
	for {
		front, rest := split(rung, left)
		if !slices.Contains(front, trial) {
			better += len(front)
			left = rest
			continue
		}
		room := crowding(rung, front)
		for _, t := range front {
			if room[t] > room[trial] {
				better++
			}
		}
		return better
	}
}

// split parts the trials that none of them dominates from the others.
func split(rung map[int][]float64, trials []int) (front, rest []int) {
	for _, t := range trials {
		if slices.ContainsFunc(trials, func(u int) bool { return pareto.Dominates(rung[u], rung[t]) }) {
			rest = append(rest, t)
		} else {
			front = append(front, t)
		}
	}
	return front, rest
}

// crowding is, for each trial of a front, the sum over the objectives of the distance between its
// neighbours, in units of the front's range; infinite at the ends. What is not finite has none.
func crowding(rung map[int][]float64, front []int) map[int]float64 {
	room := map[int]float64{}
	for j := range rung[front[0]] {
		order := slices.DeleteFunc(slices.Clone(front), func(t int) bool { return !finite(rung[t][j]) })
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rung[a][j], rung[b][j]) })
		for i, t := range order {
			low, high := rung[order[0]][j], rung[order[len(order)-1]][j]
			if v := rung[t][j]; v == low || v == high {
				room[t] = math.Inf(1)
			} else {
				room[t] += (rung[order[i+1]][j] - rung[order[i-1]][j]) / (high - low)
			}
		}
	}
	return room
}

// Rungs returns how much of a resource that ranges from least to most the trials on each rung
// have, increasing. The last is most, so that the best trial gets all there is, and the others
// lie below it by factors of η (Li et al. 2020 count them from below and may miss the maximum):
//
//	r_k = round(most / η^(K-k)),  k = 0 .. K,
//	K = the largest number with most / η^K ≥ max(least, MinResource).
//
// It is an error if that leaves one rung only.
func (s Settings) Rungs(least, most int) ([]int, error) {
	if err := s.checkRungs(); err != nil {
		return nil, err
	}
	if least < 1 || most <= least {
		return nil, fmt.Errorf("resource: found the range %d to %d; want at least 1, and more at its end", least, most)
	}
	lowest := math.Max(float64(least), s.MinResource)
	top := int(math.Log(float64(most)/lowest)/math.Log(s.Reduction) + 1e-9)
	var out []int
	for k := top; k >= 0; k-- {
		r := int(math.Round(float64(most) / math.Pow(s.Reduction, float64(k))))
		if len(out) == 0 || r > out[len(out)-1] {
			out = append(out, r)
		}
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("min_resource: found %v; want at most %v, the maximum of the resource divided by reduction",
			lowest, float64(most)/s.Reduction)
	}
	return out, nil
}
