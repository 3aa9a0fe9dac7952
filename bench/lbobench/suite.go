package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/bench/yahpo"
)

// suite is a named set of objectives, an instance of each for each seed.
type suite struct {
	about   string
	make    func(seed uint64) []problems.Objective
	workers []int // simulated asynchronous workers; sequential if empty
	noisy   bool  // whether the recommended trial counts at the end: the best is not known
	// earlier is what the variants of these names begin with; nil means the usual variants.
	earlier map[string]earlierStudies
	clock   map[int]float64 // seconds of a study by its workers; nil if evaluations count
	// read makes the objectives of files that a user has fetched; nil if make does.
	read func(data string) ([]problems.Objective, error)
}

// surrogates is up to three data sets of each scenario of YAHPO Gym.
func surrogates(half yahpo.Half, word string) suite {
	return suite{
		about: fmt.Sprintf("surrogates of YAHPO Gym in --data, on its data sets for %s; the regret is the validation error", word),
		read:  func(data string) ([]problems.Objective, error) { return yahpo.Objectives(data, half, 3) }, workers: []int{1, 8},
	}
}

func objectives(ps []problems.Problem) []problems.Objective {
	var out []problems.Objective
	for _, p := range ps {
		out = append(out, p.Objective())
	}
	return out
}

func paper(change func(problems.Problem) problems.Problem) []problems.Objective {
	var out []problems.Objective
	for _, p := range problems.Paper() {
		out = append(out, change(p).Objective())
	}
	return out
}

// noisy is the paper's functions with noise, whose standard deviation is a share of the
// function's range over the box, taken between the 5th and 95th percentile of random points,
// because the extremes of these functions are far out.
func noisy(percent float64) suite {
	return suite{about: fmt.Sprintf("the paper's functions with noise of %g %% of their range", percent), make: func(s uint64) []problems.Objective {
		return paper(func(p problems.Problem) problems.Problem {
			return problems.WithNoise(p, percent/100*spread(p.Objective()), s)
		})
	}, noisy: true}
}

// shifted is the paper's functions, each moved to another place of its box by every seed.
func shifted(seed uint64) []problems.Objective {
	return paper(func(p problems.Problem) problems.Problem { return problems.Shifted(p, seed) })
}

func suites() map[string]suite {
	same := func(p problems.Problem) problems.Problem { return p }
	return map[string]suite{
		"basins":      {about: "many basins, a new instance for each seed", make: func(s uint64) []problems.Objective { return objectives(problems.ManyBasins(s)) }},
		"deceptive":   {about: "what a search sees first misleads it, a new instance for each seed", make: func(s uint64) []problems.Objective { return objectives(problems.Deceptive(s)) }},
		"standard":    {about: "functions of the literature that are not in the paper", make: func(s uint64) []problems.Objective { return objectives(problems.Standard(s)) }},
		"adversarial": {about: "surfaces that break a model's assumptions", make: func(s uint64) []problems.Objective { return objectives(problems.Adversarial(s)) }},
		"mixed":       {about: "ints, choices and bools", make: problems.Mixed},
		"hidden":      {about: "a third of the space fails", make: problems.Hidden},
		"rare":        {about: "1, 4 and 10 % of the space succeed, the rest fails", make: problems.Rare},
		"shifted":     {about: "the paper's functions moved, so that the center is no gift", make: shifted},
		"noise1":      noisy(1), "noise": noisy(5), "noise10": noisy(10),
		"parallel":    {about: "the paper's functions moved, with one worker and with 8 asynchronous ones", make: shifted, workers: []int{1, 8}},
		"constrained": {about: "limits on further metrics; the regret is infinite until a trial holds them all, and those that break one count as failed", make: func(uint64) []problems.Objective { return problems.Constrained() }},
		"fronts":      {about: "two or three objectives; the regret is the share of the front's volume that is not dominated yet", make: func(uint64) []problems.Objective { return problems.Fronts() }},
		"warm":        {about: "ten tasks, each moved by up to 5 % and scaled, after studies of the other nine or of five unrelated functions", make: warmTasks, earlier: warmStudies()},
		"walltime":    {about: "twelve functions on which nothing was chosen, and workers against a clock", make: timed, workers: []int{8, 64, 256}, clock: map[int]float64{8: 8, 64: 4, 256: 3}},
		"yahpo":       surrogates(yahpo.Judging, "judging"), "yahpo-developing": surrogates(yahpo.Developing, "developing"),
		"wide": {about: "the paper's functions with 64 asynchronous workers", make: func(uint64) []problems.Objective { return paper(same) }, workers: []int{64}},
	}
}

