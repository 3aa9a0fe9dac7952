package optimizer

import "gonum.org/v1/gonum/floats"

// plateaus are where values are equal to the last digit, as shares of errors among few
// examples are, or beside a parameter that does nothing. A model that interpolates them
// expects a little more beside each, and would fill them with trials.
type plateaus struct {
	x      [][]float64 // the successes that the model knows, in units of the length scales
	y      []float64
	scales []float64
	all    bool // every value is the same
}

// leastTies is how many values must equal another one before there is a plateau.
const leastTies = 2

// plateaus returns nil where there are none. Under noise equal values are chance, and with
// limits trials of equal value may differ in these.
func (a *ask) plateaus(s *surrogate) *plateaus {
	if a.set.Local != on || s.noisy() || s.limits != nil {
		return nil
	}
	f := &plateaus{y: pick(a.past.y, s.rows), scales: s.fit.Hyper.Lengths()}
	seen, ties := make(map[float64]bool, len(f.y)), 0
	for _, y := range f.y {
		if seen[y] {
			ties++
		}
		seen[y] = true
	}
	if ties < leastTies {
		return nil
	}
	f.all = len(seen) == 1
	f.x = mapped(s.rows, func(i int) []float64 { return floats.DivTo(make([]float64, len(f.scales)), a.past.x[i], f.scales) })
	return f
}

// featureless reports whether there is nothing to search by: all values are the same, and nothing is
// known of failures, of pruned trials, of earlier studies, or of where the best is guessed to be. What a model is least
// sure of then are the corners of the space, over and over.
func (a *ask) featureless() bool {
	v := a.view
	return v.flat != nil && v.flat.all && v.success == nil && len(a.past.pruned) == 0 && v.surrogate.prior == nil && a.lbo.guess == nil
}

// holds reports whether p will hardly be anything new: the two successes next to it have the
// same value.
func (f *plateaus) holds(p []float64) bool {
	if f == nil {
		return false
	}
	var near [2]int
	least := [2]float64{-1, -1} // squared distances
	for k, x := range f.x {
		d := 0.0
		for j, u := range x {
			t := p[j]/f.scales[j] - u
			d += t * t
		}
		switch {
		case least[0] < 0 || d < least[0]:
			near, least = [2]int{k, near[0]}, [2]float64{d, least[0]}
		case least[1] < 0 || d < least[1]:
			near[1], least[1] = k, d
		}
	}
	return f.y[near[0]] == f.y[near[1]]
}
