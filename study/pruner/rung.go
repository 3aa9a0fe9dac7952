package pruner

import (
	"container/heap"
	"slices"
)

// Result is what a trial has achieved on one rung. Larger values are better.
type Result struct {
	Trial int
	Value float64
}

// before reports whether r is better; of equal ones the trial with the lower number is.
func (r Result) before(other Result) bool {
	return r.Value > other.Value || r.Value == other.Value && r.Trial < other.Trial
}

// Rung holds the results of one rung.
type Rung struct {
	open     results // a heap, the best first
	promoted []Result
}

// Add takes a result that was not promoted.
func (r *Rung) Add(x Result) { heap.Push(&r.open, x) }

// Promote notes that a trial was continued on the next rung.
func (r *Rung) Promote(trial int) {
	if i := slices.IndexFunc(r.open, func(x Result) bool { return x.Trial == trial }); i >= 0 { // the first, but for a person's will
		r.promoted = append(r.promoted, heap.Remove(&r.open, i).(Result))
	}
}

// Remove takes out the result of a trial that was promoted.
func (r *Rung) Remove(trial int) {
	r.promoted = slices.DeleteFunc(r.promoted, func(x Result) bool { return x.Trial == trial })
}

// Promotable returns the trial of the rung that deserves the next one: the best of
// the ⌊n/η⌋ best of the rung's n results that was not promoted yet (Li et al.
// 2020, algorithm 2, get_job). 0 means that there is none.
func (r *Rung) Promotable(reduction float64) (trial int) {
	if len(r.open) == 0 {
		return 0
	}
	best, rank := r.open[0], 0
	for _, x := range r.promoted {
		if x.before(best) {
			rank++
		}
	}
	if rank < int(float64(len(r.open)+len(r.promoted))/reduction) {
		return best.Trial
	}
	return 0
}

// results is a heap.Interface.
type results []Result

func (rs results) Len() int           { return len(rs) }
func (rs results) Less(i, j int) bool { return rs[i].before(rs[j]) }
func (rs results) Swap(i, j int)      { rs[i], rs[j] = rs[j], rs[i] }
func (rs *results) Push(x any)        { *rs = append(*rs, x.(Result)) }

func (rs *results) Pop() any {
	last := len(*rs) - 1
	x := (*rs)[last]
	*rs = (*rs)[:last]
	return x
}
