package logreg

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// DefaultBatch and DefaultDrawn are the values that the example's figures were
// measured with. The publication does not give a batch size.
const (
	DefaultBatch = 1
	DefaultDrawn = 10_000 // images of a drawn set
)

// Config holds the hyperparameters of one training run.
type Config struct {
	Rate   float64 // learning rate of the descent, > 0
	L2     float64 // λ, strength of the penalty on the weights, >= 0
	Epochs int     // passes over the training images, >= 1
	Batch  int     // images for one step, >= 1
	Seed   uint64  // decides the order of the images in each pass
}

func (c Config) validate() error {
	switch {
	case !(c.Rate > 0) || math.IsInf(c.Rate, 0):
		return fmt.Errorf("learning rate %v is not a positive number", c.Rate)
	case !(c.L2 >= 0) || math.IsInf(c.L2, 0):
		return fmt.Errorf("ℓ2 strength %v is not a number from 0 up", c.L2)
	case c.Epochs < 1:
		return fmt.Errorf("%d epochs: at least 1 is needed", c.Epochs)
	case c.Batch < 1:
		return fmt.Errorf("batch of %d: at least 1 image is needed", c.Batch)
	}
	return nil
}

// Report is the state of the training after one epoch. The losses are mean
// cross-entropies in nats, without the penalty.
type Report struct {
	Epoch     int     // 1, 2 ...
	TrainLoss float64 // mean over the epoch, each image before its own step
	TestLoss  float64
	Accuracy  float64 // share of test images whose likeliest class is right
}

// Train fits softmax(Wx + b) to the training set. It starts from zero and takes
// steps −η·∇ on
//
//	(1/|B|) Σ_{i∈B} −log softmax(W xᵢ + b)[yᵢ] + (λ/2)‖W‖²
//
// over the batches B of each shuffled pass; the bias is not penalised. After
// each pass it calls each, unless that is nil. The last report is returned.
func Train(train, test *Set, c Config, each func(Report)) (Report, error) {
	if err := c.validate(); err != nil {
		return Report{}, err
	}
	if train.Len() == 0 || test.Len() == 0 {
		return Report{}, fmt.Errorf("%d training and %d test images: both need at least one", train.Len(), test.Len())
	}
	m := newModel(train.Width * train.Height)
	shuffle := rand.New(rand.NewPCG(c.Seed, 1))
	var last Report
	for epoch := range c.Epochs {
		order := shuffle.Perm(train.Len())
		sum := 0.0
		for len(order) > 0 {
			n := min(c.Batch, len(order))
			sum += m.step(train, order[:n], c.Rate, c.L2)
			order = order[n:]
		}
		last = Report{Epoch: epoch + 1, TrainLoss: sum / float64(train.Len())}
		last.TestLoss, last.Accuracy = m.evaluate(test)
		if each != nil {
			each(last)
		}
	}
	return last, nil
}

type scores [Classes]float64

// model is W and b. The weights of one pixel lie together, since a sparse image
// visits pixel after pixel.
type model struct {
	weight []scores // by pixel
	bias   scores
	scale  float64 // the weights in use are scale·weight: the penalty shrinks all of them at once

	pixelGradient []scores // of the current batch; zero where untouched
	touched       []uint16
}

func newModel(pixels int) *model {
	return &model{weight: make([]scores, pixels), scale: 1, pixelGradient: make([]scores, pixels)}
}

// step makes one gradient step on a batch and returns the sum of its losses.
func (m *model) step(set *Set, batch []int, rate, l2 float64) float64 {
	sum := 0.0
	var biasGradient scores
	for _, i := range batch {
		pixel, value := set.image(i)
		p, loss := m.predict(pixel, value, set.Label(i))
		sum += loss
		p[set.Label(i)]-- // the gradient with respect to the class scores
		for k := range p {
			biasGradient[k] += p[k]
		}
		for j, x := range pixel {
			g := &m.pixelGradient[x]
			if *g == (scores{}) {
				m.touched = append(m.touched, x)
			}
			for k := range p {
				g[k] += value[j] * p[k]
			}
		}
	}
	m.shrink(1 - rate*l2)
	eta := rate / float64(len(batch))
	scaled := eta / m.scale
	for _, x := range m.touched {
		w, g := &m.weight[x], &m.pixelGradient[x]
		for k := range w {
			w[k] -= scaled * g[k]
		}
		*g = scores{}
	}
	m.touched = m.touched[:0]
	for k := range m.bias {
		m.bias[k] -= eta * biasGradient[k]
	}
	return sum
}

// shrink multiplies all weights by f.
func (m *model) shrink(f float64) {
	m.scale *= f
	if math.Abs(m.scale) > 1e-6 {
		return
	}
	for x := range m.weight {
		for k := range m.weight[x] {
			m.weight[x][k] *= m.scale
		}
	}
	m.scale = 1
}

// predict returns the class probabilities and the cross-entropy of one image.
func (m *model) predict(pixel []uint16, value []float64, label int) (p scores, loss float64) {
	for j, x := range pixel {
		w := &m.weight[x]
		for k := range p {
			p[k] += value[j] * w[k]
		}
	}
	top := math.Inf(-1)
	for k := range p {
		p[k] = m.scale*p[k] + m.bias[k]
		top = max(top, p[k])
	}
	z := p[label]
	sum := 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p, top + math.Log(sum) - z
}

// evaluate returns the mean cross-entropy and the accuracy on a set.
func (m *model) evaluate(set *Set) (loss, accuracy float64) {
	right := 0
	for i := range set.Len() {
		pixel, value := set.image(i)
		p, l := m.predict(pixel, value, set.Label(i))
		loss += l
		best := 0
		for k := range p {
			if p[k] > p[best] {
				best = k
			}
		}
		if best == set.Label(i) {
			right++
		}
	}
	n := float64(set.Len())
	return loss / n, float64(right) / n
}
