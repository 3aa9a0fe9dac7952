package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lbotune/lbotune/internal/lists"
)

// group are studies that differ by their seeds alone.
type group struct {
	setting, name string
	seeds         []uint64
	courses       [][]float64 // of their best values
}

// Beside is one history of several studies as a picture that stands on its own.
func Beside(studies []*Study) (string, error) {
	_, picture := comparison(studies)
	if picture == "" {
		return "", errors.New("nothing to draw: the studies have several or different objectives, or one has no value yet")
	}
	return framed("", []string{picture}), nil
}

// comparison puts studies beside each other: at a budget that all have spent, those that
// differ by their seed alone together. Picture is their history, if their values can be compared.
func comparison(studies []*Study) (cards []card, picture string) {
	budget, first := math.MaxInt, studies[0]
	for _, s := range studies {
		budget = min(budget, len(s.values()))
	}
	alike, fair := !first.state.Config.Several(), fmt.Sprintf("after %d trials with a value, which all of them have", budget)
	for _, s := range studies[1:] {
		if s.Metric != first.Metric || s.Direction != first.Direction {
			alike, fair = false, "they have different objectives: their values can't be compared"
		}
	}
	column := "best at the same budget"
	if slices.ContainsFunc(studies, func(s *Study) bool { return s.figures.Runs > 0 }) {
		column, fair = "best single value at the same budget", fair+"; the best ones there are single values, partly luck, and no means of repeats"
	}
	rows := table{head: []string{"study", "seed", "trials", "best", column}}
	var groups []group
	again := ""
	for _, s := range studies {
		best, same := "-", "-"
		if s.Best > 0 {
			best = s.figures.BestText()
		}
		if course := s.course(); budget > 0 {
			if v := course[budget-1]; finite(v) {
				same = Short(v)
			}
			setting := s.setting()
			i := slices.IndexFunc(groups, func(g group) bool { return g.setting == setting })
			if i < 0 {
				i = len(groups)
				name := s.Name
				if slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) {
					name += fmt.Sprintf(" (setting %d)", i+1)
				}
				groups = append(groups, group{setting: setting, name: name})
			}
			if g := &groups[i]; !slices.Contains(g.seeds, s.Seed) {
				g.seeds, g.courses = append(g.seeds, s.Seed), append(g.courses, course)
			} else { // it is no other sample
				again = "; of several studies with the same settings and seed, only the first counts and is drawn"
			}
		}
		rows.add("", link(s.Key+"head", clean(s.Name, 60)), plain(strconv.FormatUint(s.Seed, 10)), plain(strconv.Itoa(len(s.Trials))), plain(best), plain(same))
	}
	ends := lists.Map(groups, func(g group) []float64 {
		return lists.Map(g.courses, func(course []float64) float64 { return course[budget-1] })
	})
	if alike && len(groups) > 0 {
		picture = overlay(first, groups)
	}
	return []card{{ID: "compare", Title: "Beside each other", Note: fair + again, Body: picture + rows.String() + render("words", seeds(lists.Map(groups, func(g group) string { return g.name }), ends)), Wide: true}}, picture
}

// course is the best value that counts and holds the limits after each trial that has one, NaN before the first.
func (s *Study) course() (out []float64) {
	best := math.NaN()
	for _, t := range s.valued() {
		if t.Succeeded() && s.state.Feasible(t.Trial) && !(s.good(t.y()) <= s.good(best)) {
			best = t.y()
		}
		out = append(out, best)
	}
	return out
}

// overlay is one history of all: of those that differ by their seeds alone the median, with a band
// from the first to the third quartile as far as all of them have come.
func overlay(one *Study, groups []group) string {
	var all []float64
	x := axis{hi: 1, label: "trials with a value", room: 150}
	for _, g := range groups {
		for _, course := range g.courses {
			all = append(all, course...)
			x.hi = math.Max(x.hi, float64(len(course)))
		}
	}
	c := one.chart("Best "+one.Metric+" so far", 900, 320, x, axisOf("best "+one.Metric, all, one.Direction))
	c.frame()
	steps := func(values []float64) [][2]float64 {
		var numbers, bests []float64
		for i, v := range values {
			if finite(v) && (i == 0 || i == len(values)-1 || v != values[i-1]) {
				if n := len(bests); n > 0 {
					numbers, bests = append(numbers, float64(i+1)), append(bests, bests[n-1])
				}
				numbers, bests = append(numbers, float64(i+1)), append(bests, v)
			}
		}
		return c.series(numbers, bests)
	}
	var taken []float64 // by labels
	for k, g := range groups {
		class, label, least := fmt.Sprint(" s", k%6), g.name, math.MaxInt
		for _, of := range g.courses {
			least = min(least, len(of))
			c.path("seed"+class, steps(of))
		}
		quartiles := [3][]float64{}
		for i := range least {
			values := lists.Map(g.courses, func(of []float64) float64 { return of[i] })
			slices.Sort(values)
			for n, q := float64(len(values)), 0; q < len(quartiles); q++ { // of Hyndman's type 7, of which one is the median
				quartiles[q] = append(quartiles[q], stat.Quantile((float64(q+1)/4*(n-1)+1)/n, stat.LinInterp, values, nil))
			}
		}
		line := steps(quartiles[1])
		if len(line) == 0 {
			continue // not all of them have a value that holds the limits
		}
		if len(g.courses) > 1 {
			label = fmt.Sprintf("%s, %d seeds", clean(label, 14), len(g.courses))
			band := steps(quartiles[2])
			slices.Reverse(band)
			c.path("band"+class, append(steps(quartiles[0]), band...))
		}
		c.path("series"+class, line)
		y := c.py(line[len(line)-1][1])
		for slices.ContainsFunc(taken, func(at float64) bool { return math.Abs(at-y) < 13 }) {
			y -= 13
		}
		taken = append(taken, y)
		c.text("name"+class, c.px(1)+8, y+4, label, 24)
	}
	return c.String()
}

// setting is the same for studies that differ by nothing but their seed and place, and what they may spend.
func (s *Study) setting() string {
	c := s.state.Config
	c.Seed, c.Name, c.Dir = 0, "", ""
	c.Budget.Trials, c.Budget.Time, c.Budget.TimeHard, c.Budget.WorkerTime, c.Run.Workers = 0, 0, 0, 0, 0
	text, err := json.Marshal(c)
	must(err) // it comes from a journal
	return string(text)
}

// seeds says for each group what several seeds tell: the median, and an interval between two
// of the values, which holds that of all seeds with at least the probability that is said,
// whatever their distribution (Conover 1999, section 3.2): bests are too skewed for Student's.
func seeds(names []string, groups [][]float64) []string {
	var out []string
	for i, group := range groups {
		values := slices.Sorted(slices.Values(group))
		n := len(values)
		if n < 2 {
			continue
		}
		if math.IsNaN(values[0]) {
			out = append(out, fmt.Sprintf("%s, %d seeds: not all of them have a value that holds the limits.", names[i], n))
			continue
		}
		below := distuv.Binomial{N: float64(n), P: 0.5}
		k := 0 // of the values on each side lie outside
		for 2*below.CDF(float64(k)) <= 0.05 {
			k++
		}
		k = max(k-1, 0)
		out = append(out, fmt.Sprintf("%s, %d seeds: median %s, between %s and %s with a confidence of %s %%.",
			names[i], n, Short(values[(n-1)/2]/2+values[n/2]/2), Short(values[k]), Short(values[n-1-k]), Percent(1-2*below.CDF(float64(k)))))
	}
	if len(out) == 0 {
		return []string{"One seed of each setting says little: run each with several."}
	}
	return out
}
