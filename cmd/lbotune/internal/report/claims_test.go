package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// ran is a trial with these values, which succeeds with these metrics.
func (h *history) ran(v spaces.Values, m study.Metrics) {
	h.t.Helper()
	n := len(h.st.Trials) + 1
	h.record(study.Proposed{Trial: n, Told: len(h.st.Order), Origin: optimizer.OriginModel, Values: v}, study.Started{Trial: n, Attempt: 1},
		study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: m, Seconds: 1})
}

// at are the values at a place of the cube.
func (h *history) at(place ...float64) spaces.Values {
	return h.st.Space.Decode(h.st.Space.FromUniform(place))
}

// said is what the page says, but for its pictures.
func said(s *Study) string { return strings.Join(s.words(), " ") }

// A mean of repeats is compared with another or with nothing: a single value may be lucky.
func TestMeansAreComparedWithMeans(t *testing.T) {
	for name, want := range map[string]string{"both": "With the first trial it was 0.45 ± ", "the best": "", "none": "With the first trial it was 0.2."} {
		t.Run(name, func(t *testing.T) {
			h := beginAs(t, func(c *study.Config) { c.Run.Confirm = 2 }, float("x"))
			h.trialOf([]float64{0.5}, 0.2)
			h.trialOf([]float64{0.3}, 0.1)
			for k, worse := range []float64{0.4, 0.5} {
				if name != "none" {
					h.record(study.Confirmed{Trial: 2, Attempt: k + 2, Metrics: metrics(worse - 0.2)})
				}
				if name == "both" {
					h.record(study.Confirmed{Trial: 1, Attempt: k + 2, Metrics: metrics(worse)})
				}
			}
			text := said(h.of(false))
			if !strings.Contains(text, want) || want == "" && strings.Contains(text, "With the first") {
				t.Errorf("the page says: %s", text)
			}
		})
	}
}

// Once the trials disprove a stated constant, nothing is ruled out by it: neither in words nor in a picture.
func TestDisprovedBoundsRuleNothingOut(t *testing.T) {
	for name, refuted := range map[string]bool{"it holds": false, "it is disproved": true} {
		t.Run(name, func(t *testing.T) {
			h := scattered(beginAs(t, func(c *study.Config) { c.Optimizer.LipschitzConstant = 3 }, float("x"), float("y")), 16)
			if refuted {
				h.trialOf([]float64{0.5, 0.5}, 0.6)
				h.trialOf([]float64{0.51, 0.5}, 0.7)
			}
			s := h.of(false)
			pictures := strings.Join(append(s.slices(), s.maps2D()...), "")
			ruled := slices.ContainsFunc(s.Model.Maps, func(m Map) bool { return slices.Contains(m.Ruled, true) })
			if (h.st.Refuted != "") != refuted || ruled == refuted || strings.Contains(pictures, `class="ruled"`) == refuted ||
				strings.Contains(said(s), "rule out") == refuted || (s.Model.Lipschitz == nil) != refuted {
				t.Errorf("%q; ruled out on a map: %v, in a picture: %v; %s", h.st.Refuted, ruled, strings.Contains(pictures, `class="ruled"`), said(s))
			}
		})
	}
}

// The model counts the rungs of a resource, and pictures its amounts: there are the trials along it, and no model.
func TestNoModelAlongAResource(t *testing.T) {
	h := beginAs(t, func(c *study.Config) {
		c.Prune = &pruner.Settings{Method: pruner.ASHA, Resource: "epochs", MinResource: 1, Reduction: 3}
	}, float("x"), spaces.Param{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 81}, float("y"))
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 24 {
		v := h.at(rng.Float64(), 0, rng.Float64())
		v[1].Value = spaces.Int([]int64{1, 81, 9, 81}[k%4])
		x, _ := v[0].Value.Number()
		y, _ := v[2].Value.Number()
		h.ran(v, metrics(x*x+y/2+1/float64(1+k%4)))
	}
	s := h.of(false)
	var drawn []string
	for _, sl := range s.Model.Slices {
		drawn = append(drawn, sl.Param)
	}
	for _, m := range s.Model.Maps {
		drawn = append(drawn, m.X+m.Y)
	}
	slices.Sort(drawn)
	if got := fmt.Sprint(drawn); got != "[x xy y]" && got != "[x y yx]" {
		t.Errorf("the model is drawn over %s", got)
	}
	for _, p := range s.slices() {
		along := titleRE().FindStringSubmatch(p)[1]
		if n := strings.Count(p, `class="mean"`); n != map[bool]int{true: 0, false: 1}[along == "Values along epochs"] || strings.Count(p, "<circle") != 24 {
			t.Errorf("%s: %d lines of a model, %d trials", along, n, strings.Count(p, "<circle"))
		}
	}
	if len(s.slices()) != 3 || math.Abs(s.Trials[2].places[1]-0.1) > 0.01 {
		t.Errorf("%d pictures, with 9 epochs at %v", len(s.slices()), s.Trials[2].places[1])
	}
}

