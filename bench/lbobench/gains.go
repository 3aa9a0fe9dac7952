package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/spaces"
)

// readings are what the constant may be, by name: as the paper prints it, the largest slope
// alone, and the printed one divided by the standard deviation of the values a second time.
var readings = []struct {
	name     string
	schedule string
	kappa    float64
	twice    bool
	answers  []string // to the rejection of every candidate; of the first none but where it was proposed is another run
}{
	{"10tL", "paper", 10, false, []string{"first"}},
	{"L", "constant", 1, false, []string{"first", "random", "clip"}},
	{"twice", "paper", 10, true, []string{"first", "random", "clip"}},
}

// gainsFunctions are those of which the paper shows gains or losses, on both domains where
// there are two.
var gainsFunctions = []string{"goldstein2", "michalewicz5", "rosenbrock3", "rosenbrock4", "rosenbrock5"}

func (r *reproduction) gainsJobs() []job {
	trueL := trueConstants()
	return r.each(func(seed int) []problems.Objective {
		return slices.DeleteFunc(bothDomains(seed), func(o problems.Objective) bool {
			return !slices.Contains(gainsFunctions, strings.TrimSuffix(o.Name, problems.CitedSuffix))
		})
	}, func(o problems.Objective) (out []variant) {
		for _, acq := range acquisitions {
			s := r.base()
			s.Acquisition, s.Design, s.Maximizer = acq, "random", "direct"
			for _, way := range []string{plain, known} {
				out = append(out, variant{acq + "-" + way, with(s, way, trueL(o)), &printed{}})
			}
			for _, reading := range readings {
				s.Schedule, s.Kappa = reading.schedule, reading.kappa
				for _, answer := range reading.answers {
					out = append(out, variant{acq + "-" + reading.name + "-" + answer, s, &printed{twice: reading.twice, rejected: answer}})
				}
			}
		}
		return append(out, randomSearch())
	})
}

// writeGains prints a table for each acquisition: every way beside plain Bayesian optimization.
func (r *reproduction) writeGains(b *strings.Builder, s *store, jobs []job) {
	end := r.end(s, jobs)
	r.writeBounds(b, end, centres(s, jobs))
}

// writeKappa prints how schedules of the constant do beside no bounds.
func (r *reproduction) writeKappa(b *strings.Builder, end *regrets) {
	r.writeBounds(b, end, nil)
	b.WriteString("All pairs of runs beside those without bounds.\n\n")
	var bounded []string
	for _, v := range end.peers {
		if _, way, _ := strings.Cut(v, "-"); way != plain {
			bounded = append(bounded, v)
		}
	}
	writePooled(b, end, "bounds", bounded, func(v string) (string, string) {
		acq, _, _ := strings.Cut(v, "-")
		return v, acq + "-" + plain
	})
}

// writeBounds prints how each way to bound an acquisition does beside no bounds, and how often it
// went to the centre of the cube, if at says so.
func (r *reproduction) writeBounds(b *strings.Builder, end *regrets, at map[[2]string]float64) {
	ways := map[string][]string{} // by acquisition
	var ps []float64
	for _, v := range end.peers {
		if acq, way, ok := strings.Cut(v, "-"); ok && way != plain {
			ways[acq] = append(ways[acq], way)
			for _, f := range end.functions {
				ps = append(ps, pair(end.of(v, f), end.of(acq+"-"+plain, f)).p)
			}
		}
	}
	least := slices.Min(holm(ps))
	counted, first := "", []string{"problem"}
	if at != nil {
		counted = ", and after a slash the mean number of evaluations at the centre of the cube"
	}
	if slices.Contains(end.peers, "random") {
		first = append(first, "random search")
	}
	fmt.Fprintf(b, "Median regret after %d evaluations over %d seeds; in brackets the pairs of runs in which it is less than without bounds, and more%s. A star: signed-rank test at 5 %%. Of the %d tests the least p-value is %.2g after Holm's correction.\n\n", r.evals, r.seeds, counted, len(ps), least)
	for _, acq := range acquisitions {
		if ways[acq] == nil {
			continue
		}
		fmt.Fprintf(b, "#### %s\n\n", strings.ToUpper(acq))
		writeHead(b, slices.Concat(first, []string{"no bounds"}, ways[acq])...)
		for _, f := range end.functions {
			base := end.of(acq+"-"+plain, f)
			row := []string{f}
			if len(first) > 1 {
				row = append(row, number(median(end.of("random", f))))
			}
			row = append(row, number(median(base)))
			for _, w := range ways[acq] {
				x := end.of(acq+"-"+w, f)
				c := pair(x, base)
				cell := fmt.Sprintf("%s (%d:%d", number(median(x)), c.wins, c.n-c.wins-c.ties)
				if n := at[[2]string{acq + "-" + w, f}] / float64(max(c.n, 1)); n > 0 {
					cell += fmt.Sprintf(" / %.1f", n)
				}
				if cell += ")"; c.p < 0.05 {
					cell += "*"
				}
				row = append(row, cell)
			}
			writeRow(b, row)
		}
		b.WriteString("\n")
	}
}

// centres counts the evaluations that have the value of the centre, by variant and function.
func centres(s *store, jobs []job) map[[2]string]float64 {
	out := map[[2]string]float64{}
	for _, j := range jobs {
		centre := j.objective.Eval(j.objective.Space.Decode(spaces.Point(j.objective.Space.Center())))
		for _, p := range s.runs[j.key()].points {
			if math.Abs(p.Y-centre) <= 1e-9*math.Abs(centre) {
				out[[2]string{j.variant, j.objective.Name}]++
			}
		}
	}
	return out
}