// spread is the range of an objective without failures, between the 5th and the 95th percentile
// of random configurations; 1 where values are shares, or all the same.
func spread(o problems.Objective) float64 {
	if o.Outputs != nil {
		return 1
	}
	rng := stream(1)
	var ys []float64
	for range 2000 {
		if v := o.Sample(rng); o.Fails == nil || !o.Fails(v) {
			ys = append(ys, o.Eval(v))
		}
	}
	if s := quantile(ys, 0.95) - quantile(ys, 0.05); s > 0 {
		return s
	}
	return 1
}

func suiteCommand() *cobra.Command {
	var c common
	var ranked bool
	var data string
	names := slices.Sorted(maps.Keys(suites()))
	cmd := &cobra.Command{
		Use:       "suite NAME",
		Short:     "run other surfaces: " + strings.Join(names, ", "),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE:      func(cmd *cobra.Command, args []string) error { return runSuite(cmd, c, args[0], data, ranked) },
	}
	c.register(cmd, "suite.csv", 10, 100)
	cmd.Flags().BoolVar(&ranked, "ranks", false, "hold the first variant against all others, with mean ranks, as compare does")
	cmd.Flags().StringVar(&c.recorded, "recorded", "",
		"with --ranks, CSV file of recorded runs on the same instances to rank beside, such as lbobench/testdata/simple.csv")
	cmd.Flags().StringVar(&data, "data", "", "checkout of github.com/slds-lmu/yahpo_data, for the suites yahpo and yahpo-developing")
	return cmd
}

func runSuite(cmd *cobra.Command, c common, name, data string, ranked bool) error {
	s := suites()[name]
	switch {
	case s.read == nil && data != "":
		return fmt.Errorf("--data %s: suite %s reads no files", data, name)
	case s.read != nil && data == "":
		return fmt.Errorf("suite %s needs --data, a checkout of github.com/slds-lmu/yahpo_data", name)
	case s.read != nil:
		all, err := s.read(data)
		if err != nil {
			return err
		}
		s.make = func(uint64) []problems.Objective { return all }
	}
	defaults := []variant{{name: "lbotune"}, randomSearch()}
	if s.earlier != nil {
		defaults = []variant{{name: related}, {name: unrelated}, {name: "none"}}
	}
	variants, err := parseVariants(c.variants, defaults...)
	if err != nil {
		return err
	}
	peers, commands, err := parsePeers(c.peers)
	if err != nil {
		return err
	}
	for _, name := range peers { // the last variant is what all are held against
		variants = slices.Insert(variants, len(variants)-1, variant{name: name})
	}
	workers := s.workers
	if len(workers) == 0 {
		workers = []int{1}
	}
	var jobs []job
	for _, v := range variants {
		for _, w := range workers {
			for _, j := range c.jobs(func(seed int) []problems.Objective { return s.make(uint64(seed)) }, v) {
				j.earlier, j.command = s.earlier[v.name], commands[v.name]
				j.clock = s.clock[w]
				if j.workers = w; len(workers) > 1 {
					j.variant = fmt.Sprintf("%s-w%d", v.name, w)
				}
				jobs = append(jobs, j)
			}
		}
	}
	at := upTo(c.evals)
	if s.clock != nil { // one study at a time: what the processor spends is its own
		at = []int{1, 2}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	st, err := c.complete(cmd, jobs)
	if err != nil {
		return err
	}
	defer st.close()
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: %s\n\n", name, s.about)
	if !ranked {
		c.writeSuite(&b, st, jobs, s.noisy)
		writeChoices(&b, st, jobs)
		return publish(cmd, c.page, "suite "+name, b.String())
	}
	fmt.Fprintf(&b, "%d seeds.\n\n", c.seeds)
	for _, w := range workers {
		some := slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return j.workers != w })
		after := "After %d evaluations"
		if w > 1 {
			after += fmt.Sprintf(" by %d workers", w)
		}
		if s.clock != nil {
			after = fmt.Sprintf("After %%d × %g seconds of %d workers", s.clock[w]/2, w)
			writeLaws(&b, st, some)
		}
		if err := c.writeRanks(&b, st, some, after, at, s.noisy); err != nil {
			return err
		}
	}
	return publish(cmd, c.page, "ranks "+name, b.String())
}

