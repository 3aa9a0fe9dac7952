package report

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// What the model that is shown costs, of studies of all sizes.
func BenchmarkModel(b *testing.B) {
	for _, d := range []int{3, 20} {
		for _, n := range []int{30, 200} {
			b.Run(fmt.Sprintf("parameters=%d/trials=%d", d, n), func(b *testing.B) {
				var params []spaces.Param
				for i := range d {
					params = append(params, float(fmt.Sprint("x", i)))
				}
				h := begin(b, params...)
				rng := rand.New(rand.NewPCG(1, 2))
				u := make([]float64, d)
				for range n {
					for i := range u {
						u[i] = rng.Float64()
					}
					h.trial(u...)
				}
				s := of(Source{State: &h.st})
				for b.Loop() {
					m, err := s.fit(b.Context(), 0)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := s.importance(b.Context(), m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
