package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

var update = flag.Bool("update", false, "draw the golden pictures anew")

// history makes studies from events, a second apart.
type history struct {
	t  testing.TB
	st study.State
	n  int
}

func (h *history) record(events ...study.Event) {
	h.t.Helper()
	for _, e := range events {
		at := time.Date(2026, 1, 31, 12, 0, h.n, 0, time.UTC)
		if err := h.st.Apply(study.Record{At: at, Elapsed: time.Duration(h.n) * time.Second, Event: e}); err != nil {
			h.t.Fatal(err)
		}
		h.n++
	}
}

func begin(t testing.TB, params ...spaces.Param) *history {
	t.Helper()
	return beginAs(t, func(*study.Config) {}, params...)
}

func beginAs(t testing.TB, edit func(*study.Config), params ...spaces.Param) *history {
	t.Helper()
	h := &history{t: t}
	c := study.Config{Name: "bowl", Command: command.Command{Argv: []string{"bowl"}}, Params: params, Seed: 1, Dir: "/",
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}, {Name: "size", Rule: parser.Rule{Metric: "size"}}},
		Budget:  study.Budget{Trials: 20}, Run: study.Run{Workers: 2}}
	edit(&c)
	h.record(study.Created{ID: "1", Fingerprint: "f", Config: c}, study.Session{Number: 1})
	return h
}

// trial runs a trial at a place of the cube; the value is that of a bowl.
func (h *history) trial(place ...float64) {
	loss := 0.5
	for _, u := range place {
		loss += (u - 0.3) * (u - 0.3)
	}
	h.trialOf(place, loss)
}

func (h *history) trialOf(place []float64, loss float64) {
	h.trialAt(h.st.Space.FromUniform(place), loss)
}

func (h *history) trialAt(point spaces.Point, loss float64) {
	v := h.st.Space.Decode(point)
	n := len(h.st.Trials) + 1
	gap, expected, result := 0.1, -loss*1.1, metrics(loss)
	if h.st.Config.Several() {
		result["size"] = 1 - point[0]
	}
	h.record(study.Proposed{Trial: n, Told: len(h.st.Order), Origin: []optimizer.Origin{optimizer.OriginInitial, optimizer.OriginModel}[n%2], Values: v,
		Note: optimizer.Note{Why: "test", Expected: &expected, Lipschitz: &optimizer.LipschitzNote{Slope: 1, Constant: 2 + float64(n), Excluded: 0.2, Gap: &gap, Stated: true}}},
		study.Started{Trial: n, Attempt: 1, Slot: n % 2, Waited: 0.5},
		study.Measured{Trial: n, Attempt: 1, Measurements: []study.Measurement{{Step: 1, Metrics: metrics(loss + 1)}, {Step: 2, Metrics: metrics(loss)}}},
		study.Finished{Trial: n, Attempt: 1, Slot: n % 2, Status: optimizer.Succeeded, Metrics: result, Seconds: 1})
}

func metrics(loss float64) study.Metrics {
	return study.Metrics{"loss": loss, "size": math.Min(10*loss, math.MaxFloat64)}
}

func (h *history) failure(text string) {
	n := len(h.st.Trials) + 1
	h.record(study.Proposed{Trial: n, Told: len(h.st.Order), Origin: optimizer.OriginInitial, Values: h.st.Space.Decode(h.st.Space.Center())},
		study.Started{Trial: n, Attempt: 1},
		study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1, Text: text}})
}

func (h *history) of(running bool) *Study {
	return Of(h.t.Context(), Source{State: &h.st, Dir: "/bowl.study", Running: running,
		Command: func(t *study.Trial) string { return fmt.Sprint("bowl ", t.Number) },
		Output:  func(t *study.Trial) string { return evil }})
}

// evil is what no page must pass on as it is.
const evil = "</script><script>document.title='owned'</script>\x1b[31m\x00\"'><img src=x onerror=alert(1)>"

func float(name string) spaces.Param {
	return spaces.Param{Name: name, Kind: spaces.KindFloat, Min: 0, Max: 1}
}

var prepared = map[string]*Study{}

// studies are all kinds of studies that there are to look at, made once. That of 30 parameters
// takes as long as all others.
func studies(t *testing.T) map[string]*Study {
	for name := range makers {
		if name != "30 parameters" || !testing.Short() {
			studyOf(t, name)
		}
	}
	return prepared
}

// studyOf is one of them.
func studyOf(t *testing.T, name string) *Study {
	if prepared[name] == nil {
		prepared[name] = makers[name](t)
	}
	return prepared[name]
}

