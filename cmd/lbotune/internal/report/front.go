package report

import "math"

// fronts has a picture for each pair of several objectives. Of two it draws the front: what
// lies beyond the line is dominated.
func (s *Study) fronts() []string {
	objectives := s.state.Config.Objectives()
	var out []string
	for i, up := range objectives {
		for _, across := range objectives[i+1:] {
			at := func(t *Trial) (x, y float64) { return t.ifValued(t.metric(across.Name), t.metric(up.Name)) }
			xs, ys := s.each(at)
			x, y := axisOf(across.Name, xs, ""), axisOf(up.Name, ys, "")
			out = append(out, s.scatter(up.Name+" and "+across.Name, 380, 260, x, y, at, func(c *chart) {
				if len(objectives) == 2 {
					c.path("bestline", s.staircase(c, at))
				}
			}))
		}
	}
	return out
}

// staircase is the border of what the front dominates: from each of its trials to the next
// with the worse value of both.
func (s *Study) staircase(c *chart, at func(*Trial) (x, y float64)) [][2]float64 {
	var xs, ys []float64
	for _, t := range s.state.Front() { // the best in the first objective, which is y, first
		x, y := at(s.Trials[t.Number-1])
		if math.IsNaN(x + y) {
			continue
		}
		if n := len(xs); n > 0 {
			xs, ys = append(xs, xs[n-1]), append(ys, y)
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return c.series(xs, ys)
}

// hypervolume is how far the front had come after each trial that finished, with the trials
// that moved it.
func (s *Study) hypervolume() string {
	gained := map[int]float64{} // how many had finished after a trial
	x := s.trialAxis()
	x.label = "trials that finished"
	var steps, volumes []float64
	last := 0.0
	for i, v := range s.Hypervolumes {
		if n := float64(i + 1); v > last {
			gained[s.state.Order[i]] = n
			steps, volumes = append(steps, n, n), append(volumes, last, v)
			last = v
		}
	}
	steps, volumes = append(steps, float64(len(s.Hypervolumes))), append(volumes, last)
	at := func(t *Trial) (u, v float64) {
		if n := gained[t.Number]; n > 0 {
			return n, s.Hypervolumes[int(n)-1]
		}
		return math.NaN(), math.NaN()
	}
	return s.scatter("Hypervolume", 380, 260, x, axisOf("hypervolume", s.Hypervolumes, ""), at, func(c *chart) {
		c.path("bestline", c.series(steps, volumes))
	})
}
