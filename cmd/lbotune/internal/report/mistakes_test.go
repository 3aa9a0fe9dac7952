package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// attempt is a study that is made up, with what a program would print and how long it would take.
type attempt struct {
	kind      string
	metric    string
	direction study.Direction
	params    []spaces.Param
	f         func(u []float64) float64 // of which small is good, in units of its deviation
	planted   string                    // the mistake, or none
	without   string                    // the parameter that changes nothing
	noise     float64                   // of the value
	workers   int
	trials    int
	course    func(final, step float64) float64 // of a value, on the way from 0 to 1
	took      func(value float64, rng *rand.Rand) float64
}

// sums are functions in which every parameter counts: for developing of bends and products of
// pairs, and for judging of waves and bumps.
func sums(params []spaces.Param, judged bool, rng *rand.Rand) func(u []float64) float64 {
	d := len(params)
	at, size, order := make([]float64, d), make([]float64, d), rng.Perm(d)
	level := make([][]float64, d)
	for i, p := range params {
		at[i], size[i] = rng.Float64(), math.Max(math.Pow(0.65, float64(order[i])), 0.2)
		n := len(p.Choices)
		if p.Kind == spaces.KindBool {
			n = 2
		}
		for l := range n {
			level[i] = append(level[i], 1.3*float64(l-n/2)+0.3*rng.NormFloat64())
		}
	}
	a, b := rng.IntN(d), rng.IntN(d)
	one := func(i int, u float64) float64 {
		switch {
		case math.IsNaN(u):
			return 0
		case level[i] != nil:
			return level[i][min(int(u*float64(len(level[i]))), len(level[i])-1)]
		case judged && order[i]%2 == 0:
			return 1.4 * math.Cos(math.Pi*(1.3*u+at[i]))
		case judged:
			return 3 - 3*math.Exp(-4*(u-at[i])*(u-at[i]))
		case order[i]%2 == 0:
			return 8 * (u - at[i]) * (u - at[i])
		}
		return 2 / (1 + math.Exp((u-0.3-0.4*at[i])*9))
	}
	return func(u []float64) (v float64) {
		for i := range u {
			v += size[i] * one(i, u[i])
		}
		return v + 0.5*math.Sqrt(size[a]*size[b])*one(a, u[a])*one(b, u[b])
	}
}

// spaceOf are parameters of a form.
func spaceOf(form string, rng *rand.Rand) (out []spaces.Param) {
	d := 2 + rng.IntN(5)
	for i := range d {
		name := fmt.Sprintf("x%d", i+1)
		p := float(name)
		switch kind := rng.IntN(4); {
		case form == "grid" && kind < 2 || form == "mixed" && kind == 0:
			p = ints(name, 1, float64(3+rng.IntN(5)))
		case form == "grid" && kind == 2 || form == "mixed" && kind == 1:
			p = choice(name, 2+rng.IntN(3))
		case form == "grid" || form == "mixed" && kind == 2:
			p = yesno(name)
		case form == "conditional" && i == 0:
			p = yesno(name)
		case form == "conditional" && i == 1:
			p = when(p, "x1 == true")
		}
		out = append(out, p)
	}
	return out
}

// names of metrics with their directions: common ones, and those that mislead.
func named(judged bool, rng *rand.Rand) (string, study.Direction) {
	small := []string{"val_loss", "error", "docking_score", "brier_score", "cost", "objective", "test/err", "logLoss", "fid", "size", "lap_time", "accuracy_drop"}
	large := []string{"acc", "val_accuracy", "f1", "score", "neg_log_loss", "reward", "error_reduction", "perf", "throughput", "eval/mean_reward", "quality", "-loss"}
	if judged { // of scikit-learn and of papers
		small = []string{"mean_pinball_loss", "hamming_loss", "max_error", "coverage_error", "davies_bouldin_score", "mean_tweedie_deviance", "WER", "perplexity", "time_to_target", "energy", "FVU", "chi2"}
		large = []string{"balanced_accuracy", "average_precision", "neg_brier_score", "f1_micro", "roc_auc", "d2_absolute_error_score", "neg_median_absolute_error", "cohen_kappa_score", "silhouette_score", "explained_variance", "top_k_accuracy", "hypervolume"}
	}
	if rng.IntN(2) == 0 {
		return small[rng.IntN(len(small))], study.Minimize
	}
	return large[rng.IntN(len(large))], study.Maximize
}

// contrary are plain names with the direction that they do not mean.
func contrary(judged bool, rng *rand.Rand) (string, study.Direction) {
	small := []string{"val_loss", "error", "test/err", "rmse", "valLoss", "nll"}
	large := []string{"acc", "val_accuracy", "f1", "score", "eval/reward", "auc"}
	if judged {
		small = []string{"hamming_loss", "max_error", "mean_absolute_error", "perplexity", "logloss", "train.mse", "hinge_loss", "zero_one_loss", "cross_entropy_loss", "WER"}
		large = []string{"balanced_accuracy", "f1_micro", "roc_auc", "top_k_accuracy", "test_score", "mean_episode_reward", "mIoU", "bleu", "average_precision", "explained_variance"}
	}
	if rng.IntN(2) == 0 {
		return small[rng.IntN(len(small))], study.Maximize
	}
	return large[rng.IntN(len(large))], study.Minimize
}

