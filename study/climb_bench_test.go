package study_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// BenchmarkClimb is what a study with a training budget does of each trial beside the
// optimizer, among so many: the time and the room of one must not depend on that.
func BenchmarkClimb(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				climb(b, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/trial")
		})
	}
}

// What a trial takes of the heap must not depend on how many there were: what looks through all
// trials for each takes more. Times say the same, and are the benchmark's.
func TestClimbIsLinear(t *testing.T) {
	allocated := func(n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		climb(t, n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	if few, many := allocated(500), allocated(4000); many > 1.5*few {
		t.Errorf("among 500 trials one takes %.0f bytes, among 4,000 %.0f", few, many)
	}
}

// climb proposes and finishes n trials of a study with rungs.
func climb(tb testing.TB, n int) *study.State {
	tb.Helper()
	c := study.Config{Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params: []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Max: 1}, {Name: "epochs", Kind: spaces.KindInt, Min: 1, Max: 27}},
		Budget: study.Budget{Trials: 2 * n}, Prune: &study.Prune{Method: "asha", Resource: "epochs", Reduction: 3, MinResource: 1}}
	st := &study.State{}
	apply := func(e study.Event) {
		if err := st.Apply(study.Record{Event: e}); err != nil {
			tb.Fatal(err)
		}
	}
	apply(study.Created{ID: "id", Config: c})
	for k := 1; k <= n; k++ {
		p, ok := st.Unasked(false)
		if !ok {
			point := spaces.Point{math.Mod(float64(k)*math.Phi, 1), 0}
			if st.Known()(point) {
				tb.Fatal("known")
			}
			p = study.Proposed{Origin: optimizer.OriginModel, Values: st.Fresh(st.Search.Decode(point))}
		}
		p.Trial = k
		st.Query(k)
		st.GapEnding(optimizer.Note{})
		apply(p)
		x, _ := p.Values.Get("x")
		v, _ := x.Number()
		apply(study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}})
	}
	return st
}