var makers = map[string]func(t *testing.T) *Study{
	"finished": func(t *testing.T) *Study {
		h := scattered(begin(t, float("x"), float("y")), 19)
		h.failure(evil)
		h.record(study.Closed{Why: study.EndTrials, Detail: "all 20 trials are finished"})
		return h.of(false)
	},
	"running": func(t *testing.T) *Study { return underWay(t).of(true) },
	"crashed": func(t *testing.T) *Study { return underWay(t).of(false) },
	"empty":   func(t *testing.T) *Study { return begin(t, float("x")).of(true) },
	"all failed": func(t *testing.T) *Study {
		h := begin(t, float("x"))
		for range 5 {
			h.failure("exit code 1")
		}
		return h.of(false)
	},
	"one parameter": func(t *testing.T) *Study { return scattered(begin(t, float("x")), 9).of(false) },
	"30 parameters": func(t *testing.T) *Study {
		var many []spaces.Param
		for i := range 30 {
			many = append(many, float(fmt.Sprint("p", i)))
		}
		return scattered(begin(t, many...), 12).of(false)
	},
	"conditional": func(t *testing.T) *Study {
		return scattered(begin(t, float("x"),
			spaces.Param{Name: "kind", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a"), spaces.String("b")}},
			spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 64, Scale: spaces.Log, When: `kind == "b"`},
			spaces.Param{Name: "flag", Kind: spaces.KindBool}), 16).of(false)
	},
	"two objectives": func(t *testing.T) *Study {
		both := func(c *study.Config) { c.Metrics[1].Direction = study.Minimize }
		return scattered(beginAs(t, both, float("x"), float("y")), 12).of(false)
	},
	"evil": func(t *testing.T) *Study {
		h := begin(t, spaces.Param{Name: "x", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(evil), spaces.String(strings.Repeat("long ", 200000))}})
		h.st.Config.Name = evil
		h.record(study.Noted{Text: evil})
		return scattered(h, 8).of(false)
	},
}

// scattered tells of n trials all over the space.
func scattered(h *history, n int) *history {
	for k := range n {
		place := make([]float64, len(h.st.Config.Params))
		for i := range place {
			_, place[i] = math.Modf(float64(k+1) * math.Sqrt(float64(2+3*i+i*i)))
		}
		h.trial(place...)
	}
	return h
}

// underWay is a study whose seventh trial runs.
func underWay(t *testing.T) *history {
	h := scattered(begin(t, float("x"), float("y")), 6)
	h.record(study.Proposed{Trial: 7, Told: 6, Origin: optimizer.OriginModel, Values: h.st.Space.Decode(spaces.Point{0.5, 0.5})},
		study.Started{Trial: 7, Attempt: 1}, study.Measured{Trial: 7, Attempt: 1, Measurements: []study.Measurement{{Step: 1, Metrics: metrics(2)}}})
	return h
}

