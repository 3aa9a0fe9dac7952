package report

// fronts has a picture for each pair of several objectives. Of two it draws the front: what
// lies beyond the line is dominated.
func (s *Study) fronts() []string {
	objectives := s.state.Config.Objectives()
	var out []string
	for i, up := range objectives {
		for _, across := range objectives[i+1:] {
			at := func(t *Trial) (x, y float64, ok bool) {
				x, known := t.Metrics.Get(across.Name)
				y, ok = t.Metrics.Get(up.Name)
				return x, y, ok && known && t.Value != nil
			}
			xs, ys := s.each(at)
			x, y := axisOf(across.Name, xs, nil), axisOf(up.Name, ys, nil)
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
func (s *Study) staircase(c *chart, at func(*Trial) (x, y float64, ok bool)) [][2]float64 {
	var places [][2]float64
	for _, t := range s.state.Front() { // the best in the first objective, which is y, first
		x, y, ok := at(s.Trials[t.Number-1])
		if !ok {
			continue
		}
		place := [2]float64{c.x.at(x), c.y.at(y)}
		if n := len(places); n > 0 {
			places = append(places, [2]float64{places[n-1][0], place[1]})
		}
		places = append(places, place)
	}
	return places
}

// hypervolume is how far the front had come after each trial that finished, with the trials
// that moved it.
func (s *Study) hypervolume() string {
	volumes, gained := s.Hypervolumes, map[int]int{} // how many had finished after a trial
	x := s.trialAxis()
	x.label = "trials that finished"
	y := axisOf("hypervolume", volumes, nil)
	var steps [][2]float64
	last := 0.0
	for i, v := range volumes {
		if at := x.at(float64(i + 1)); v > last {
			gained[s.state.Order[i]] = i + 1
			steps = append(steps, [2]float64{at, y.at(last)}, [2]float64{at, y.at(v)})
			last = v
		}
	}
	steps = append(steps, [2]float64{x.at(float64(len(volumes))), y.at(last)})
	at := func(t *Trial) (u, v float64, ok bool) {
		n := gained[t.Number]
		if n == 0 {
			return 0, 0, false
		}
		return float64(n), volumes[n-1], true
	}
	return s.scatter("Hypervolume", 380, 260, x, y, at, func(c *chart) { c.path("bestline", steps) })
}
