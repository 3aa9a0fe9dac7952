package study_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A config that makes no study is refused when the study would begin, and when a begun one
// would change to it: library users have no spec that would have been checked.
func TestInvalidConfigs(t *testing.T) {
	for want, change := range map[string]func(*study.Config){
		"there is no metric with a direction and a name: nothing to optimize": func(c *study.Config) { c.Metrics[0].Direction = "" },
		`metrics need names of their own: found "loss" twice or empty`: func(c *study.Config) {
			c.Metrics = append(c.Metrics, study.Metric{Name: "loss"})
		},
		`metrics need names of their own: found "" twice or empty`: func(c *study.Config) { c.Metrics = append(c.Metrics, study.Metric{}) },
		"metric loss: nothing is at least 2 and at most 1":         func(c *study.Config) { c.Metrics[0].Min, c.Metrics[0].Max = number(2), number(1) },
		`metric loss: nothing measures "joules"`:                   func(c *study.Config) { c.Metrics[0].Measure = "joules" },
		"there are 101 metrics: at most 100 can be watched": func(c *study.Config) {
			for i := range 100 {
				c.Metrics = append(c.Metrics, study.Metric{Name: strings.Repeat("m", i+1)})
			}
		},
		"parameter x: min: min = 2 must be smaller than max = 1":                func(c *study.Config) { c.Params[0].Min = 2 },
		`relation "n <= 5": the training budget n cannot be part of a relation`: func(c *study.Config) { halves(c); c.Where = []string{"n <= 5"} },
		"parameter n: min: min = 9 must be smaller than max = 9":                func(c *study.Config) { c.Params[1].Min, c.Where = 9, []string{"x <= 1"} },
		`relation "x <= unknown": there is no parameter unknown`:                func(c *study.Config) { c.Where = []string{"x <= unknown"} },
	} {
		t.Run(want, func(t *testing.T) {
			c := config()
			change(&c)
			err := new(study.State).Apply(study.Record{Event: study.Created{ID: "id", Config: c}})
			if err == nil || err.Error() != "study record: "+want {
				t.Errorf("got %v; want %q", err, want)
			}
			if err := begun(t, config()).Apply(study.Record{Event: study.ConfigChanged{Config: c}}); err == nil || err.Error() != "config record: "+want {
				t.Errorf("a change: got %v; want %q", err, want)
			}
		})
	}
	if err := new(study.State).Apply(study.Record{Event: study.Created{Config: config()}}); err == nil || !strings.Contains(err.Error(), "no id") {
		t.Errorf("without an id: %v", err)
	}
	c := config()
	c.Metrics[0].Min, c.Metrics[0].Max = number(1), number(1)
	for i := range study.MaxMetrics - 1 {
		c.Metrics = append(c.Metrics, study.Metric{Name: strings.Repeat("m", i+1)})
	}
	begun(t, c) // at the bounds of what is valid
	c.Budget.Goal = number(math.NaN())
	if _, err := c.Fingerprint(); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("a goal that is not a number: %v", err)
	}
}

// halves gives a study rungs of n: 2, 4 and 8.
func halves(c *study.Config) {
	c.Params[1].Max = 8
	c.Prune = &study.Prune{Method: "asha", Resource: "n", MinResource: 2, Reduction: 2}
}

// Relations hold in the space of the trials, and in the one that the optimizer searches.
func TestRelationsHold(t *testing.T) {
	c := config()
	c.Where = []string{"x <= n / 8"}
	st := begun(t, c)
	for _, s := range []*spaces.Space{st.Space, st.Search.Space} {
		if _, err := s.Encode(values(0.4, 5)); err != nil {
			t.Error(err)
		}
		if _, err := s.Encode(values(0.7, 5)); err == nil {
			t.Error("values that break a relation are taken")
		}
	}
}

