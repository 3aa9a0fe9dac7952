package optimizer

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// The share of the cube that the bounds exclude is that of the sample from where, with the
// noise on top, no observation's cone comes up to the best value.
func TestExcludedShareAllowsForNoise(t *testing.T) {
	for name, set := range map[string]Settings{
		"estimated": {Noise: "0.1"},
		"stated":    {Noise: "0.1", LipschitzConstant: 3},
	} {
		t.Run(name, func(t *testing.T) {
			set.Metric, set.Warp = "cube", "identity"
			o, err := New(squareSpace(t), 3, set)
			if err != nil {
				t.Fatal(err)
			}
			l := o.(*lbo)
			study(t, l, 12, hill(0.3, 0.6))
			s, err := l.surrogate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			constant := s.bounds.cones.L()
			if s.bounds.through != nil { // it is of the values, which the warp divides by their deviation
				constant *= math.Exp(s.warp.LogJacobian(0))
			}
			share := func(noise float64) float64 {
				n := 0
				for _, p := range l.cubeSample(len(l.past.told), boundSamples) {
					up := math.Inf(1)
					for i, x := range l.past.x {
						up = math.Min(up, s.z[i]+2*noise+constant*spaces.Distance(p, x))
					}
					if up < s.best {
						n++
					}
				}
				return float64(n) / boundSamples
			}
			if got, want := s.bounds.excluded, share(s.noise); got != want || want == share(0) {
				t.Errorf("%s: %v are excluded; want %v, and without noise %v", name, got, want, share(0))
			}
		})
	}
}
