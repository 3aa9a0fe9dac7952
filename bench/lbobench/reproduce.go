package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// acquisitions are the paper's four, in its order.
var acquisitions = []string{"ei", "pi", "ucb", "ts"}

// The three ways to use Lipschitz information that the paper compares.
const (
	plain     = "bo"       // none
	estimated = "lbo"      // the constant is estimated as the trials go
	known     = "lbo-true" // the constant is known
)

// parts are the experiments, the default first.
var parts = []string{"main", "gains", "tasks", "product", "kappa", "beta", "essentials"}

type reproduction struct {
	common
	faithful bool
	figures  string
	part     string
}

func reproduceCommand() *cobra.Command {
	var r reproduction
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "run the paper's experiments",
		Long: `Runs the paper's experiments and prints their tables.

  main     15 problems, 5 of them on two domains, x {EI, PI, UCB, TS} x {BO, LBO, LBO
           with the true L}, random search and pure Lipschitz optimization, in the
           paper's configuration
  gains    what it takes to see the paper's gains: three readings of its constant, three
           answers to bounds that reject everything, two sets of domains
  tasks    the robot and the logistic regression x {random search, BO, LBO}
  product  the same comparison as main with lbotune's own defaults
  kappa    schedules and factors of the estimated constant
  beta     the upper confidence bound with beta = 10^16
  essentials  what the paper calls essential: BO without random exploration, and with values
           that are not standardized, beside BO with both`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	r.register(cmd, "reproduce.csv", 10, 100)
	cmd.Flags().BoolVar(&r.faithful, "faithful", false, "slice sampling and DIRECT, as the paper has it, instead of MAP and L-BFGS (about 20 times slower)")
	cmd.Flags().StringVar(&r.figures, "figures", "", "directory for the figures of main or product; empty: none")
	cmd.Flags().StringVar(&r.part, "part", parts[0], "one of "+strings.Join(parts, ", "))
	return cmd
}

func (r *reproduction) run(cmd *cobra.Command) error {
	var jobs []job
	write := func(b *strings.Builder, s *store) { r.writeCases(b, r.end(s, jobs)) }
	if r.figures != "" && r.part != "main" && r.part != "product" {
		return fmt.Errorf("--figures: part %s has no figures; those of main and product have", r.part)
	}
	switch r.part {
	case "main", "product":
		jobs = r.mainJobs()
	case "gains":
		jobs, write = r.gainsJobs(), func(b *strings.Builder, s *store) { r.writeGains(b, s, jobs) }
	case "kappa":
		jobs, write = r.kappaJobs(), func(b *strings.Builder, s *store) { r.writeKappa(b, r.end(s, jobs)) }
	case "beta":
		jobs, write = r.betaJobs(), func(b *strings.Builder, s *store) { r.writeBeta(b, r.end(s, jobs)) }
	case "essentials":
		jobs, write = r.essentialJobs(), func(b *strings.Builder, s *store) { r.writeEssentials(b, r.end(s, jobs)) }
	case "tasks":
		jobs, write = r.taskJobs(), func(b *strings.Builder, s *store) { r.writeTasks(b, s, jobs) }
	default:
		return fmt.Errorf("--part: found %q; allowed are %s", r.part, strings.Join(parts, ", "))
	}
	s, err := r.complete(cmd, jobs)
	if err != nil {
		return err
	}
	defer s.close()
	if r.figures != "" {
		if err := drawFigures(r.figures, s, jobs, r.evals); err != nil {
			return err
		}
	}
	var b strings.Builder
	write(&b, s)
	section := r.part
	if r.faithful {
		section += "-faithful"
	}
	return publish(cmd, r.page, filepath.Join("reproduce", section), b.String())
}

// end holds what the runs of a store reach at their end.
func (r *reproduction) end(s *store, jobs []job) *regrets {
	out := newRegrets()
	out.addStore(s, jobs, r.evals)
	return out
}

// fifteen are the paper's problems. The goals of the robot and the noise of
// its controller are drawn for each run.
func fifteen(seed int) []problems.Objective {
	out := objectives(problems.Paper())
	goal := problems.Goal(uint64(seed))
	for _, p := range []problems.Problem{problems.RobotPush3(goal, uint64(seed)), problems.RobotPush4(goal, uint64(seed))} {
		out = append(out, p.Objective())
	}
	return append(out, problems.LogisticTable())
}

// bothDomains are the fifteen, and those that have another domain where the paper points to.
func bothDomains(seed int) []problems.Objective {
	return append(fifteen(seed), objectives(problems.Cited())...)
}

// base is the configuration in which everything but the acquisition and its
// bounds is the same.
func (r *reproduction) base() optimizer.Settings {
	if r.part == "product" {
		return optimizer.Settings{}
	}
	s := optimizer.Settings{Preset: "paper"}
	if !r.faithful {
		s.Hyperparameters, s.Maximizer = "map", "lbfgs"
	}
	return s
}

