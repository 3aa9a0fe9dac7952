package problems

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Shifted moves the function inside its box by 10 to 25 % of the width of each
// dimension, in a direction that depends on the seed, so that neither the
// centre of the box nor any other special place is a gift. The first minimizer
// stays in the box.
//
// p is evaluated up to a quarter of its width outside its box, and its minimum
// must hold there too. That is true of the functions of Paper: the polynomials,
// Branin's and Rosenbrock's have their global minimum in the box, Hartmann's
// wells all lie in it, and Michalewicz's terms change sign outside.
func Shifted(p Problem, seed uint64) Problem { return shifted(p, stream(seed, 0x51f7), 0.1, 0.25) }

// Related is Shifted by at most a share of each width, and its values are multiplied by a
// number between 1/10 and 10: one of many tasks that are alike.
func Related(p Problem, share float64, task uint64) Problem {
	r := stream(task, 0x2e1a)
	moved, factor := shifted(p, r, 0, share), math.Pow(10, 2*r.Float64()-1)
	near := moved.Eval
	moved.Name, moved.Min = p.Name, factor*p.Min
	moved.Eval = func(x []float64) float64 { return factor * near(x) }
	return moved
}

// shifted moves p by low to high of the width of each dimension.
func shifted(p Problem, r *rand.Rand, low, high float64) Problem {
	shift := make([]float64, p.Dim())
	for i := range shift {
		width := p.High[i] - p.Low[i]
		shift[i] = width * (low + (high-low)*r.Float64())
		if r.IntN(2) == 0 {
			shift[i] = -shift[i]
		}
		if len(p.Minimizers) > 0 {
			at := (p.Minimizers[0][i] + shift[i] - p.Low[i]) / width
			if at < 0.02 || at > 0.98 {
				shift[i] = -shift[i]
			}
		}
	}
	return p.moved("-shifted",
		func(x []float64) []float64 { return subtract(x, shift) },
		func(x []float64) []float64 { return add(x, shift) })
}

// moved is the function where from maps its box to that of p, and to maps back. The
// minimizers that leave the box are none any more.
func (p Problem) moved(suffix string, from, to func([]float64) []float64) Problem {
	moved := p
	moved.Name += suffix
	moved.Lipschitz = 0
	moved.Minimizers = nil
	for _, m := range p.Minimizers {
		if at := to(m); p.contains(at) {
			moved.Minimizers = append(moved.Minimizers, at)
		}
	}
	moved.Eval = func(x []float64) float64 { return p.Eval(from(x)) }
	if p.Noisy != nil {
		moved.Noisy = func(x []float64, trial uint64) float64 { return p.Noisy(from(x), trial) }
	}
	return moved
}

// Rotated turns the function about the centre of its box, scaled to a cube, so
// that its structure does not follow the axes. p is evaluated outside of its box,
// and its minimum must hold everywhere. The first minimizer stays in the box.
func Rotated(p Problem, seed uint64) Problem {
	centre := constant(p.Dim(), 0.5)
	r := stream(seed, 0x207)
	// by maps the box to where p is evaluated, with the transposed matrix the other way.
	by := func(q [][]float64) func(x []float64) []float64 {
		return func(x []float64) []float64 {
			return p.FromUnit(add(rotate(q, subtract(p.ToUnit(x), centre)), centre))
		}
	}
	for {
		q := rotation(r, p.Dim())
		if back := by(transposed(q)); p.contains(back(p.Minimizers[0])) {
			return p.moved("-rotated", by(q), back)
		}
	}
}

func add(a, b []float64) []float64 { return floats.AddTo(make([]float64, len(a)), a, b) }

func subtract(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }

// randomPoint draws a point whose coordinates lie in [low, high].
func randomPoint(r *rand.Rand, d int, low, high float64) []float64 {
	return Problem{Low: constant(d, low), High: constant(d, high)}.Sample(r)
}

// rotation draws an orthogonal matrix uniformly: Gram–Schmidt on normal rows.
func rotation(r *rand.Rand, d int) [][]float64 {
	q := make([][]float64, d)
	for i := range q {
		q[i] = make([]float64, d)
		for j := range q[i] {
			q[i][j] = r.NormFloat64()
		}
		for _, row := range q[:i] {
			along := dot(q[i], row)
			for j := range row {
				q[i][j] -= along * row[j]
			}
		}
		length := math.Sqrt(dot(q[i], q[i]))
		for j := range q[i] {
			q[i][j] /= length
		}
	}
	return q
}

func transposed(q [][]float64) [][]float64 {
	t := make([][]float64, len(q))
	for i := range t {
		t[i] = make([]float64, len(q))
		for j := range q {
			t[i][j] = q[j][i]
		}
	}
	return t
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func rotate(q [][]float64, x []float64) []float64 {
	y := make([]float64, len(q))
	for i := range q {
		y[i] = dot(q[i], x)
	}
	return y
}
