package spaces_test

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

var levels = []spaces.Value{spaces.Int(1), spaces.Int(2), spaces.Int(4), spaces.Int(8)}

// The change from one end of the range to the other bounds every step in the cube, once it
// is stretched, and one step as closely as can be.
func TestChangeBoundsEveryStep(t *testing.T) {
	for name, c := range map[string]struct {
		p       spaces.Param
		stretch float64
		unit    string
		change  float64                             // of slope 2
		metric  func(v spaces.Value, k int) float64 // that is as steep
	}{
		"float":          {spaces.Param{Kind: spaces.KindFloat, Min: -1, Max: 3}, 1, "unit", 8, func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * x }},
		"half steps":     {spaces.Param{Kind: spaces.KindFloat, Max: 1, Step: 0.5}, 1.5, "unit", 2, func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * x }},
		"tenths":         {spaces.Param{Kind: spaces.KindFloat, Max: 1, Step: 0.1}, 1.1, "step", 20, func(_ spaces.Value, k int) float64 { return 2 * float64(k) }},
		"int":            {spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 9}, 9. / 8, "step", 16, func(_ spaces.Value, k int) float64 { return 2 * float64(k) }},
		"int by fours":   {spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 9, Step: 4}, 1.5, "unit", 16, func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * x }},
		"ordered":        {spaces.Param{Kind: spaces.KindOrdered, Choices: levels}, 4. / 3, "step", 6, func(_ spaces.Value, k int) float64 { return 2 * float64(k) }},
		"log":            {spaces.Param{Kind: spaces.KindFloat, Min: 1e-3, Max: 10, Scale: spaces.Log}, 1, "decade", 8, func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * math.Log10(x) }},
		"log by unit":    {spaces.Param{Kind: spaces.KindFloat, Min: 1, Max: 10, Scale: spaces.Log}, 1, "unit", 20 * math.Ln10, func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * x }},
		"log int":        {spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 8, Scale: spaces.Log}, math.Log(17) / math.Log(8), "decade", 2 * math.Log10(8), func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * math.Log10(x) }},
		"log int, steps": {spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 8, Scale: spaces.Log}, math.Log(17) / math.Log(8), "step", 2 * math.Log(8) / math.Log(8./7), func(_ spaces.Value, k int) float64 { return 2 * float64(k) }},
		"huge log int":   {spaces.Param{Kind: spaces.KindInt, Min: 1, Max: 1 << 53, Scale: spaces.Log}, 1 + math.Ln2/(53*math.Ln2), "decade", 2 * 53 * math.Log10(2), nil},
		"logit":          {spaces.Param{Kind: spaces.KindFloat, Min: 0.1, Max: 0.9, Scale: spaces.Logit}, 1, "unit", 0.5 * 2 * math.Log(9), func(v spaces.Value, _ int) float64 { x, _ := v.Number(); return 2 * x }},
		"choice":         {spaces.Param{Kind: spaces.KindChoice, Choices: levels}, 1, "", 2, nil},
		"bool":           {spaces.Param{Kind: spaces.KindBool}, 1, "", 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.p.Name = "p"
			change, err := c.p.Change(2, c.unit)
			if got := c.p.Stretch(); err != nil || math.Abs(got-c.stretch) > 1e-9 || math.Abs(change-c.change) > 1e-9*c.change {
				t.Errorf("%s: stretched by %v, want %v; changes by %v, want %v; %v", name, got, c.stretch, change, c.change, err)
			}
			space, err := spaces.New(c.p)
			if err != nil {
				t.Fatal(err)
			}
			if c.metric == nil {
				return
			}
			n, finite := c.p.Levels()
			if !finite {
				n = 1000
			}
			steepest, last, before := 0.0, spaces.Point(nil), 0.0
			for k := range int(n) {
				p := space.Snap(spaces.Point{(float64(k) + 0.5) / n})
				if finite && c.p.Scale == spaces.Log {
					p, err = space.Encode(spaces.Values{{Name: "p", Value: spaces.Int(int64(k) + 1)}})
					if err != nil {
						t.Fatal(err)
					}
				}
				v, _ := space.Decode(p).Get("p")
				now := c.metric(v, k)
				if last != nil {
					steepest = max(steepest, math.Abs(now-before)/spaces.Distance(p, last))
				}
				last, before = p, now
			}
			if bound := change * c.stretch; steepest > bound*(1+1e-9) || steepest < 0.99*bound {
				t.Errorf("%s: the steepest step has %v in the cube; the bound is %v", name, steepest, bound)
			}
		})
	}
}

func TestUnitsThatAParameterLacks(t *testing.T) {
	for unit, p := range map[string]spaces.Param{
		"unit":   {Name: "p", Kind: spaces.KindOrdered, Choices: levels},
		"decade": {Name: "p", Kind: spaces.KindFloat, Min: 1, Max: 2},
		"step":   {Name: "p", Kind: spaces.KindFloat, Min: 1, Max: 2},
	} {
		t.Run(unit, func(t *testing.T) {
			if got, err := p.Change(1, unit); err == nil {
				t.Errorf("per %s: %v", unit, got)
			}
		})
	}
}
