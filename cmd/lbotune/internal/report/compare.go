package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// comparison puts studies beside each other: at a budget that all have spent, those that
// differ by their seed alone together.
func comparison(studies []*Study) []card {
	budget := math.MaxInt
	for _, s := range studies {
		budget = min(budget, len(s.values()))
	}
	fair := fmt.Sprintf("after %d trials with a value, which all of them have", budget)
	for _, s := range studies[1:] {
		if s.Metric != studies[0].Metric || s.Direction != studies[0].Direction {
			fair = "they have different objectives: their values can't be compared"
		}
	}
	rows := table{head: []string{"study", "seed", "trials", "best", "best at the same budget"}}
	groups := map[string][]float64{}
	var names []string
	for _, s := range studies {
		best, same := "-", "-"
		if s.Best > 0 {
			best = num(*s.Trials[s.Best-1].Value)
		}
		if v, ok := s.bestOf(budget); ok {
			same = num(v)
			name := s.setting()
			if groups[name] == nil {
				names = append(names, name)
			}
			groups[name] = append(groups[name], v)
		}
		rows.rows = append(rows.rows, row{to: s.key + "head", cells: data(clean(s.Name, 60), strconv.FormatUint(s.Seed, 10), strconv.Itoa(len(s.Trials)), best, same)})
	}
	return []card{{ID: "compare", Title: "Beside each other", Note: fair, Body: template.HTML(rows.String() + render("words", seeds(names, groups))), Wide: true}}
}

// bestOf is the best of the first n values.
func (s *Study) bestOf(n int) (best float64, ok bool) {
	for i, v := range s.values() {
		if i < n && (!ok || s.good(v) > s.good(best)) {
			best, ok = v, true
		}
	}
	return best, ok
}

// setting is the same for studies that differ by nothing but their seed and place.
func (s *Study) setting() string {
	c := s.state.Config
	c.Seed, c.Name, c.Dir = 0, "", ""
	text, err := json.Marshal(c)
	if err != nil {
		return s.ID
	}
	return string(text)
}

// seeds says for each group what several seeds tell: the median, and an interval between two
// of the values, which holds that of all seeds with at least the probability that is said,
// whatever their distribution (Conover 1999, section 3.2): bests are too skewed for Student's.
func seeds(names []string, groups map[string][]float64) []string {
	var out []string
	for i, name := range names {
		values := slices.Sorted(slices.Values(groups[name]))
		n := len(values)
		if n < 2 {
			continue
		}
		below := distuv.Binomial{N: float64(n), P: 0.5}
		k := 0 // of the values on each side lie outside
		for 2*below.CDF(float64(k)) <= 0.05 {
			k++
		}
		k = max(k-1, 0)
		out = append(out, fmt.Sprintf("Setting %d, %d seeds: median %s, between %s and %s with a confidence of %.0f %%.",
			i+1, n, num((values[(n-1)/2]+values[n/2])/2), num(values[k]), num(values[n-1-k]), 100*(1-2*below.CDF(float64(k)))))
	}
	if len(out) == 0 {
		return []string{"One seed of each setting says little: run each with several."}
	}
	return out
}
