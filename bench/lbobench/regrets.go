package main

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/bench/problems"
)

// checkpoints are the numbers of evaluations after which runs are compared.
var checkpoints = []int{10, 25, 50, 100}

// upTo are the checkpoints of runs of some length, and their end.
func upTo(evals int) []int {
	i, _ := slices.BinarySearch(checkpoints, evals)
	return append(slices.Clone(checkpoints[:i]), evals)
}

var errNotRecorded = errors.New("nothing is recorded")

//go:embed peers.csv
var recorded string

// regrets holds the simple regret of every run at some number of evaluations:
// by peer and function, one number for each seed.
type regrets struct {
	peers     []string // in order of appearance
	functions []string
	values    map[[2]string][]float64
	ranges    map[string]float64 // of the functions whose runs are not recorded ones
}

func newRegrets() *regrets {
	return &regrets{values: map[[2]string][]float64{}, ranges: map[string]float64{}}
}

func (r *regrets) add(peer, function string, regret float64) {
	if !slices.Contains(r.peers, peer) {
		r.peers = append(r.peers, peer)
	}
	if !slices.Contains(r.functions, function) {
		r.functions = append(r.functions, function)
	}
	k := [2]string{peer, function}
	r.values[k] = append(r.values[k], math.Max(regret, floor))
}

func (r *regrets) of(peer, function string) []float64 { return r.values[[2]string{peer, function}] }

// addPeers adds the recorded runs on the paper's functions after some number of evaluations.
func (r *regrets) addPeers(at int) error {
	known := map[string]float64{}
	for _, p := range problems.Paper() {
		known[p.Name] = p.Min
	}
	return r.addRecorded(recorded, at, func(function, _ string) (float64, bool) {
		fmin, ok := known[function]
		return fmin, ok
	})
}

// addBeside adds those runs of a file that are on the instances of jobs, after some number of evaluations.
func (r *regrets) addBeside(path string, jobs []job, at int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the recorded runs: %w", err)
	}
	return r.addRecorded(string(text), at, func(function, seed string) (float64, bool) {
		i := slices.IndexFunc(jobs, func(j job) bool { return j.objective.Name == function && strconv.Itoa(j.seed) == seed })
		if i < 0 {
			return 0, false
		}
		return jobs[i].objective.Min, true
	})
}

// addRecorded adds recorded runs where fmin knows the least value. What has run beside them is not
// added again.
func (r *regrets) addRecorded(text string, at int, fmin func(function, seed string) (float64, bool)) error {
	ran := slices.Clone(r.peers)
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		return fmt.Errorf("read the recorded runs: %w", err)
	}
	column := slices.Index(rows[0], fmt.Sprintf("best%d", at))
	if column < 0 {
		return fmt.Errorf("%w after %d evaluations", errNotRecorded, at)
	}
	for _, row := range rows[1:] {
		least, ok := fmin(row[1], row[2])
		if !ok || row[column] == "" || slices.Contains(ran, row[0]) {
			continue
		}
		best, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			return fmt.Errorf("recorded run of %s on %s: %w", row[0], row[1], err)
		}
		r.add(row[0], row[1], best-least)
	}
	return nil
}

// addStore adds the runs of a store after some number of evaluations; a run
// that ended before counts with its last value.
func (r *regrets) addStore(s *store, jobs []job, at int) {
	for _, j := range jobs {
		points := s.runs[j.key()].points
		if len(points) == 0 {
			continue
		}
		p := points[min(at, len(points))-1]
		r.know(j.objective)
		r.add(j.variant, j.objective.Name, p.Best-j.objective.Min)
	}
}

// addRecommended adds the noiseless values of the trials that runs recommend.
func (r *regrets) addRecommended(s *store, jobs []job) {
	for _, j := range jobs {
		if run, ok := s.runs[j.key()]; ok {
			r.know(j.objective)
			r.add(j.variant, j.objective.Name, run.recommended.value-j.objective.Min)
		}
	}
}

