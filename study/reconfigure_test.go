package study_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What the optimizer has noted holds as long as the ranges are the same, also where they are related.
func TestNotesHoldBesideOtherSettings(t *testing.T) {
	c := config()
	c.Where = []string{"x <= n / 8"}
	st := begun(t, c)
	c.Run.Workers++
	apply(t, st, study.ConfigChanged{Config: c})
	if !st.Holds(st.Trials[0]) {
		t.Error("it holds no more with another worker")
	}
	c.Where = []string{"x <= n / 7"}
	apply(t, st, study.ConfigChanged{Config: c})
	if st.Holds(st.Trials[0]) {
		t.Error("it holds in another space")
	}
}

// begun is a study with one trial that has succeeded.
func begun(t *testing.T, c study.Config) *study.State {
	t.Helper()
	st := &study.State{}
	print, err := c.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	apply(t, st, study.Created{ID: "id", Fingerprint: print, Config: c})
	apply(t, st, study.Proposed{Trial: 1, Pending: []int{}, Origin: optimizer.OriginInitial, Values: values(0.5, 4)})
	apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 2, "gain": 1}})
	return st
}

// What a study that has measured something cannot take is named with what it was and
// what it is; everything else is taken over.
func TestChangesOfABegunStudy(t *testing.T) {
	several := func(c *study.Config) {
		c.Metrics = append(c.Metrics, study.Metric{Name: "gain", Rule: parser.Rule{Metric: "gain"}, Direction: study.Maximize})
	}
	halving := func(least float64) func(*study.Config) {
		return func(c *study.Config) {
			halves(c)
			c.Prune.MinResource = least
		}
	}
	with := func(text string) func(*study.Config) {
		return func(c *study.Config) { c.Files = []command.File{{Text: text, To: "conf", From: text}} }
	}
	option := func(a string) func(*study.Config) {
		return func(c *study.Config) {
			c.Params = append(c.Params, spaces.Param{Name: "o", Kind: spaces.KindChoice, When: "x < 0",
				Choices: []spaces.Value{spaces.String("a"), spaces.String("b")}, Words: map[string][]string{"a": {a}}})
		}
	}
	sized := func(word string, limit *float64) func(*study.Config) {
		return func(c *study.Config) {
			c.Metrics = append(c.Metrics, study.Metric{Name: "size", Rule: parser.Rule{Metric: word}, Max: limit})
		}
	}
	variables := func(env ...string) func(*study.Config) {
		return func(c *study.Config) { c.Run.Env = env }
	}
	slots := func(e string) func(*study.Config) {
		return func(c *study.Config) { c.Run.Slots = []study.Slot{{Env: []string{e}}, {Env: []string{"GPU=1", e}}} }
	}
	const when = "x == 0.5"
	fresh := spaces.Param{Name: "new", Kind: spaces.KindFloat, Min: 0, Max: 1}
	more := func(env string) func(*study.Config) {
		return func(c *study.Config) {
			fresh := fresh
			fresh.Default = spaces.Float(0.25)
			c.Params, c.Run.Env = append(c.Params, fresh), []string{env}
		}
	}
	for name, c := range map[string]struct {
		was, now func(*study.Config)
		refused  []string // none if it is taken over
	}{
		"a larger budget":    {nil, func(c *study.Config) { c.Budget.Trials = 99 }, nil},
		"another file's way": {with("a"), func(c *study.Config) { with("a")(c); c.Files[0].From = "elsewhere" }, nil},
		"defaults written out": {nil, func(c *study.Config) {
			c.Metrics[0].Rule = parser.Rule{Metric: "loss", Source: parser.Stdout, Pick: "last"}
			c.Optimizer = c.Optimizer.Resolved(2)
		}, nil},
		"other places": {nil, func(c *study.Config) { slices.Reverse(c.Params); c.Budget.Trials = 13 }, nil},
		"one more parameter": {nil, func(c *study.Config) {
			fresh := fresh
			fresh.Default = spaces.Float(0.25)
			c.Params = append([]spaces.Param{fresh}, c.Params...)
			c.Command.Argv = append(c.Command.Argv, "--new={new}")
		}, nil},
		"one more without a default": {nil, func(c *study.Config) {
			c.Params = append(c.Params, fresh)
			c.Command.Argv = append(c.Command.Argv, "--new={new}")
		}, []string{"params: new is new: give it default = ..., the value that the trials so far had"}},
		"one parameter less": {nil, func(c *study.Config) { c.Params = c.Params[:1] }, []string{"params: was x, n, is x"}},
		"another parameter":  {nil, func(c *study.Config) { c.Params[0].Name = "y" }, []string{"params: was x, n, is y, n"}},
		"another type":       {nil, func(c *study.Config) { c.Params[1].Kind = spaces.KindFloat }, []string{"type of n: was int, is float"}},
		"another condition":  {nil, func(c *study.Config) { c.Params[1].When = when }, []string{`when of n: was none, is "x == 0.5"`}},
		"other rungs":        {halving(1), halving(4), []string{"rungs of n: were [1,2,4,8], are [4,8]"}},
		"wrong rungs and another optimizer": {halving(1), func(c *study.Config) {
			halving(1)(c)
			c.Prune.Reduction, c.Optimizer.Method = 0, "random"
		}, []string{"rungs of n: were [1,2,4,8], are none"}},
		"no rungs any more":  {halving(1), nil, []string{"resource: was n, is none"}},
		"another direction":  {nil, func(c *study.Config) { c.Metrics[0].Direction = study.Maximize }, []string{`direction: was "minimize", is "maximize"`}},
		"one more objective": {nil, several, []string{`objectives: was [{"name":"loss"`}},
		"of two, a threshold": {several, func(c *study.Config) {
			several(c)
			c.Metrics[1].Threshold, c.Metrics[1].Goal = number(0), number(5)
		}, nil},
		"another optimizer": {nil, func(c *study.Config) { c.Optimizer.Method = "random" }, nil},
		"another metric and name": {nil, func(c *study.Config) {
			c.Metrics[0].Rule, c.Metrics[0].Name = parser.Rule{Metric: "error"}, "error"
		}, []string{`metric: was {"metric":"loss","source":"stdout","pick":"last"}, is {"metric":"error"`, "name of the metric: was loss, is error"}},
		"another file":                  {with("a"), with("b"), []string{`files: was [{"text":"a","to":"conf"}], is [{"text":"b","to":"conf"}]`}},
		"a long file":                   {with("a"), with(strings.Repeat("é", 200)), []string{`is [{"text":"` + strings.Repeat("é", 110) + "..."}},
		"another file of the metric":    {nil, func(c *study.Config) { c.Metrics[0].File = "b.txt" }, []string{`file of the metric: was none, is "b.txt"`}},
		"another rule of a limit":       {sized("size", nil), sized("bytes", number(9)), []string{`metric size: was {"metric":"size"`}},
		"the rule of what is looked at": {sized("size", number(9)), sized("bytes", nil), nil},
		"a limit":                       {sized("size", nil), sized("size", number(8)), nil},
		"the rule of what is safe": {sized("size", nil), func(c *study.Config) {
			sized("bytes", nil)(c)
			c.Safety = &study.Safety{Metric: "size", At: 9, Constant: 1}
		}, []string{`metric size: was {"metric":"size"`}},
		"measured":          {nil, func(c *study.Config) { c.Metrics[0].Measure = study.Seconds }, []string{`measure: was none, is "seconds"`}},
		"the median":        {nil, func(c *study.Config) { c.Run.Combine = "median" }, []string{`combine: was "mean", is "median"`}},
		"another directory": {nil, func(c *study.Config) { c.Run.Cwd = "/tmp" }, []string{`cwd: was ".", is "/tmp"`}},
		"behind a link":     {func(c *study.Config) { c.Run.Cwd = "near/../x" }, func(c *study.Config) { c.Run.Cwd = "x" }, []string{`cwd: was "near/../x", is "x"`}},
		"other sources":     {nil, func(c *study.Config) { c.Run.Sources = &study.Sources{From: "src", Mode: "copy"} }, []string{"sources: was none, is "}},
		"another setup":     {nil, func(c *study.Config) { c.Setup = "make" }, []string{`setup: was none, is "make"`}},
		"the same directory and mean written out": {nil, func(c *study.Config) { c.Run.Cwd, c.Run.Combine = ".", "mean" }, nil},
		"other words": {option("1"), option("103"), []string{`words of o = a: was ["1"], is ["103"]`}},
		"fewer and more choices with words": {option("1"), func(c *study.Config) {
			option("1")(c)
			c.Params[2].Choices = []spaces.Value{spaces.String("b"), spaces.String("d")}
			c.Params[2].Words = map[string][]string{"b": {"b"}, "d": {"7"}}
		}, nil},
		"while it is inactive":            {option("1"), func(c *study.Config) { option("1")(c); c.Params[2].Inactive = spaces.String("b") }, []string{`inactive of o: was none, is "b"`}},
		"repeats":                         {nil, func(c *study.Config) { c.Run.Repeats = 3 }, []string{"repeats: was 1, is 3"}},
		"another variable of a parameter": {variables("N={n}", "A=1"), variables("N={x}"), []string{`variable of a parameter: was "N={n}", is "N={x}"`}},
		"no variable any more":            {variables("N={n}", "A=1"), variables("A=1"), []string{`variable of a parameter: was "N={n}", is none`}},
		"another variable of the slots":   {slots("N={n}"), slots("N={x}"), []string{`variable of a parameter: was "N={n}", is "N={x}"`}},
		"what a slot overrides":           {func(c *study.Config) { slots("N=1")(c); variables("N={n}")(c) }, slots("N=1"), nil},
		"one more in a variable":          {variables("ARGS=--x {x}"), more("ARGS=--x {x} --new {new}"), nil},
		"one more and another in it":      {variables("ARGS=--x {x}"), more("ARGS=--x {n} --new {new}"), []string{`variable of a parameter: was "ARGS=--x {x}", is "ARGS=--x {n}`}},
		"no variable of all parameters":   {variables("P={params_json}"), nil, []string{`variable of a parameter: was "P={params_json}", is none`}},
		"other variables":                 {variables("N={n}", "A=1", "D={trial_dir}"), variables("A=2", "N={n}", "B={x}"), nil},
		"no repeats":                      {nil, func(c *study.Config) { c.Run.Repeats = 1 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			was, now := config(), config()
			for change, c := range map[*func(*study.Config)]*study.Config{&c.was: &was, &c.now: &now} {
				if *change != nil {
					(*change)(c)
				}
			}
			change, err := begun(t, was).Reconfigured(now)
			if c.refused == nil {
				if err != nil || change == nil || slices.IndexFunc(change.Config.Params, func(p spaces.Param) bool { return p.Name == "n" }) != 1 {
					t.Errorf("not taken over: %+v, %v", change, err)
				}
				return
			}
			var refused *study.ConfigError
			if !errors.As(err, &refused) || len(refused.Changes) != len(c.refused) {
				t.Fatalf("got %+v, %v; want %q", change, err, c.refused)
			}
			for i, want := range c.refused {
				if !strings.Contains(refused.Changes[i], want) || !strings.Contains(err.Error(), "incomparable:\n  "+refused.Changes[0]) {
					t.Errorf("refused for %q; want %q", refused.Changes[i], want)
				}
			}
		})
	}
}

