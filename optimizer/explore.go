package optimizer

import "math"

const (
	exploreCandidates = 3000 // points of which the one with most room is taken
	exploreDraws      = 1000 // draws after which a random point need not be allowed
	apart             = 0.1  // times √d: how far it stays from few pending trials
)

// firstExplore is the trial by which exploring begins, so that short studies explore, too.
const firstExplore = 12

// exploreTurn reports whether the trial is one of every so many that explore, from the twelfth on. With
// a small period the first would be in or right after the design, which explores itself: it is left out.
func (a *ask) exploreTurn() bool {
	every := a.set.ExploreEvery
	return every > 0 && a.sinceExploring() >= 0 && a.sinceExploring()%every == 0
}

func (a *ask) sinceExploring() int { return a.trial - min(firstExplore, 2*a.set.ExploreEvery) }

// explore ignores the acquisition. Such proposals never end, so that no region
// is forgotten whatever the model believes.
func (a *ask) explore() (Proposal, error) {
	nth := a.sinceExploring() / a.set.ExploreEvery
	if a.set.Explore == "random" || a.set.Explore == "both" && nth%2 == 0 {
		return a.exploreRandom()
	}
	return a.escape("explore turn")
}

// escape proposes a point with the largest Lipschitz upper bound, where, for all that is known, most
// could be left to gain.
func (a *ask) escape(reason string) (Proposal, error) {
	b := a.view.surrogate.bounds
	if b == nil {
		return a.spread(OriginExplore, "far from all points: %s", reason)
	}
	// What a pending trial will say is not known, but it will say it there. Many
	// leave less room between them.
	d := float64(a.past.space.Len())
	distance := math.Min(apart*math.Sqrt(d), 0.5*math.Pow(float64(len(a.pending)+1), -1/d))
	return a.roomiest(distance, func(p []float64, _ func(float64) bool) float64 {
		if !a.view.holds {
			return 1 // where the limits hold comes first
		}
		_, up := b.at(p, nil, nil)
		return up - a.view.target
	}, reason, "largest Lipschitz upper bound: %s")
}

// roomFunc is how much a point may gain. Whoever knows that it is at most so much may ask whether that
// would matter; if not, NaN will do.
type roomFunc func(p []float64, matters func(most float64) bool) float64

// roomiest proposes the point with the largest room, times the probability of success and of holding
// the limits, among uniform ones that are at least so far from pending trials.
func (a *ask) roomiest(distance float64, roomAt roomFunc, reason, why string) (Proposal, error) {
	rng := a.rng("escape")
	var points, weights [][]float64
	for range exploreCandidates {
		if p := a.dom.uniform(rng); !(nearestDistance(p, a.pending) < distance) {
			points = append(points, p)
		}
	}
	weigh := func(c *chance, power float64) {
		weights = append(weights, mapped(c.logs(points), func(log float64) float64 { return math.Exp(power * log) }))
	}
	if s := a.view.success; s != nil {
		weigh(s, math.Max(1, escapeCaution/s.caution))
	}
	for _, c := range a.view.limits.chances() {
		weigh(c, 1)
	}
	var best []float64
	top := math.Inf(-1)
	for i, p := range points {
		weighed := func(room float64) float64 {
			for _, w := range weights {
				if room > 0 {
					room *= w[i]
				}
			}
			return room
		}
		room := weighed(roomAt(p, func(most float64) bool { return weighed(most) > top }))
		if room > top && !a.taken(p) { // not NaN, as is infinite room of probability 0
			best, top = p, room
		}
	}
	if best == nil {
		return a.anything(reason)
	}
	return a.described(best, OriginExplore, why, reason), nil
}

// exploreRandom draws a uniform point where the upper bound allows an
// improvement, and where, by chance, a trial succeeds.
func (a *ask) exploreRandom() (Proposal, error) {
	rng := a.rng("explore")
	for range exploreDraws {
		p := a.dom.uniform(rng)
		if a.taken(p) || rng.Float64() > a.view.success.weight(p)*a.view.limits.probability(p) {
			continue
		}
		if _, up := a.view.surrogate.bounds.at(p, nil, nil); a.view.holds && up < a.view.target {
			continue
		}
		return a.described(p, OriginExplore, "uniform within the Lipschitz bounds"), nil
	}
	return a.anything("no draw fell within the Lipschitz bounds")
}
