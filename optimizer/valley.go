package optimizer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
	"github.com/lbotune/lbotune/optimizer/internal/gp"
	"github.com/lbotune/lbotune/optimizer/internal/maximize"
	"github.com/lbotune/lbotune/optimizer/internal/warp"
	"github.com/lbotune/lbotune/spaces"
)

const (
	// frameBest and frameKnown are how many of the best points shape a valley's frame,
	// and how many of those nearest in it its model knows, in units of d + 1.
	frameBest  = 4
	frameKnown = 10
	// frameMost bounds the latter: a fit costs its cube.
	frameMost = 60
	// frameReach is how far from the centre, in its coordinates, a step may lead: two
	// standard deviations, so that the frame can grow.
	frameReach = 2.0 / frameWidth
)

// valleyStep maximizes the expected improvement of a model of its own, which knows the
// successes around the best point alone, in a frame that those shape: it sees differences
// of value that are nothing beside those of the whole cube, and a narrow valley as a round
// bowl.
func (a *ask) valleyStep(basin basin) (Proposal, bool) {
	if a.set.Acquisition != "ei" || a.many() || a.view.surrogate.noisy() || a.view.limits != nil || a.dom.partial() {
		return Proposal{}, false
	}
	c, local := a.past.x[basin.centre], a.neighbourhood(basin.centre)
	if local == nil || len(local.x) < frameBest*(len(local.free)+1) {
		return Proposal{}, false
	}
	order := orderBy(len(local.x), func(i int) float64 { return -local.y[i] })
	f := newFrame(local.x[local.centre], pick(local.x, order[:frameBest*(len(local.free)+1)]))
	if f == nil {
		return Proposal{}, false
	}
	model, best, err := a.valleyModel(f, local)
	for _, q := range a.pending { // assumed to give their posterior means
		if err == nil && a.dom.alike(q, c) {
			u := f.to(local.part(q))
			mean := model.Predictor().Mean(u)
			best = math.Max(best, mean)
			model, err = model.Append(u, mean)
		}
	}
	if err != nil {
		return Proposal{}, false
	}
	ei := modelScore(model.Predictor(), nil, func(mu, sigma, _, _ float64) acquisition.Value { return acquisition.LogEI(mu, sigma, best) })
	p := a.searchFrame(ei, f, func(u []float64) []float64 { return a.dom.snap(local.lift(f.from(u), c)) })
	if p == nil || a.view.flat.holds(p) || a.view.probability(p) < safeEnough {
		return Proposal{}, false
	}
	a.memory.Step = &trustStep{Centre: a.past.trial[basin.centre], New: !a.lbo.trust.settled, Told: len(a.past.told)}
	return a.described(p, originBox, "largest acquisition along the valley of the best points"), true
}

// valleyModel fits a model to the points nearest to the centre in the frame, and returns
// it with the value at the centre in its units.
func (a *ask) valleyModel(f *frame, local *neighbourhood) (*gp.Model, float64, error) {
	d := len(local.free)
	points := mapped(local.x, f.to)
	near := orderBy(len(points), func(i int) float64 { return spaces.Distance(points[i], points[local.centre]) })
	near = near[:min(len(near), frameKnown*(d+1), frameMost)]
	x, y := pick(points, near), pick(local.y, near)
	set := gp.NewSettings(d)
	set.Seed = mix(a.past.seed + uint64(len(a.past.y)))
	fitter := gp.NewFitter(x)
	w, hyper, err := warp.Choose(warp.Kinds(), y, a.lbo.warpOptions(), func(_ warp.Warp, z []float64) (gp.Hyper, float64, error) {
		r, err := fitter.Fit(a.ctx, z, nil, set)
		return r.Hyper, r.LeaveOneOut, err
	})
	if err != nil {
		return nil, 0, err
	}
	model, err := gp.New(nil, x, w.ApplyAll(y), hyper)
	return model, w.Apply(local.y[local.centre]), err
}

// searchFrame maximizes a score in a frame around its middle, and returns the point to
// propose, nil if there is none that is free.
func (a *ask) searchFrame(score *score, f *frame, point func(u []float64) []float64) []float64 {
	rng, d := a.rng("valley"), len(f.centre)
	lo, up := slices.Repeat([]float64{0.5 - frameReach}, d), slices.Repeat([]float64{0.5 + frameReach}, d)
	within := func(u, grad []float64) float64 {
		if !inCube(f.from(u)) {
			return math.Inf(-1)
		}
		return score.at(u, grad)
	}
	points := make([][]float64, 0, candidates)
	for range candidates {
		u := make([]float64, d)
		for k := range u {
			u[k] = lo[k] + rng.Float64()*(up[k]-lo[k])
		}
		if inCube(f.from(u)) {
			points = append(points, u)
		}
	}
	values := evaluate(a.ctx, score, points)
	climber := maximize.New(lo, up, maximize.Settings{MaxIterations: climbIterations})
	var best []float64
	top := math.Inf(-1)
	for _, k := range maximize.PickStarts(values, rng) {
		if end := climber.Maximize(a.ctx, within, points[k]); end.F > top {
			if p := point(end.X); !a.taken(p) {
				best, top = p, end.F
			}
		}
	}
	return best
}

func inCube(p []float64) bool {
	return !slices.ContainsFunc(p, func(x float64) bool { return !(x >= 0 && x <= 1) })
}

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
