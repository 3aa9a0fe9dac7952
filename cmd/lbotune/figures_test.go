package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// trialsDrawn is how many trials a study has.
const trialsDrawn = 16

// drawn is a study of a kind that follows from the seed: with limits, several objectives, noise,
// repeats, confirmation, trials that are stopped early, fail or are taken out, a maximum, a
// stated constant, an earlier study to begin with, and an end or none.
func drawn(t *testing.T, seed uint64) (*study.State, string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	has := func(every, at uint64) bool { return seed%every == at }
	kinds := []string{}
	kind := func(name string, is bool) bool {
		if is {
			kinds = append(kinds, name)
		}
		return is
	}
	limits, several := kind("limits", has(3, 0)), kind("several", has(7, 3))
	confirm, prunes := kind("confirm", has(4, 1)), kind("prunes", has(5, 2))
	stated, warm := kind("stated", has(3, 1)), kind("warm", has(6, 4))
	c := study.Config{Name: "drawn", Command: command.Command{Argv: []string{"drawn"}}, Seed: seed, Dir: "/",
		Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1}, {Name: "k", Kind: spaces.KindInt, Min: 1, Max: 9}},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}, {Name: "size", Rule: parser.Rule{Metric: "size"}}},
		Budget:  study.Budget{Trials: trialsDrawn}, Run: study.Run{Workers: 2}}
	if kind("maximize", has(2, 1)) {
		c.Metrics[0].Direction = study.Maximize
	}
	if several {
		c.Metrics[1].Direction = study.Minimize
	}
	if most := rng.Float64(); limits {
		c.Metrics = append(c.Metrics, study.Metric{Name: "memory", Rule: parser.Rule{Metric: "memory"}, Max: &most})
	}
	if confirm {
		c.Run.Confirm = 3
	}
	if kind("repeats", has(8, 6)) {
		c.Run.Repeats = 2
	}
	if stated {
		c.Optimizer.LipschitzConstant = 9
	}
	narrowed := kind("narrowed", has(5, 3))
	noise := 0.0
	if kind("noise", has(2, 0)) {
		noise = 0.3
	}
	st, second := new(study.State), 0
	record := func(events ...study.Event) {
		t.Helper()
		for _, e := range events {
			at := time.Date(2026, 1, 31, 12, 0, second, 0, time.UTC)
			if err := st.Apply(study.Record{At: at, Elapsed: time.Duration(second) * 1234 * time.Millisecond, Event: e}); err != nil {
				t.Fatal(err)
			}
			second++
		}
	}
	measure := func(v spaces.Values) study.Metrics {
		x, _ := v.Get("x")
		u := x.Any().(float64)
		loss := (u-0.3)*(u-0.3) + noise*rng.NormFloat64()
		return study.Metrics{"loss": st.Config.Objective().Direction.Maximized(-loss), "size": 1 - u, "memory": rng.Float64()}
	}
	record(study.Created{ID: "1", Fingerprint: "f", Config: c}, study.Session{Number: 1})
	if warm {
		record(study.Earlier{From: "before", Same: true})
	}
	for n := 1; n <= trialsDrawn; n++ {
		v := st.Space.Decode(st.Space.FromUniform([]float64{rng.Float64(), rng.Float64()}))
		gap := math.Pow(10, 4*rng.Float64())
		if stated {
			gap = 1 + rng.Float64()
		}
		p := study.Proposed{Trial: n, Told: len(st.Order), Origin: optimizer.OriginModel, Values: v}
		if n > 4 {
			p.Note.Lipschitz = &optimizer.LipschitzNote{Slope: 1, Constant: 2, Excluded: rng.Float64(), Gap: &gap, Stated: stated}
		}
		record(p, study.Started{Trial: n, Attempt: 1, Slot: n % 2})
		end := study.Finished{Trial: n, Attempt: 1, Slot: n % 2, Status: optimizer.Succeeded, Metrics: measure(v), Seconds: 1}
		switch {
		case n > trialsDrawn-2 && has(3, 2): // it runs, or was left
			continue
		case rng.Float64() < 0.15:
			end.Status, end.Metrics, end.Failure = optimizer.Failed, nil, &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"}
		case prunes && rng.Float64() < 0.3:
			end.Status, end.Failure = optimizer.Pruned, &study.Failure{Kind: study.FailPruned, Text: "worse than the median"}
		case c.Run.Repeats > 0:
			record(study.Ended{Trial: n, Attempt: 1, Slot: n % 2, Metrics: measure(v)}, study.Started{Trial: n, Attempt: 2, Slot: n % 2})
			end.Attempt = 2
		}
		record(end)
		if rng.Float64() < 0.08 {
			record(study.Excluded{Trial: n})
		}
	}
	if narrowed {
		c.Params = slices.Clone(c.Params)
		c.Params[1].Max = 7
		record(study.ConfigChanged{Config: c})
	}
	if has(3, 2) {
		return st, strings.Join(kinds, ", ")
	}
	for range 3 {
		for _, t := range st.Unconfirmed() {
			attempt := t.NextAttempt()
			record(study.Started{Trial: t.Number, Attempt: attempt}, study.Confirmed{Trial: t.Number, Attempt: attempt, Metrics: measure(t.Values()), Seconds: 1})
		}
	}
	closed := study.Closed{Why: study.EndTrials, Detail: "all trials are finished"}
	if limits && noise > 0 {
		holds := rng.Float64()
		closed.Holds = &holds
		if b := st.Best(); b != nil && has(4, 0) {
			closed.Doubtful = []int{b.Number}
		}
	}
	record(closed)
	return st, strings.Join(kinds, ", ")
}

