package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"
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
	rows := table{Head: []string{"study", "seed", "trials", "best", "best at the same budget"}}
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
		rows.Rows = append(rows.Rows, row{To: s.key + "head", Cells: []string{clean(s.Name, 60), strconv.FormatUint(s.Seed, 10), strconv.Itoa(len(s.Trials)), best, same}})
	}
	out := []card{{"compare", "Beside each other", fair, template.HTML(render("table", rows) + render("words", seeds(names, groups))), true}}
	if svg := overlay(studies); svg != "" {
		out = append(out, card{"overlay", "Best so far", "colors in the order of the table", template.HTML(svg), true})
	}
	if svg := distribution(studies); svg != "" {
		out = append(out, card{"values", "Distribution of values", "the share of trials at least as good", template.HTML(svg), false})
	}
	return out
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

// seeds says for each group what several seeds tell: the mean and a 95 % interval of it
// after Student, which needs two.
func seeds(names []string, groups map[string][]float64) []string {
	var out []string
	for i, name := range names {
		values := groups[name]
		n := float64(len(values))
		if n < 2 {
			continue
		}
		mean, sd := stat.MeanStdDev(values, nil)
		margin := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
		out = append(out, fmt.Sprintf("Setting %d, %d seeds: %s ± %s (95 %% interval of the mean).", i+1, len(values), num(mean), num(margin)))
	}
	if len(out) == 0 {
		return []string{"One seed of each setting says little: run each with several."}
	}
	return out
}

// overlay draws the best so far of several studies.
func overlay(studies []*Study) string {
	var all []float64
	longest := 1
	for _, s := range studies {
		all = append(all, s.values()...)
		longest = max(longest, len(s.values()))
	}
	if len(all) == 0 {
		return ""
	}
	s := studies[0]
	c := s.chart("Best so far", 900, 280, axis{lo: 0.5, hi: float64(longest) + 0.5, label: "trials with a value"}, axisOf(s.Metric, all, s.worse))
	c.frame()
	for k, s := range studies {
		var steps [][2]float64
		values := s.values()
		best := math.NaN()
		for i, v := range values {
			if !(s.good(v) <= s.good(best)) {
				best = v
			}
			steps = append(steps, [2]float64{c.x.at(float64(i + 1)), c.y.at(best)})
		}
		c.path("series s"+strconv.Itoa(k%6), steps)
	}
	return c.String()
}