// writeRanks holds the first variant against the others, under a heading for each number of
// evaluations in ats, after. Under noise the trials that are recommended at the end count: the best
// ones are not known.
func (c common) writeRanks(b *strings.Builder, s *store, jobs []job, after string, ats []int, noisy bool) error {
	if noisy {
		r := newRegrets()
		r.addRecommended(s, jobs)
		r.write(b, r.peers[:1], fmt.Sprintf(after, c.evals), false)
		return nil
	}
	for _, at := range ats {
		r := newRegrets()
		r.addStore(s, jobs, at)
		if c.recorded != "" {
			if err := r.addBeside(c.recorded, jobs, at); err != nil && !errors.Is(err, errNotRecorded) {
				return err
			}
		}
		r.write(b, r.peers[:1], fmt.Sprintf(after, at), false)
	}
	return nil
}

// writeSuite prints medians half way and at the end, there with quartiles, each
// variant against the last one, and the share of failures in the second half.
// Under noise the regret at the end is that of the recommended trial.
func (c common) writeSuite(b *strings.Builder, s *store, jobs []job, noisy bool) {
	half, end := newRegrets(), newRegrets()
	half.addStore(s, jobs, c.evals/2)
	last := fmt.Sprint(c.evals)
	if noisy {
		end.addRecommended(s, jobs)
		last += ", recommended"
	} else {
		end.addStore(s, jobs, c.evals)
	}
	base := end.peers[len(end.peers)-1]
	fmt.Fprintf(b, "Median simple regret after %d and %d evaluations over %d seeds, the quartiles at the end, the verdict against %s (two-sided Mann-Whitney, 5 %%) and the share of failed trials in the last half.\n\n",
		c.evals/2, c.evals, c.seeds, base)
	writeHead(b, "objective", "variant", fmt.Sprint(c.evals/2), last, "quartiles", "against "+base, "failed")
	for _, f := range end.functions {
		for _, p := range end.peers {
			x := end.of(p, f)
			against := ""
			if p != base {
				against = compareRegrets(x, end.of(base, f)).String()
			}
			writeRow(b, []string{f, p, number(median(half.of(p, f))), number(median(x)),
				number(quantile(x, 0.25)) + " to " + number(quantile(x, 0.75)), against, failures(s, p, f)})
		}
	}
	b.WriteString("\n")
	for _, at := range upTo(c.evals) {
		r := newRegrets()
		r.addStore(s, jobs, at)
		fmt.Fprintf(b, "After %d evaluations:\n", at)
		for _, p := range r.peers[:len(r.peers)-1] {
			r.writePairs(b, p, r.peers[len(r.peers)-1:])
		}
		b.WriteString("\n")
	}
}

// writeChoices prints, for each variant that has a model, how often the trial that it
// recommends is another than the best although nothing is noisy, and how often the 95 %
// interval of its value holds under noise.
func writeChoices(b *strings.Builder, s *store, jobs []job) {
	type count struct{ quiet, luck, noisy, held int }
	counts := map[string]*count{}
	for _, j := range jobs {
		r, made := s.runs[j.key()]
		if !made || j.command != "" || j.settings.Method == "random" || j.objective.Outputs != nil {
			continue
		}
		if counts[j.variant] == nil {
			counts[j.variant] = &count{}
		}
		c := counts[j.variant]
		if j.objective.Noisy == nil {
			c.quiet++
			if len(r.points) > 0 && r.recommended.value > r.points[len(r.points)-1].Best {
				c.luck++
			}
			continue
		}
		c.noisy++
		if math.Abs(r.recommended.mean-r.recommended.value) <= 1.96*r.recommended.sd {
			c.held++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if c := counts[name]; c.quiet > 0 {
			fmt.Fprintf(b, "Without noise %s recommends a trial that is worse than the best one in %d of %d runs.\n\n", name, c.luck, c.quiet)
		}
		if c := counts[name]; c.noisy > 0 {
			fmt.Fprintf(b, "Under noise the interval of 1.96 standard deviations around what %s expects of the recommended trial holds its noiseless value in %d of %d runs, %.1f %%.\n\n", name, c.held, c.noisy, 100*float64(c.held)/float64(c.noisy))
		}
	}
}

// failures is the share of failed trials in the second half of a variant's runs.
func failures(s *store, peer, function string) string {
	failed, all := 0, 0
	for k, r := range s.runs {
		if k.peer != peer || k.function != function {
			continue
		}
		for _, p := range r.points[len(r.points)/2:] {
			all++
			if math.IsInf(p.Y, 1) {
				failed++
			}
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(failed)/float64(all))
}
