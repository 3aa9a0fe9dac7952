package problems

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func byName(t *testing.T, list []Problem, name string) Problem {
	t.Helper()
	i := slices.IndexFunc(list, func(p Problem) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no problem %s", name)
	}
	return list[i]
}

func numbers(t *testing.T, fields []string) []float64 {
	t.Helper()
	var out []float64
	for _, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// The file was computed by another implementation of the same functions.
func TestPaperAgreesWithRecordedValues(t *testing.T) {
	file, err := os.Open("testdata/paper.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		left, right, _ := strings.Cut(lines.Text(), " = ")
		if strings.HasPrefix(left, "#") {
			continue
		}
		records++
		fields := strings.Fields(left)
		p := byName(t, Paper(), fields[0])
		x := numbers(t, fields[2:])
		switch kind := fields[1]; kind {
		case "low":
			if !slices.Equal(p.Low, x) {
				t.Errorf("%s: box begins at %v, want %v", p.Name, p.Low, x)
			}
		case "high":
			if !slices.Equal(p.High, x) {
				t.Errorf("%s: box ends at %v, want %v", p.Name, p.High, x)
			}
		case "min", "value":
			want := numbers(t, []string{right})[0]
			if kind == "min" && math.Abs(p.Min-want) > 1e-12 {
				t.Errorf("%s: minimum %v, want %v", p.Name, p.Min, want)
			}
			if got := p.Eval(x); math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("%s at %v is %v, want %v", p.Name, x, got, want)
			}
		default:
			t.Fatalf("record of kind %q", kind)
		}
	}
	if want := 12 * 7; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
}

// Values worked out by hand from the published formulas.
func TestStandardFunctionsAtKnownPoints(t *testing.T) {
	at := func(p Problem, offset float64) float64 {
		x := slices.Clone(p.Minimizers[0])
		for i := range x {
			x[i] += offset
		}
		return p.Eval(x)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"ackley one off", at(Ackley(5, 3), 1), 20 - 20*math.Exp(-0.2)},
		{"rastrigin half off", at(Rastrigin(3, 3), 0.5), 3 * 20.25},
		{"sphere two off", at(Sphere(20, 3), 2), 80},
		{"griewank", at(Griewank(1, 3), math.Pi), 2 + math.Pi*math.Pi/4000},
		{"levy at −3", Levy(2).Eval([]float64{-3, -3}), 1 + 10*math.Pow(math.Sin(1), 2) + 1},
		{"styblinski at 1", StyblinskiTang(5).Eval([]float64{1, 1, 1, 1, 1}), -25},
		{"dixon-price at 1", DixonPrice(4).Eval([]float64{1, 1, 1, 1}), 9},
		{"eggholder at 0", Eggholder().Eval([]float64{0, 0}), -47 * math.Sin(math.Sqrt(47))},
		{"shekel without the nearest well", Shekel().Eval([]float64{4, 4, 4, 4}) + 10, -0.5362836},
		{"steps", at(Steps(4, 3), 0.14), 4},
	} {
		t.Run(c.what, func(t *testing.T) {
			if math.Abs(c.got-c.want) > 1e-6*max(1, math.Abs(c.want)) {
				t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
			}
		})
	}
}

func TestAsymmetricValleyIsSteeperOnOneSide(t *testing.T) {
	p := AsymmetricValley(1, 3)
	floor := p.Minimizers[0][0]
	a, b := p.Eval([]float64{floor - 0.1}), p.Eval([]float64{floor + 0.1})
	if math.Abs(max(a, b)/min(a, b)-100) > 1e-9 {
		t.Errorf("%v on one side and %v on the other", a, b)
	}
}

// The unshifted Schwefel function must reappear where no wall stands.
func TestSchwefelIsThePublishedFunction(t *testing.T) {
	p := Schwefel(1, 5)
	best := p.Minimizers[0][0]
	for _, off := range []float64{-100, -20, 30, 60} {
		t.Run(fmt.Sprint(off), func(t *testing.T) {
			z := 420.968746359982 + off
			want := 418.9828872724339 - z*math.Sin(math.Sqrt(z))
			x := best + off
			if best < 0 {
				x = best - off
			}
			if got := p.Eval([]float64{x}); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v from the optimum: %v, want %v", off, got, want)
			}
		})
	}
}

func every() []Problem {
	var all []Problem
	all = append(all, Paper()...)
	for seed := range uint64(3) {
		for _, p := range Paper() {
			all = append(all, Shifted(p, seed))
		}
		all = slices.Concat(all, ManyBasins(seed), Standard(seed), Adversarial(seed))
	}
	return all
}

