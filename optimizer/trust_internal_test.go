package optimizer

import (
	"slices"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// told is a history of successes at points of an interval, by value.
func told(t *testing.T, successes ...[2]float64) *history {
	t.Helper()
	space, err := spaces.New(spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory(space, 1)
	for k, s := range successes {
		if err := h.add(result(k+1, OriginGiven, Succeeded, s[0], s[1])); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func result(trial int, origin Origin, status Status, x, y float64) Observation {
	o := Observation{Trial: trial, Proposal: Proposal{Point: spaces.Point{x}, Origin: origin}, Status: status}
	if status != Failed {
		o.Values = []float64{y}
	}
	return o
}

func TestTurnsByNumber(t *testing.T) {
	var got []turn
	for trial := 30; trial < 34; trial++ {
		got = append(got, turnOf(trial))
	}
	if want := []turn{modelTurn, boxTurn, localTurn, modelTurn}; !slices.Equal(got, want) {
		t.Errorf("turns %v, want %v", got, want)
	}
}

func TestTrustMovesToABetterSuccess(t *testing.T) {
	h := told(t, [2]float64{0.2, 1}, [2]float64{0.5, 3}, [2]float64{0.8, 2})
	trust := newTrust()
	if !trust.improves(h, 2) {
		t.Error("without a centre a success is no improvement")
	}
	trust.basin.moveTo(2)
	if trust.improves(h, 0) || !trust.improves(h, 1) {
		t.Error("not the better success improves on the centre")
	}
	trust.finished = []patch{{centre: []float64{0.52}, half: []float64{0.05}}}
	if trust.improves(h, 1) {
		t.Error("a success where the search is finished improves on the centre")
	}
}

func TestBasinCountsMisses(t *testing.T) {
	vain := &trustStep{Centre: 1, Gain: 0.1, Told: 2}
	for _, c := range []struct {
		name   string
		origin Origin
		step   *trustStep
		before int // observations told at the last miss
		misses int
		looked bool
	}{
		{"a box step", originBox, vain, 0, 1, true},
		{"a box step without a note", originBox, nil, 0, 1, false},
		{"a step that promised a gain", originLocal, vain, 0, 1, true},
		{"a step beside another", originLocal, &trustStep{Centre: 1, Told: 2}, 0, 0, true},
		{"a step made at the same time as one that missed", originBox, vain, 3, 0, true},
		{"a step around another centre", originBox, &trustStep{Centre: 2, Told: 2}, 0, 1, false},
		{"another rule", OriginModel, nil, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := told(t, [2]float64{0.5, 3}, [2]float64{0.9, 2})
			b := newBasin(0)
			b.missedAt = c.before
			o := result(3, c.origin, Succeeded, 0.6, 1)
			if err := h.add(o); err != nil {
				t.Fatal(err)
			}
			b.miss(h, o, c.step)
			if b.misses != c.misses || (b.reach != nil) != c.looked {
				t.Errorf("%d misses, reach %v; want %d, and whether it has looked there: %v", b.misses, b.reach, c.misses, c.looked)
			}
		})
	}
}

func TestBasinIsSpent(t *testing.T) {
	h, b := told(t, [2]float64{0.5, 3}), newBasin(0)
	for k := range flatTies {
		if b.spent(1) {
			t.Fatalf("spent after %d trials of equal value", k)
		}
		o := result(k+2, OriginModel, Succeeded, 0.1+0.1*float64(k), 3)
		if err := h.add(o); err != nil {
			t.Fatal(err)
		}
		b.miss(h, o, nil)
	}
	if !b.spent(1) || b.misses != 0 {
		t.Errorf("on a plateau: spent %v after %d misses", b.spent(1), b.misses)
	}
	b = newBasin(0)
	b.misses = patience*(6+1) - 1
	if b.spent(1) {
		t.Error("spent too soon")
	}
	if b.misses++; !b.spent(1) {
		t.Error("not spent when its patience is over")
	}
}

func TestFinishedBasinIsLeftAndReopened(t *testing.T) {
	h := told(t, [2]float64{0.2, 1}, [2]float64{0.5, 3}, [2]float64{0.505, 2.9}, [2]float64{0.8, 2})
	trust := newTrust()
	trust.basin.moveTo(1)
	trust.basin.looked([]float64{0.53}, []float64{0.5})
	trust.finish(h, 1)
	if trust.basin.centre != 3 || trust.settled || !trust.inFinished([]float64{0.525}) || trust.inFinished([]float64{0.54}) {
		t.Errorf("finished %v, and goes on around success %d, settled %v", trust.finished, trust.basin.centre, trust.settled)
	}
	o := result(5, OriginModel, Succeeded, 0.51, 4)
	if err := h.add(o); err != nil {
		t.Fatal(err)
	}
	trust.tell(h, o, memory{})
	if len(trust.finished) > 0 || trust.basin.centre != 4 || !trust.settled {
		t.Errorf("after a better value there: finished %v, centre %d", trust.finished, trust.basin.centre)
	}
}

func TestSizesOfTheRegions(t *testing.T) {
	h := told(t, [2]float64{0.5, 3}, [2]float64{0.9, 5})
	trust := newTrust()
	trust.basin.moveTo(0)
	trust.basin.quadratic.Radius = 0.1
	trust.judge(h, result(2, OriginModel, Succeeded, 0.9, 5), nil, true)
	if trust.basin.quadratic.Radius != 0 {
		t.Error("the quadratic keeps its region where another rule finds a better point outside")
	}
	trust.judge(h, result(2, originLocal, Succeeded, 0.9, 5), &trustStep{Centre: 1, Radius: 0.4, Gain: 2}, true)
	if trust.basin.quadratic.Radius != 0.8 || trust.basin.promise != 2 {
		t.Errorf("radius %v after a step that kept its promise of %v", trust.basin.quadratic.Radius, trust.basin.promise)
	}
	trust.judge(h, result(2, originBox, Succeeded, 0.9, 5), &trustStep{Centre: 1}, true) // in a valley's frame
	if trust.basin.successes != 0 {
		t.Error("a valley's step counts for the box")
	}
	for range boxSuccesses {
		trust.judge(h, result(2, originBox, Succeeded, 0.9, 5), &trustStep{Centre: 1, Radius: 0.4}, true)
	}
	if trust.basin.box != 2*boxStart {
		t.Errorf("the box is %v after %d successes", trust.basin.box, boxSuccesses)
	}
}

// A step may gain too little for its region, and yet something: then the next basin is elsewhere.
func TestStepThatGainsAndCollapsesItsRegion(t *testing.T) {
	h := told(t, [2]float64{0.5, 3}, [2]float64{0.8, 2}, [2]float64{0.1, 1})
	trust := newTrust()
	trust.basin.moveTo(0)
	o := result(4, originLocal, Succeeded, 0.5+1e-7, 3.1)
	if err := h.add(o); err != nil {
		t.Fatal(err)
	}
	trust.tell(h, o, memory{Step: &trustStep{Centre: 1, Radius: 1.5e-7, Gain: 1, Told: 3}})
	if len(trust.finished) != 1 || trust.basin.centre != 1 || trust.settled {
		t.Errorf("finished %v, and goes on around success %d, settled %v", trust.finished, trust.basin.centre, trust.settled)
	}
}

// Workers report late: a step around the centre of a basin that is finished says nothing of the next one.
func TestStepFromAFinishedBasin(t *testing.T) {
	for _, origin := range []Origin{originLocal, originBox} {
		t.Run(string(origin), func(t *testing.T) {
			h := told(t, [2]float64{0.5, 3}, [2]float64{0.9, 2})
			trust := newTrust()
			trust.basin.moveTo(0)
			trust.finish(h, 0)
			for trial := 3; trial < 7; trial++ {
				o := result(trial, origin, Failed, 0.5, 0)
				if err := h.add(o); err != nil {
					t.Fatal(err)
				}
				trust.tell(h, o, memory{Step: &trustStep{Centre: 1, Radius: 1.5e-7, Gain: 1, Told: 2}})
			}
			if b := trust.basin; b.centre != 1 || b.quadratic.Radius != 0 || b.promise != 0 || b.box != boxStart {
				t.Errorf("the next basin is %+v", b)
			}
		})
	}
}

// That nothing is left to gain beside a trial may be found before a better one beside it is told.
func TestLateNoteThatABasinIsFinished(t *testing.T) {
	h := told(t, [2]float64{0.5, 10}, [2]float64{0.8, 2})
	trust := newTrust()
	trust.basin.moveTo(0)
	for _, late := range []struct {
		o Observation
		m memory
	}{
		{result(3, originBox, Succeeded, 0.505, 11), memory{Step: &trustStep{Centre: 1, Told: 2}}},
		{result(4, OriginModel, Succeeded, 0.1, 3), memory{Finished: []int{1}}},
	} {
		if err := h.add(late.o); err != nil {
			t.Fatal(err)
		}
		trust.tell(h, late.o, late.m)
	}
	if trust.basin.centre != 2 || len(trust.finished) > 0 {
		t.Errorf("the centre is success %d, finished are %v", trust.basin.centre, trust.finished)
	}
}

// Of a long study the model knows a part, and perhaps not the centre of the basin.
func TestCentreThatTheModelDoesNotKnow(t *testing.T) {
	space, err := spaces.New(spaces.NewFloat("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	l := newLBO(newHistory(space, 1), Settings{}.Resolved(1))
	for k := range 12 {
		x := float64(k) / 11
		if err := l.Tell(result(k+1, OriginGiven, Succeeded, x, -(x-0.4)*(x-0.4))); err != nil {
			t.Fatal(err)
		}
	}
	a, err := l.looking(t.Context(), Query{Trial: 13})
	if err != nil {
		t.Fatal(err)
	}
	const centre = 3
	s := *a.view.surrogate
	s.rows = slices.DeleteFunc(slices.Clone(s.rows), func(i int) bool { return i == centre })
	a.view.surrogate = &s
	if n := a.neighbourhood(centre); n.x[n.centre][0] != l.past.x[centre][0] || len(n.x) != 12 {
		t.Errorf("the centre is %v of %v", n.x[n.centre], n.x)
	}
}

// Where nothing may be proposed, a space of 10⁹ configurations is not listed.
func TestLargeSpacesAreNotListed(t *testing.T) {
	space, err := spaces.New(spaces.NewInt("a", 1, 1000), spaces.NewInt("b", 1, 1000), spaces.NewInt("c", 1, 1000))
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	left := remaining(space, func([]float64) bool {
		if looked++; looked > 2*mostListed {
			t.Fatal("it goes on and on")
		}
		return true
	}, 1)
	if len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// A wild first value, which later ones tame, tells nothing of the Lipschitz constant.
func TestConstantOfATamedValue(t *testing.T) {
	space, err := spaces.New(spaces.NewFloat("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	l := &adaLIPO{past: newHistory(space, 1)}
	for k, y := range []float64{1e9, 1, 2, 3} {
		if err := l.Tell(result(k+1, OriginExplore, Succeeded, float64(k)/3, y)); err != nil {
			t.Fatal(err)
		}
	}
	if slope := l.estimator.Slope() * unitOf(l.past.y); slope > 100 {
		t.Errorf("the constant is %g", slope)
	}
}

// No part of several objectives has a trial that breaks a limit for its best while another holds all.
func TestPartsKnowTheLimits(t *testing.T) {
	space, err := spaces.New(spaces.NewFloat("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	l := newLBO(newHistory(space, 1), Settings{}.Resolved(1))
	for k := range 8 {
		x := float64(k) / 7
		o := result(k+1, OriginExplore, Succeeded, x, x)
		o.Values, o.Constraints = []float64{x, -max(x-0.9, 0.9-x)}, []float64{x - 0.5}
		if err := l.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	a, err := l.newAsk(t.Context(), Query{Trial: 9})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.lookAtAll()
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range f.views {
		if row := v.surrogate.bestRow; l.past.over[row] > 0 {
			t.Errorf("objective %d: the best is at %v, beyond the limit", j+1, l.past.x[row])
		}
	}
}