// sound is a study without a mistake, of many kinds in turn.
func sound(seed uint64, judged bool, rng *rand.Rand) attempt {
	a := attempt{workers: 1 + rng.IntN(4), trials: 40, took: func(float64, *rand.Rand) float64 { return 1 }}
	a.metric, a.direction = named(judged, rng)
	form := "float"
	kinds := []string{"plain", "noisy", "grid", "mixed", "conditional", "quantized", "plateau", "learning", "overfitting", "timed", "simulated time", "noisy course"}
	a.kind = kinds[seed%uint64(len(kinds))]
	switch a.kind {
	case "grid", "mixed", "conditional":
		form = a.kind
	case "quantized":
		form = []string{"grid", "mixed", "float"}[rng.IntN(3)]
	}
	a.params = spaceOf(form, rng)
	f := sums(a.params, judged, rng)
	a.f = f
	switch a.kind {
	case "noisy":
		a.noise = 0.05 + 0.5*rng.Float64()
	case "quantized":
		step := 0.02 + 0.2*rng.Float64()
		a.f = func(u []float64) float64 { return step * math.Round(f(u)/step) }
	case "plateau":
		floor := 0.3
		a.f = func(u []float64) float64 { return math.Max(f(u), floor) }
	case "learning": // down to the value, as it should be
		rate := 3 + 4*rng.Float64()
		a.course = func(v, s float64) float64 { return v + 3*math.Exp(-rate*s) }
	case "overfitting": // best on the way, and in a part of the trials soon
		a.course = func(v, s float64) float64 { return v + 2*math.Pow(s-0.1-0.5*math.Abs(math.Sin(5*v)), 2) }
	case "noisy course":
		a.course = func(v, s float64) float64 { return v + 0.5*(1-s) + math.Sin(1e3*(v+s)) }
	case "timed": // alone, or often enough
		a.metric, a.direction, a.workers, a.noise = []string{"seconds", "time_ms", "latency"}[rng.IntN(3)], study.Minimize, 1, 0.03
		a.f = func(u []float64) float64 { return 3 + f(u) }
		a.took = func(v float64, _ *rand.Rand) float64 { return 0.1 + math.Abs(v) }
	case "simulated time":
		a.metric, a.direction = "lap_time", study.Minimize
		a.took = func(_ float64, rng *rand.Rand) float64 { return 1 + rng.Float64() }
	}
	return a
}

// mistaken is a study with a mistake.
func mistaken(mistake string, seed uint64, judged bool, rng *rand.Rand) attempt {
	a := sound(seed, judged, rng)
	for slices.Contains([]string{"timed", "simulated time"}, a.kind) {
		seed++
		a = sound(seed, judged, rng)
	}
	a.planted = mistake
	switch mistake {
	case "constant":
		a.f, a.noise = func([]float64) float64 { return 0.5 }, 0
	case "direction by name":
		a.metric, a.direction = contrary(judged, rng)
	case "direction by course":
		a.metric = []string{"perf", "objective", "quality", "result"}[rng.IntN(4)]
		rate, noise := 2+4*rng.Float64(), 0.1*rng.Float64()
		a.course = func(v, s float64) float64 { return v - 2*math.Exp(-rate*s) + noise*math.Sin(1e3*(v+s)) }
	case "duration, side by side":
		a.metric, a.direction, a.workers = []string{"seconds", "time_ms", "runtime", "wall_time"}[rng.IntN(4)], study.Minimize, 2+rng.IntN(6)
		f := a.f
		a.f, a.noise = func(u []float64) float64 { return 3 + math.Abs(f(u)) }, 0.1+0.4*rng.Float64()
		start, unit := 0.5*rng.Float64(), []float64{1, 0.001, 0.3}[rng.IntN(3)]
		a.took = func(v float64, rng *rand.Rand) float64 { return start + unit*v + 0.05*unit*rng.Float64() }
	case "unused, grid", "unused, float":
		form := strings.TrimPrefix(mistake, "unused, ")
		a = attempt{planted: "unused", kind: form, metric: a.metric, direction: a.direction, workers: a.workers, took: a.took, trials: 40}
		a.params = spaceOf(form, rng)
		f := sums(a.params, judged, rng)
		i := len(a.params)
		idle := []spaces.Param{float("idle"), yesno("idle"), ints("idle", 1, 8), choice("idle", 3)}[rng.IntN(4)]
		if form == "grid" && idle.Kind == spaces.KindFloat {
			idle = yesno("idle")
		}
		a.params, a.without = append(a.params, idle), "idle"
		a.f = func(u []float64) float64 { return f(u[:i]) }
	}
	return a
}