// figure is one as the places say it.
type figure map[string]string

// find notes what a pattern finds in a text; places that do not say it are left out.
func (f figure) find(place, text, pattern string) {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		f[place] = m[1]
	}
}

// differs reports which two places differ: in numbers by more than what they round.
func (f figure) differs() bool {
	var first string
	for _, place := range slices.Sorted(maps.Keys(f)) {
		switch {
		case first == "":
			first = f[place]
		case !sameFigure(first, f[place]):
			return true
		}
	}
	return false
}

func sameFigure(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		s, errS := time.ParseDuration(a)
		d, errD := time.ParseDuration(b)
		return errS == nil && errD == nil && math.Abs(s.Seconds()-d.Seconds()) < 1
	}
	return math.Abs(x-y) <= 6e-6*math.Max(math.Abs(x), math.Abs(y))
}

// What is said of a study is the same wherever it is said.
func TestFiguresAgree(t *testing.T) {
	effort.Thorough(t, "of many drawn studies")
	said := map[string]int{}
	for seed := range uint64(effort.Of(10, effort.Daily(10, 30), 30)) {
		st, kinds := drawn(t, seed)
		places, tight := figuresOf(t, st)
		for name, f := range places {
			said[name] = max(said[name], len(f))
			if f.differs() {
				t.Errorf("seed %d (%s): %s: %v", seed, kinds, name, f)
			}
		}
		if !tight {
			t.Errorf("seed %d (%s): more is left to gain than is possible", seed, kinds)
		}
	}
	for name, least := range map[string]int{"best": 5, "trial": 6, "failed": 9, "pruned": 6, "infeasible": 6, "unfinished": 6, "excluded": 6, "out of range": 6, "ruled out": 4,
		"left to gain": 3, "holds": 2, "time": 3, "no trial holds the limits": 3, "hypervolume": 4} {
		t.Run(name, func(t *testing.T) {
			if said[name] < least {
				t.Errorf("%s is said in %d places; it was in %d", name, said[name], least)
			}
		})
	}
}