// with adds one of the three ways to use Lipschitz information.
func with(s optimizer.Settings, way string, trueL float64) optimizer.Settings {
	switch way {
	case plain:
		s.Lipschitz = "off"
	case known:
		s.LipschitzConstant = trueL
	}
	return s
}

func (r *reproduction) mainJobs() []job {
	set := bothDomains
	if r.part == "product" {
		set = fifteen
	}
	trueL := trueConstants()
	return r.each(set, func(o problems.Objective) (out []variant) {
		for _, acq := range acquisitions {
			s := r.base()
			s.Acquisition = acq
			if strings.HasSuffix(o.Name, problems.CitedSuffix) {
				s.Design = "random" // the centre has a value there that no other point comes near
			}
			for _, way := range []string{plain, estimated, known} {
				out = append(out, variant{name: acq + "-" + way, settings: with(s, way, trueL(o))})
			}
		}
		return append(out, variant{name: "lipschitz", settings: optimizer.Settings{Method: "lipschitz"}}, randomSearch())
	})
}

// trueConstants returns the true constant of an objective.
func trueConstants() func(problems.Objective) float64 {
	constants := map[string]float64{}
	for _, p := range append(problems.Paper(), problems.Cited()...) {
		constants[p.Name] = p.Lipschitz
	}
	return func(o problems.Objective) float64 {
		if constants[o.Name] == 0 {
			constants[o.Name] = problems.LargestSlope(o, slopePoints, 0)
		}
		return constants[o.Name]
	}
}

// slopePoints are the random points whose largest slope stands for the true
// constant of the problems that jump, which have none; the paper estimated its
// "true" constants in the same way.
const slopePoints = 2000

// writeCases sets each way beside plain Bayesian optimization, and that beside random search.
func (r *reproduction) writeCases(b *strings.Builder, end *regrets) {
	for _, way := range []string{estimated, known} {
		r.writeWay(b, end, way, func(acq string) (string, string) { return acq + "-" + way, acq + "-" + plain })
	}
	r.writeWay(b, end, plain, func(acq string) (string, string) { return acq + "-" + plain, "random" })
	r.writeBaselines(b, end)
}

// writeWay prints how one way does beside another on every problem, by acquisition, and on
// all problems of either set of domains.
func (r *reproduction) writeWay(b *strings.Builder, end *regrets, way string, of func(acq string) (ours, theirs string)) {
	_, theirs := of(plain)
	if theirs != "random" {
		theirs = plain
	}
	fmt.Fprintf(b, "#### %s against %s\n\nMedian regret after %d evaluations, %s first, and the share of the pairs of runs, which differ in nothing else, in which %s has less regret, ties counting half. A star: signed-rank test on the logarithms, 5 %%; bold: also after Holm's correction for the %d tests of this table.\n\n",
		way, theirs, r.evals, theirs, way, len(end.functions)*len(acquisitions))
	var cases []paired
	var ps []float64
	for _, f := range end.functions {
		for _, acq := range acquisitions {
			x, y := of(acq)
			c := pair(end.of(x, f), end.of(y, f))
			cases, ps = append(cases, c), append(ps, c.p)
		}
	}
	corrected := holm(ps)
	writeHead(b, slices.Concat([]string{"problem"}, upper(acquisitions))...)
	for i, f := range end.functions {
		row := []string{f}
		for j, acq := range acquisitions {
			x, y := of(acq)
			k := i*len(acquisitions) + j
			row = append(row, fmt.Sprintf("%s, %s: %s", number(median(end.of(y, f))), number(median(end.of(x, f))), cases[k].cell(corrected[k])))
		}
		writeRow(b, row)
	}
	b.WriteString("\nAll pairs of an acquisition; *equivalent* means that the 95 % interval of the share lies within 0.4 and 0.6.\n\n")
	writePooled(b, end, "acquisition", upper(acquisitions), func(acq string) (string, string) { return of(strings.ToLower(acq)) })
}

// writePooled prints how one of two variants does beside the other on all problems of
// either set of domains, in a row for each word; of names the two that belong to it.
func writePooled(b *strings.Builder, end *regrets, head string, words []string, of func(word string) (ours, theirs string)) {
	writeHead(b, "domains", head, "pairs", "of them equal", "share better", "95 % interval", "mean gain in decades", "p", "verdict")
	cited := slices.ContainsFunc(end.functions, func(f string) bool { return strings.HasSuffix(f, problems.CitedSuffix) })
	for _, domains := range []string{"so far", "as cited"} {
		if domains == "as cited" && !cited {
			break
		}
		for _, word := range words {
			x, y := of(word)
			var all, others []float64
			for _, f := range end.functions {
				if hasDomain(end.functions, f, domains == "as cited") {
					all, others = append(all, end.of(x, f)...), append(others, end.of(y, f)...)
				}
			}
			if c := pair(all, others); c.n > 0 {
				writeRow(b, []string{domains, word, fmt.Sprint(c.n), fmt.Sprint(c.ties), fmt.Sprintf("%.2f", c.better),
					fmt.Sprintf("%.2f to %.2f", c.low, c.high), fmt.Sprintf("%+.2f", c.decades), fmt.Sprintf("%.2g", c.p), c.says(c.p)})
			}
		}
	}
	b.WriteString("\n")
}

