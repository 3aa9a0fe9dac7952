// Package quadratic is the local model of the optimizer's endgame: a quadratic
// that interpolates the points nearest to the incumbent, maximized inside a trust
// region. On smooth functions it goes where a Gaussian process no longer can, to
// regrets far below 1e-7 of the range.
//
// Sources: Powell, Least Frobenius norm updating of quadratic models that satisfy
// interpolation conditions (2004), for the model; Conn, Gould and Toint, Trust
// Region Methods (2000), for the radius; King, Dlib-ml (2009), whose global search
// alternates a Lipschitz bound with such a model.
package quadratic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lbotune/lbotune/spaces"
)

// ErrTooFewPoints is returned by Fit for fewer than d+2 different points.
var ErrTooFewPoints = errors.New("too few different points for a quadratic model")

// regularization of both blocks of the interpolation system, in scaled units.
const regularization = 1e-12

// maxNeighbours bounds the cost of a fit, which is cubic in the number of points.
// It matters from 23 dimensions on.
const maxNeighbours = 300

// Model is the quadratic
//
//	Q(x) = Value + gᵀs + ½ sᵀHs,  s = (x - Center)/Far,  both parts times Unit.
//
// Scaled so, g and H are of order 1 whatever the units.
type Model struct {
	Center []float64
	Value  float64 // the observed value at Center, which Q interpolates
	Far    float64 // Euclidean distance of the farthest point used
	Unit   float64 // largest |value - Value| of the points used, 1 if all are equal
	Points int     // points used, Center included
	Round  bool    // the Hessian is that which differs least from a multiple of the identity
	like   bool    // a like function's Hessian completes it
	g      []float64
	h      *mat.SymDense
}

// Fit interpolates the values at points[center] and its nearest different points in the
// Euclidean metric, (d+1)(d+2)/2 in all, or as many as there are, by the quadratic whose Hessian
// has the least Frobenius norm. The KKT system, with the rows s_i of S the scaled offsets and v_i
// the scaled differences of value, is
//
//	[ (SSᵀ)∘(SSᵀ)/4 + εI   S  ] [ λ ]   [ v ]
//	[ Sᵀ                  -εI ] [ g ] = [ 0 ],   H = ½ Σ λ_i s_i s_iᵀ,
//
// where ε = 1e-12 keeps it solvable for degenerate clouds: directions that the
// points do not explore get neither slope nor curvature.
//
// Fewer points than a quadratic has coefficients, 3 (d+1) at most, may yet tell that it is
// round: with one more column beside S, of ½ s_iᵀs_i, the norm is that of H − cI for the best c.
// That is taken if it predicts each point far better from all others, by Σ (e_i/s_iᵀs_i)². The
// error e_i without point i is λ_i over the i-th diagonal element of the inverted matrix
// (Dubrule, Cross validation of kriging in a unique neighborhood, 1983).
//
// Where models of like functions are given, 1.5 d + 1 of the nearest points do, and it is the
// difference of the Hessian from a multiple a of one of theirs, L, that has the least norm. With
// H(v) the Hessian of least norm for the values v, and l those of ½ sᵀLs,
//
//	H = H(v) + a (L − H(l)),   a = <H(v), H(l)>/<H(l), H(l)> > 0,
//
// and L is the one that leaves least of H(v).
func Fit(points [][]float64, values []float64, center int, like ...*Model) (*Model, error) {
	c := points[center]
	d := len(c)
	most := min((d+1)*(d+2)/2-1, maxNeighbours)
	if len(like) > 0 {
		most = min(most, 3*d/2+1)
	}
	near := nearest(points, center, most)
	if len(near) < d+1 {
		return nil, fmt.Errorf("%w: %d, want at least %d", ErrTooFewPoints, len(near)+1, d+2)
	}
	m := &Model{Center: slices.Clone(c), Value: values[center], Points: len(near) + 1, Far: spaces.Distance(points[near[len(near)-1]], c)}
	s := mat.NewDense(len(near), d, nil)
	v := mat.NewVecDense(len(near)+d, nil)
	for i, k := range near {
		v.SetVec(i, values[k]-m.Value)
		m.Unit = math.Max(m.Unit, math.Abs(values[k]-m.Value))
		for j := range d {
			s.Set(i, j, (points[k][j]-c[j])/m.Far)
		}
	}
	m.Unit = cmp.Or(m.Unit, 1)
	v.ScaleVec(1/m.Unit, v)
	if n := len(near); len(like) == 0 && !m.Determined() && n > d+1 && n <= 3*(d+1) {
		return m, m.solveRound(s, v)
	}
	if err := m.solve(s, v); err != nil || m.Determined() {
		return m, err
	}
	return m, m.liken(s, like)
}