// figuresOf collects what each place says, and whether what is left to gain is possible: the
// values of a drawn study lie within 2 of the best, but for what an estimated constant guesses.
func figuresOf(t *testing.T, st *study.State) (map[string]figure, bool) {
	t.Helper()
	l := layout.Of(t.TempDir())
	var out, status, statusJSON, markdown, page, reportJSON bytes.Buffer
	g := &global{streams: streams{out: &out, err: &bytes.Buffer{}}}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(summarize(g, st, l, nil))
	g.out = &status
	check(printStatus(g, st, l, false))
	g.out, g.json = &statusJSON, true
	check(printStatus(g, st, l, false))
	r := report.Of(t.Context(), report.Source{State: st, Dir: string(l)})
	check(r.Markdown(&markdown))
	check(report.HTML(&page, []*report.Study{r}))
	check(printJSON(&reportJSON, r))
	end := closing(t.Context(), st, l)

	var summary summaryJSON
	check(json.Unmarshal(statusJSON.Bytes(), &summary))
	var times struct {
		Elapsed    float64           `json:"elapsed"`
		Unfinished []int             `json:"unfinished"`
		Failures   []report.Failures `json:"failures"`
		Excluded   int               `json:"excluded"`
		Outside    int               `json:"outside"`
	}
	check(json.Unmarshal(statusJSON.Bytes(), &times))
	var shown struct {
		Best     int
		Failures []report.Failures
		Model    *struct{ Lipschitz *optimizer.LipschitzNote }
	}
	check(json.Unmarshal(reportJSON.Bytes(), &shown))

	figures := map[string]figure{}
	at := func(name string) figure {
		if figures[name] == nil {
			figures[name] = figure{}
		}
		return figures[name]
	}
	several := st.Config.Several()
	if !several {
		at("best").find("run", out.String(), `(?m)^best loss = ([^, ]+)`)
		at("best").find("run's last lines", end, `gained:  loss ([^, ]+)`)
		at("best").find("status", status.String(), `(?m)^best +loss = ([^, ]+)`)
		at("best").find("report", markdown.String(), `(?m)^- best loss, trial \d+: ([^ \n]+)`)
		at("best").find("report's words", markdown.String(), `The best loss is ([^, ]+)`)
		at("best").find("page", page.String(), `<b>([^ <]+)[^<]*</b><span>best loss`)
		if b := listing("", st, false).Best; b != nil {
			at("best")["ls"] = fmt.Sprint(*b)
		}
		if len(summary.Confirmed) > 0 && summary.Confirmed[0].Trial == summary.Best.Trial { // else a better one awaits that
			at("best")["JSON"] = fmt.Sprint(summary.Confirmed[0].Mean)
			at("margin")["JSON"] = fmt.Sprint(summary.Confirmed[0].Margin)
		} else if summary.Best != nil {
			at("best")["JSON"] = fmt.Sprint(*summary.Best.Value)
		}
		at("margin").find("run", out.String(), `(?m)^best loss = \S+ ± ([^,]+)`)
		at("margin").find("status", status.String(), `(?m)^best +loss = \S+ ± ([^,]+)`)
		at("margin").find("page", page.String(), `<b>[^ <]+ ± ([^<]*)</b><span>best loss`)
		at("trial").find("run", out.String(), `(?m)^best .*, trial (\d+) of`)
		at("trial").find("status", status.String(), `(?m)^best .*, trial (\d+)$`)
		at("trial").find("report", markdown.String(), `(?m)^- best loss, trial (\d+)`)
		at("trial").find("report's words", markdown.String(), `The best loss is [^,]+, of trial (\d+)`)
		at("trial")["report's JSON"] = fmt.Sprint(shown.Best)
		if summary.Best != nil {
			at("trial")["JSON"] = fmt.Sprint(summary.Best.Trial)
		}
	} else {
		at("hypervolume").find("run", out.String(), `hypervolume (\S+)`)
		at("hypervolume").find("status", status.String(), `hypervolume (\S+)`)
		at("hypervolume").find("report", markdown.String(), `(?m)^- hypervolume: (\S+)`)
		at("hypervolume")["JSON"] = fmt.Sprint(*summary.Hypervolume)
		at("front").find("run", out.String(), `front: (\d+)`)
		at("front").find("status", status.String(), `(?m)^front +(\d+)`)
		at("front").find("report", markdown.String(), `(?m)^- trials on the front: (\d+)`)
		at("front")["JSON"] = fmt.Sprint(len(summary.Front))
	}
	for _, c := range []struct{ name, tally, status string }{
		{"failed", "failed", `succeeded, (\d+) failed`}, {"pruned", "stopped early", `failed, (\d+) stopped early`},
		{"infeasible", "over a limit", `(\d+) of the succeeded over a limit`}, {"unfinished", "unfinished", `(\d+) unfinished`},
		{"excluded", "excluded", `early, (\d+) excluded`}, {"out of range", "out of range", `(\d+) out of range`},
	} {
		f := at(c.name)
		for place, text := range map[string]struct{ text, pattern string }{
			"status": {status.String(), c.status}, "report": {markdown.String(), `(?m)^- ` + c.name + `: (\d+)`}, "page": {page.String(), `<b>(\d+)</b><span>` + c.name},
		} {
			f[place] = "0" // what is not said
			f.find(place, text.text, text.pattern)
		}
		f["run"] = "0"
		f.find("run", out.String(), `(\d+) `+c.tally)
		listed := 0
		for _, t := range st.Trials {
			if st.StandingOf(t) == c.name {
				listed++
			}
		}
		f["trials"] = fmt.Sprint(listed)
	}
	at("failed")["JSON"], at("pruned")["JSON"], at("infeasible")["JSON"] = fmt.Sprint(summary.Failed), fmt.Sprint(summary.Pruned), fmt.Sprint(summary.Infeasible)
	at("unfinished")["JSON"] = fmt.Sprint(len(times.Unfinished))
	at("excluded")["JSON"], at("out of range")["JSON"] = fmt.Sprint(times.Excluded), fmt.Sprint(times.Outside)
	reasons := func(list []report.Failures) string {
		return fmt.Sprint(len(slices.Concat(lists.Map(list, func(f report.Failures) []int { return f.Trials })...)))
	}
	at("failed")["JSON's reasons"], at("failed")["report's reasons"], at("failed")["status's reasons"] = reasons(times.Failures), reasons(shown.Failures), "0"
	at("failed").find("status's reasons", status.String(), `(?m)^ +(\d+) failed: exit code 1$`)
	at("time").find("status", status.String(), `(?m)^time +(\S+) in`)
	at("time").find("report", markdown.String(), `(?m)^- time: (\S+)`)
	at("time")["JSON"] = (time.Duration(times.Elapsed * float64(time.Second))).String()
	for place, text := range map[string]string{"run": out.String(), "status": status.String(), "report": strings.ReplaceAll(markdown.String(), "No trial", "no trial")} {
		at("no trial holds the limits")[place] = fmt.Sprint(strings.Contains(text, "no trial holds every limit"))
	}
	at("ruled out").find("run's last lines", end, `bounds:  rule out \D*(\d+) %`)
	at("ruled out").find("report", markdown.String(), `bounds rule out \D*(\d+) %`)
	at("ruled out").find("page", page.String(), `bounds rule out \D*(\d+) %`)
	at("left to gain").find("report", markdown.String(), `leave at most (\S+) to gain`)
	at("left to gain").find("page", page.String(), `leave at most (\S+) to gain`)
	tight := true
	if m := shown.Model; m != nil && m.Lipschitz != nil {
		at("ruled out")["report's JSON"] = strings.Trim(report.Percent(m.Lipschitz.Excluded), "<>")
		if gap := m.Lipschitz.Gap; gap != nil {
			at("left to gain")["report's JSON"] = fmt.Sprint(*gap)
			tight = m.Lipschitz.Stated && *gap <= 2
		}
	}
	at("holds").find("run", out.String(), `held with a probability of \D?(\d+) %`)
	if summary.Holds != nil {
		at("holds")["JSON"] = strings.Trim(report.Percent(min(max(*summary.Holds, 1e-9), 1-1e-9)), "<>")
	}
	return figures, tight
}