// hasDomain reports whether a function belongs to the set of cited domains, or to that in use
// so far. Most belong to both.
func hasDomain(functions []string, f string, cited bool) bool {
	if cited {
		return !slices.Contains(functions, f+problems.CitedSuffix)
	}
	return !strings.HasSuffix(f, problems.CitedSuffix)
}

// writeBaselines prints what needs no model: random search and Lipschitz
// optimization.
func (r *reproduction) writeBaselines(b *strings.Builder, end *regrets) {
	fmt.Fprintf(b, "#### Without a model\n\nMedian regret after %d evaluations.\n\n", r.evals)
	writeMedians(b, "problem", end, []string{"lipschitz", "random"})
	b.WriteString("\n")
}

func upper(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.ToUpper(w))
	}
	return out
}

// kappaVariants are schedules of the estimated constant.
func kappaVariants() []variant {
	out := []variant{{name: plain, settings: optimizer.Settings{Lipschitz: "off"}}}
	for _, v := range []optimizer.Settings{{Schedule: "constant", Kappa: 1}, {Schedule: "constant", Kappa: 1.5}, {Schedule: "constant", Kappa: 2},
		{Schedule: "constant", Kappa: 3}, {Schedule: "constant", Kappa: 5}, {Schedule: "root", Kappa: 1}, {Schedule: "root", Kappa: 2},
		{Schedule: "paper", Kappa: 0.1}, {Schedule: "paper", Kappa: 1}, {Schedule: "paper", Kappa: 10}} {
		out = append(out, variant{name: fmt.Sprintf("%s %g", v.Schedule, v.Kappa), settings: v})
	}
	return out
}

// kappaFunctions are six of the twelve, two of each character.
var kappaFunctions = []string{"branin2", "goldstein2", "hartmann3", "hartmann6", "michalewicz5", "rosenbrock4"}

func (r *reproduction) kappaJobs() []job {
	var variants []variant
	for _, acq := range []string{"ei", "ts"} {
		for _, v := range kappaVariants() {
			s := r.base()
			s.Acquisition, s.Lipschitz, s.Schedule, s.Kappa = acq, v.settings.Lipschitz, v.settings.Schedule, v.settings.Kappa
			variants = append(variants, variant{name: acq + "-" + v.name, settings: s})
		}
	}
	six := slices.DeleteFunc(problems.Paper(), func(p problems.Problem) bool { return !slices.Contains(kappaFunctions, p.Name) })
	return r.jobs(func(int) []problems.Objective { return objectives(six) }, variants...)
}

func (r *reproduction) betaJobs() []job {
	var jobs []job
	for _, j := range r.mainJobs() {
		if acq, way, _ := strings.Cut(j.variant, "-"); acq == "ucb" {
			j.variant = "ucb16-" + way
			j.settings.Beta = "1e16"
			jobs = append(jobs, j)
			if way == estimated {
				j.variant = "tucb16-" + way
				j.settings.Lipschitz = "truncate"
				jobs = append(jobs, j)
			}
		} else if j.variant == "random" {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func (r *reproduction) writeBeta(b *strings.Builder, end *regrets) {
	fmt.Fprintf(b, "Median regret after %d evaluations with beta = 10^16.\n\n", r.evals)
	writeMedians(b, "problem", end, end.peers)
	b.WriteString("\nAll pairs of runs beside those without bounds, as in the main experiment.\n\n")
	writePooled(b, end, "bounds", []string{"ucb16-lbo", "tucb16-lbo", "ucb16-lbo-true", "random"}, func(way string) (string, string) { return way, "ucb16-bo" })
}

// The two things that the paper calls essential, left out.
const (
	unexplored     = "unexplored"
	unstandardized = "raw"
)

func (r *reproduction) essentialJobs() []job {
	return r.each(bothDomains, func(problems.Objective) (out []variant) {
		for _, acq := range acquisitions {
			s := with(r.base(), plain, 0)
			s.Acquisition, s.Design, s.Maximizer = acq, "random", "direct"
			never := s
			never.ExploreEvery = -1
			out = append(out, variant{acq + "-" + plain, s, &printed{}}, variant{acq + "-" + unexplored, never, &printed{}},
				variant{acq + "-" + unstandardized, s, &printed{raw: true}})
		}
		return out
	})
}

func (r *reproduction) writeEssentials(b *strings.Builder, end *regrets) {
	for _, way := range []string{unexplored, unstandardized} {
		r.writeWay(b, end, way, func(acq string) (string, string) { return acq + "-" + way, acq + "-" + plain })
	}
}
