package problems

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
	"github.com/lbotune/lbotune/spaces"
)

var update = flag.Bool("update", false, "train the table of the logistic regression anew, which takes ten minutes of a core")

// The grid of the table covers the paper's ranges, evenly in logarithms.
const (
	rates, lowRate, highRate           = 33, 1e-7, 0.05
	penalties, lowPenalty, highPenalty = 25, 1e-7, 0.9
	epochs                             = 15
)

// trainTable trains at every node of the grid and writes the test losses after each epoch.
func trainTable(out io.Writer) error {
	train, test := logreg.Drawn(logreg.DefaultDrawn).Split(0)
	var losses [rates * penalties][epochs]float64
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for cell := range losses {
		group.Go(func() error {
			c := logreg.Config{
				Rate:   axis{rates, lowRate, highRate}.node(cell / penalties),
				L2:     axis{penalties, lowPenalty, highPenalty}.node(cell % penalties),
				Epochs: epochs,
				Batch:  logreg.DefaultBatch,
				Seed:   1,
			}
			_, err := logreg.Train(train, test, c, func(r logreg.Report) { losses[cell][r.Epoch-1] = r.TestLoss })
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintln(out, rates, lowRate, highRate)
	fmt.Fprintln(out, penalties, lowPenalty, highPenalty)
	fmt.Fprintln(out, epochs)
	for _, row := range losses {
		for i, v := range row {
			if i > 0 {
				fmt.Fprint(out, " ")
			}
			fmt.Fprintf(out, "%.5f", v)
		}
		fmt.Fprintln(out)
	}
	return nil
}

// Between the nodes of the table, at a learning rate where training is fast and
// the surface bends.
func TestLogisticTableAgreesWithTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	if *update {
		var text bytes.Buffer
		if err := trainTable(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("logreg.txt", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("the table is new: set Min and Best of LogisticTable to what TestLogisticTableMinimum finds")
	}
	v := spaces.Values{
		{Name: "lr", Value: spaces.Float(0.0047)},
		{Name: "l2", Value: spaces.Float(0.003)},
		{Name: "epochs", Value: spaces.Int(2)},
	}
	train, test := logreg.Drawn(logreg.DefaultDrawn).Split(0)
	report, err := logreg.Train(train, test, logreg.Config{Rate: 0.0047, L2: 0.003, Epochs: 2, Batch: logreg.DefaultBatch, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if table := LogisticTable().Eval(v); math.Abs(table-report.TestLoss) > 0.01 {
		t.Errorf("%v: %v from the table, %v by training", v, table, report.TestLoss)
	}
}

// node is the value at node i of an axis.
func (a axis) node(i int) float64 { return a.at(float64(i) / float64(a.nodes-1)) }

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
