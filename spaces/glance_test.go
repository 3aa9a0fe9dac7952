package spaces

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// What is seen at a glance is what rounding would have shown: beside round numbers, beside ends,
// and anywhere else.
func TestValueAtAGlance(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, p := range []Param{
		{Min: 0, Max: 1}, {Min: -1.0 / 3, Max: 2.0 / 3}, {Min: 0, Max: 9.6}, {Min: -1e20, Max: 3}, {Min: 0, Max: 1e-300}, {Min: 999.9999999999, Max: 1000},
		{Min: 1e-4, Max: 1, Scale: Log}, {Min: 1e-300, Max: 1e300, Scale: Log}, {Min: 5e-324, Max: 1e-310, Scale: Log}, {Min: 9.5, Max: 1e5 / 3, Scale: Log},
		{Min: 1e-9, Max: 1 - 1e-9, Scale: Logit}, {Min: 0.3, Max: 0.99, Scale: Logit},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			kept, all := 0, effort.Sequential(4_000, 40_000, 40_000)
			for k := range all {
				x := p.floatAt(rng.Float64())
				switch k % 4 {
				case 1:
					x = p.rounded(x)
				case 2:
					x = math.Pow10(int(math.Round(math.Log10(math.Abs(x)))))
				case 3:
					x = []float64{p.Min, p.Max}[rng.IntN(2)]
				}
				for range rng.IntN(40) {
					x = math.Nextafter(x, []float64{p.Min, p.Max}[k/4%2])
				}
				if !(x > p.Min && x < p.Max) {
					continue
				}
				want := x
				if y := p.rounded(x); math.Abs(y-x) <= p.fuzz(x) {
					want = y
				}
				if got := p.value(x); got != want {
					t.Fatalf("%v becomes %v; want %v", x, got, want)
				}
				kept++
			}
			if kept < all/4 {
				t.Errorf("%d numbers were looked at", kept)
			}
		})
	}
}
