package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

func compareCommand() *cobra.Command {
	var c common
	var brief, curves bool
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "run the paper's twelve functions and rank the runs beside recorded peers",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runCompare(cmd, c, brief, curves) },
	}
	c.register(cmd, "compare.csv", 10, 100)
	cmd.Flags().BoolVar(&brief, "brief", false, "print the ranks alone, without the medians of each function")
	cmd.Flags().BoolVar(&curves, "curves", false, "print the medians of the first 50 evaluations, too, beside the best four peers")
	return cmd
}

func runCompare(cmd *cobra.Command, c common, brief, curves bool) error {
	if curves && c.evals < curveEvals {
		return fmt.Errorf("--curves shows %d evaluations; found --evals %d", curveEvals, c.evals)
	}
	variants, err := parseVariants(c.variants, variant{name: "lbotune"})
	if err != nil {
		return err
	}
	jobs := c.jobs(func(int) []problems.Objective { return objectives(problems.Paper()) }, variants...)
	s, err := c.complete(cmd, jobs)
	if err != nil {
		return err
	}
	defer s.close()
	var b strings.Builder
	for _, at := range checkpoints {
		if at > c.evals {
			break
		}
		r, ours, err := besideRecorded(s, jobs, at)
		if err != nil {
			return err
		}
		r.write(&b, ours, fmt.Sprintf("After %d evaluations", at), brief)
	}
	if curves {
		if err := writeCurves(&b, s, jobs); err != nil {
			return err
		}
	}
	if !brief {
		writeSeconds(&b, s, jobs)
	}
	section := "compare"
	if c.first > 0 {
		section += fmt.Sprintf(" from seed %d", c.first)
	}
	return publish(cmd, c.page, section, b.String())
}

// besideRecorded is the regrets of runs, of ours, and of the recorded runs on the same functions.
func besideRecorded(s *store, jobs []job, at int) (r *regrets, ours []string, err error) {
	r = newRegrets()
	r.addStore(s, jobs, at)
	ours, functions := slices.Clone(r.peers), r.functions
	err = r.addPeers(at)
	r.functions = functions
	return r, ours, err
}

// Curves show so many peers, of those with so many runs of each function, over so many evaluations.
const (
	curvePeers = 4
	curveRuns  = 5
	curveEvals = 50
	curveStep  = 5 // evaluations from one recorded value to the next
	curveFloor = 0.01
)

