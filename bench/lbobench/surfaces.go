package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// judgedAt are the numbers of evaluations after which nothing may be worse than random search.
var judgedAt = []int{20, 50, 200}

// surfaces is the command that looks for a surface on which lbotune is worse than random search.
type surfaces struct {
	common
	random int    // runs of random search on each
	seed   uint64 // of the surfaces
	sizes  []int
}

func surfacesCommand() *cobra.Command {
	var s surfaces
	cmd := &cobra.Command{
		Use:   "surfaces",
		Short: "run 200 generated surfaces, and test on each whether lbotune is worse than random search",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.register(cmd, "surfaces.csv", 5, 50)
	f := cmd.Flags()
	f.IntVar(&s.random, "random", 100, "runs of random search on each surface")
	f.Uint64Var(&s.seed, "surfaces-seed", 1, "seed that the surfaces are drawn by")
	f.IntSliceVar(&s.sizes, "sizes", problems.GeneratedSizes, "numbers of parameters: the surfaces with others are left out")
	return cmd
}

func (s surfaces) run(cmd *cobra.Command) error {
	if s.random < 1 {
		return fmt.Errorf("found --random %d; want at least 1", s.random)
	}
	variants, err := parseVariants(s.variants, variant{name: "lbotune"}, variant{name: "walk", settings: optimizer.Settings{Design: "walk"}})
	if err != nil {
		return err
	}
	all := problems.Generated(s.seed, func(name string, d int) bool { return s.wants(name) && slices.Contains(s.sizes, d) })
	each := func(int) []problems.Objective { return all }
	base := s.common
	base.seeds, base.first = s.random, 0
	jobs := slices.Concat(s.jobs(each, variants...), base.jobs(each, randomSearch()))
	st, err := s.complete(cmd, jobs)
	if err != nil {
		return err
	}
	defer st.close()
	var b strings.Builder
	s.write(&b, st, jobs)
	return publish(cmd, s.page, fmt.Sprintf("surfaces, %d evaluations", s.evals), b.String())
}

// standing is how the runs of one variant stand beside random search's on one surface.
type standing struct {
	surface string
	better  float64 // probability that a run is better, ties counting half
	ahead   float64 // p-value of the one-sided rank-sum test of being better
	p       float64 // and of being worse
	ours    float64 // the medians
	random  float64
}

// standings are those of one variant after some number of evaluations.
type standings struct {
	variant string
	at      int
	on      []standing
}

// write prints for each variant on how many surfaces it is worse, and which.
func (s surfaces) write(b *strings.Builder, st *store, jobs []job) {
	fmt.Fprintf(b, "%d runs beside %d of random search on each surface.\n", s.seeds, s.random)
	var columns []standings
	for _, at := range judgedAt {
		if at > s.evals {
			break
		}
		r := newRegrets()
		r.addStore(st, jobs, at)
		for _, p := range r.peers[:len(r.peers)-1] {
			c := standings{variant: p, at: at}
			for _, f := range r.functions {
				x := standing{surface: f, ours: median(r.of(p, f)), random: median(r.of("random", f))}
				x.better, x.ahead, x.p = rankSum(r.of(p, f), r.of("random", f))
				c.on = append(c.on, x)
			}
			c.write(b)
			if p != r.peers[0] {
				r.writePairs(b, p, r.peers[:1])
			}
			columns = append(columns, c)
		}
	}
	const digits = "0123456789"
	writeShares(b, "kind", columns, func(surface string) string { return strings.TrimRight(surface, digits) })
	writeShares(b, "parameters", columns, func(surface string) string { return strings.TrimLeft(surface, "abcdefghijklmnopqrstuvwxyz") })
}

// writeShares prints how often runs are better than those of random search, in groups of surfaces.
func writeShares(b *strings.Builder, by string, columns []standings, group func(surface string) string) {
	var groups []string
	shares, head := map[string][][]float64{}, []string{by}
	for i, c := range columns {
		head = append(head, fmt.Sprintf("%s, %d", c.variant, c.at))
		for _, x := range c.on {
			g := group(x.surface)
			if shares[g] == nil {
				groups, shares[g] = append(groups, g), make([][]float64, len(columns))
			}
			shares[g][i] = append(shares[g][i], x.better)
		}
	}
	fmt.Fprintf(b, "\nThe probability that a run is better than one of random search, by %s:\n\n", by)
	writeHead(b, head...)
	for _, g := range groups {
		row := []string{g}
		for _, xs := range shares[g] {
			row = append(row, fmt.Sprintf("%.2f", stat.Mean(xs, nil)))
		}
		writeRow(b, row)
	}
}

// write prints the counts, and the surfaces on which a variant is worse before correction.
func (c standings) write(b *strings.Builder) {
	var ps []float64
	ahead := 0
	for _, x := range c.on {
		ps = append(ps, x.p)
		if x.ahead < 0.05 {
			ahead++
		}
	}
	kept := slices.DeleteFunc(holm(ps), func(p float64) bool { return p >= 0.05 })
	worse := slices.DeleteFunc(slices.Clone(c.on), func(x standing) bool { return x.p >= 0.05 })
	slices.SortFunc(worse, func(a, b standing) int { return cmp.Compare(a.p, b.p) })
	fmt.Fprintf(b, "\n%s after %d evaluations: of %d surfaces better than random search on %d, worse on %d (one-sided rank-sum test, 5 %%; chance alone gives %.2g), and on %d after Holm's correction.\n",
		c.variant, c.at, len(c.on), ahead, len(worse), 0.05*float64(len(c.on)), len(kept))
	if len(worse) == 0 {
		return
	}
	b.WriteString("\n")
	writeHead(b, "worse on", "p", "median regret", "of random search")
	for _, x := range worse {
		writeRow(b, []string{x.surface, fmt.Sprintf("%.2g", x.p), number(x.ours), number(x.random)})
	}
}

// rankSum is the probability that a value of a is below one of b, ties counting half, and the p-values
// of the one-sided rank-sum tests of a being smaller and of its being larger (Wilcoxon 1945), exact
// given the ranks.
func rankSum(a, b []float64) (below, smaller, larger float64) {
	all := slices.Concat(a, b)
	slices.Sort(all)
	rank := func(x float64) int { // doubled, so that shared ones are whole
		first, _ := slices.BinarySearch(all, x)
		last, _ := slices.BinarySearchFunc(all, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return 1
		})
		return first + last + 1
	}
	n, sum := len(a), 0
	for _, x := range a {
		sum += rank(x)
	}
	below = 1 - (float64(sum)/2-float64(n*(n+1))/2)/float64(n*len(b))
	// ways[k][s] is the number of choices of k of the values with the sum s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, 2*n*len(all)+1)
	}
	ways[0][0] = 1
	for i, x := range all {
		by := rank(x)
		for k := min(n, i+1); k > 0; k-- {
			for s := by; s < len(ways[k]); s++ {
				ways[k][s] += ways[k-1][s-by]
			}
		}
	}
	every := 0.0
	for s, w := range ways[n] {
		every += w
		if s <= sum {
			smaller += w
		}
		if s >= sum {
			larger += w
		}
	}
	return below, smaller / every, larger / every
}