// Whatever a study is like, its page is whole, nothing on it comes from elsewhere, and no
// text of the study becomes a part of the page's language.
func TestPagesOfAllKindsOfStudies(t *testing.T) {
	if effort.Raced {
		t.Skip("runs in one goroutine")
	}
	for name, s := range studies(t) {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := HTML(&b, []*Study{s}); err != nil {
				t.Fatal(err)
			}
			page := b.String()
			if n := strings.Count(page, "<script"); n != 1 {
				t.Errorf("%d scripts; want that of the page alone", n)
			}
			for _, bad := range []string{"<img", "\x1b", "\x00", "ZgotmplZ", "NaN", "Inf"} {
				t.Run(bad, func(t *testing.T) {
					if strings.Contains(page, bad) {
						t.Errorf("the page has %q: ...%s", bad, page[max(strings.Index(page, bad)-100, 0):][:200])
					}
				})
			}
			for _, link := range regexp.MustCompile(`<[a-z][^<>]* (?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				if !strings.HasPrefix(link[1], "#") && !strings.HasPrefix(link[1], "data:") {
					t.Errorf("the page leads to %s", link[1])
				}
			}
			for _, target := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
				if !strings.Contains(page, `id="`+target[1]+`"`) {
					t.Fatalf("a link leads to #%s, which is not there", target[1])
				}
			}
			if len(page) > 400<<10 && name != "30 parameters" {
				t.Errorf("the page has %d bytes", len(page))
			}
			for _, p := range plots {
				for _, svg := range p.pictures(s) {
					if err := wellFormed(svg); err != nil {
						t.Errorf("%s: %v", p.name, err)
					}
				}
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		})
	}
}

func wellFormed(svg string) error {
	depth, roots := 0, 0
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 1:
			return nil
		case err != nil:
			return fmt.Errorf("%d documents: %w", roots, err)
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
		case xml.EndElement:
			depth--
		}
	}
}

// Values whose squares are no numbers are looked at like others: all is drawn, and nothing is said of
// them that is not so.
func TestValuesOfAnySize(t *testing.T) {
	if effort.Raced {
		t.Skip("runs in one goroutine")
	}
	for name, of := range map[string]func(k int, x float64) float64{
		"one that diverged": func(k int, x float64) float64 { return map[bool]float64{true: 1e300, false: 1 + x}[k == 5] },
		"the largest":       func(k int, x float64) float64 { return map[bool]float64{true: 1.6e308, false: 1 + x}[k == 5] },
		"large":             func(_ int, x float64) float64 { return 1e300 * (1 + x) },
		"small":             func(_ int, x float64) float64 { return 1e-200 * (1 + x) },
		"of all sizes":      func(_ int, x float64) float64 { return math.Pow(10, 600*x-300) },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "the largest" && name != "of all sizes" {
				effort.Thorough(t, "lies between the others")
			}
			h := begin(t, float("x"), float("y"))
			rng := rand.New(rand.NewPCG(1, 1))
			for k := range 20 {
				u, v := rng.Float64(), rng.Float64()
				h.trialOf([]float64{u, v}, of(k, (u+v*v)/2))
			}
			s := h.of(false)
			var page bytes.Buffer
			if err := HTML(&page, []*Study{s}); err != nil {
				t.Fatal(err)
			}
			for _, at := range regexp.MustCompile(`NaN|Inf\b|are equal|beginning`).FindAllStringIndex(page.String(), 1) {
				t.Errorf("the page has %s", page.String()[max(at[0]-80, 0):at[1]])
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
			if known := s.Model != nil && s.Model.Importance != nil; known != (name == "large" || name == "small" || name == "of all sizes") {
				t.Errorf("what matters is known: %v, %s", known, s.words())
			}
		})
	}
}

// Of a trial that was stopped early the last reading is no value: neither is it that of today's values,
// nor is the trial missing to the model.
func TestStoppedTrialsHaveNoValue(t *testing.T) {
	h := begin(t, float("x"))
	for n := 1; n <= 16; n++ {
		status := []optimizer.Status{optimizer.Succeeded, optimizer.Pruned}[n%2]
		h.record(study.Proposed{Trial: n, Told: len(h.st.Order), Origin: optimizer.OriginDefault, Values: h.st.Space.Decode(spaces.Point{float64(n) / 16})},
			study.Started{Trial: n, Attempt: 1}, study.Finished{Trial: n, Attempt: 1, Status: status, Metrics: metrics(float64(n))})
	}
	if text := strings.Join(h.of(false).words(), " "); strings.Contains(text, "today's values") || strings.Contains(text, "of 16 trials") {
		t.Errorf("the page says: %s", text)
	}
}

// Today's values are those that the first trial had, also once the spec has another default.
func TestImportanceFromWhatTodayWas(t *testing.T) {
	x := float("x")
	x.Default = spaces.Float(0.875)
	h := begin(t, x, float("y"))
	h.record(study.Proposed{Trial: 1, Origin: optimizer.OriginDefault, Values: h.st.Space.Decode(spaces.Point{0.875, 0.5})},
		study.Started{Trial: 1, Attempt: 1}, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: metrics(0.87)})
	for i := range 20 {
		h.trial(float64(i)/20, float64(i*7%20)/20)
	}
	c := h.st.Config
	c.Params = slices.Clone(c.Params)
	c.Params[0].Default = spaces.Float(0.125)
	h.record(study.ConfigChanged{Fingerprint: "g", Config: c})
	if s := h.of(false); s.Unimportant() != nil || s.Model.Importance.From != "default" || s.Model.Importance.Start != 0.87 {
		t.Errorf("%v; %+v", s.Unimportant(), s.Model)
	}
}

// A journal, which may be anybody's, can name any slot.
func TestTimelineOfAnySlot(t *testing.T) {
	h := begin(t, float("x"))
	h.record(study.Proposed{Trial: 1, Origin: optimizer.OriginInitial, Values: h.st.Space.Decode(spaces.Point{0.5})},
		study.Started{Trial: 1, Attempt: 1, Slot: 1 << 40})
	if picture := h.of(false).timeline(); strings.Count(picture, ">slot ") != 9 {
		t.Errorf("the slots are %s", picture)
	}
}

// What is shown follows from what a study is like.
func TestWhatIsShown(t *testing.T) {
	of := studies(t)
	for name, want := range map[string][]string{
		"finished":      {"history", "importance", "good", "ablation", "slice", "map", "parallel", "timeline", "curves", "metrics", "distribution", "lipschitz", "predicted", "origins"},
		"running":       {"history", "slice", "map", "parallel", "timeline", "curves", "metrics", "distribution", "lipschitz", "predicted", "origins"},
		"empty":         nil,
		"all failed":    {"history", "timeline", "origins"},
		"one parameter": {"history", "importance", "good", "ablation", "slice", "parallel", "timeline", "curves", "metrics", "distribution", "lipschitz", "predicted", "origins"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range plots {
				if len(p.pictures(of[name])) > 0 {
					got = append(got, p.name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v; want %v", name, of[name].NoModel, got, want)
			}
		})
	}
	for plot, why := range map[string]string{"curves": "too little is known", "slice": of["all failed"].NoModel} { // what needs no model does not miss one
		if _, err := of["all failed"].SVG(plot); err == nil || !strings.HasSuffix(err.Error(), "yet: "+why) {
			t.Errorf("%s: %v", plot, err)
		}
	}
	if s := of["finished"]; len(s.Failures) != 1 || s.Failures[0].Trials[0] != 20 || s.Trials[s.Best-1].class() != "d best" {
		t.Errorf("failures %+v, best %d", s.Failures, s.Best)
	}
	if s := of["running"]; s.Standing != "running" || of["crashed"].Standing != "stopped" || s.Trials[6].Standing != "unfinished" {
		t.Errorf("standing %q and %q, trial 7 %q", s.Standing, of["crashed"].Standing, s.Trials[6].Standing)
	}
	if text := of["running"].list(); strings.Contains(text, ">0ms<") {
		t.Errorf("what has not finished is said to have taken no time: %s", text)
	}
	if n := of["conditional"].Trials[0].places; !slices.ContainsFunc(of["conditional"].Trials, func(t *Trial) bool { return math.IsNaN(t.places[2]) }) {
		t.Errorf("a parameter that does not exist has a place: %v", n)
	}
}

// The pictures look as they did. A model would change them with the optimizer; this one
// stays as it is.
func TestGoldenPictures(t *testing.T) {
	h := begin(t, float("x"), spaces.Param{Name: "kind", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a<b"), spaces.String("c")}})
	h.trial(0.1, 0.2)
	h.trial(0.8, 0.9)
	h.failure("exit code 1")
	h.trial(0.3, 0.4)
	h.trial(0.5, 0.4)
	s := h.of(false)
	s.Model = fixedModel()
	for _, p := range plots {
		of := s
		if p.name == "front" || p.name == "hypervolume" {
			of = studyOf(t, "two objectives")
		}
		svg, err := of.SVG(p.name)
		if err != nil || wellFormed(svg) != nil || strings.Count(svg, "</svg>\n") != 1 || strings.Contains(svg, "var(") {
			t.Errorf("%s: %v, or it is no document of its own", p.name, err)
		}
		golden(t, p.name+".svg", strings.ReplaceAll(svg, "><", ">\n<"))
		wide, err := of.Text(p.name, Cells{Columns: 200})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := of.Text(p.name, Cells{Columns: 80, Plain: true})
		if err != nil || strings.ContainsFunc(plain, func(r rune) bool { return r > '~' }) {
			t.Errorf("%s: %v, or it is not plain:\n%s", p.name, err, plain)
		}
		for line := range strings.Lines(plain) {
			if len(line) > 81 {
				t.Errorf("%s: a line is wider than 80 columns: %s", p.name, line)
			}
		}
		golden(t, p.name+".txt", plain+"\n"+wide)
		if coloured, err := of.Text(p.name, Cells{Columns: 200, Colours: true}); err != nil || regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, "") != wide {
			t.Errorf("%s: colours change more than colours, or %v", p.name, err)
		}
	}
	if _, err := s.SVG("nothing"); err == nil || !strings.Contains(err.Error(), "history") {
		t.Errorf("an unknown plot: %v", err)
	}
}

// golden compares with what a file in testdata has.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s has changed (%v); look at it, then go test ./cmd/lbotune/internal/report -run Golden -update", file, err)
	}
}

// The front stands out, and its border runs from trial to trial through the corners that
// both dominate.
func TestFront(t *testing.T) {
	both := func(c *study.Config) { c.Metrics[1].Direction = study.Minimize }
	h := beginAs(t, both, float("x"))
	for _, place := range []float64{0.3, 0.6, 0.1, 0.9, 0.5} { // the least loss is at 0.3, the least size at 1
		h.trial(place)
	}
	s := h.of(false)
	var green []int
	for _, tr := range s.Trials {
		if tr.class() == "d best" {
			green = append(green, tr.Number)
		}
	}
	if !slices.Equal(green, []int{1, 2, 4, 5}) {
		t.Errorf("trials %v stand out, want 1, 2, 4 and 5", green)
	}
	svg, err := s.SVG("front")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`class="bestline" d="M([^"]*)"`).FindStringSubmatch(svg)
	if line == nil {
		t.Fatal("no border of the front")
	}
	var at [][2]float64
	for _, p := range strings.Split(line[1], "L") {
		var xy [2]float64
		if _, err := fmt.Sscan(p, &xy[0], &xy[1]); err != nil {
			t.Fatal(err)
		}
		at = append(at, xy)
	}
	if len(at) != 7 {
		t.Fatalf("the border has %d corners, want 4 trials and 3 between them", len(at))
	}
	for i := 1; i < len(at); i++ {
		if up := i%2 == 1; up != (at[i][0] == at[i-1][0]) || up != (at[i][1] < at[i-1][1]) || !up != (at[i][0] < at[i-1][0]) {
			t.Errorf("from %v to %v: want up, then left, in turns", at[i-1], at[i])
		}
	}
	if out := studyOf(t, "finished").fronts(); out != nil {
		t.Errorf("one objective has a front: %v", out)
	}
}