// play runs the study, and returns what is said of its spec with the first trial after which it
// was; zero is before any.
func (a attempt) play(t *testing.T, seed uint64) (said map[string]int, texts map[string]string, h *history) {
	t.Helper()
	said, texts = map[string]int{}, map[string]string{}
	h = beginAs(t, func(c *study.Config) {
		c.Metrics = []study.Metric{c.Metrics[0]}
		c.Metrics[0].Name, c.Metrics[0].Direction, c.Run.Workers, c.Seed = a.metric, a.direction, a.workers, seed
	}, a.params...)
	rng := rand.New(rand.NewPCG(seed, 77))
	space := h.st.Search.Space
	opt, err := optimizer.New(space, seed, h.st.Search.Settings)
	if err != nil {
		t.Fatal(err)
	}
	hear := func() {
		for about, text := range h.st.Mistakes {
			if _, ok := said[about]; !ok {
				said[about], texts[about] = len(h.st.Order), text
			}
		}
	}
	hear()
	for n := 1; n <= a.trials; n++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: n})
		if err != nil {
			break
		}
		v := problem{params: a.params, f: a.f}.value(space, p.Point) // to be minimized
		v += a.noise * rng.NormFloat64() * cmp.Or(map[bool]float64{true: math.Abs(v)}[a.planted != "" || a.kind == "timed"], 1)
		events := []study.Event{study.Proposed{Trial: n, Told: n - 1, Origin: p.Origin, Values: space.Decode(p.Point), Note: p.Note}, study.Started{Trial: n, Attempt: 1}}
		printed := -a.direction.Maximized(v)
		if a.course != nil {
			m := study.Measured{Trial: n, Attempt: 1}
			for k := range 10 {
				m.Measurements = append(m.Measurements, study.Measurement{Step: float64(k), Metrics: study.Metrics{a.metric: -a.direction.Maximized(a.course(v, float64(k+1)/10))}})
			}
			printed = m.Measurements[9].Metrics[a.metric]
			events = append(events, m)
		}
		h.record(append(events, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{a.metric: printed}, Seconds: a.took(v, rng)})...)
		if err := opt.Tell(h.st.Observation(h.st.Trials[n-1])); err != nil {
			t.Fatal(err)
		}
		hear()
	}
	return said, texts, h
}

// What seems wrong in a spec is said where it is, soon, and hardly ever elsewhere: of sound studies
// at most 2 % hear of a mistake.
func TestMistakesAreNoticed(t *testing.T) {
	effort.Quality(t)
	soundOnes, each := effort.Of(0, effort.Daily[uint64](12, 24), 300), effort.Of(0, effort.Daily[uint64](1, 4), 40)
	modelled := effort.Of[uint64](0, 0, 100) // of the sound ones
	for _, judged := range []bool{false, true} {
		if !judged && !effort.Long() {
			continue
		}
		wrong := 0
		for k := range soundOnes {
			seed := 1000 + k
			if judged {
				seed += 1000
			}
			a := sound(k, judged, rand.New(rand.NewPCG(seed, 5)))
			_, texts, h := a.play(t, seed)
			if k < modelled {
				for _, text := range h.nothings() {
					texts["unused"] = text
				}
			}
			if len(texts) > 0 {
				wrong++
				t.Logf("%s, %s: %v", a.kind, a.metric, texts)
			}
		}
		t.Logf("judged %v: %d of %d sound studies hear of a mistake", judged, wrong, soundOnes)
		if float64(wrong) > 0.02*float64(soundOnes) {
			t.Errorf("%d of %d sound studies hear of a mistake", wrong, soundOnes)
		}
		for _, mistake := range []string{"constant", "direction by name", "direction by course", "duration, side by side", "unused, grid", "unused, float"} {
			t.Run(mistake, func(t *testing.T) {
				var after []int
				atEnd := 0
				for k := range each {
					seed := 5000 + k
					if judged {
						seed += 1000
					}
					a := mistaken(mistake, k, judged, rand.New(rand.NewPCG(seed, 6)))
					said, texts, h := a.play(t, seed)
					about, _, _ := strings.Cut(strings.Fields(mistake)[0], ",")
					if n, ok := said[about]; ok && strings.Contains(texts[about], a.without) {
						after = append(after, n)
					} else if about == "unused" && strings.Contains(strings.Join(h.nothings(), " "), a.without) {
						atEnd++
					}
				}
				slices.Sort(after)
				median := 0
				if len(after) > 0 {
					median = after[len(after)/2]
				}
				t.Logf("judged %v: %s is noticed in %d of %d, in the median after %d trials, and in %d more by the model", judged, mistake, len(after), each, median, atEnd)
				if found := len(after) + atEnd; effort.Long() && float64(found) < 0.7*float64(each) {
					t.Errorf("%s is noticed in %d of %d", mistake, found, each)
				}
			})
		}
	}
}

// nothings is what the model says of parameters that change nothing.
func (h *history) nothings() []string {
	s := of(Source{State: &h.st})
	s.ask(h.t.Context())
	return s.Remarks[len(s.own):]
}
