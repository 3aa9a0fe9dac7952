package sobol

// PlainPoints returns the first n points without the scramble. Point 0 is the origin.
func PlainPoints(dim, n int) [][]float64 {
	dirs := directions(dim)
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, dim)
		for j := range points[i] {
			points[i][j] = float64(combine(&dirs[j], uint32(i^i>>1))) / (1 << 32)
		}
	}
	return points
}
