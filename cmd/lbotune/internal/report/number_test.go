package report

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What has no end is null: JSON has no number for it.
func TestIntervalsWithoutAnEnd(t *testing.T) {
	s := Slice{Param: "x", Places: []float64{0, 1}, Mean: Numbers{1, 2}, Low: Numbers{math.Inf(-1), 1}, High: Numbers{2, math.Inf(1)}}
	b := Belief{Best: 1, Mean: 2, SD: 0.5, Low: Number(math.Inf(-1)), High: Number(math.NaN())}
	for _, c := range []struct {
		v    any
		want string
	}{
		{s, `{"param":"x","places":[0,1],"mean":[1,2],"low":[null,1],"high":[2,null],"ruled_out":null}`},
		{b, `{"best":1,"mean":2,"sd":0.5,"low":null,"high":null,"success":0}`},
		{Numbers(nil), "null"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got, err := json.Marshal(c.v); err != nil || string(got) != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
	if a := axisOf("", []float64{3, math.Inf(1), 1}, ""); a.at(1) > 0.1 || a.at(3) < 0.9 || a.at(math.Inf(1)) != 1 {
		t.Errorf("the axis of 1, 3 and infinity goes from %v to %v", a.lo, a.hi)
	}
}

// Up to a quarter of bad values is drawn at the edge, and leaves the others, which count, room to differ.
func TestBadValuesDoNotFlattenAnAxis(t *testing.T) {
	bad := []float64{0.1, 0.12, 0.15, 0.18, 0.2, 0.25}
	var values []float64
	for k := range 34 {
		values = append(values, 0.976+0.0025*float64(k)/33)
	}
	for _, c := range []struct {
		direction study.Direction
		sign      float64
	}{{study.Maximize, 1}, {study.Minimize, -1}} {
		t.Run(string(c.direction), func(t *testing.T) {
			all := lists.Map(append(bad, values...), func(v float64) float64 { return c.sign * v })
			a := axisOf("", all, c.direction)
			if room := math.Abs(a.at(c.sign*0.9785) - a.at(c.sign*0.976)); room < 0.6 {
				t.Errorf("the good values have %.2f of the axis from %v to %v", room, a.lo, a.hi)
			}
			if at := a.at(c.sign * 0.25); at != 0 && at != 1 {
				t.Errorf("a bad value is at %v; want an end", at)
			}
		})
	}
}

// Numbers that are compared have the same digits wherever they are: rounded more, today's value would be better
// than the best one.
func TestNumbersAreRoundedAlike(t *testing.T) {
	h := begin(t, float("x"))
	for k := range 12 {
		h.trialOf([]float64{float64(k) / 12}, 1235400-25*float64(k))
	}
	s := h.of(false)
	if text := strings.Join(s.words(), " "); !strings.Contains(text, "is 1235125, of trial 12") || !strings.Contains(text, "With the first trial it was 1235400.") {
		t.Errorf("in words: %s", text)
	}
	s.Model = fixedModel()
	s.Model.Importance.Start, s.Model.Importance.End = 1235400, 1235125
	if text := strings.Join(s.ablation(), ""); !strings.Contains(text, "from 1235400 (first) to 1235125<") {
		t.Errorf("the gain: %s", text)
	}
	if p := s.panel(s.Trials[0]); !strings.Contains(p.Tip, "loss = 1235400\n") || !slices.Contains(p.Rows, [2]string{"predicted", "1358940"}) {
		t.Errorf("a trial has the tip %q and the rows %q", p.Tip, p.Rows)
	}
	best := 1235125.0
	if row := (Listed{Dir: "a.study", Best: &best}).part().HTML; !strings.Contains(row, "<td>1235125</td>") {
		t.Errorf("a folder lists %s", row)
	}
	if text := seeds([]string{"bowl"}, [][]float64{{1235400, 1235125}}); !strings.Contains(text[0], " between 1235125 and 1235400 ") {
		t.Errorf("of seeds: %s", text)
	}
}

// A page has all times of the zone in which it is made.
func TestTimesAreLocal(t *testing.T) {
	was := time.Local
	time.Local = time.FixedZone("east", 5*3600)
	defer func() { time.Local = was }()
	h := begin(t, float("x"))
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	h.record(study.Proposed{Trial: 1, Origin: optimizer.OriginInitial, Values: h.st.Space.Decode(spaces.Point{0.5})}, study.Started{Trial: 1, Attempt: 1})
	h.st.Trials[0].Attempts[0].Started = at
	s := h.of(true)
	if rows := s.panel(s.Trials[0]).Rows; !slices.Contains(rows, [2]string{"attempt 1", "slot 0, started 2026-01-31 17:00:00"}) {
		t.Errorf("%q", rows)
	}
}

// Marks that differ have labels that differ.
func TestMarksOfANarrowRange(t *testing.T) {
	for _, c := range []struct{ from, to float64 }{{0.69313, 0.69315}, {1234570, 1234580}, {12345670, 12345690}, {-1234570.5, -1234570}, {999, 1001}, {1e-7, 1.00001e-7}, {0.5, 1}, {1, 5e4}, {0, 3e7}, {-1e-9, 1e-9}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			for name, a := range map[string]axis{
				"values":      axisOf("loss", []float64{c.from, c.to}, study.Minimize),
				"a parameter": paramAxis(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: c.from, Max: c.to}),
			} {
				labels := lists.Map(a.marks(), func(t tick) string { return t.label })
				if n := len(slices.Compact(slices.Clone(labels))); n < 2 || n < len(labels) {
					t.Errorf("%s: %v", name, labels)
				}
			}
		})
	}
	h := begin(t, float("x"), float("y"))
	for k := range 9 {
		h.trialOf([]float64{float64(k) / 9, 0.5}, 123456.78901+1e-5*float64(k))
	}
	s := h.of(false)
	text, err := s.Text("history", Cells{Columns: 80, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Model = fixedModel()
	s.Model.Maps[0].Mean = []float64{123456.78901, 123456.78902, 123456.78903, 123456.78904}
	marks := regexp.MustCompile(`class="tick" x="([^"]*)" y="[^"]*">([^<]*)<`).FindAllStringSubmatch(s.maps2D()[0], -1)
	for _, m := range marks {
		if at, err := strconv.ParseFloat(m[1], 64); err != nil || at+6*float64(len(m[2])) > 320 {
			t.Errorf("the label %s at %s of a map has no room", m[2], m[1])
		}
	}
	if len(marks) < 3 || marks[0][2] == marks[1][2] {
		t.Errorf("the marks of a map are %q", marks)
	}
	s.axes[1] = paramAxis(spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: 123456.78901, Max: 123456.78908})
	if text := s.maps2D()[0]; strings.Contains(text, "…") || !strings.Contains(text, ">123456.78904<") {
		t.Errorf("the labels of a parameter beside a map are cut: %q", regexp.MustCompile(`class="tick end"[^>]*>[^<]*<`).FindAllString(text, -1))
	}
	for picture, shown := range map[string][]string{
		"svg":        regexp.MustCompile(`>(123456[^<]*)<`).FindAllString(s.history(), -1),
		"characters": regexp.MustCompile(`123456\S*`).FindAllString(text, -1),
	} {
		slices.Sort(shown)
		if n := len(slices.Compact(slices.Clone(shown))); n < 3 || n < len(shown) || strings.ContainsAny(strings.Join(shown, ""), "…~") {
			t.Errorf("%s: %v", picture, shown)
		}
	}
}