// A choice that comes back still means what it meant when trials had it: they count again.
func TestChoiceComesBack(t *testing.T) {
	with := func(words string, choices ...spaces.Value) study.Config {
		c := config()
		c.Params = append(c.Params, spaces.Param{Name: "o", Kind: spaces.KindChoice, Choices: choices, Default: choices[0],
			Words: map[string][]string{"a": {words}}})
		return c
	}
	a, b, d := spaces.String("a"), spaces.String("b"), spaces.String("d")
	st := begun(t, config())
	for _, c := range []study.Config{with("-O3", a, b), with("-O3", b, d)} {
		apply(t, st, study.ConfigChanged{Config: c})
	}
	if change, err := st.Reconfigured(with("-O0", a, b)); err == nil || !strings.Contains(err.Error(), `words of o = a: was ["-O3"], is ["-O0"]`) {
		t.Errorf("taken over: %+v, %v", change, err)
	}
	if _, err := st.Reconfigured(with("-O3", b, a)); err != nil {
		t.Error(err)
	}
	apply(t, st, study.Excluded{Trial: 1})
	for _, c := range []study.Config{with("-O3", b, a), with("-O3", b, d), with("-O0", a, b)} {
		change, err := st.Reconfigured(c)
		if err != nil {
			t.Fatalf("without results: %v", err)
		}
		apply(t, st, *change)
	}
	if _, err := st.Event(study.Request{Action: study.ActionInclude, Trial: 1}); err == nil {
		t.Error("a result of other words is brought back")
	}
}

