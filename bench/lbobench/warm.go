package main

import (
	"context"
	"sync"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// earlierStudies makes what a job begins with.
type earlierStudies func(context.Context, job) ([]optimizer.Earlier, error)

const (
	related, unrelated = "related", "unrelated"

	warmShare     = 0.05
	warmCount     = 10 // tasks of each family; the seed is the task
	warmUnrelated = 5
	warmTrials    = 50 // of each earlier study
)

// warmTasks are those of the number task, one of each family. The rules were made with tasks 0
// to 5 at hand, and not with the others.
func warmTasks(task uint64) []problems.Objective {
	var out []problems.Objective
	for _, p := range []problems.Problem{
		problems.Levy(4), problems.Hartmann6(), problems.Branin(), problems.Camel(), problems.Hartmann3(), problems.Shekel(),
		problems.StyblinskiTang(5), problems.Rosenbrock(3), problems.Ackley(5, 1), problems.Ellipsoid(6, 1),
	} {
		out = append(out, problems.Related(p, warmShare, task%warmCount).Objective())
	}
	return out
}

// warmStudies are those of the other tasks, and of unrelated functions.
func warmStudies() map[string]earlierStudies {
	others := func(j job) (out []job) {
		for task := range warmCount {
			for _, o := range warmTasks(uint64(task)) {
				if o.Name == j.objective.Name && task != j.seed%warmCount {
					out = append(out, job{objective: o, seed: task, evals: warmTrials})
				}
			}
		}
		return out
	}
	strangers := func(j job) (out []job) {
		for k := range warmUnrelated {
			seed := 100*j.seed + k
			out = append(out, job{objective: problems.BumpSum(j.objective.Space.Len(), uint64(seed)).Objective(), seed: seed, evals: warmTrials})
		}
		return out
	}
	return map[string]earlierStudies{related: results(others), unrelated: results(strangers)}
}

// results makes studies, each once, and returns what they found.
func results(studies func(job) []job) earlierStudies {
	var mu sync.Mutex
	known := map[key]optimizer.Earlier{}
	return func(ctx context.Context, j job) (out []optimizer.Earlier, _ error) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range studies(j) {
			e, ok := known[s.key()]
			if !ok {
				r, err := s.run(ctx)
				if err != nil {
					return nil, err
				}
				e, known[s.key()] = r.found, r.found
			}
			out = append(out, e)
		}
		return out, nil
	}
}