// An interval as it is written holds the number that it stands around, however narrow it is.
func TestIntervalsHoldTheirMiddle(t *testing.T) {
	for want, f := range map[string]Figures{
		"0.25 ± 0.01":          {Value: 0.25, Margin: 0.01},
		"1234567.25 ± 0.05":    {Value: 1234567.25, Margin: 0.05},
		"-76.02676567 ± 1e-07": {Value: -76.0267656731, Margin: 1e-7},
		"1.23457e+08 ± 40000":  {Value: 123456789.5, Margin: 40000},
		"0.3 ± 0":              {Value: math.Nextafter(0.3, 1)},
		"0.123456789 ± 0":      {Value: 0.123456789},
	} {
		if f.Runs = 3; f.BestText() != want {
			t.Errorf("%s; want %s", f.BestText(), want)
		}
	}
}

// What is nearly all is not said to be all, nor what is nearly nothing to be nothing.
func TestShareThatIsNearlyAll(t *testing.T) {
	for _, c := range []struct {
		v    Interval
		want string
	}{
		{Interval{0.996, 0.004, 0.99999}, ">99 % (<1 to >99)"},
		{Interval{0.994, 0.006, 1}, "99 % (1 to 100)"},
		{Interval{0.5, 0, 1.002}, "50 % (0 to 100)"},
		{Interval{-1e-9, math.Copysign(0, -1), -0.02}, "0 % (0 to -2)"},
	} {
		if got := c.v.percent(); got != c.want {
			t.Errorf("%v: %q; want %q", c.v, got, c.want)
		}
	}
	for holds, want := range map[float64]string{1: ">99 %", 0.9999: ">99 %", 0.001: "<1 %", 0: "<1 %", 0.7: "70 %"} {
		if got := (Figures{Holds: &holds}).HoldsText(); !strings.Contains(got, "a probability of "+want) {
			t.Errorf("%v: %q; want %q", holds, got, want)
		}
	}
}
