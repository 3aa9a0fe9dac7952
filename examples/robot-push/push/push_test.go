package push

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// testdata/box2d.txt has pushes, and where the object came to rest in Box2D 2.4.1, by the program
// bench/scripts/push.cpp. Box2D works in single precision: over the 230 to 400 steps of a push the
// two drift apart by about 1e-5 m.
func TestAgreesWithBox2D(t *testing.T) {
	text, err := os.ReadFile("testdata/box2d.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var p Push
		var want Vector
		if _, err := fmt.Sscan(line, &p.Start.X, &p.Start.Y, &p.Angle, &p.Velocity.X, &p.Velocity.Y, &p.Duration, &want.X, &want.Y); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if off := p.Run().Distance(want); off > 1e-4 {
			t.Errorf("%s: %v m off", line, off)
		}
	}
}

// A hand that is driven at v in a steady state moves at v − F/(30·m), where F is
// the friction that the table puts up: 2 N against the hand, 7 N when it pushes
// the object, and m = 0.12 kg.
func TestSteadySpeeds(t *testing.T) {
	speed := func(p Push, from, to int) float64 {
		var at []Vector
		p.Trace(func(f Frame) { at = append(at, f.Hand) })
		return at[to].Distance(at[from]) / (timeStep * float64(to-from))
	}
	away := Straight(-3, 0, 25)
	away.Velocity = away.Velocity.times(-1)
	if got, want := speed(away, 150, 250), 5-2/3.6; math.Abs(got-want) > 1e-9 {
		t.Errorf("alone the hand moves at %v m/s, want %v", got, want)
	}
	if got, want := speed(Straight(-3, 0, 25), 200, 250), 5-7/3.6; math.Abs(got-want) > 1e-3 {
		t.Errorf("pushing, the hand moves at %v m/s, want %v", got, want)
	}
}

// Mirroring the start must mirror the end, whatever side or corner is hit.
func TestMirrorSymmetry(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		x, y, tr, angle := 10*r.Float64()-5, 10*r.Float64()-5, 1+29*r.Float64(), 2*math.Pi*r.Float64()
		a, b := Turned(x, y, tr, angle).Run(), Turned(x, -y, tr, -angle).Run()
		if d := a.Distance(Vector{b.X, -b.Y}); d > 1e-6 {
			t.Errorf("from (%v, %v), %v, %v: %v and mirrored %v", x, y, tr, angle, a, b)
		}
	}
}

// No start, overlapping ones included, may throw the object out of the room.
func TestEveryStartEndsSomewhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	starts := []Vector{{0, 0}, {0, 2}, {0, -3}, {1e-9, 0}, {0.3, 1}, {-5, 5}}
	for range 300 {
		starts = append(starts, Vector{10*r.Float64() - 5, 10*r.Float64() - 5})
	}
	for _, s := range starts {
		for _, p := range []Push{Straight(s.X, s.Y, 30), Turned(s.X, s.Y, 30, 6*r.Float64())} {
			if end := p.Run(); !(end.length() < 35) {
				t.Errorf("from %v the object ends at %v", s, end)
			}
		}
	}
}

func TestBodiesSeparate(t *testing.T) {
	overlapping := Straight(1.25, 0, 0) // the surfaces overlap by 0.05 m
	var last Frame
	overlapping.Trace(func(f Frame) { last = f })
	// They come to rest at 0.3 + 1 + 0.01 − 0.005 m.
	if d := last.Object.Distance(last.Hand); math.Abs(d-1.305) > 1e-4 {
		t.Errorf("centres come to rest %v m apart, want 1.305", d)
	}
}

func TestMissLeavesTheObject(t *testing.T) {
	p := Straight(5, 5, 1)
	if end := p.Run(); end != (Vector{}) {
		t.Errorf("untouched object moved to %v", end)
	}
}

func TestNoiseIsKeyedBySeed(t *testing.T) {
	p := Straight(-3, 0.5, 20)
	a, b := p.Shaken(1), p.Shaken(2)
	if a != p.Shaken(1) || a == b || a == p {
		t.Errorf("velocities %v, %v, without noise %v", a.Velocity, b.Velocity, p.Velocity)
	}
	var squares float64
	const n = 2000
	for seed := range uint64(n) {
		e := p.Shaken(seed).Velocity.minus(p.Velocity)
		squares += e.dot(e)
	}
	if sd := math.Sqrt(squares / (2 * n)); math.Abs(sd-0.1) > 0.005 {
		t.Errorf("standard deviation %v, want 0.1", sd)
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		Straight(-3, 0.5, 30).Run()
	}
}