// Before the first trial parameters may change their order, which is that of the trials.
func TestOrderBeforeTheFirstTrial(t *testing.T) {
	st, c := &study.State{}, config()
	apply(t, st, study.Created{ID: "id", Fingerprint: "f", Config: c})
	c.Params = slices.Clone(c.Params)
	slices.Reverse(c.Params)
	if change, err := st.Reconfigured(c); err != nil || change == nil || change.Config.Params[0].Name != "n" {
		t.Errorf("%+v, %v", change, err)
	}
}

// While a study runs it takes over the ranges and relations alone, and more parameters with
// the command that takes them; before the first trial everything.
func TestReconfiguredParams(t *testing.T) {
	empty := &study.State{}
	apply(t, empty, study.Created{ID: "id", Fingerprint: "f", Config: config()})
	narrow := func(c *study.Config) { c.Params[0].Max = 0.75 }
	more := func(c *study.Config) {
		c.Params = append(c.Params, spaces.Param{Name: "new", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(0)})
		c.Command.Argv = append(c.Command.Argv, "--new={new}")
	}
	for name, c := range map[string]struct {
		st     *study.State
		change func(*study.Config)
		budget int // 0 if nothing changes
	}{
		"another budget":            {begun(t, config()), func(*study.Config) {}, 0},
		"a range":                   {begun(t, config()), narrow, 12},
		"a relation":                {begun(t, config()), func(c *study.Config) { c.Where = []string{"x <= n"} }, 12},
		"one more":                  {begun(t, config()), more, 99},
		"a range before any trial":  {empty, narrow, 99},
		"one more before any trial": {empty, more, 99},
	} {
		t.Run(name, func(t *testing.T) {
			now := config()
			now.Budget.Trials = 99
			c.change(&now)
			change, err := c.st.ReconfiguredParams(now)
			if err != nil || (change == nil) != (c.budget == 0) {
				t.Errorf("%s: %+v, %v", name, change, err)
				return
			}
			if change != nil && (change.Config.Budget.Trials != c.budget || len(change.Config.Command.Argv) != len(now.Command.Argv) ||
				!slices.Equal(change.Config.Where, now.Where) || change.Config.Params[0].Max != now.Params[0].Max) {
				t.Errorf("%s: taken over %+v", name, change.Config)
			}
		})
	}
}

