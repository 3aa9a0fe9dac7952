package problems

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
	"github.com/lbotune/lbotune/spaces"
)

// logisticSpace holds the paper's three hyperparameters and their ranges.
func logisticSpace() *spaces.Space {
	return space(logFloat("lr", 1e-7, 0.05), logFloat("l2", 1e-7, 0.9), integer("epochs", 2, 15))
}

// LogisticRegression is the test loss of the logistic regression of
// examples/mnist-logreg on so many drawn digits, by training it: about half a
// second for 10 000. Min is not known.
func LogisticRegression(images int) Objective {
	train, test := logreg.Drawn(images).Split(0)
	return Objective{
		Name: "logreg", Space: logisticSpace(), Min: math.NaN(),
		Eval: func(v spaces.Values) float64 {
			report, err := logreg.Train(train, test, logreg.Config{
				Rate:   number(v, "lr"),
				L2:     number(v, "l2"),
				Epochs: int(number(v, "epochs")),
				Batch:  logreg.DefaultBatch,
				Seed:   1,
			}, nil)
			if err != nil {
				return math.NaN() // values outside of the space
			}
			return report.TestLoss
		},
	}
}

//go:generate sh -c "go run ./gentable > logreg.txt"

//go:embed logreg.txt
var logisticText string

// LogisticTable is LogisticRegression(10 000) read from a table of 825 training
// runs: between their learning rates and penalties the loss after each epoch is
// interpolated by Catmull–Rom splines in the logarithms. In 25 random
// configurations it was at most 0.005 away from training, and it answers in well
// under a microsecond.
func LogisticTable() Objective {
	t, err := parseLogisticTable(logisticText)
	if err != nil {
		panic("problems: logreg.txt: " + err.Error())
	}
	o := Objective{
		Name: "logregtable", Space: logisticSpace(), Min: math.Inf(1),
		Eval: func(v spaces.Values) float64 {
			return t.loss(number(v, "lr"), number(v, "l2"), int(number(v, "epochs")))
		},
	}
	t.minimum(&o)
	return o
}

// axis is a range with nodes evenly spaced in logarithms.
type axis struct {
	nodes     int
	low, high float64
}

// locate returns the node below x and how far x lies towards the next.
func (a axis) locate(x float64) (node int, beyond float64) {
	at := math.Log(x/a.low) / math.Log(a.high/a.low) * float64(a.nodes-1)
	at = min(max(at, 0), float64(a.nodes-1))
	node = min(int(at), a.nodes-2)
	return node, at - float64(node)
}

// at is the value at a fraction of the axis.
func (a axis) at(u float64) float64 { return a.low * math.Exp(u*math.Log(a.high/a.low)) }

type logisticTable struct {
	rate, penalty axis
	losses        [][]float64 // rate by rate, then penalty by penalty; by epoch
}

func (t *logisticTable) loss(rate, penalty float64, epochs int) float64 {
	i, u := t.rate.locate(rate)
	j, w := t.penalty.locate(penalty)
	node := func(i, j int) float64 { return t.losses[i*t.penalty.nodes+j][epochs-1] }
	along := func(i int) float64 {
		return spline(func(k int) float64 { return node(i, k) }, j, w, t.penalty.nodes)
	}
	return spline(along, i, u, t.rate.nodes)
}

// spline is the Catmull–Rom interpolant of y between node k and the next. Past
// the ends y goes on in a straight line.
func spline(y func(int) float64, k int, u float64, nodes int) float64 {
	b, c := y(k), y(k+1)
	a, d := 2*b-c, 2*c-b
	if k > 0 {
		a = y(k - 1)
	}
	if k+2 < nodes {
		d = y(k + 2)
	}
	return b + u/2*(c-a+u*(2*a-5*b+4*c-d+u*(3*(b-c)+d-a)))
}

// minimum looks on a grid four times as fine as the table's and descends from
// the best point of each number of epochs.
func (t *logisticTable) minimum(o *Objective) {
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
		if y < o.Min {
			o.Min = y
			o.Best = spaces.Values{
				{Name: "lr", Value: spaces.Float(t.rate.at(u[0]))},
				{Name: "l2", Value: spaces.Float(t.penalty.at(u[1]))},
				{Name: "epochs", Value: spaces.Int(int64(epochs))},
			}
		}
	}
}

// parseLogisticTable reads what gentable writes: two lines with the number of
// nodes and the ends of an axis, one with the number of epochs, and a line of
// losses for each pair of nodes.
func parseLogisticTable(text string) (*logisticTable, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 3 {
		return nil, fmt.Errorf("%d lines", len(lines))
	}
	var t logisticTable
	var epochs int
	for i, into := range [][]any{
		{&t.rate.nodes, &t.rate.low, &t.rate.high},
		{&t.penalty.nodes, &t.penalty.low, &t.penalty.high},
		{&epochs},
	} {
		if _, err := fmt.Sscan(lines[i], into...); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if n := t.rate.nodes * t.penalty.nodes; len(lines)-3 != n {
		return nil, fmt.Errorf("%d rows of losses, want %d", len(lines)-3, n)
	}
	for i, line := range lines[3:] {
		var row []float64
		for _, field := range strings.Fields(line) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+4, err)
			}
			row = append(row, v)
		}
		if len(row) != epochs {
			return nil, fmt.Errorf("line %d: %d losses, want %d", i+4, len(row), epochs)
		}
		t.losses = append(t.losses, row)
	}
	return &t, nil
}