// roundness is how much better a round quadratic must predict, as a share of the squared errors.
const roundness = 0.1

// solveRound fills in g and h of the quadratic that is least far from a round one, or of that
// of the least norm.
func (m *Model) solveRound(s *mat.Dense, v *mat.VecDense) error {
	n, d := s.Dims()
	squares, columns := mat.NewVecDense(n, nil), mat.NewDense(n, d+1, nil)
	for i := range n {
		squares.SetVec(i, 0.5*mat.Dot(s.RowView(i), s.RowView(i)))
	}
	columns.Augment(s, squares)
	least, err := interpolate(s, s, v)
	if err != nil {
		return err
	}
	round, err := interpolate(s, columns, v)
	if err == nil {
		e := round.error(s)
		m.Round = !math.IsInf(e, 1) && e <= roundness*least.error(s) && m.take(round, s) == nil
	}
	if m.Round {
		return nil
	}
	return m.take(least, s)
}

// liken adds what the points do not determine of the Hessian of a like function.
func (m *Model) liken(s *mat.Dense, like []*Model) error {
	n, d := s.Dims()
	v := mat.NewVecDense(n+d, nil)
	var best, whole Model
	a, most := 0.0, 0.0
	for _, o := range like {
		for i := range n {
			v.SetVec(i, 0.5*mat.Inner(s.RowView(i), o.h, s.RowView(i)))
		}
		var part Model
		if err := part.solve(s, v); err != nil {
			return err
		}
		var both, square mat.Dense
		both.MulElem(m.h, part.h)
		square.MulElem(part.h, part.h)
		along, all := mat.Sum(&both), mat.Sum(&square)
		if cosine := along / math.Sqrt(all); cosine > most*(1+1e-9) { // the first of equals
			a, most, best, whole = along/all, cosine, part, *o
		}
	}
	if m.like = a > 0; !m.like {
		return nil
	}
	for i := range d {
		m.g[i] -= a * best.g[i]
		for j := i; j < d; j++ {
			m.h.SetSym(i, j, m.h.At(i, j)+a*(whole.h.At(i, j)-best.h.At(i, j)))
		}
	}
	return nil
}

// Determined reports whether the points are as many as a quadratic has
// coefficients, (d+1)(d+2)/2, so that the choice of the least norm decided nothing, or a
// like function decided it.
func (m *Model) Determined() bool {
	d := len(m.Center)
	return m.like || m.Points >= (d+1)*(d+2)/2
}

// solve fills in g and h from the scaled offsets and differences of value.
func (m *Model) solve(s *mat.Dense, v *mat.VecDense) error {
	in, err := interpolate(s, s, v)
	if err != nil {
		return err
	}
	return m.take(in, s)
}

// interpolant is the solution of the system of Fit: a λ for each point, then a coefficient for
// each column of what counts nothing in the norm.
type interpolant struct {
	kkt      *mat.Dense
	solution *mat.VecDense
}

// interpolate solves the system for the scaled offsets s, with these columns, and the first
// values in v.
func interpolate(s, columns *mat.Dense, v *mat.VecDense) (interpolant, error) {
	n, c := columns.Dims()
	kkt := mat.NewDense(n+c, n+c, nil)
	gram := mat.NewDense(n, n, nil)
	gram.Mul(s, s.T())
	right := mat.NewVecDense(n+c, nil)
	for i := range n {
		right.SetVec(i, v.AtVec(i))
		for j := range n {
			kkt.Set(i, j, 0.25*gram.At(i, j)*gram.At(i, j))
		}
		kkt.Set(i, i, kkt.At(i, i)+regularization)
		for j := range c {
			kkt.Set(i, n+j, columns.At(i, j))
			kkt.Set(n+j, i, columns.At(i, j))
		}
	}
	for j := range c {
		kkt.Set(n+j, n+j, -regularization)
	}
	solution, err := solveRefined(kkt, n, right)
	if err != nil {
		return interpolant{}, fmt.Errorf("solving for the quadratic model: %w", err)
	}
	return interpolant{kkt, solution}, nil
}