func fixedModel() *Model {
	m := &Model{Told: 4, Rank: 0.9, Within: 1, Importance: &Importances{Importance: Importance{From: "first", Start: 0.8, End: 0.5, Params: []ParamRow{
		{Param: "x", Gain: Interval{0.2, 0.1, 0.3}, Main: Interval{0.7, 0.6, 0.8}, Total: Interval{0.8, 0.7, 0.9}, Good: Interval{0.6, 0.4, 0.8}, First: 0.95},
		{Param: "kind", Gain: Interval{0.1, -0.1, 0.2}, Main: Interval{0.1, 0, 0.3}, Total: Interval{0.2, 0.1, 0.3}, Good: Interval{0.1, 0, 0.2}, First: 0.05}}}}}
	for _, p := range []string{"x", "kind"} {
		m.Slices = append(m.Slices, Slice{Param: p, Places: []float64{0, 0.5, 1}, Mean: []float64{0.6, 0.5, 0.7},
			Low: []float64{0.5, 0.45, 0.5}, High: []float64{0.8, 0.6, 0.9}, Ruled: []bool{false, false, true}})
	}
	m.Maps = []Map{{X: "x", Y: "kind", Size: 2, Mean: []float64{0.5, 0.6, 0.7, 0.8}, SD: []float64{0, 0.1, 0.2, 0.3}, Ruled: []bool{false, false, false, true}, free: []int{0, 1}}}
	return m
}

