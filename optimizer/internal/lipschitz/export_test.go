package lipschitz

// Lower returns lo(x), without the test for crossing, and writes its gradient into
// grad if that is not nil.
func (b *Bounds) Lower(x, grad []float64) float64 {
	lo, _, k, _ := b.cones(x)
	b.gradient(x, k, -b.l, grad)
	return lo
}
