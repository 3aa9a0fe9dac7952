package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// realTasks are the problems of the paper that are no formulas.
var realTasks = []string{"robotpush3", "robotpush4", "logregtable"}

// ownLBO is what lbotune does unless it is told otherwise.
const ownLBO = "LBO, lbotune"

// taskVariants are random search, and Bayesian optimization by expected
// improvement without and with Lipschitz bounds: as the paper describes it, and
// as lbotune does it.
func (r *reproduction) taskVariants() []variant {
	paper := r.base()
	paper.Acquisition = "ei"
	return []variant{
		randomSearch(),
		{name: "BO, paper", settings: with(paper, plain, 0)},
		{name: "LBO, paper", settings: paper},
		{name: "BO, lbotune", settings: with(optimizer.Settings{}, plain, 0)},
		{name: ownLBO},
	}
}

func (r *reproduction) taskJobs() []job {
	return r.each(fifteen, func(o problems.Objective) []variant {
		if r.only == "" && !slices.Contains(realTasks, o.Name) {
			return nil
		}
		return r.taskVariants()
	})
}

// writeTasks prints what is reached half way and at the end, and how lbotune's
// own LBO compares with the others.
func (r *reproduction) writeTasks(b *strings.Builder, s *store, jobs []job) {
	fmt.Fprintf(b, "Median error over %d seeds, and its quartiles.\n\n", r.seeds)
	end := newRegrets()
	end.addStore(s, jobs, r.evals)
	writeHead(b, slices.Concat([]string{"task", "evaluations"}, end.peers)...)
	for _, f := range end.functions {
		for _, at := range []int{r.evals / 2, r.evals} {
			then := newRegrets()
			then.addStore(s, jobs, at)
			row := []string{f, fmt.Sprint(at)}
			for _, p := range end.peers {
				x := then.of(p, f)
				row = append(row, fmt.Sprintf("%s (%s to %s)", number(median(x)), number(quantile(x, 0.25)), number(quantile(x, 0.75))))
			}
			writeRow(b, row)
		}
	}
	fmt.Fprintf(b, "\nThe share of the pairs of runs with one seed in which after %d evaluations %s has less error than the others, ties counting half. A star: signed-rank test on the logarithms, 5 %%.\n\n", r.evals, ownLBO)
	others := slices.DeleteFunc(slices.Clone(end.peers), func(p string) bool { return p == ownLBO })
	writeHead(b, slices.Concat([]string{"task"}, others)...)
	for _, f := range end.functions {
		row := []string{f}
		for _, p := range others {
			row = append(row, pair(end.of(ownLBO, f), end.of(p, f)).cell(1))
		}
		writeRow(b, row)
	}
	b.WriteString("\n")
}