// What matters is known of the rungs, which are as likely as each other: of the amounts between them there
// are no trials.
func TestShareOfAResourceIsThatOfItsRungs(t *testing.T) {
	h := beginAs(t, func(c *study.Config) {
		c.Prune = &pruner.Settings{Method: pruner.ASHA, Resource: "epochs", MinResource: 1, Reduction: 3}
	}, float("x"), spaces.Param{Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 81})
	for k := range 12 {
		h.ran(h.at(float64(k)/11, float64(k%2)), metrics(float64(k%3)))
	}
	m, err := h.of(false).fit(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if of := m.bases[1]; len(of.levels) != 5 || of.n != 4 || math.Abs(of.odds[0]-0.2) > 0.001 {
		t.Errorf("of 5 rungs there are functions on %d levels with the probabilities %v", len(of.levels), of.odds[:5])
	}
}

// limitedFront has two objectives: loss, which is least at x = 0.3 and has a limit, and size, which falls with x.
func limitedFront(t *testing.T, most float64, places ...float64) *history {
	h := beginAs(t, func(c *study.Config) { c.Metrics[1].Direction, c.Metrics[0].Max = study.Minimize, &most }, float("x"))
	for _, u := range places {
		h.trial(u)
	}
	return h
}

// The best trial in another objective than the first holds the limits, too, if some trial does.
func TestBestInEachObjectiveHoldsTheLimits(t *testing.T) {
	for most, want := range map[float64]int{0.6: 5, 0.1: 1} { // of none that holds it the first by Compare: the least violating
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			h := limitedFront(t, most, 0.3, 1, 0.9, 0.1, 0.6, 0.5, 0.2, 0.8, 0.7)
			f, err := h.of(false).fit(t.Context(), 1)
			if err != nil || f.best.Number != want {
				t.Errorf("the best is trial %d, %v; want %d", f.best.Number, err, want)
			}
		})
	}
}

// What is said of the front is so where others break a limit, where all do, and where some are as good.
func TestFrontInWords(t *testing.T) {
	for name, c := range map[string]struct {
		most float64
		want string
	}{
		"no limit":    {0, "The front has 4 of 6 trials: none of the others is better than one of these in one objective and at least as good in all."},
		"a limit":     {0.6, "The front has 3 of 6 trials: none of the others that hold the limits is better than one of these in one objective and at least as good in all."},
		"none within": {0.1, "The front has 1 of 6 trials: none of the others breaks the limits less."},
	} {
		t.Run(name, func(t *testing.T) {
			h := limitedFront(t, c.most, 0.3, 0.6, 0.1, 0.9, 0.5, 0.3)
			if c.most == 0 {
				both := func(c *study.Config) { c.Metrics[1].Direction = study.Minimize }
				h = beginAs(t, both, float("x"))
				for _, u := range []float64{0.3, 0.6, 0.1, 0.9, 0.5, 0.3} {
					h.trial(u)
				}
			}
			if text := said(h.of(false)); !strings.HasPrefix(text, c.want) {
				t.Errorf("the page says: %s", text)
			}
		})
	}
}

// Of several objectives it is said of each what matters to it, or why that is not known.
func TestWhatMattersToEachObjective(t *testing.T) {
	for name, noise := range map[string]int{"loss": 0, "size": 1, "neither": 2} {
		t.Run(name, func(t *testing.T) {
			if noise > 0 {
				effort.Thorough(t, "one of the three ways is enough while one works")
			}
			h := beginAs(t, func(c *study.Config) { c.Metrics[1].Direction = study.Minimize }, float("x"), float("y"))
			rng := rand.New(rand.NewPCG(5, 2))
			for range 30 {
				x, y := rng.Float64(), rng.Float64()
				values := []float64{1 + 9*x, 1 + 9*y, 1 + 9*x}
				values[noise] = 1 + rng.Float64()
				h.ran(h.at(x, y), study.Metrics{"loss": values[0], "size": values[1]})
			}
			text := said(h.of(false))
			for k, want := range []string{"loss", "size"} {
				unknown, known := "What matters to "+want+" is not known: ", []string{"x", "y"}[k]+" matters most to "+want+": "
				if strings.Contains(text, unknown) != (noise == k) || strings.Contains(text, known) == (noise == k) {
					t.Errorf("of %s: %s", want, text)
				}
			}
			if strings.Contains(text, "Cross-validation: values of loss that are left out") == (noise == 0) {
				t.Errorf("of the model of loss: %s", text)
			}
		})
	}
}

