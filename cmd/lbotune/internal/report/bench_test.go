package report

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

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

// What ten more trials cost a page that is served: each second at that rate, and what it is sent.
func BenchmarkRecords(b *testing.B) {
	for _, n := range []int{500, 2000, 10000, 20000} {
		b.Run(fmt.Sprintf("trials=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			h := begin(b, float("x"), float("y"), float("z"))
			grow := func(n int) {
				for range n {
					h.trial(rng.Float64(), rng.Float64(), rng.Float64())
				}
			}
			grow(n)
			v := NewServer("", nil, nil)
			v.draw(Source{State: &h.st, Running: true}, true)
			sent := 0
			var took time.Duration
			for b.Loop() {
				grow(10)
				version := v.shown.version
				before := spent()
				v.draw(Source{State: &h.st, Running: true}, true)
				took += spent() - before
				for _, p := range v.shown.parts {
					if p.version > version {
						sent += len(cmp.Or(string(p.delta), string(p.event)))
					}
				}
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(sent)/float64(b.N)/1024, "kB/op")
		})
	}
}
