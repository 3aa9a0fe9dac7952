package report

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/lbotune/lbotune/internal/lists"
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