// A trial that is at none of the rungs is none of the study.
func TestValuesOfNoRung(t *testing.T) {
	c := config()
	halves(&c)
	if p := begun(t, c).Search.Partial(values(0, 4)); p != "at n=4 of 8" {
		t.Errorf("n=4 is part %q of the resource", p)
	}
	for _, c := range []study.Config{c, config()} {
		if p := begun(t, c).Search.Partial(values(0, 8)); p != "" {
			t.Errorf("n=8 is part %q of the resource", p)
		}
	}
	if p, err := begun(t, c).Search.Encode(values(0, 8)); err != nil || math.Abs(p[1]-5.0/6) > 1e-12 { // the middle of the last third
		t.Errorf("the last rung is at %v, %v", p, err)
	}
	err := begun(t, c).Apply(study.Record{Event: study.Proposed{Trial: 2, Values: values(0, 3)}})
	if err == nil || !strings.Contains(err.Error(), "parameter n has none of the values [2 4 8] of its rungs") {
		t.Errorf("error %v", err)
	}
}

// With rungs the optimizer begins with as many trials more as the next rung has less, unless
// the config says how many.
func TestDesignOfRungs(t *testing.T) {
	c := config()
	plain := c.Optimizer.Resolved(2).DesignSize
	halves(&c)
	for want, o := range map[int]optimizer.Settings{2 * plain: {}, 3: {DesignSize: 3}, 0: {Preset: "paper"}} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			c.Optimizer = o
			if s, err := c.Search(); err != nil || s.Settings.DesignSize != want {
				t.Errorf("%+v begins with %d trials, %v; want %d", o, s.Settings.DesignSize, err, want)
			}
		})
	}
}

// A walk would be broken off by the first trial that another one continues, and is for one objective.
func TestWalkIsForOneValue(t *testing.T) {
	for want, with := range map[string]func(*study.Config){
		"walk": func(*study.Config) {},
		"":     halves,
		" ": func(c *study.Config) {
			c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: c.Metrics[0].Rule, Direction: study.Minimize})
		},
	} {
		t.Run(fmt.Sprintf("%q", want), func(t *testing.T) {
			c := config()
			c.Optimizer.Design = "walk"
			with(&c)
			if s, err := c.Search(); err != nil || s.Settings.Design != strings.TrimSpace(want) {
				t.Errorf("the design is %q, %v; want %q", s.Settings.Design, err, want)
			}
		})
	}
}

// Values that a person enqueues run with the rung that has what they say, or more.
func TestEnqueuedOnRungs(t *testing.T) {
	c := config()
	halves(&c)
	for n, want := range map[int64]int64{1: 2, 2: 2, 3: 4, 8: 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			st := begun(t, c)
			apply(t, st, study.Enqueued{Values: values(0.25, n)})
			apply(t, st, study.Excluded{Trial: 1}) // which would be continued
			if p, ok := st.Unasked(false); !ok || p.Origin != optimizer.OriginGiven || !p.Values.Equal(values(0.25, want)) {
				t.Errorf("n=%d runs with %v; want n=%d", n, p.Values, want)
			}
		})
	}
}

// Slots bound the workers; with GPUs that were found, one worker means all of them.
func TestSlotCount(t *testing.T) {
	two := make([]study.Slot, 2)
	for _, c := range []struct {
		run  study.Run
		want int
	}{
		{study.Run{}, 1},
		{study.Run{Workers: 3}, 3},
		{study.Run{Slots: two}, 2},
		{study.Run{Slots: two, Workers: 1}, 1},
		{study.Run{Slots: two, Workers: 3}, 2},
		{study.Run{Slots: two, Workers: 1, GPUs: "auto"}, 2},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := c.run.SlotCount(); got != c.want {
				t.Errorf("%+v: %d trials at a time; want %d", c.run, got, c.want)
			}
		})
	}
}

