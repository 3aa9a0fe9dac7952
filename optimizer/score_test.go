package optimizer

import (
	"slices"
	"testing"
)

// counted adds up the coordinates of points, and knows how many it has seen.
type counted struct {
	part
	seen int
}

func (s *counted) batch(xs [][]float64, out []float64) {
	s.seen += len(xs)
	for i, x := range xs {
		out[i] = x[0] + x[1]
	}
}

// What a search outside of the finished basins looks at first is what the search before
// looked at.
func TestRepeatedCandidatesAreScoredOnce(t *testing.T) {
	inner := &counted{}
	s := &score{parts: []part{inner}, known: &known{}}
	first := [][]float64{{1, 2}, {3, 4}}
	for _, c := range []struct {
		xs   [][]float64
		want []float64
		seen int
	}{
		{first, []float64{3, 7}, 2},
		{[][]float64{{1, 2}, {3, 4}}, []float64{3, 7}, 2},
		{[][]float64{{1, 2}, {3, 5}}, []float64{3, 8}, 4},
	} {
		out := make([]float64, len(c.xs))
		if s.batch(c.xs, out); !slices.Equal(out, c.want) || inner.seen != c.seen {
			t.Errorf("%v: %v instead of %v, after %d points instead of %d", c.xs, out, c.want, inner.seen, c.seen)
		}
		clear(out) // which is the caller's
	}
}