func TestMarkdown(t *testing.T) {
	s := studyOf(t, "finished")
	var b bytes.Buffer
	if err := s.Markdown(&b); err != nil || strings.Contains(b.String(), "<script") || !strings.Contains(b.String(), "| x |") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// The name of a metric is no language of the Markdown.
func TestMarkdownOfAStrangeName(t *testing.T) {
	h := begin(t, float("x"))
	h.trial(0.5)
	s := h.of(false)
	s.Metric = "<img src=x>"
	var b bytes.Buffer
	if err := s.Markdown(&b); err != nil || strings.Contains(b.String(), "<img") || !strings.Contains(b.String(), "best &lt;img src=x&gt;, trial 1: 0.54") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// A study without a trial shows no empty tables, one without a value no numbers of an axis;
// of several objectives all are named.
func TestNothingToShow(t *testing.T) {
	page := func(name string) string {
		var b bytes.Buffer
		if err := HTML(&b, []*Study{studyOf(t, name)}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := page("empty"); strings.Contains(text, "<table>") || !strings.Contains(text, "There is no trial yet.") {
		t.Error("the page of an empty study has a table")
	}
	if text := page("all failed"); !strings.Contains(text, "exit code 1: 5 trials, such as <a") {
		t.Error("the page of a study that failed does not count its failures")
	}
	if history := studyOf(t, "all failed").history(); strings.Contains(history, `class="tick end"`) {
		t.Errorf("without a value there are numbers of one: %s", history)
	}
	if text := page("two objectives"); !strings.Contains(text, "minimize loss, minimize size") {
		t.Error("the page does not name both objectives")
	}
}

// Each of several objectives has its slices, its maps and an axis of the parallel coordinates.
func TestEachObjectiveIsDrawn(t *testing.T) {
	s := studyOf(t, "two objectives")
	var slices, maps []string
	for _, p := range s.slices() {
		slices = append(slices, titleRE().FindStringSubmatch(p)[1])
	}
	for _, p := range s.maps2D() {
		maps = append(maps, titleRE().FindStringSubmatch(p)[1])
	}
	if got, want := fmt.Sprint(slices, maps), "[Values along x Values along y size along x size along y] [The model of loss over x and y The model of size over x and y]"; got != want {
		t.Errorf("drawn are %s; want %s", got, want)
	}
	for i, p := range s.slices() {
		if strings.Count(p, `class="mean"`) != 1 || strings.Contains(p, "data-y") != (i < 2) { // size falls with x
			t.Errorf("of %s: no model, or the scale of another objective", slices[i])
		}
	}
	if text := s.parallel(); !strings.Contains(text, ">loss</text>") || !strings.Contains(text, ">size</text>") {
		t.Errorf("no axis of each objective: %s", text)
	}
	sizes := s.Model.Others[0].Slices[0].Mean
	if len(sizes) == 0 || sizes[0] < sizes[len(sizes)-1] {
		t.Errorf("the size falls as x grows, and the model has %v", sizes)
	}
}

// The best trial stands above those at the same place that came after it.
func TestBestOnTop(t *testing.T) {
	h := begin(t, float("x"))
	h.trialOf([]float64{0.5}, 1)
	h.trialOf([]float64{0.5}, 2)
	s := h.of(false)
	for _, picture := range []string{s.history(), s.slices()[0]} {
		if strings.LastIndex(picture, `class="d best"`) < strings.LastIndex(picture, `class="d spread"`) {
			t.Errorf("the best is below: %s", picture)
		}
	}
}

// Where the model lies beyond the axis, no line is drawn along its edge.
func TestSliceBeyondTheAxis(t *testing.T) {
	h := begin(t, float("x"), float("kind"))
	h.trial(0.1, 0.2)
	h.trial(0.5, 0.4)
	s := h.of(false)
	s.Model = fixedModel()
	s.Model.Slices[0].Mean[2] = 1e6
	if line := regexp.MustCompile(`class="mean" d="([^"]*)"`).FindStringSubmatch(s.slices()[0]); line == nil || strings.Count(line[1], " ") != 2 {
		t.Errorf("the mean is drawn by %q; want two places of three", line)
	}
}

// Of very many trials some are drawn, the best among them, and the page stays small.
func TestManyTrials(t *testing.T) {
	h := begin(t, float("x"))
	for k := range 10000 {
		h.trial(math.Mod(float64(k)*0.618, 1))
	}
	s := of(Source{State: &h.st})
	if n := len(s.shown); n > mostDrawn {
		t.Errorf("%d of 10000 trials are drawn", n)
	}
	if !slices.Contains(s.shown, s.ranked[0]) {
		t.Error("the best is left out")
	}
	if told, _ := s.known(); len(told) > mostTold {
		t.Errorf("the model is told of %d trials", len(told))
	}
}

// A metric that is printed at other steps than the objective does not tear its curves, nor does its step count.
func TestCurvesBesideAnotherMetric(t *testing.T) {
	h := underWay(t)
	h.record(study.Measured{Trial: 7, Attempt: 1, Measurements: []study.Measurement{{Step: 2, Metrics: study.Metrics{"loss": 1}},
		{Step: 21, Metrics: study.Metrics{"size": 5}}, {Step: 3, Metrics: study.Metrics{"loss": 0.5}}, {Step: 22, Metrics: study.Metrics{"size": 4}}}})
	s := h.of(true)
	if curves := s.curves(); strings.Count(curves, `class="curve`) != 7 || strings.Count(curves, " d=\"M") != strings.Count(curves, "M") {
		t.Errorf("a curve is torn: %s", curves)
	}
	if now := s.now(); !strings.Contains(now, `>3</td><td`) || strings.Contains(now, ">22<") {
		t.Errorf("what runs is not at step 3: %s", now)
	}
}

// A picture that leaves trials or parameters out says how many it has.
func TestPicturesSayHowMuchTheyDraw(t *testing.T) {
	h := begin(t, float("x"))
	for k := range 400 {
		h.trial(math.Mod(float64(k)*0.618, 1))
	}
	s := of(Source{State: &h.st})
	for name, class := range map[string]string{"parallel": `class="thread`, "curves": `class="curve`} {
		p := plots[slices.Index(Plots(), name)]
		if n := strings.Count(p.pictures(s)[0], class); n != mostLines || !strings.Contains(p.note, fmt.Sprint(mostLines)) {
			t.Errorf("%s has %d lines of 400, and says: %s", name, n, p.note)
		}
	}
	if n := strings.Count(s.parallel(), `class="thread top"`); n != mostLines/10 {
		t.Errorf("%d of %d lines stand out", n, mostLines)
	}
	im := Importance{}
	for k := range 30 {
		share := Interval{float64(30 - k), float64(30 - k), float64(30 - k)}
		im.Params = append(im.Params, ParamRow{Param: fmt.Sprint("p", k), Total: share})
	}
	s.Model, s.Params = &Model{Importance: &Importances{Importance: im}}, make([]spaces.Param, 30)
	if n := strings.Count(s.sensitivity()[0], `class="name end"`); n != mostDrawnParams || !strings.Contains(strings.Join(s.LeftOut(), ""), fmt.Sprint(n, " of 30 parameters")) {
		t.Errorf("%d parameters have a bar, and the page says: %s", n, s.LeftOut())
	}
}

// A table that lacks trials says so: a filter finds no others in it.
func TestTableOfManyTrialsSaysWhatItLacks(t *testing.T) {
	h := begin(t, float("x"))
	for k := range 510 {
		if k%4 == 0 {
			h.failure("exit code 1")
		} else {
			h.trial(math.Mod(float64(k)*0.618, 1))
		}
		if k == 499 {
			if said := of(Source{State: &h.st}).LeftOut(); said != nil {
				t.Errorf("of 500 trials it says: %s", said)
			}
		}
	}
	s := of(Source{State: &h.st})
	if said := strings.Join(s.LeftOut(), " "); strings.Count(s.list(), "<tr id") != mostListed || !strings.Contains(said, "500 of the 510") {
		t.Errorf("the table has %d rows, and the page says: %s", strings.Count(s.list(), "<tr id"), said)
	}
}

// Of failures with a reason each the page and the Markdown have some, and say how many more there are.
func TestFailuresOfManyReasons(t *testing.T) {
	h := begin(t, float("x"))
	for k := range 50 {
		h.failure(fmt.Sprint("nan on line ", k))
	}
	s := of(Source{State: &h.st})
	var markdown strings.Builder
	if err := s.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": render("failures", s), "Markdown": markdown.String()} {
		if n := strings.Count(text, "nan on line"); n != mostReasons || !strings.Contains(text, "20 of 50 reasons") {
			t.Errorf("the %s has %d reasons of 50:\n%s", name, n, text)
		}
	}
	if len(s.Failures) != 50 {
		t.Errorf("the JSON has %d reasons", len(s.Failures))
	}
}

// So does it with very many parameters, and says what is left out of it.
func TestManyParameters(t *testing.T) {
	effort.Thorough(t, "draws 3000 trials of 100 parameters")
	var params []spaces.Param
	for i := range 100 {
		params = append(params, float(fmt.Sprintf("x%d", i)))
	}
	h := begin(t, params...)
	place := make([]float64, len(params))
	for k := range 3000 {
		for i := range place {
			place[i] = math.Mod(float64(k)*math.Sqrt(float64(i+2)), 1)
		}
		h.trial(place...)
	}
	command := strings.Repeat(" --parameter=0.12345678901234567", len(params))
	s := of(Source{State: &h.st, Command: func(*study.Trial) string { return command }})
	var page bytes.Buffer
	if err := HTML(&page, []*Study{s}); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 5<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	for _, want := range []string{" of 3000 trials are drawn: the best, the last, and an even sample of the others", "20 of 100 parameters are drawn: the first",
		`id="t3000"`, fmt.Sprintf(`id="t%d"`, s.ranked[0].Number)} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s is missing on the page", want)
			}
		})
	}
	links, places := regexp.MustCompile(`href="#(t\d+)"`), regexp.MustCompile(`id="(t\d+)"`)
	known := map[string]bool{}
	for _, m := range places.FindAllStringSubmatch(page.String(), -1) {
		known[m[1]] = true
	}
	for _, m := range links.FindAllStringSubmatch(page.String(), -1) {
		if !known[m[1]] {
			t.Fatalf("a link leads to %s, which is not on the page", m[1])
		}
	}
	left := s.Trials[slices.IndexFunc(s.Trials, func(t *Trial) bool { return !t.shown })]
	data, err := json.Marshal(left)
	if err != nil || left.Command != "" || !strings.Contains(string(data), `"command":"`+command+`"`) {
		t.Error("as JSON, and there alone, all trials have their command")
	}
}

