package warp

import (
	"math"
	"slices"
)

// Yeo and Johnson, A new family of power transformations to improve normality
// or symmetry, Biometrika 87 (2000), equation 1:
//
//	u ≥ 0:  ((1+u)^λ − 1)/λ              or ln(1+u) for λ = 0
//	u < 0:  −((1−u)^(2−λ) − 1)/(2−λ)     or −ln(1−u) for λ = 2
//
// The two branches are one power function mirrored, λ becoming 2 − λ.

func yeoJohnson(u, lambda float64) float64 {
	if u < 0 {
		return -power(-u, 2-lambda)
	}
	return power(u, lambda)
}

func yeoJohnsonInverse(z, lambda float64) float64 {
	if z < 0 {
		return -powerInverse(-z, 2-lambda)
	}
	return powerInverse(z, lambda)
}

// power returns ((1+u)^p − 1)/p for u ≥ 0, continuous in p at 0.
func power(u, p float64) float64 { return powerOfLog(math.Log1p(u), p) }

// powerOfLog is power(u, p) given ln(1+u).
func powerOfLog(l, p float64) float64 {
	if math.Abs(p*l) < 1e-8 {
		return l * (1 + p*l/2)
	}
	return math.Expm1(p*l) / p
}

// powerInverse solves power(u, p) = z for z ≥ 0.
func powerInverse(z, p float64) float64 {
	if math.Abs(p*z) < 1e-8 {
		return math.Expm1(z * (1 - p*z/2))
	}
	if p*z <= -1 {
		return math.Inf(1)
	}
	return math.Expm1(math.Log1p(p*z) / p)
}

// The range in which λ is sought. It is symmetric about 1, the identity; at its
// ends one tail is compressed to almost nothing.
const lambdaLow, lambdaHigh = -3, 5

// fitLambda maximizes the profile log likelihood of λ for normal transformed
// values,
//
//	−n/2 ln var(z) + (λ−1) Σ sign(u_i) ln(1+|u_i|)
//
// (the same paper, section 3), on a grid and then by golden section around the
// best grid point. Equal values give 1.
func fitLambda(us []float64) float64 {
	zs, logs := make([]float64, len(us)), make([]float64, len(us))
	weight := 0.0
	for i, u := range us {
		logs[i] = math.Copysign(math.Log1p(math.Abs(u)), u)
		weight += logs[i]
	}
	likelihood := func(lambda float64) float64 {
		for i, l := range logs {
			if l < 0 {
				zs[i] = -powerOfLog(-l, 2-lambda)
			} else {
				zs[i] = powerOfLog(l, lambda)
			}
		}
		_, sd := moments(zs)
		return -float64(len(us))*math.Log(sd) + (lambda-1)*weight
	}
	if slices.Min(us) == slices.Max(us) {
		return 1
	}
	const cells = 16
	const width = (lambdaHigh - lambdaLow) / float64(cells)
	best, top := 1.0, math.Inf(-1)
	for k := range cells + 1 {
		lambda := lambdaLow + float64(k)*width
		if v := likelihood(lambda); v > top {
			best, top = lambda, v
		}
	}
	return goldenSection(likelihood, max(best-width, lambdaLow), min(best+width, lambdaHigh), 1e-6)
}

// goldenSection maximizes f on [a, b] to the given width, assuming one maximum.
func goldenSection(f func(float64) float64, a, b, width float64) float64 {
	const ratio = 1 / math.Phi
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for b-a > width {
		if fc >= fd {
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	return (a + b) / 2
}