// A trial of other ranges is said to be out of range in each place, and every place counts the same.
func TestOutOfRangeIsSaidEverywhere(t *testing.T) {
	h := begin(t, float("x"))
	for _, u := range []float64{0.1, 0.9, 0.8, 0.3, 0.4, 0.7} {
		h.trial(u)
	}
	c := h.st.Config
	c.Params = []spaces.Param{float("x")}
	c.Params[0].Max = 0.5
	h.record(study.Excluded{Trial: 6}, study.Excluded{Trial: 5}, study.ConfigChanged{Config: c})
	s := h.of(false)
	var text bytes.Buffer
	if err := prometheus(&text, s, nil); err != nil {
		t.Fatal(err)
	}
	list := s.list()
	tiles := map[string]string{}
	for _, tile := range s.Tiles() {
		tiles[tile[1]] = tile[0]
	}
	total := 0
	for _, line := range regexp.MustCompile(`(?m)^lbotune_trials\{.*\} (\d+)$`).FindAllStringSubmatch(text.String(), -1) {
		n, err := strconv.Atoi(line[1])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	if total != 6 {
		t.Errorf("of 6 trials Prometheus is told of %d: %s", total, text.String())
	}
	for standing, want := range map[string]int{"out of range": 2, "excluded": 2, "succeeded": 2} {
		t.Run(standing, func(t *testing.T) {
			if n := strings.Count(list, "<td>"+standing+"</td>"); n != want {
				t.Errorf("the table has %d", n)
			}
			if line := fmt.Sprintf("lbotune_trials{status=%q} %d\n", standing, want); !strings.Contains(text.String(), line) {
				t.Errorf("Prometheus is told of others: %s", text.String())
			}
			if n := tiles[standing]; standing != "succeeded" && n != strconv.Itoa(want) {
				t.Errorf("the tiles say %q", n)
			}
		})
	}
	var page bytes.Buffer
	if err := HTML(&page, []*Study{s}); err != nil || !strings.Contains(page.String(), "<h2>Trial 2, out of range</h2>") {
		t.Errorf("%v, or the details of a trial do not say that it is out of range", err)
	}
	if class := s.Trials[1].class(); class != s.Trials[4].class() || s.Trials[1].places != nil && len(s.values()) != 2 {
		t.Errorf("it is drawn as %q, and %d values count", class, len(s.values()))
	}
	if data, err := json.Marshal(s.Trials[1]); err != nil || !bytes.Contains(data, []byte(`"outside":true`)) {
		t.Errorf("as JSON it is %s, %v", data, err)
	}
}

// Beside means of repeats it is said that those at the same budget are single values.
func TestComparisonNamesSingleValues(t *testing.T) {
	for _, confirm := range []int{0, 2} {
		h := beginAs(t, func(c *study.Config) { c.Run.Confirm = confirm }, float("x"))
		h.trialOf([]float64{0.5}, 0.1)
		for k := range confirm {
			h.record(study.Confirmed{Trial: 1, Attempt: k + 2, Metrics: metrics(0.4)})
		}
		s := h.of(false)
		cards, _ := comparison([]*Study{s, studyOf(t, "one parameter")})
		card := cards[0]
		if single := confirm > 0; strings.Contains(card.Body, "<th>best single value at the same budget</th>") != single || strings.Contains(card.Note, "single values") != single {
			t.Errorf("confirmed %d times: %s", confirm, card.Note)
		}
	}
}

// Seeds of a setting stand together whatever they were given to spend, and on how many workers.
func TestSeedsOfOtherBudgetsAreOneSetting(t *testing.T) {
	seed := func(n uint64, edit func(*study.Config)) *Study {
		h := beginAs(t, func(c *study.Config) {
			c.Seed = n
			edit(c)
		}, float("x"))
		h.trial(0.5)
		return h.of(false)
	}
	one := seed(1, func(*study.Config) {})
	for name, c := range map[string]struct {
		edit func(*study.Config)
		want bool
	}{
		"trials":  {func(c *study.Config) { c.Budget.Trials = 99 }, true},
		"time":    {func(c *study.Config) { c.Budget.Time = 99 }, true},
		"hard":    {func(c *study.Config) { c.Budget.TimeHard = 99 }, true},
		"worker":  {func(c *study.Config) { c.Budget.WorkerTime = 99 }, true},
		"workers": {func(c *study.Config) { c.Run.Workers = 9 }, true},
		"repeats": {func(c *study.Config) { c.Run.Repeats = 9 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := seed(2, c.edit)
			cards, _ := comparison([]*Study{one, other})
			if body := cards[0].Body; strings.Contains(body, "bowl, 2 seeds") != c.want {
				t.Errorf("of one setting: %v; want %v", !c.want, c.want)
			}
			if other.state.Config.Run.Workers == 0 || other.Budget == 0 {
				t.Error("the study itself has changed")
			}
		})
	}
}

// Prometheus is told the time of the page's tile, which goes on between two records.
func TestTimeForPrometheus(t *testing.T) {
	h := underWay(t)
	s := h.of(true) // whose last record is old
	var text strings.Builder
	err := prometheus(&text, s, nil)
	if want := fmt.Sprintf("\nlbotune_seconds %g\n", s.figures.Elapsed.Seconds()); err != nil || s.figures.Elapsed < h.st.Elapsed+time.Hour || !strings.Contains(text.String(), want) {
		t.Errorf("%v, want %s in %s", err, want, text.String())
	}
}
