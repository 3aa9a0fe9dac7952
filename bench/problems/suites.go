package problems

// Paper lists the twelve synthetic functions on which the paper compares its
// methods. The paper does not print their domains; these are the usual ones.
func Paper() []Problem {
	return []Problem{
		Branin(), Camel(), GoldsteinPrice(), Hartmann3(), Hartmann6(),
		Michalewicz(2), Michalewicz(5), Michalewicz(10),
		Rosenbrock(2), Rosenbrock(3), Rosenbrock(4), Rosenbrock(5),
	}
}

// Cited lists the functions of Paper that have another domain in the survey which the paper
// cites for its domains [JY]: the camel on [-5, 5]², Rosenbrock on [-30, 30]^d. The survey's
// text was not at hand; these are the domains that programs take from it (NiaPy and smoof for
// Rosenbrock).
func Cited() []Problem {
	out := []Problem{Camel()}
	for d := 2; d <= 5; d++ {
		out = append(out, Rosenbrock(d))
	}
	for i, l := range []float64{56009.8, 6.69695e8, 9.54949e8, 1.17276e9, 1.35602e9} {
		side := 30.0
		if i == 0 {
			side = 5
		}
		d := out[i].Dim()
		out[i].Low, out[i].High = constant(d, -side), constant(d, side)
		out[i].Name, out[i].Lipschitz = out[i].Name+CitedSuffix, l
	}
	return out
}

// CitedSuffix marks the names of the functions of Cited.
const CitedSuffix = "-cited"

// ManyBasins lists surfaces on which a search settles in the wrong place, a new
// instance of each for each seed.
func ManyBasins(seed uint64) []Problem {
	return []Problem{
		BumpMaximum(4, seed), BumpSum(4, seed), Rastrigin(3, seed), Schwefel(3, seed), TwoBasins(3, seed),
	}
}

// Standard lists functions of the literature that are not in Paper.
func Standard(seed uint64) []Problem {
	return []Problem{
		Ackley(5, seed), Griewank(5, seed), Levy(4), StyblinskiTang(5), DixonPrice(4), Shekel(), Eggholder(),
		Ellipsoid(6, seed), Rotated(Rosenbrock(4), seed), Rotated(Rastrigin(5, seed), seed),
	}
}

// Adversarial lists surfaces that break an assumption of most models: that
// values change smoothly, alike in all directions, or at all.
func Adversarial(seed uint64) []Problem {
	return []Problem{
		AsymmetricValley(4, seed), FlatValley(4, seed), Steps(4, seed), Cliff(3, seed), Needle(2, seed),
		Constant(3), PureNoise(3, seed), Sphere(20, seed), Ackley(20, seed),
	}
}
