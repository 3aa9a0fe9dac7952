// Package logreg is multinomial logistic regression trained by stochastic
// gradient descent, together with the two data sets it is trained on: the
// MNIST files, and drawn digits of the same shape for when those are absent.
//
// With three hyperparameters (the strength of the ℓ2 penalty, the learning rate
// and the number of passes) it is the training task of Ahmed, Vaswani and
// Schmidt, "Combining Bayesian Optimization and Lipschitz Optimization"
// (Machine Learning, 2020).
package logreg

import "math/rand/v2"

// Classes is the number of labels, the digits 0 to 9.
const Classes = 10

// Set holds labelled images in compressed sparse rows. Most pixels of a digit
// are empty, so that skipping them makes a pass over the data several times
// faster.
type Set struct {
	labels []uint8
	start  []int     // image i owns entries start[i] to start[i+1]
	pixel  []uint16  // index of a pixel that is not empty
	value  []float64 // its value, in (0, 1]
}

func newSet(images int) *Set {
	return &Set{labels: make([]uint8, 0, images), start: append(make([]int, 0, images+1), 0)}
}

// Len is the number of images.
func (s *Set) Len() int { return len(s.labels) }

// Label is the digit that image i shows.
func (s *Set) Label(i int) int { return int(s.labels[i]) }

// add appends one image; a pixel of 255 has the value 1.
func (s *Set) add(pixels []byte, label uint8) {
	for i, p := range pixels {
		if p > 0 {
			s.pixel = append(s.pixel, uint16(i))
			s.value = append(s.value, float64(p)/255)
		}
	}
	s.start = append(s.start, len(s.pixel))
	s.labels = append(s.labels, label)
}

func (s *Set) image(i int) (pixel []uint16, value []float64) {
	from, to := s.start[i], s.start[i+1]
	return s.pixel[from:to], s.value[from:to]
}

// pick copies the images with the given indices, in that order.
func (s *Set) pick(indices []int) *Set {
	p := newSet(len(indices))
	for _, i := range indices {
		pixel, value := s.image(i)
		p.pixel = append(p.pixel, pixel...)
		p.value = append(p.value, value...)
		p.start = append(p.start, len(p.pixel))
		p.labels = append(p.labels, s.labels[i])
	}
	return p
}

// Split shuffles the images and divides them: four fifths to train on and one
// fifth to test on. The division is the same in every run, so that trials
// differ by their hyperparameters alone. With 0 < n < Len only n images are
// used.
func (s *Set) Split(n int) (train, test *Set) {
	order := rand.New(rand.NewPCG(0x5eed, 80)).Perm(s.Len())
	if n > 0 && n < len(order) {
		order = order[:n]
	}
	cut := len(order) * 4 / 5
	return s.pick(order[:cut]), s.pick(order[cut:])
}
