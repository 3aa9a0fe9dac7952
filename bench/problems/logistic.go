package problems

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// logisticSpace holds the paper's three hyperparameters and their ranges.
func logisticSpace() *spaces.Space {
	return space(logFloat("lr", 1e-7, 0.05), logFloat("l2", 1e-7, 0.9), integer("epochs", 2, 15))
}

//go:embed logreg.txt
var logisticText string

// LogisticTable is the test loss of the logistic regression of examples/mnist-logreg on all
// 70,000 images of MNIST, read from a table of 825 training runs, which lbobench logistic made:
// between their learning rates and penalties the loss after each epoch is interpolated by
// Catmull–Rom splines in the logarithms. In 25 random configurations it was at most 0.004 away from
// training, which takes seconds, and it answers in well under a microsecond.
func LogisticTable() Objective {
	t, err := parseLogisticTable(logisticText)
	if err != nil {
		panic("problems: logreg.txt: " + err.Error())
	}
	return Objective{
		Name: "logregtable", Space: logisticSpace(),
		// Found by a search from the best node of a grid four times as fine as the table's.
		Min: 0.2832469324242669,
		Best: spaces.Values{
			{Name: "lr", Value: spaces.Float(0.002777451236550828)},
			{Name: "l2", Value: spaces.Float(7.071815642327866e-06)},
			{Name: "epochs", Value: spaces.Int(15)},
		},
		Eval: func(v spaces.Values) float64 {
			return t.loss(number(v, "lr"), number(v, "l2"), int(number(v, "epochs")))
		},
	}
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

// parseLogisticTable reads logreg.txt: two lines with the number of
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
