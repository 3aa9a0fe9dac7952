package problems

import "slices"

// descend is a pattern search inside the box: it moves along one axis at a time
// by a share of the width that shrinks when no axis helps. It returns where it
// ends and the value there.
func descend(p Problem, x []float64) ([]float64, float64) {
	x = slices.Clone(x)
	best := p.Eval(x)
	for step := 1e-3; step > 1e-11; {
		moved := false
		for i := range x {
			for _, sign := range []float64{1, -1} {
				at := x[i]
				x[i] = min(max(at+sign*step*(p.High[i]-p.Low[i]), p.Low[i]), p.High[i])
				if f := p.Eval(x); f < best {
					best, moved = f, true
				} else {
					x[i] = at
				}
			}
		}
		if !moved {
			step /= 3
		}
	}
	return x, best
}
