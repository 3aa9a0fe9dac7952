// Package acquisition holds the acquisition functions of Bayesian optimization
// and of Lipschitz Bayesian optimization as scalar functions of what is known
// about f at one point: the posterior mean mu and standard deviation sigma, the
// incumbent value best, and Lipschitz bounds lo <= f <= up. f is maximized.
//
// Each function returns its value and its partial derivatives, so that a caller
// who has the gradients of mu, sigma, lo and up with respect to x gets the
// gradient of the acquisition by [Value.Chain]. All quantities share one unit
// (in practice: standardized outputs). Functions named Log... return natural
// logarithms that stay accurate where the function itself underflows.
//
// Sources: Ahmed, Vaswani and Schmidt, Combining Bayesian Optimization and
// Lipschitz Optimization (2020), for truncation (TEI, TPI, TUCB) and the
// accept-reject rule, here with the sign of the second term of TEI corrected;
// Ament et al., Unexpected Improvements to Expected Improvement (2023), for
// logarithmic forms.
package acquisition

// MinSigma is the smallest posterior standard deviation that is told apart from
// zero. Smaller values are raised to it, and derivatives by sigma are then 0.
const MinSigma = 1e-9

// Rejected is the level at which the logarithmic truncated functions continue
// where the bounds leave nothing to gain (up <= best). The function itself is 0
// there and its logarithm minus infinity, which gives an optimizer no direction;
// instead Rejected + (up - max(best, lo))/sigma is returned, whose gradient leads
// out of the rejected region. Every value of at most Rejected is a rejection.
const Rejected = -1e10

// Value is the value F of an acquisition function at one point and its partial
// derivatives by the posterior mean, the posterior standard deviation, and the
// lower and upper bound.
type Value struct {
	F     float64
	Mu    float64
	Sigma float64
	Lo    float64
	Up    float64
}

// Chain writes dF/dx into grad from the gradients by x of mu, sigma, lo and up.
// A nil gradient stands for zero.
func (v Value) Chain(grad, mu, sigma, lo, up []float64) {
	clear(grad)
	by := [4][]float64{mu, sigma, lo, up}
	for k, c := range [4]float64{v.Mu, v.Sigma, v.Lo, v.Up} {
		if c != 0 {
			for i, x := range by[k] {
				grad[i] += c * x
			}
		}
	}
}

// overSigma drops the derivative by a standard deviation that was raised to MinSigma.
func (v Value) overSigma(sigma float64) Value {
	if sigma < MinSigma {
		v.Sigma = 0
	}
	return v
}
