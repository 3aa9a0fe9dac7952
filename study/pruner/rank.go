package pruner

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
)

// ahead is how many trials of a rung are strictly better than one of them. With several
// objectives these are the trials of better fronts and, on its own front, those that have
// more room around them: non-dominated sorting with crowding distances (Deb et al. 2002),
// as multi-objective ASHA ranks a rung (Schmucker et al. 2021).
func ahead(rung map[int][]float64, trial int) int {
	if len(rung[trial]) == 1 {
		better := 0
		for _, v := range rung {
			if v[0] > rung[trial][0] {
				better++
			}
		}
		return better
	}
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
		if slices.ContainsFunc(trials, func(u int) bool { return optimizer.Dominates(rung[u], rung[t]) }) {
			rest = append(rest, t)
		} else {
			front = append(front, t)
		}
	}
	return front, rest
}

// crowding is, for each trial of a front, the sum over the objectives of the distance
// between its neighbours, in units of the front's range; infinite at the ends. A value that
// is not finite has none.
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
