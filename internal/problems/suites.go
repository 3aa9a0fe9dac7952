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
