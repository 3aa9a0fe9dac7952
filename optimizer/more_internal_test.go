package optimizer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// What More chooses from knows what Ask has proposed, also where it has explored in between.
func TestPoolKnowsWhatWasProposed(t *testing.T) {
	space, err := spaces.New(spaces.NewFloat("x", 0, 1), spaces.NewFloat("y", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	opt, err := New(space, 1, Settings{Local: "off"})
	if err != nil {
		t.Fatal(err)
	}
	l := opt.(*lbo)
	for trial := 1; trial < firstExplore-1; trial++ {
		p, err := l.Ask(t.Context(), Query{Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Tell(Observation{Trial: trial, Proposal: p, Status: Succeeded, Values: []float64{-p.Point[0] * p.Point[1]}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Ask(t.Context(), Query{Trial: firstExplore - 1}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []Origin{OriginExplore, OriginModel} {
		if p, err := l.More(t.Context(), firstExplore+i); err != nil || p.Origin != want {
			t.Fatalf("%s, %v; want %s", p.Origin, err, want)
		}
	}
	if n, want := l.pool.ask.view.models[0].Len(), len(l.past.y)+2; n != want {
		t.Errorf("the model knows %d values; want those of %d trials and of two proposals", n, want)
	}
}

func TestExploreTurns(t *testing.T) {
	for every, want := range map[int][]int{16: {12, 28, 44}, 4: {8, 12, 16, 20, 24, 28, 32, 36, 40, 44}, -1: nil} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			var turns []int
			for trial := 1; trial < 48; trial++ {
				if a := (&ask{set: Settings{ExploreEvery: every}, trial: trial}); a.exploreTurn() {
					if nth := a.sinceExploring() / every; nth != len(turns) {
						t.Errorf("every %d: trial %d is turn %d, after %d others", every, trial, nth, len(turns))
					}
					turns = append(turns, trial)
				}
			}
			if !slices.Equal(turns, want) {
				t.Errorf("every %d: trials %v explore; want %v", every, turns, want)
			}
		})
	}
}
