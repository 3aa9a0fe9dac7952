package logreg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// DefaultDrawn is how many images a drawn set has.
const DefaultDrawn = 10_000

// Config holds the hyperparameters of one training run.
type Config struct {
	Rate   float64 // learning rate of the descent, > 0
	L2     float64 // λ, strength of the penalty on the weights, >= 0
	Epochs int     // passes over the training images, >= 1
	Seed   uint64  // decides the order of the images in each pass
}

// Report is the state after one epoch. Losses are mean cross-entropies in nats, without the penalty.
type Report struct {
	Epoch     int     // 1, 2 ...
	TrainLoss float64 // mean over the epoch, each image before its own step
	TestLoss  float64
	Accuracy  float64 // share of test images whose likeliest class is right
}

// Train fits softmax(Wx + b) to the training set. It starts from zero and takes
// steps −η·∇ on
//
//	−log softmax(W xᵢ + b)[yᵢ] + (λ/2)‖W‖²
//
// one image i after another in each shuffled pass; the bias is not penalised. After
// each pass it calls each, unless that is nil, and ends if that returns an error. The last
// report is returned.
func Train(train, test *Set, c Config, each func(Report) error) (Report, error) {
	switch {
	case !(c.Rate > 0) || math.IsInf(c.Rate, 0):
		return Report{}, fmt.Errorf("learning rate %v is not a positive number", c.Rate)
	case !(c.L2 >= 0) || math.IsInf(c.L2, 0):
		return Report{}, fmt.Errorf("ℓ2 strength %v is not a number from 0 up", c.L2)
	case c.Epochs < 1:
		return Report{}, fmt.Errorf("%d epochs: at least 1 is needed", c.Epochs)
	case train.Len() == 0 || test.Len() == 0:
		return Report{}, fmt.Errorf("%d training and %d test images: both need at least one", train.Len(), test.Len())
	}
	m := newModel(side * side)
	shuffle := rand.New(rand.NewPCG(c.Seed, 1))
	var last Report
	for epoch := range c.Epochs {
		sum := 0.0
		for _, i := range shuffle.Perm(train.Len()) {
			sum += m.step(train.images[i], c.Rate, c.L2)
		}
		last = Report{Epoch: epoch + 1, TrainLoss: sum / float64(train.Len())}
		last.TestLoss, last.Accuracy = m.evaluate(test)
		if each != nil {
			if err := each(last); err != nil {
				return last, err
			}
		}
	}
	return last, nil
}

type scores [Classes]float64

// model is W and b. An image visits pixel after pixel: the weights of one lie together.
type model struct {
	weight []scores // by pixel
	bias   scores
	scale  float64 // the weights in use are scale·weight: the penalty shrinks all of them at once
}

func newModel(pixels int) *model {
	return &model{weight: make([]scores, pixels), scale: 1}
}

// step makes one gradient step on an image and returns its loss.
func (m *model) step(im image, rate, l2 float64) float64 {
	p, loss := m.predict(im)
	p[im.label]-- // the gradient with respect to the class scores
	m.shrink(1 - rate*l2)
	scaled := rate / m.scale
	for j, x := range im.pixel {
		w := &m.weight[x]
		for k := range p {
			w[k] -= scaled * (im.value[j] * p[k])
		}
	}
	for k := range m.bias {
		m.bias[k] -= rate * p[k]
	}
	return loss
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
func (m *model) predict(im image) (p scores, loss float64) {
	for j, x := range im.pixel {
		w := &m.weight[x]
		for k := range p {
			p[k] += im.value[j] * w[k]
		}
	}
	top := math.Inf(-1)
	for k := range p {
		p[k] = m.scale*p[k] + m.bias[k]
		top = max(top, p[k])
	}
	z := p[im.label]
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
	for _, im := range set.images {
		p, l := m.predict(im)
		loss += l
		if slices.Index(p[:], slices.Max(p[:])) == im.label {
			right++
		}
	}
	n := float64(set.Len())
	return loss / n, float64(right) / n
}
