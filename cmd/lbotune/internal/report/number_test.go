package report

import (
	"encoding/json"
	"math"
	"testing"
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