// take fills in g and h from a solution.
func (m *Model) take(in interpolant, s *mat.Dense) error {
	n, d := s.Dims()
	coefficients := in.solution.RawVector().Data[n:]
	m.g = slices.Clone(coefficients[:d])
	m.h = mat.NewSymDense(d, nil)
	for i := range n {
		m.h.SymRankOne(m.h, 0.5*in.solution.AtVec(i), s.RowView(i))
	}
	for j, g := range m.g {
		for _, c := range coefficients[d:] {
			m.h.SetSym(j, j, m.h.At(j, j)+c)
		}
		if bad(g) || bad(m.h.At(j, j)) {
			return errors.New("solving for the quadratic model: the points give no finite solution")
		}
	}
	return nil
}

// error returns the sum of the squared errors without one point each, see Fit; +Inf where they
// are not to be had.
func (in interpolant) error(s *mat.Dense) float64 {
	var inverse mat.Dense
	var condition mat.Condition
	if err := inverse.Inverse(in.kkt); err != nil && !errors.As(err, &condition) {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range s.RawMatrix().Rows {
		e := in.solution.AtVec(i) / inverse.At(i, i) / mat.Dot(s.RowView(i), s.RowView(i))
		sum += e * e
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// solveRefined solves the regularized system and then refines the solution twice
// towards that of the system without ε. Where the latter is well determined this
// removes the bias; directions that only ε determines hardly change.
func solveRefined(kkt *mat.Dense, n int, v *mat.VecDense) (*mat.VecDense, error) {
	size, _ := kkt.Dims()
	var lu mat.LU
	lu.Factorize(kkt)
	solution, residual, step := mat.NewVecDense(size, nil), mat.VecDenseCopyOf(v), mat.NewVecDense(size, nil)
	for range 3 {
		var condition mat.Condition
		// A large condition number is what ε is there for; the solution is still given.
		if err := lu.SolveVecTo(step, false, residual); err != nil && !errors.As(err, &condition) {
			return nil, err
		}
		solution.AddVec(solution, step)
		residual.MulVec(kkt, solution)
		residual.SubVec(v, residual)
		for i := range size {
			e := regularization
			if i >= n {
				e = -e
			}
			residual.SetVec(i, residual.AtVec(i)+e*solution.AtVec(i))
		}
	}
	return solution, nil
}

func bad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// nearest returns the indices of up to n different points, nearest first, without
// the centre. Ties go to the lower index.
func nearest(points [][]float64, center, n int) []int {
	var all, chosen []int
	from := make([]float64, len(points))
	for i, p := range points {
		if from[i] = spaces.Distance(p, points[center]); from[i] > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(from[a], from[b]) })
	for k, i := range all {
		same := len(chosen) == n
		for k--; k >= 0 && from[i]-from[all[k]] <= 1e-12*from[i] && !same; k-- {
			same = spaces.Distance(points[i], points[all[k]]) <= 1e-12*from[i]
		}
		if !same {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// At returns Q(x).
func (m *Model) At(x []float64) float64 {
	s := make([]float64, len(x))
	for i, v := range x {
		s[i] = (v - m.Center[i]) / m.Far
	}
	return m.Value + m.Unit*m.gain(s, nil)
}

// gain returns gᵀs + ½ sᵀHs and, when grad is not nil, its gradient g + Hs.
func (m *Model) gain(s, grad []float64) float64 {
	raw := m.h.RawSymmetric()
	sum := 0.0
	for i, si := range s {
		hs := 0.0
		for j, sj := range s {
			hs += raw.Data[min(i, j)*raw.Stride+max(i, j)] * sj
		}
		sum += si * (m.g[i] + 0.5*hs)
		if grad != nil {
			grad[i] = m.g[i] + hs
		}
	}
	return sum
}