func TestMinimaAreMinima(t *testing.T) {
	r := stream(1, 2)
	for _, p := range every() {
		tolerance := 1e-9 * max(1, math.Abs(p.Min))
		if len(p.Minimizers) == 0 {
			t.Errorf("%s has no minimizer", p.Name)
		}
		for _, m := range p.Minimizers {
			if len(m) != p.Dim() || !p.contains(m) {
				t.Fatalf("%s: minimizer %v is not in the box", p.Name, m)
			}
			if f := p.Eval(m); math.Abs(f-p.Min) > 2e-6*max(1, math.Abs(p.Min)) {
				t.Errorf("%s: %v at minimizer %v, the minimum is said to be %v", p.Name, f, m, p.Min)
			}
			if _, f := descend(p, m); f < p.Min-tolerance || f > p.Min+tolerance && !math.IsInf(p.Lipschitz, 1) {
				t.Errorf("%s: descent from a minimizer ends at %v, the minimum is said to be %v", p.Name, f, p.Min)
			}
		}
		for range 1000 {
			if x := p.Sample(r); p.Eval(x) < p.Min-tolerance {
				t.Errorf("%s: %v at %v is below the minimum %v", p.Name, p.Eval(x), x, p.Min)
			}
		}
	}
}

func TestLipschitzConstants(t *testing.T) {
	r := stream(7, 7)
	for _, p := range append(append(Paper(), Cited()...), Needle(2, 0)) {
		if p.Lipschitz <= 0 {
			t.Errorf("%s has no Lipschitz constant", p.Name)
		}
		found := estimateLipschitz(p, 2000, 1)
		if found > p.Lipschitz*1.00001 || found < p.Lipschitz*0.999 {
			t.Errorf("%s: slope %v found, the constant is %v", p.Name, found, p.Lipschitz)
		}
		for range 1000 {
			x, y := p.Sample(r), p.Sample(r)
			distance := math.Sqrt(distance2(p.ToUnit(x), p.ToUnit(y)))
			if rise := math.Abs(p.Eval(x) - p.Eval(y)); rise > p.Lipschitz*distance*(1+1e-9) {
				t.Errorf("%s: slope %v between %v and %v", p.Name, rise/distance, x, y)
			}
		}
	}
}

func TestShiftedMovesTheFunction(t *testing.T) {
	p := Michalewicz(5)
	a, b := Shifted(p, 1), Shifted(p, 2)
	if slices.Equal(a.Minimizers[0], b.Minimizers[0]) {
		t.Error("two seeds give the same shift")
	}
	for i, v := range subtract(a.Minimizers[0], p.Minimizers[0]) {
		if v = math.Abs(v) / math.Pi; v < 0.1 || v > 0.25 {
			t.Errorf("dimension %d moved by %v of its width", i, v)
		}
	}
	if f := a.Eval(a.Minimizers[0]); math.Abs(f-p.Min) > 1e-12 {
		t.Errorf("%v at the moved minimizer, want %v", f, p.Min)
	}
	if again := Shifted(p, 1); !slices.Equal(again.Minimizers[0], a.Minimizers[0]) {
		t.Error("the same seed gives another shift")
	}
}

// Distances from the minimizer survive a rotation of the cube, so a function of
// the distance alone must not change.
func TestRotatedKeepsDistances(t *testing.T) {
	p := Sphere(6, 1)
	turned := Rotated(p, 2)
	r := stream(3, 3)
	for range 50 {
		x := p.Sample(r)
		if got, want := turned.Eval(x), distance2(x, turned.Minimizers[0]); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v at %v, want %v", got, x, want)
		}
	}
	if distance2(turned.Minimizers[0], p.Minimizers[0]) < 1e-3 {
		t.Error("the minimizer did not move")
	}
}

func TestNoiseBelongsToTheTrial(t *testing.T) {
	p := WithNoise(Branin(), 2, 9)
	x := []float64{1, 1}
	sum, squares := 0.0, 0.0
	const n = 4000
	for trial := range uint64(n) {
		y := p.Noisy(x, trial)
		if again := p.Noisy(x, trial); again != y {
			t.Fatalf("trial %d: %v, then %v", trial, y, again)
		}
		e := y - p.Eval(x)
		sum += e
		squares += e * e
	}
	if mean := sum / n; math.Abs(mean) > 0.15 {
		t.Errorf("mean error %v", mean)
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-2) > 0.1 {
		t.Errorf("standard deviation %v, want 2", sd)
	}
	if p.Noisy(x, 1) == p.Eval(x) {
		t.Error("trial 1 has no noise")
	}
}

func TestRotationIsOrthogonal(t *testing.T) {
	q := rotation(stream(4, 4), 6)
	for i := range q {
		for j := range q {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := dot(q[i], q[j]); math.Abs(got-want) > 1e-12 {
				t.Errorf("rows %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestUnitCubeRoundTrip(t *testing.T) {
	p := Branin()
	u := []float64{0.25, 0.75}
	x := p.FromUnit(u)
	if !slices.Equal(x, []float64{-1.25, 11.25}) {
		t.Errorf("%v maps to %v", u, x)
	}
	if back := p.ToUnit(x); distance2(back, u) > 1e-28 {
		t.Errorf("%v maps back to %v", x, back)
	}
}
