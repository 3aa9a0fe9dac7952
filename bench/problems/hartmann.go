package problems

import "math"

// Hartmann3 is the three-dimensional function of Hartman's family [DS, SB], a
// sum of four Gaussian wells on the unit cube.
func Hartmann3() Problem {
	return hartmann(Problem{
		Name:       "hartmann3",
		Min:        -3.8627797869493365,
		Minimizers: [][]float64{{0.114614, 0.555649, 0.852547}},
		Lipschitz:  18.3272,
	}, [][]float64{
		{3, 10, 30},
		{0.1, 10, 35},
		{3, 10, 30},
		{0.1, 10, 35},
	}, [][]float64{
		{0.3689, 0.1170, 0.2673},
		{0.4699, 0.4387, 0.7470},
		{0.1091, 0.8732, 0.5547},
		{0.0381, 0.5743, 0.8828}, // [SB]; [DS] print 0.03815, with which the minimum is −3.86278215
	})
}

// Hartmann6 is the six-dimensional function of Hartman's family [DS, SB]. Its
// second minimum lies 0.119 above the first and catches many searches.
func Hartmann6() Problem {
	return hartmann(Problem{
		Name:       "hartmann6",
		Min:        -3.322368011415511,
		Minimizers: [][]float64{{0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054}},
		Lipschitz:  11.3223,
	}, [][]float64{
		{10, 3, 17, 3.5, 1.7, 8},
		{0.05, 10, 17, 0.1, 8, 14},
		{3, 3.5, 1.7, 10, 17, 8},
		{17, 8, 0.05, 10, 0.1, 14},
	}, [][]float64{
		{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
		{0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
		{0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
		{0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381},
	})
}

// hartmann completes p with −Σ c_i exp(−Σ_j a_ij (x_j − p_ij)²).
func hartmann(p Problem, a, at [][]float64) Problem {
	c := [...]float64{1, 1.2, 3, 3.2}
	p.Low, p.High = constant(len(a[0]), 0), constant(len(a[0]), 1)
	p.Eval = func(x []float64) float64 {
		sum := 0.0
		for i := range c {
			e := 0.0
			for j, v := range x {
				d := v - at[i][j]
				e += a[i][j] * d * d
			}
			sum -= c[i] * math.Exp(-e)
		}
		return sum
	}
	return p
}
