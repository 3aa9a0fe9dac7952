package study_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lbotune/lbotune/study"
)

// The journal of a study says all that is known of it, while it runs and afterwards.
func ExampleLoad() {
	state, err := study.Load("testdata/v1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(state.Trials), "trials in", state.Sessions, "sessions")
	best := state.Best()
	fmt.Printf("the best is trial %d with %v: %v\n", best.Number, best.Values(), best.Value)
	// Output:
	// 5 trials in 2 sessions
	// the best is trial 1 with x=0.25 n=3: 3.0000000000000004
}

// Follow sees each record with the state that it leads to, those that another process
// has yet to write included.
func ExampleFollow() {
	finished := 0
	err := study.Follow(context.Background(), "testdata/v1", func(state *study.State, r study.Record) error {
		if e, ok := r.Event.(study.Finished); ok {
			finished++
			fmt.Printf("trial %d of %d: %s\n", e.Trial, len(state.Trials), e.Status)
		}
		return nil
	}, nil)
	fmt.Println(finished, "have finished", err)
	// Output:
	// trial 1 of 2: succeeded
	// trial 2 of 2: pruned
	// trial 3 of 3: failed
	// trial 4 of 4: succeeded
	// trial 5 of 5: failed
	// 5 have finished <nil>
}