// Enqueued values that a smaller range leaves no room for are named.
func TestDropped(t *testing.T) {
	st, c := begun(t, config()), config()
	apply(t, st, study.Enqueued{Values: values(0.25, 3)})
	apply(t, st, study.Enqueued{Values: values(0.875, 4)})
	c.Params[0].Max = 0.75
	if d := st.Dropped(study.ConfigChanged{Config: c}); len(d) != 1 || !d[0].Equal(values(0.875, 4)) {
		t.Errorf("dropped %v", d)
	}
}

// Enqueued values get the default of a parameter that is added while they wait.
func TestQueueGetsAddedParameters(t *testing.T) {
	st, c := begun(t, config()), config()
	apply(t, st, study.Enqueued{Values: values(0.25, 3)})
	c.Params = append(c.Params, spaces.Param{Name: "new", Kind: spaces.KindInt, Min: 0, Max: 9, Default: spaces.Int(7)})
	change := study.ConfigChanged{Fingerprint: "g", Config: c}
	if d := st.Dropped(change); len(d) > 0 {
		t.Errorf("dropped %v", d)
	}
	apply(t, st, change)
	if want := append(values(0.25, 3), spaces.Assignment{Name: "new", Value: spaces.Int(7)}); len(st.Queue) != 1 || !st.Queue[0].Equal(want) {
		t.Errorf("there wait %v; want %v", st.Queue, want)
	}
}
