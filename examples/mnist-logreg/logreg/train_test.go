package logreg

import (
	"fmt"
	"math"
	"testing"
)

// objective is the penalised loss of an image that step descends, evaluated directly.
func objective(m *model, im image, l2 float64) float64 {
	_, loss := m.predict(im)
	norm2 := 0.0
	for x := range m.weight {
		for _, w := range m.weight[x] {
			norm2 += m.scale * w * m.scale * w
		}
	}
	return loss + l2/2*norm2
}

func TestStepDescendsTheGradient(t *testing.T) {
	const rate, l2, h = 0.01, 0.3, 1e-5
	im := Drawn(40).images[21].unpacked()
	m := newModel(side * side)
	for x := range m.weight {
		for k := range m.weight[x] {
			m.weight[x][k] = 0.05 * math.Sin(float64(x*Classes+k))
		}
	}
	m.scale = 0.5
	empty := uint16(0)
	for _, x := range []uint16{im.pixel[2], im.pixel[len(im.pixel)/2], empty} {
		for _, k := range []int{0, 4, 9} {
			numeric := difference(&m.weight[x][k], h, func() float64 { return objective(m, im, l2) }) / m.scale
			// One step moves the weight in use by −rate·gradient.
			stepped := newModel(side * side)
			copy(stepped.weight, m.weight)
			stepped.scale, stepped.bias = m.scale, m.bias
			stepped.step(im, rate, l2)
			moved := stepped.scale*stepped.weight[x][k] - m.scale*m.weight[x][k]
			if got := -moved / rate; math.Abs(got-numeric) > 1e-6 {
				t.Errorf("weight of pixel %d, class %d: gradient %v, by differences %v", x, k, got, numeric)
			}
		}
	}
	for k := range m.bias {
		numeric := difference(&m.bias[k], h, func() float64 { return objective(m, im, l2) })
		stepped := newModel(side * side)
		copy(stepped.weight, m.weight)
		stepped.scale, stepped.bias = m.scale, m.bias
		stepped.step(im, rate, l2)
		if got := (m.bias[k] - stepped.bias[k]) / rate; math.Abs(got-numeric) > 1e-6 {
			t.Errorf("bias %d: gradient %v, by differences %v", k, got, numeric)
		}
	}
}

func difference(v *float64, h float64, f func() float64) float64 {
	at := *v
	*v = at + h
	up := f()
	*v = at - h
	down := f()
	*v = at
	return (up - down) / (2 * h)
}

func TestTrainLearns(t *testing.T) {
	train, test := Drawn(1500).Split(0)
	c := Config{Rate: 0.01, L2: 1e-6, Epochs: 5, Seed: 1}
	var reports []Report
	last, err := Train(train, test, c, func(r Report) error { reports = append(reports, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != c.Epochs || reports[c.Epochs-1] != last {
		t.Fatalf("%d reports, want %d ending with the result", len(reports), c.Epochs)
	}
	for i := 1; i < len(reports); i++ {
		if reports[i].TrainLoss >= reports[i-1].TrainLoss {
			t.Errorf("training loss rose from %v to %v in epoch %d", reports[i-1].TrainLoss, reports[i].TrainLoss, i+1)
		}
	}
	if guess := math.Log(Classes); last.TestLoss > guess/2 || last.Accuracy < 0.6 {
		t.Errorf("test loss %v (guessing has %v), accuracy %v", last.TestLoss, guess, last.Accuracy)
	}
	again, err := Train(train, test, c, nil)
	if err != nil || again != last {
		t.Errorf("a second run gave %+v, %v; the first gave %+v", again, err, last)
	}
	c.Seed = 2
	if other, _ := Train(train, test, c, nil); other == last {
		t.Error("another seed changed nothing")
	}
}

// The hyperparameters must matter, or there is nothing to tune.
func TestObjectiveHasStructure(t *testing.T) {
	train, test := Drawn(1200).Split(0)
	loss := func(rate, l2 float64) float64 {
		r, err := Train(train, test, Config{Rate: rate, L2: l2, Epochs: 12, Seed: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.TestLoss
	}
	middle := loss(0.01, 1e-6)
	for _, other := range []struct{ rate, l2, more float64 }{
		{1e-7, 1e-6, 1}, {5e-4, 1e-6, 0.2}, {0.01, 0.1, 0.2},
	} {
		t.Run(fmt.Sprint(other), func(t *testing.T) {
			if l := loss(other.rate, other.l2); l < middle+other.more {
				t.Errorf("rate %v, ℓ2 %v: loss %v is not %v above %v", other.rate, other.l2, l, other.more, middle)
			}
		})
	}
}

func TestShrinkNeverUnderflows(t *testing.T) {
	m := newModel(1)
	m.weight[0][3] = 1
	for range 100 {
		m.shrink(0.5)
	}
	if got, want := m.scale*m.weight[0][3], math.Pow(0.5, 100); got != want {
		t.Errorf("weight %v, want %v", got, want)
	}
	if m.scale < 1e-7 {
		t.Errorf("scale fell to %v", m.scale)
	}
}

func BenchmarkTrial(b *testing.B) {
	for b.Loop() {
		train, test := Drawn(DefaultDrawn).Split(0)
		if _, err := Train(train, test, Config{Rate: 0.01, L2: 1e-5, Epochs: 8, Seed: 1}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