func TestComparisonSaysWhatIsFair(t *testing.T) {
	finished, other := studyOf(t, "finished"), studyOf(t, "one parameter")
	var b bytes.Buffer
	if err := HTML(&b, []*Study{finished, other}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"after 9 trials", "One seed of each setting", `id="a0-head"`, `id="ta0-1"`, `href="#tb1-1"`} {
		t.Run(want, func(t *testing.T) {
			if want == `id="ta0-1"` {
				want = `id="ta0-1" data-tip`
			}
			if !strings.Contains(b.String(), want) {
				t.Errorf("the page lacks %q", want)
			}
		})
	}
	seed := func(n uint64, losses ...float64) *Study {
		h := beginAs(t, func(c *study.Config) { c.Seed = n }, float("x"), float("y"))
		for _, loss := range losses {
			h.trialOf([]float64{0.5, 0.5}, loss)
		}
		return h.of(false)
	}
	b.Reset()
	if err := HTML(&b, []*Study{seed(1, 4, 2, 1), seed(2, 8, 8, 3, 5), other}); err != nil {
		t.Fatal(err)
	}
	picture := b.String()[strings.Index(b.String(), `id="compare"`):]
	picture = picture[:strings.Index(picture, "</svg>")]
	for text, want := range map[string]int{`class="seed s0"`: 2, `class="band s0"`: 1, `class="series s0"`: 1, "bowl, 2 seeds": 1, `class="seed s1"`: 1, `class="band s1"`: 0, `class="series s1"`: 1} {
		t.Run(text, func(t *testing.T) {
			if n := strings.Count(picture, text); n != want {
				t.Errorf("the histories have %q %d times; want %d", text, n, want)
			}
		})
	}
	if want := "bowl, 2 seeds: median"; !strings.Contains(b.String(), want) {
		t.Errorf("the page lacks %q", want)
	}
	if n := strings.Count(b.String(), `<details class="one">`); n != 3 {
		t.Errorf("%d pages are folded; want 3", n)
	}
	if err := wellFormed(picture[strings.Index(picture, "<svg"):] + "</svg>"); err != nil {
		t.Error(err)
	}
	for values, want := range map[*[]float64]string{
		{3, 1, 2}:                       "median 2, between 1 and 3 with a confidence of 75 %",   // 1 − 2 / 2³
		{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}: "median 5.5, between 2 and 9 with a confidence of 98 %", // 1 − 2 (1 + 10) / 2¹⁰
	} {
		t.Run(want, func(t *testing.T) {
			if text := seeds([]string{"bowl"}, [][]float64{*values}); !strings.Contains(text[0], want) {
				t.Errorf("%v: want %s", text, want)
			}
		})
	}
}

