package problems

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
	"github.com/lbotune/lbotune/spaces"
)

// Between the nodes of the table, at a learning rate where training is fast and
// the surface bends.
func TestLogisticTableAgreesWithTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	fetched, err := exec.Command("sh", "../../examples/mnist-logreg/data.sh").Output()
	data := strings.TrimSpace(string(fetched))
	if err != nil || data == logreg.DrawnData {
		t.Skipf("there is no network to fetch MNIST from: %v", err)
	}
	set, err := logreg.Load(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := spaces.Values{
		{Name: "lr", Value: spaces.Float(0.0047)},
		{Name: "l2", Value: spaces.Float(0.003)},
		{Name: "epochs", Value: spaces.Int(2)},
	}
	train, test := set.Split(0)
	report, err := logreg.Train(train, test, logreg.Config{Rate: 0.0047, L2: 0.003, Epochs: 2, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if table := LogisticTable().Eval(v); math.Abs(table-report.TestLoss) > 0.01 {
		t.Errorf("%v: %v from the table, %v by training", v, table, report.TestLoss)
	}
}

// at is the value at a fraction of the axis.
func (a axis) at(u float64) float64 { return a.low * math.Exp(u*math.Log(a.high/a.low)) }

// minimum looks on a grid four times as fine as the table's and descends from
// the best point of each number of epochs.
func (t *logisticTable) minimum() (lowest float64, at spaces.Values) {
	lowest = math.Inf(1)
	for epochs := 2; epochs <= len(t.losses[0]); epochs++ {
		p := Problem{Low: []float64{0, 0}, High: []float64{1, 1}, Eval: func(u []float64) float64 {
			return t.loss(t.rate.at(u[0]), t.penalty.at(u[1]), epochs)
		}}
		rates, penalties := 4*(t.rate.nodes-1), 4*(t.penalty.nodes-1)
		start, least := make([]float64, 2), math.Inf(1)
		for i := range rates + 1 {
			for j := range penalties + 1 {
				u := []float64{float64(i) / float64(rates), float64(j) / float64(penalties)}
				if y := p.Eval(u); y < least {
					start, least = u, y
				}
			}
		}
		u, y := descend(p, start)
		if y < lowest {
			lowest, at = y, spaces.Values{
				{Name: "lr", Value: spaces.Float(t.rate.at(u[0]))},
				{Name: "l2", Value: spaces.Float(t.penalty.at(u[1]))},
				{Name: "epochs", Value: spaces.Int(int64(epochs))},
			}
		}
	}
	return lowest, at
}

func TestLogisticTableMinimum(t *testing.T) {
	table, err := parseLogisticTable(logisticText)
	if err != nil {
		t.Fatal(err)
	}
	o := LogisticTable()
	if lowest, at := table.minimum(); math.Abs(lowest-o.Min) > 1e-9 || math.Abs(o.Eval(o.Best)-o.Min) > 1e-9 {
		t.Errorf("the minimum is %v at %v, and not %v at %v", lowest, at, o.Min, o.Best)
	}
}

func TestLogisticTableRefusesDamage(t *testing.T) {
	for _, text := range []string{"", "2 1 2\n2 1 2\n1\n0.5\n", "2 1 2\n2 1 2\n1\n1\n1\n1\nx\n", "2 1 2\n2 1 2\n2\n1\n1\n1\n1\n", "a\nb\nc\n"} {
		t.Run(text, func(t *testing.T) {
			if _, err := parseLogisticTable(text); err == nil {
				t.Errorf("%q was accepted", text)
			}
		})
	}
}

// Between nodes the spline must follow a parabola's shape and meet the nodes.
func TestSpline(t *testing.T) {
	y := func(k int) float64 { return float64(k*k) - 3*float64(k) }
	for k := range 5 {
		for _, u := range []float64{0, 0.25, 0.5, 1} {
			t.Run(fmt.Sprint(u), func(t *testing.T) {
				x := float64(k) + u
				want := x*x - 3*x
				got := spline(y, k, u, 6)
				inner := k > 0 && k < 4
				if inner && math.Abs(got-want) > 1e-12 || (u == 0 || u == 1) && got != want {
					t.Errorf("at %v: %v, want %v", x, got, want)
				}
			})
		}
	}
}
