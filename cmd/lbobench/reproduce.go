package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/problems"
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

type reproduction struct {
	common
	faithful bool
	figures  string
	part     string
}

func reproduceCommand() *cobra.Command {
	var r reproduction
	parts := []string{"main", "tasks", "product", "kappa", "beta"}
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "run the paper's experiments",
		Long: `Runs the paper's experiments and prints their tables.

  main     15 problems x {EI, PI, UCB, TS} x {BO, LBO, LBO with the true L}, random
           search and pure Lipschitz optimization, in the paper's configuration
  tasks    the robot and the logistic regression x {random search, BO, LBO}
  product  the same comparison as main with lbotune's own defaults
  kappa    schedules and factors of the estimated constant
  beta     the upper confidence bound with beta = 10^16`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	r.register(cmd, "reproduce.csv", 10, 100)
	cmd.Flags().BoolVar(&r.faithful, "faithful", false, "slice sampling and DIRECT, as the paper has it, instead of MAP and L-BFGS (about 20 times slower)")
	cmd.Flags().StringVar(&r.figures, "figures", "", "directory for the figures of main or product; empty: none")
	cmd.Flags().StringVar(&r.part, "part", "main", "one of "+strings.Join(parts, ", "))
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
	case "kappa":
		jobs, write = r.kappaJobs(), func(b *strings.Builder, s *store) { r.writeKappa(b, r.end(s, jobs)) }
	case "beta":
		jobs, write = r.betaJobs(), func(b *strings.Builder, s *store) { r.writeBeta(b, r.end(s, jobs)) }
	case "tasks":
		jobs, write = r.taskJobs(), func(b *strings.Builder, s *store) { r.writeTasks(b, s, jobs) }
	default:
		return fmt.Errorf("--part: found %q; allowed are main, tasks, product, kappa and beta", r.part)
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
	return publish(cmd, r.page, filepath.Join("reproduce", r.part), b.String())
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

// base is the configuration in which everything but the acquisition and its
// bounds is the same.
func (r *reproduction) base() optimizer.Settings {
	if r.part == "product" {
		return optimizer.Settings{}
	}
	s := optimizer.Settings{Preset: optimizer.PresetPaper}
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
	constants := map[string]float64{}
	for _, p := range problems.Paper() {
		constants[p.Name] = p.Lipschitz
	}
	return r.each(fifteen, func(o problems.Objective) (out []variant) {
		if constants[o.Name] == 0 {
			constants[o.Name] = problems.LargestSlope(o, slopePoints, 0)
		}
		for _, acq := range acquisitions {
			s := r.base()
			s.Acquisition = acq
			for _, way := range []string{plain, estimated, known} {
				out = append(out, variant{acq + "-" + way, with(s, way, constants[o.Name])})
			}
		}
		return append(out, variant{"lipschitz", optimizer.Settings{Method: optimizer.MethodLipschitz}}, randomSearch())
	})
}

// slopePoints are the random points whose largest slope stands for the true
// constant of the problems that jump, which have none; the paper estimated its
// "true" constants in the same way.
const slopePoints = 2000

// writeCases prints the paper's totals: of the 60 cases (15 problems, 4
// acquisitions), in how many LBO is better, alike and worse than BO.
func (r *reproduction) writeCases(b *strings.Builder, end *regrets) {
	for _, way := range []string{estimated, known} {
		fmt.Fprintf(b, "#### %s against %s\n\nMedian regret after %d evaluations, %s first, and the probability that a run of %s has less regret than one of %s; in bold where they differ by a two-sided Mann-Whitney test at 5 %%.\n\n",
			way, plain, r.evals, plain, way, plain)
		writeHead(b, slices.Concat([]string{"problem"}, upper(acquisitions))...)
		count := map[verdict]int{}
		muchBetter, cases := 0, 0
		for _, f := range end.functions {
			row := []string{f}
			for _, acq := range acquisitions {
				x, y := end.of(acq+"-"+way, f), end.of(acq+"-"+plain, f)
				v := compareRegrets(x, y)
				p := better(x, y)
				cell := fmt.Sprintf("%s, %s: %.2f", number(median(y)), number(median(x)), p)
				if v != alike {
					cell = bold(cell)
				}
				if v == isBetter && p >= 0.9 {
					muchBetter++
				}
				count[v]++
				cases++
				row = append(row, cell)
			}
			writeRow(b, row)
		}
		fmt.Fprintf(b, "\nOf %d cases %d are better (%d of them much better: at least 9 of 10 pairs of runs), %d alike and %d worse.\n\n",
			cases, count[isBetter], muchBetter, count[alike], count[isWorse])
	}
	r.writeBaselines(b, end)
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
	out := []variant{{"off", optimizer.Settings{Lipschitz: "off"}}}
	for _, k := range []float64{1, 1.5, 2, 3, 5} {
		out = append(out, variant{fmt.Sprintf("constant %g", k), optimizer.Settings{Schedule: "constant", Kappa: k}})
	}
	for _, k := range []float64{1, 2} {
		out = append(out, variant{fmt.Sprintf("root %g", k), optimizer.Settings{Schedule: "root", Kappa: k}})
	}
	for _, k := range []float64{0.1, 1, 10} {
		out = append(out, variant{fmt.Sprintf("paper %g", k), optimizer.Settings{Schedule: "paper", Kappa: k}})
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
			variants = append(variants, variant{acq + " " + v.name, s})
		}
	}
	six := slices.DeleteFunc(problems.Paper(), func(p problems.Problem) bool { return !slices.Contains(kappaFunctions, p.Name) })
	return r.jobs(func(int) []problems.Objective { return objectives(six) }, variants...)
}

func (r *reproduction) writeKappa(b *strings.Builder, end *regrets) {
	fmt.Fprintf(b, "Median regret after %d evaluations over %d seeds, and in brackets the probability that a run has less regret than one without bounds.\n\n", r.evals, r.seeds)
	writeHead(b, slices.Concat([]string{"bounds"}, end.functions)...)
	for _, p := range end.peers {
		acq, _, _ := strings.Cut(p, " ")
		row := []string{p}
		for _, f := range end.functions {
			x := end.of(p, f)
			row = append(row, fmt.Sprintf("%s (%.2f)", number(median(x)), better(x, end.of(acq+" off", f))))
		}
		writeRow(b, row)
	}
	b.WriteString("\n")
}

func (r *reproduction) betaJobs() []job {
	var jobs []job
	for _, j := range r.mainJobs() {
		if acq, way, _ := strings.Cut(j.variant, "-"); acq == "ucb" {
			j.variant = "ucb16-" + way
			j.settings.Beta = optimizer.Number(1e16)
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
	b.WriteString("\n")
}
