// Package gp is exact Gaussian process regression for Bayesian optimization:
// a constant mean, an ARD Matérn-5/2 kernel and homoscedastic Gaussian noise,
// with everything that an acquisition function needs of it.
//
// Symbols used throughout, with their shapes:
//
//	n, d     observations, dimensions
//	X        n×d inputs in the unit cube; y their n standardized values
//	ℓ        d length scales, σ0² signal variance, σn² noise variance, c mean
//	m        a function that stands beside c in the mean, 0 unless one is given
//	k(x,x′)  = σ0² (1 + √5 r + 5/3 r²) e^(−√5 r),  r² = Σ_j ((x_j−x′_j)/ℓ_j)²
//	K        = k(X,X) + σn² I = L Lᵀ   (n×n, L lower triangular)
//	α        = K⁻¹ (y − c − m(X))      (n)
//	v(x)     = L⁻¹ k(X,x)              (n)
//	μ(x)     = c + m(x) + k(x,X) α,  σ²(x) = k(x,x) − v(x)ᵀv(x)   (latent: no σn²)
//
// Reference: Rasmussen and Williams, Gaussian Processes for Machine Learning
// (2006), chapters 2, 4 and 5.
//
// A Model is immutable and may be shared by goroutines. Predictions go through
// a Predictor, which owns the scratch space and belongs to one goroutine.
// Nothing here reads a clock or a global random generator, so equal inputs
// give equal outputs on one platform.
package gp