// everywhere lists the peers that have runs on every function.
func (r *regrets) everywhere() []string {
	var out []string
	for _, p := range r.peers {
		if !slices.ContainsFunc(r.functions, func(f string) bool { return len(r.of(p, f)) == 0 }) {
			out = append(out, p)
		}
	}
	return out
}

// know notes the range of an objective; of those of one name, that of the first.
func (r *regrets) know(o problems.Objective) {
	if _, known := r.ranges[o.Name]; !known {
		r.ranges[o.Name] = spread(o)
	}
}

// floored is the regrets with another floor, a share of each function's range.
func (r *regrets) floored(share float64) *regrets {
	out := &regrets{peers: r.peers, functions: r.functions, values: map[[2]string][]float64{}}
	for k, xs := range r.values {
		xs = slices.Clone(xs)
		for i := range xs {
			xs[i] = math.Max(xs[i], share*r.ranges[k[1]])
		}
		out.values[k] = xs
	}
	return out
}

// pairs compares the runs of a and b, each with the other's of the same function and number.
// The regret of one that has found nothing is infinite, which has no logarithm to subtract.
func (r *regrets) pairs(a, b string) paired {
	var x, y []float64
	for _, f := range r.functions {
		for k := range min(len(r.of(a, f)), len(r.of(b, f))) {
			x, y = append(x, math.Min(r.of(a, f)[k], math.MaxFloat64)), append(y, math.Min(r.of(b, f)[k], math.MaxFloat64))
		}
	}
	return pair(x, y)
}

// meanRanks averages, over the functions, the rank of each peer's middle regret among the
// peers that have every function. The middle is usually the median.
func (r *regrets) meanRanks(middle func([]float64) float64) map[string]float64 {
	peers := r.everywhere()
	sum := map[string]float64{}
	for _, f := range r.functions {
		med := map[string]float64{}
		for _, p := range peers {
			med[p] = middle(r.of(p, f))
		}
		for p, rank := range ranks(med) {
			sum[p] += rank / float64(len(r.functions))
		}
	}
	return sum
}

// resamples is the number of bootstrap samples behind an interval.
const resamples = 1000

// rankIntervals are 95 % intervals of the mean ranks, by drawing the runs of every peer on
// every function again with replacement (Efron 1979).
func (r *regrets) rankIntervals() map[string][2]float64 {
	rng := stream(95)
	drawn := map[string][]float64{}
	for range resamples {
		for p, rank := range r.meanRanks(func(xs []float64) float64 {
			again := make([]float64, len(xs))
			for i := range again {
				again[i] = xs[rng.IntN(len(xs))]
			}
			return median(again)
		}) {
			drawn[p] = append(drawn[p], rank)
		}
	}
	out := map[string][2]float64{}
	for p, xs := range drawn {
		out[p] = [2]float64{quantile(xs, 0.025), quantile(xs, 0.975)}
	}
	return out
}

// tally counts the functions on which a is better than, like and worse than b, and adds the
// p-values of the tests to ps.
func (r *regrets) tally(a, b string, ps *[]float64) (wins, ties, losses int) {
	for _, f := range r.functions {
		x, y := r.of(a, f), r.of(b, f)
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		*ps = append(*ps, mannWhitney(x, y))
		switch compareRegrets(x, y) {
		case isBetter:
			wins++
		case isWorse:
			losses++
		default:
			ties++
		}
	}
	return wins, ties, losses
}

// behind lists where a's median is larger than that of another peer.
func (r *regrets) behind(a string) (out []string) {
	for _, f := range r.functions {
		for _, p := range r.peers {
			x, y := r.of(a, f), r.of(p, f)
			if median(x) > median(y) {
				out = append(out, fmt.Sprintf("%s on %s (%s against %s, %d runs, p = %.2g)", p, f, number(median(x)), number(median(y)), len(y), mannWhitney(x, y)))
			}
		}
	}
	return out
}