// writeCurves prints a table of medians over the first evaluations for each of our variants and for
// the peers whose mean ranks at their end are the best.
func writeCurves(b *strings.Builder, s *store, jobs []job) error {
	r, names, err := besideRecorded(s, jobs, curveEvals)
	if err != nil {
		return err
	}
	place := r.floored(curveFloor).meanRanks(median)
	peers := slices.DeleteFunc(r.everywhere(), func(p string) bool {
		few := func(f string) bool { return len(r.of(p, f)) < curveRuns }
		return slices.Contains(names, p) || slices.ContainsFunc(r.functions, few)
	})
	slices.SortStableFunc(peers, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
	peers = peers[:min(curvePeers, len(peers))]
	fmt.Fprintf(b, "### The first %d evaluations\n\nMedian simple regret, beside the four peers whose mean ranks after %d evaluations are the best where regrets below %g of the range are equal, of those with %d runs or more: %s.\n",
		curveEvals, curveEvals, curveFloor, curveRuns, strings.Join(peers, ", "))
	head, rows := []string{"function"}, map[[2]string][]string{}
	for at := curveStep; at <= curveEvals; at += curveStep {
		if r, _, err = besideRecorded(s, jobs, at); err != nil {
			return err
		}
		head = append(head, fmt.Sprint(at))
		for k := range r.values {
			rows[k] = append(rows[k], number(median(r.of(k[0], k[1]))))
		}
	}
	for _, p := range append(names, peers...) {
		fmt.Fprintf(b, "\n#### First evaluations of %s\n\n", p)
		writeHead(b, head...)
		for _, f := range r.functions {
			writeRow(b, append([]string{f}, rows[[2]string{p, f}]...))
		}
	}
	b.WriteString("\n")
	return nil
}

// jobs are the runs of some variants on the objectives that are wanted, which may differ
// by seed.
func (c common) jobs(objectives func(seed int) []problems.Objective, variants ...variant) []job {
	return c.each(objectives, func(problems.Objective) []variant { return variants })
}

// each is jobs with variants that depend on the objective.
func (c common) each(objectives func(seed int) []problems.Objective, variants func(problems.Objective) []variant) []job {
	var out []job
	for seed := c.first; seed < c.first+c.seeds; seed++ {
		for _, o := range objectives(seed) {
			if !c.wants(o.Name) {
				continue
			}
			for _, v := range variants(o) {
				out = append(out, job{variant: v.name, settings: v.settings, printed: v.printed, objective: o, seed: seed, evals: c.evals, workers: 1})
			}
		}
	}
	return out
}

// complete opens the results and makes the runs that are missing there.
func (c common) complete(cmd *cobra.Command, jobs []job) (*store, error) {
	if len(jobs) == 0 {
		return nil, fmt.Errorf("--only: none of the objectives here is called %q", c.only)
	}
	s, err := openStore(c.out)
	if err != nil {
		return nil, err
	}
	if err := s.complete(cmd.Context(), jobs, cmd.ErrOrStderr()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// floors are the shares of a function's range below which regrets count as equal: what most
// programs' metrics show is the first two.
var floors = []float64{0.1, 0.01, 1e-3, 1e-8}

// write prints the table of one checkpoint: where others are ahead, median regrets, mean
// ranks with their intervals, pairs, and the tally against every peer.
func (r *regrets) write(b *strings.Builder, ours []string, when string, brief bool) {
	fmt.Fprintf(b, "### %s\n\n", when)
	for _, name := range ours {
		behind := r.behind(name)
		if len(behind) == 0 {
			behind = []string{"nobody on any function"}
		}
		fmt.Fprintf(b, "The median of %s is worse than that of %s.\n\n", name, strings.Join(behind, ", "))
	}
	peers := append(slices.Clone(ours), slices.DeleteFunc(slices.Clone(r.peers), func(p string) bool { return slices.Contains(ours, p) })...)
	if brief {
		b.WriteString("Mean ranks, and under them their 95 % intervals.\n\n")
		writeHead(b, slices.Concat([]string{"what counts"}, peers)...)
	} else {
		b.WriteString("Median simple regret, mean ranks, and under them their 95 % intervals.\n\n")
		writeMedians(b, "function", r, peers)
	}
	for _, fl := range floors {
		cut := r.floored(fl)
		mean, interval := cut.meanRanks(median), cut.rankIntervals()
		row, ends := []string{bold(fmt.Sprintf("below %g of the range equal", fl))}, []string{""}
		for _, p := range peers {
			if _, ok := mean[p]; !ok {
				row, ends = append(row, ""), append(ends, "")
				continue
			}
			row = append(row, bold(fmt.Sprintf("%.2f", mean[p])))
			ends = append(ends, fmt.Sprintf("%.2f to %.2f", interval[p][0], interval[p][1]))
		}
		writeRow(b, row)
		writeRow(b, ends)
	}
	for _, name := range ours {
		r.writePairs(b, name, peers)
	}
	for _, name := range ours {
		var ps []float64
		fmt.Fprintf(b, "\nFunctions on which %s is better / alike / worse (two-sided Mann-Whitney, 5 %%):", name)
		sep := " "
		for _, p := range peers {
			if p != name {
				w, t, l := r.tally(name, p, &ps)
				fmt.Fprintf(b, "%s%s %d/%d/%d", sep, p, w, t, l)
				sep = ", "
			}
		}
		kept := slices.DeleteFunc(holm(ps), func(p float64) bool { return p >= 0.05 })
		fmt.Fprintf(b, ". Of these %d tests %d stay significant after Holm's correction.\n", len(ps), len(kept))
	}
	b.WriteString("\n")
}

// writePairs prints how one peer's runs compare with every other's, at each floor.
func (r *regrets) writePairs(b *strings.Builder, name string, peers []string) {
	others := slices.DeleteFunc(slices.Clone(peers), func(p string) bool { return p == name })
	if len(others) == 0 {
		return
	}
	fmt.Fprintf(b, "\nPairs of runs in which %s is better, equal and worse, by how many decades, and the p-value of a signed-rank test.\n\n", name)
	writeHead(b, slices.Concat([]string{"below, of the range, equal"}, others)...)
	for _, fl := range floors {
		row, cut := []string{fmt.Sprint(fl)}, r.floored(fl)
		for _, p := range others {
			c := cut.pairs(name, p)
			row = append(row, fmt.Sprintf("%d-%d-%d, %s, %.2g", c.wins, c.ties, c.n-c.wins-c.ties, strings.Replace(fmt.Sprintf("%+.3f", c.decades), "+NaN", "-", 1), c.p))
		}
		writeRow(b, row)
	}
}

// writeSeconds prints what an ask and its tell cost.
func writeSeconds(b *strings.Builder, s *store, jobs []job) {
	byVariant := map[string]map[int][]float64{}
	var names []string
	for _, j := range jobs {
		if byVariant[j.variant] == nil {
			byVariant[j.variant] = map[int][]float64{}
			names = append(names, j.variant)
		}
		for _, p := range s.runs[j.key()].points {
			for _, at := range checkpoints {
				if p.I > at-10 && p.I <= at {
					byVariant[j.variant][at] = append(byVariant[j.variant][at], p.Sec)
				}
			}
		}
	}
	b.WriteString("### Milliseconds for one ask and tell\n\nOver the last ten evaluations before each checkpoint, all functions; as many runs at a time as there are cores.\n\n")
	writeHead(b, "variant", "evaluations", "median", "95th percentile", "worst")
	for _, n := range names {
		for _, at := range checkpoints {
			if secs := byVariant[n][at]; len(secs) > 0 {
				writeRow(b, []string{n, fmt.Sprint(at), ms(median(secs)), ms(quantile(secs, 0.95)), ms(slices.Max(secs))})
			}
		}
	}
}

func ms(sec float64) string { return fmt.Sprintf("%.1f", sec*1e3) }

// randomSearch is the baseline of every suite.
func randomSearch() variant {
	return variant{name: "random", settings: optimizer.Settings{Method: "random"}}
}
