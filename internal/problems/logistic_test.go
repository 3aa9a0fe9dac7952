package problems

import (
	"math"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// Between the nodes of the table, at a learning rate where training is fast and
// the surface bends.
func TestLogisticTableAgreesWithTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	v := spaces.Values{
		{Name: "lr", Value: spaces.Float(0.0047)},
		{Name: "l2", Value: spaces.Float(0.003)},
		{Name: "epochs", Value: spaces.Int(2)},
	}
	table, trained := LogisticTable().Eval(v), LogisticRegression(10_000).Eval(v)
	if math.Abs(table-trained) > 0.01 {
		t.Errorf("%v: %v from the table, %v by training", v, table, trained)
	}
}

func TestLogisticTableMinimum(t *testing.T) {
	o := LogisticTable()
	if y := o.Eval(o.Best); math.Abs(y-o.Min) > 1e-9 || y < 0.3 || y > 0.36 {
		t.Errorf("%v at the best configuration %v, minimum %v", y, o.Best, o.Min)
	}
	r := stream(8, 8)
	for range 5000 {
		if v := o.Sample(r); o.Eval(v) < o.Min {
			t.Errorf("%v at %v is below the minimum %v", o.Eval(v), v, o.Min)
		}
	}
}

func TestLogisticTableRefusesDamage(t *testing.T) {
	for _, text := range []string{"", "2 1 2\n2 1 2\n1\n0.5\n", "2 1 2\n2 1 2\n1\n1\n1\n1\nx\n", "2 1 2\n2 1 2\n2\n1\n1\n1\n1\n", "a\nb\nc\n"} {
		if _, err := parseLogisticTable(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// Between nodes the spline must follow a parabola's shape and meet the nodes.
func TestSpline(t *testing.T) {
	y := func(k int) float64 { return float64(k*k) - 3*float64(k) }
	for k := range 5 {
		for _, u := range []float64{0, 0.25, 0.5, 1} {
			x := float64(k) + u
			want := x*x - 3*x
			got := spline(y, k, u, 6)
			inner := k > 0 && k < 4
			if inner && math.Abs(got-want) > 1e-12 || (u == 0 || u == 1) && got != want {
				t.Errorf("at %v: %v, want %v", x, got, want)
			}
		}
	}
}
