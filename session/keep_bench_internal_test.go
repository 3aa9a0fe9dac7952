package session

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// BenchmarkKeep is what a study that keeps the best few does at each end to find those
// that go, with so many trials: the time and the room of one must not depend on that.
func BenchmarkKeep(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				keepAmong(b, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/trial")
		})
	}
}

// What keep takes of the heap for a trial must not depend on how many there were.
func TestKeepIsLinear(t *testing.T) {
	allocated := func(n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		keepAmong(t, n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	if few, many := allocated(500), allocated(4000); many > 1.5*few {
		t.Errorf("among 500 trials one takes %.0f bytes, among 4,000 %.0f", few, many)
	}
}

func keepAmong(b testing.TB, n int) {
	b.Helper()
	c := study.Config{Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}}, Run: study.Run{Keep: 5}}
	s := newStudy(Options{Dir: b.TempDir()})
	defer s.hooks.keep.close()
	if err := os.Mkdir(filepath.Dir(s.layout.Trial(1)), 0o700); err != nil {
		b.Fatal(err)
	}
	apply := func(e study.Event) {
		if err := s.state.Apply(study.Record{Event: e}); err != nil {
			b.Fatal(err)
		}
	}
	apply(study.Created{ID: "id", Config: c})
	for k := 1; k <= n; k++ {
		v := math.Mod(float64(k)*math.Phi, 1)
		apply(study.Proposed{Trial: k, Values: spaces.Values{{Name: "x", Value: spaces.Float(v)}}})
		apply(study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}})
		s.hooks.keep.toDrop(k)
	}
	if got := len(s.hooks.keep.cleared); got != n-5 {
		b.Fatalf("%d of %d were cleared", got, n)
	}
}