// A result file that is not a trial's own is shared by those that run at the same time.
func TestSharedResult(t *testing.T) {
	for file, c := range map[string]struct {
		cwd    string
		shared bool
	}{
		"out.txt":               {"", true},
		"own.txt":               {"{trial_dir}", false},
		"/tmp/out-{slot}.txt":   {"", false},
		"/tmp/out.txt":          {"{trial_dir}", true},
		"{study}/out.txt":       {"{trial_dir}", true},
		"out-{x}.txt":           {"", true}, // two trials may have one x
		"{checkpoint_dir}/loss": {"", false},
	} {
		t.Run(file, func(t *testing.T) {
			cfg := config()
			cfg.Run.Cwd, cfg.Metrics[0].File = c.cwd, file
			if m, shared := cfg.SharedResult(nil); shared != c.shared || shared && m.Name != "loss" {
				t.Errorf("%s in %q: shared by %q, %v", file, c.cwd, m.Name, shared)
			}
		})
	}
}

// A result in sources that are a link, or in an entry of isolated ones that is, is one file for all trials.
func TestSharedResultInLinkedSources(t *testing.T) {
	for file, c := range map[string]struct {
		cwd, mode string
		shared    bool
	}{
		"{trial_dir}/sources/out.txt":        {"", "link", true},
		"out.txt":                            {"{trial_dir}/sources", "link", true},
		"{trial_dir}/sources/out.json":       {"{trial_dir}/sources", "link", true},
		"../out.txt":                         {"{trial_dir}/sources", "link", false},
		"{trial_dir}/sources/out{trial}.txt": {"", "link", false},
		"{trial_dir}/sources/out.csv":        {"", "copy", false},
		".cache/loss":                        {"{trial_dir}/sources", "isolate", true},
		"node_modules/loss":                  {"{trial_dir}/sources", "isolate", true},
		"{trial_dir}/sources/.cache/a/loss":  {"", "isolate", true},
		".cache/../loss":                     {"{trial_dir}/sources", "isolate", false},
		".cache/{slot}":                      {"{trial_dir}/sources", "isolate", false},
		".loss":                              {"{trial_dir}/sources", "isolate", false},
		"out/.loss":                          {"{trial_dir}/sources", "isolate", false},
		"data/loss":                          {"{trial_dir}/sources", "isolate", true},
		".cache/loss.copied":                 {"{trial_dir}/sources", "copy", false},
	} {
		t.Run(file, func(t *testing.T) {
			cfg := config()
			cfg.Run.Cwd, cfg.Metrics[0].File, cfg.Run.Sources = c.cwd, file, &study.Sources{From: "src", Mode: c.mode}
			if _, shared := cfg.SharedResult(func(inside string) bool { return strings.HasPrefix(inside, "data/") }); shared != c.shared {
				t.Errorf("%s in %q, %s: shared %v", file, c.cwd, c.mode, shared)
			}
		})
	}
}

// Durations are read as people write them.
func TestDurations(t *testing.T) {
	for text, want := range map[string]string{
		"90s": "1m30s", "2h30m": "2h30m0s", "1d12h": "36h0m0s", "2d": "48h0m0s", "1.5h": "1h30m0s", "250ms": "250ms", "5us": "5µs",
		"1 hour": "1h0m0s", "2 hours": "2h0m0s", "1 h": "1h0m0s", "90 minutes": "1h30m0s", "1 minute": "1m0s", "10 secs": "10s",
		"10 seconds": "10s", "1 second": "1s", "2 days": "48h0m0s", "1day2hrs": "26h0m0s", "1hr": "1h0m0s", "5mins": "5m0s", "1 sec": "1s",
		"5": "", "one hour": "", "1 month": "", "hour": "", "": "", "1 day -2h": "", "5 m s": "", "1 2h": "", "1 h 30 min": "", "1 houry": "",
	} {
		t.Run(text, func(t *testing.T) {
			var d study.Duration
			err := d.UnmarshalText([]byte(text))
			if got := d.String(); err == nil && got != want || err != nil && want != "" {
				t.Errorf("%q is %v, %v; want %s", text, got, err, want)
			}
		})
	}
}
