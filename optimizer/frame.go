package optimizer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// frame is a system of coordinates around a point, which is at ½ in each, turned and
// stretched after the best points known: in a narrow valley its unit cube is long and thin,
// and points along the valley.
type frame struct {
	centre []float64
	edges  [][]float64 // of its unit cube
}

const (
	frameWidth   = 8   // of the unit cube, in standard deviations
	frameStretch = 1e4 // bounds the ratio of the longest edge and the shortest
)

// newFrame returns a frame around c after the best points, the best first. They count as
// in the covariance matrices of evolution strategies, by the logarithm of their ranks
// (Hansen and Ostermeier 2001). It returns nil if all are the same point.
func newFrame(c []float64, best [][]float64) *frame {
	d, sum := len(c), 0.0
	covariance := mat.NewSymDense(d, nil)
	for rank, p := range best {
		weight := math.Log((float64(len(best)) + 0.5) / float64(rank+1))
		sum += weight
		for i := range d {
			for j := range i + 1 {
				covariance.SetSym(i, j, covariance.At(i, j)+weight*(p[i]-c[i])*(p[j]-c[j]))
			}
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(covariance, true) {
		return nil
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	values := eig.Values(nil)
	largest := values[d-1]
	if !(largest > 0) {
		return nil
	}
	f := &frame{centre: c}
	for k, v := range values {
		edge := mat.Col(nil, k, &vectors)
		for j := range edge {
			edge[j] *= frameWidth * math.Sqrt(math.Max(v, largest/(frameStretch*frameStretch))/sum)
		}
		f.edges = append(f.edges, edge)
	}
	return f
}

// to returns the frame's coordinates of a point.
func (f *frame) to(x []float64) []float64 {
	u := make([]float64, len(x))
	for k, edge := range f.edges {
		along, square := 0.0, 0.0
		for j, e := range edge {
			along += e * (x[j] - f.centre[j])
			square += e * e
		}
		u[k] = 0.5 + along/square
	}
	return u
}

// from returns the point that has those coordinates.
func (f *frame) from(u []float64) []float64 {
	x := slices.Clone(f.centre)
	for k, edge := range f.edges {
		floats.AddScaled(x, u[k]-0.5, edge)
	}
	return x
}
