package optimizer_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// askMore asks for one trial more than an optimizer was told of.
func askMore(t *testing.T, opt optimizer.Optimizer) optimizer.Proposal {
	t.Helper()
	p, err := opt.Ask(t.Context(), optimizer.Query{Trial: 25})
	if errors.Is(err, optimizer.ErrExhausted) {
		t.Skip("the space is used up")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proposals that are made with another are of the space, allowed, and unlike each other, and those
// of an optimizer that was told everything at once.
func TestMore(t *testing.T) {
	for i, c := range contractCases(t) {
		if i%effort.Sequential(3, 1, 1) == 0 {
			t.Run(c.name, func(t *testing.T) { testMore(t, c) })
		}
	}
}

func testMore(t *testing.T, c contractCase) {
	opt, same := newOptimizer(t, c.space, 5, optimizer.Settings{}), newOptimizer(t, c.space, 5, optimizer.Settings{})
	tellAll(t, same, runStudy(t, opt, 24, c.f)...)
	first := askMore(t, opt)
	askMore(t, same)
	seen := []spaces.Point{first.Point}
	for trial := 26; trial < 38; trial++ {
		p, err := opt.(optimizer.Batcher).More(t.Context(), trial)
		again, errAgain := same.(optimizer.Batcher).More(t.Context(), trial)
		if !errors.Is(errAgain, err) {
			t.Fatalf("trial %d: %v, and then %v", trial, err, errAgain)
		}
		if errors.Is(err, optimizer.ErrNoMore) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range p.Point {
			if x != again.Point[j] {
				t.Fatalf("trial %d: %v, and then %v", trial, p.Point, again.Point)
			}
		}
		if p.Note.Fitted == 0 {
			t.Errorf("trial %d: no model is said to be behind %q", trial, p.Note.Why)
		}
		if s := c.space.Snap(p.Point); !c.space.Allows(s) || spaces.Distance(s, p.Point) > 0 {
			t.Errorf("trial %d: %v is not of the space", trial, p.Point)
		}
		for _, q := range seen {
			if spaces.Distance(p.Point, q) == 0 {
				t.Errorf("trial %d: %v was proposed before", trial, p.Point)
			}
		}
		seen = append(seen, p.Point)
	}
	t.Logf("%d proposals", len(seen))
}

// Among proposals that come with another every sixteenth trial explores as well, at a place of
// its own.
func TestMoreExplores(t *testing.T) {
	space, f := objective(t, hartmann6())
	opt := newOptimizer(t, space, 5, optimizer.Settings{})
	runStudy(t, opt, 24, f)
	if _, err := opt.Ask(t.Context(), optimizer.Query{Trial: 25}); err != nil {
		t.Fatal(err)
	}
	var explored []spaces.Point
	for trial := 26; trial < 62; trial++ {
		p, err := opt.(optimizer.Batcher).More(t.Context(), trial)
		if err != nil {
			t.Fatal(err)
		}
		if turn := trial%16 == 12; turn != (p.Origin == optimizer.OriginExplore) {
			t.Errorf("trial %d is of origin %s: %s", trial, p.Origin, p.Note.Why)
		} else if turn {
			explored = append(explored, p.Point)
		}
	}
	for i, p := range explored {
		for _, q := range explored[:i] {
			if spaces.Distance(p, q) < 0.1 {
				t.Errorf("%v is explored, and %v", p, q)
			}
		}
	}
}

// What More proposes first is about what Ask would, were the proposal before it pending: it
// expects as much to be gained there, as far as a look at fewer points goes.
func TestMoreIsLikeAsk(t *testing.T) {
	for seed := range effort.Sequential[uint64](2, 6, 6) {
		space, f := objective(t, hartmann6())
		opt := newOptimizer(t, space, seed, optimizer.Settings{Local: "off"})
		runStudy(t, opt, 30, f)
		first, err := opt.Ask(t.Context(), optimizer.Query{Trial: 31})
		if err != nil {
			t.Fatal(err)
		}
		more, err := opt.(optimizer.Batcher).More(t.Context(), 32)
		if err != nil {
			t.Fatal(err)
		}
		beside := optimizer.Query{Trial: 33, Pending: []optimizer.Pending{{Trial: 31, Point: first.Point}}}
		asked, err := opt.Ask(t.Context(), beside)
		if err != nil {
			t.Fatal(err)
		}
		points := []spaces.Point{more.Point, asked.Point}
		for k := range 9 {
			u := make(spaces.Point, len(asked.Point))
			for j := range u {
				u[j] = math.Mod(0.5+float64(k+1)*(0.1+0.07*float64(j)), 1)
			}
			points = append(points, u)
		}
		e, err := opt.(optimizer.Explainer).Explain(t.Context(), beside, slices.Values(points))
		if err != nil {
			t.Fatal(err)
		}
		got, best := e.Beliefs[0].Acquisition, e.Beliefs[1].Acquisition
		if got < best-math.Log(50) {
			t.Errorf("seed %d: the logarithm of the acquisition is %.2f at what More proposes, and %.2f at what Ask does", seed, got, best)
		}
		for _, b := range e.Beliefs[2:] {
			if b.Acquisition > got {
				t.Errorf("seed %d: the logarithm of the acquisition is %.2f at what More proposes, and %.2f at any point", seed, got, b.Acquisition)
			}
		}
	}
}

// Without a model, and after a trial was told of, there is no further proposal.
func TestNoMore(t *testing.T) {
	space, f := objective(t, branin())
	opt := newOptimizer(t, space, 1, optimizer.Settings{})
	refused := func(when string) {
		t.Helper()
		if _, err := opt.(optimizer.Batcher).More(t.Context(), 99); !errors.Is(err, optimizer.ErrNoMore) {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused("before anything was asked for")
	runStudy(t, opt, 12, f)
	refused("after a trial was told of")
	p, err := opt.Ask(t.Context(), optimizer.Query{Trial: 13})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opt.(optimizer.Batcher).More(t.Context(), 14); err != nil {
		t.Errorf("after an answer: %v", err)
	}
	tellAll(t, opt, evaluated(13, p, f))
	refused("after its trial was told of")
}

// Beside hundreds of pending trials More goes on as the Ask before it.
func TestMoreBesideMany(t *testing.T) {
	space, f := objective(t, hartmann6())
	for _, pending := range []int{250, 256} {
		opt := newOptimizer(t, space, 5, optimizer.Settings{})
		runStudy(t, opt, 24, f)
		q := optimizer.Query{Trial: 25 + pending}
		for k := range pending {
			x := make(spaces.Point, space.Dim())
			for j := range x {
				x[j] = math.Mod(float64(k+1)*math.Sqrt(float64(j+2)), 1)
			}
			q.Pending = append(q.Pending, optimizer.Pending{Trial: 25 + k, Point: x})
		}
		if _, err := opt.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		for k := range 30 {
			if _, err := opt.(optimizer.Batcher).More(t.Context(), q.Trial+1+k); err != nil {
				t.Errorf("%d further proposals beside %d pending trials, and then: %v", k, pending, err)
				break
			}
		}
	}
}

// Of several objectives More, which knows the model of one, proposes nothing.
func TestNoMoreOfSeveral(t *testing.T) {
	space, _ := objective(t, hartmann6())
	opt := newOptimizer(t, space, 5, optimizer.Settings{})
	for trial := 1; trial < 25; trial++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		tellAll(t, opt, optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{p.Point[0], p.Point[1] - p.Point[0]}})
	}
	if p, err := opt.Ask(t.Context(), optimizer.Query{Trial: 25}); err != nil || p.Origin != optimizer.OriginModel {
		t.Fatal(p, err)
	}
	if p, err := opt.(optimizer.Batcher).More(t.Context(), 26); !errors.Is(err, optimizer.ErrNoMore) {
		t.Errorf("%v, %v", p.Point, err)
	}
}
