package optimizer_test

import (
	"context"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// printed runs the first trials of Rosenbrock's valley on its large domain, and counts the
// proposals at the centre and those that follow a rejection of everything.
func printed(t *testing.T, answer string, twice bool) (centre, rejected int) {
	valley := rosenbrock(2)
	valley.low, valley.high = []float64{-30, -30}, []float64{30, 30}
	space, _ := objective(t, valley)
	opt, err := optimizer.New(space, 3, optimizer.Settings{Preset: "paper", Acquisition: "ucb",
		Hyperparameters: "map", Design: "random"})
	if err != nil {
		t.Fatal(err)
	}
	opt.(interface{ ToTheLetter(string, bool, bool) }).ToTheLetter(answer, twice, false)
	for trial := 1; trial <= 14; trial++ {
		q, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		if q.Point[0] == 0.5 && q.Point[1] == 0.5 {
			centre++
		}
		if q.Origin == "fallback" {
			rejected++
		}
		x := make([]float64, 2)
		for j, a := range space.Decode(q.Point) {
			x[j], _ = a.Value.Number()
		}
		if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: q, Status: optimizer.Succeeded, Values: []float64{-valley.eval(x)}}); err != nil {
			t.Fatal(err)
		}
	}
	return centre, rejected
}

// The printed constant rejects nothing. Divided by the deviation of the values, of some 10^7,
// it rejects everything, and the answer decides what is tried.
func TestPrintedBounds(t *testing.T) {
	if centre, rejected := printed(t, "", false); centre+rejected > 0 {
		t.Errorf("printed constant: %d proposals at the centre, %d after a rejection of everything", centre, rejected)
	}
	// Six trials are the design, and of the other eight two are random.
	if centre, rejected := printed(t, "first", true); centre != 6 || rejected < 6 {
		t.Errorf("divided twice: %d proposals at the centre, %d after a rejection of everything", centre, rejected)
	}
	for _, answer := range []string{"random", "clip"} {
		if centre, rejected := printed(t, answer, true); centre > 0 || rejected < 6 {
			t.Errorf("divided twice, %s: %d proposals at the centre, %d after a rejection of everything", answer, centre, rejected)
		}
	}
}