// The page is called by the studies on it, each once, also if there are none.
func TestTitle(t *testing.T) {
	bowl, other := studyOf(t, "finished"), studyOf(t, "one parameter")
	other.Name = "a & b"
	for title, studies := range map[string][]*Study{
		"lbotune: bowl":            {bowl},
		"lbotune: bowl, a &amp; b": {bowl, bowl, other},
		"lbotune: ":                nil,
	} {
		t.Run(title, func(t *testing.T) {
			var page strings.Builder
			if err := HTML(&page, studies); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(page.String(), "<title>"+title+"</title>") {
				t.Errorf("the page of %d studies is not called so", len(studies))
			}
		})
	}
}

// A study that is given twice, by whatever name, is one seed: it makes nothing surer.
func TestComparisonOfTheSameSeed(t *testing.T) {
	s := studyOf(t, "finished")
	beside, _ := comparison([]*Study{s, s})
	card := beside[0]
	if got := card.Body; !strings.Contains(card.Note, "only the first counts") || !strings.Contains(got, "One seed of each setting") || strings.Contains(got, "2 seeds") || strings.Count(got, "<tr") != 3 {
		t.Errorf("the same study twice: %s", got[strings.Index(got, "</svg>"):])
	}
}

// What breaks a limit or was stopped early is no best at the same budget.
func TestComparisonTakesWhatCounts(t *testing.T) {
	lucky := beginAs(t, func(c *study.Config) { c.Run.Confirm = 2 }, float("x"))
	lucky.trialOf([]float64{0.5}, 0.1)
	for k, loss := range []float64{0.3, 0.5} {
		lucky.record(study.Confirmed{Trial: 1, Attempt: k + 2, Metrics: metrics(loss)})
	}
	s := lucky.of(false)
	beside, _ := comparison([]*Study{s, s})
	if got := beside[0].Body; !strings.Contains(got, "<td>0.4 ± ") {
		t.Errorf("a value that was lucky is the best of a study: %s", got)
	}
	var text bytes.Buffer
	if err := prometheus(&text, s, nil); err != nil || !strings.Contains(text.String(), "\nlbotune_best 0.4\n") {
		t.Errorf("it is in the figures for Prometheus: %s, %v", text.String(), err)
	}
	limited := func(seed uint64, losses ...float64) *Study {
		least := 0.2
		h := beginAs(t, func(c *study.Config) {
			c.Seed = seed
			c.Metrics[0].Min = &least
		}, float("x"), float("y"))
		for _, loss := range losses {
			h.trialOf([]float64{0.5, 0.5}, loss)
		}
		return h.of(false)
	}
	a, none := limited(1, 0.1, 0.8, 0.9), limited(2, 0.1, 0.15, 0.12)
	if got := a.course(); len(got) != 3 || !math.IsNaN(got[0]) || got[1] != 0.8 || got[2] != 0.8 {
		t.Errorf("the best so far is %v", got)
	}
	if got := strings.Join(a.words(), " "); !strings.Contains(got, "The best loss is 0.8,") || !strings.Contains(got, "With the first trial it was 0.1, and over a limit.") {
		t.Errorf("the first trial seems to be better than the best: %s", got)
	}
	for want, s := range map[string]*Study{"best loss, trial 2": a, "best loss, trial 2, over a limit": limited(2, 0.1, 0.15)} {
		if got := s.Tiles()[0][1]; got != want {
			t.Errorf("the tile of the best says %q, want %q", got, want)
		}
	}
	for want, of := range map[string][]*Study{
		"median 0.65, between 0.5 and 0.8":                   {a, limited(2, 0.5, 0.1, 0.7)},
		"not all of them have a value that holds the limits": {a, none},
	} {
		t.Run(want, func(t *testing.T) {
			beside, _ := comparison(of)
			if got := beside[0].Body; !strings.Contains(got, want) || strings.Contains(got, "NaN") {
				t.Errorf("want %s in %s", want, got)
			}
		})
	}
}

// Values like those of a trial are all of its values: an empty field of the page means the default.
func TestLikeAnEmptyChoice(t *testing.T) {
	h := begin(t, spaces.Param{Name: "o", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("--fast"), spaces.String("")}})
	h.trial(0.9)
	s := h.of(true)
	s.Live.Control = true
	if got := s.panel(s.Trials[0]).Like; got != `{"o":"\"\""}` {
		t.Errorf("like %s", got)
	}
}
