package problems

import (
	"fmt"
	"math"

	"github.com/lbotune/lbotune/spaces"
)

// Constrained lists objectives with limits: two toys and a cubic in two dimensions, and
// four designs of the engineering literature with published optima. Every parameter is a
// float, and limits are in shares of their bound where they have one.
//
//	gramacy2   Gramacy et al. 2016, Modeling an Augmented Lagrangian for Blackbox
//	           Constrained Optimization, Technometrics 58(1), eq. 9 and 10
//	gardner2   Gardner et al. 2014, Bayesian Optimization with Inequality Constraints,
//	           simulation 2
//	g06        Michalewicz and Schoenauer 1996, Evolutionary Algorithms for Constrained
//	           Parameter Optimization Problems, Evolutionary Computation 4(1)
//	others     Coello Coello and Mezura-Montes 2002, Constraint-handling in genetic
//	           algorithms through the use of dominance-based tournament selection,
//	           Advanced Engineering Informatics 16(3), all parameters continuous
func Constrained() []Objective {
	return []Objective{
		limited("gramacy2", 0.5997880520, [][2]float64{{0, 1}, {0, 1}}, func(x []float64) (float64, []float64) {
			return x[0] + x[1], []float64{
				1.5 - x[0] - 2*x[1] - 0.5*math.Sin(2*math.Pi*(x[0]*x[0]-2*x[1])),
				x[0]*x[0] + x[1]*x[1] - 1.5}
		}),
		limited("gardner2", 0.2532358975, [][2]float64{{0, 6}, {0, 6}}, func(x []float64) (float64, []float64) {
			return math.Sin(x[0]) + x[1], []float64{math.Sin(x[0])*math.Sin(x[1]) + 0.95}
		}),
		limited("g06", -6961.8138755802, [][2]float64{{13, 100}, {0, 100}}, func(x []float64) (float64, []float64) {
			a, b := x[0], x[1]
			return math.Pow(a-10, 3) + math.Pow(b-20, 3), []float64{
				1 - ((a-5)*(a-5)+(b-5)*(b-5))/100, ((a-6)*(a-6)+(b-5)*(b-5))/82.81 - 1}
		}),
		limited("spring3", 0.0126652328, [][2]float64{{0.05, 2}, {0.25, 1.3}, {2, 15}}, spring),
		limited("vessel4", 5885.3327736, [][2]float64{{0.0625, 6.1875}, {0.0625, 6.1875}, {10, 200}, {10, 200}}, vessel),
		limited("beam4", 1.7248523086, [][2]float64{{0.1, 2}, {0.1, 10}, {0.1, 10}, {0.1, 2}}, beam),
		limited("reducer7", 2994.4710661, [][2]float64{{2.6, 3.6}, {0.7, 0.8}, {17, 28}, {7.3, 8.3}, {7.3, 8.3}, {2.9, 3.9}, {5, 5.5}}, reducer),
	}
}

// limited is an objective over a box of floats x1, x2 and so on, with limits: f returns
// the value and by how much each limit is broken.
func limited(name string, least float64, box [][2]float64, f func(x []float64) (float64, []float64)) Objective {
	return Objective{
		Name: name, Space: boxed(box), Min: least,
		Eval: func(v spaces.Values) float64 { y, _ := f(vector(v)); return y },
		Over: func(v spaces.Values) []float64 { _, over := f(vector(v)); return over },
	}
}

func boxed(box [][2]float64) *spaces.Space {
	params := make([]spaces.Param, len(box))
	for j, b := range box {
		params[j] = float(fmt.Sprintf("x%d", j+1), b[0], b[1])
	}
	return space(params...)
}

// spring is the weight of a tension spring of wire x1, diameter x2 and x3 coils.
func spring(x []float64) (float64, []float64) {
	w, d, n := x[0], x[1], x[2]
	return (n + 2) * d * w * w, []float64{
		1 - d*d*d*n/(71785*math.Pow(w, 4)),
		(4*d*d-w*d)/(12566*(d*w*w*w-math.Pow(w, 4))) + 1/(5108*w*w) - 1,
		1 - 140.45*w/(d*d*n),
		(d+w)/1.5 - 1,
	}
}

// vessel is the cost of a pressure vessel: thickness of shell and head, radius, length.
func vessel(x []float64) (float64, []float64) {
	s, h, r, l := x[0], x[1], x[2], x[3]
	return 0.6224*s*r*l + 1.7781*h*r*r + 3.1661*s*s*l + 19.84*s*s*r, []float64{
		0.0193*r - s,
		0.00954*r - h,
		1 - (math.Pi*r*r*l+4.0/3*math.Pi*r*r*r)/1296000,
	}
}

// beam is the cost of a welded beam: height and length of the weld, height and width of
// the beam, under a load of 6,000 lb at 14 in.
func beam(x []float64) (float64, []float64) {
	const load, arm, young, shear = 6000.0, 14.0, 30e6, 12e6
	h, l, t, b := x[0], x[1], x[2], x[3]
	half := (h + t) / 2
	radius := math.Sqrt(l*l/4 + half*half)
	primary := load / (math.Sqrt2 * h * l)
	secondary := load * (arm + l/2) * radius / (2 * math.Sqrt2 * h * l * (l*l/12 + half*half))
	tau := math.Sqrt(primary*primary + primary*secondary*l/radius + secondary*secondary)
	buckling := 4.013 * young * t * b * b * b / 6 / (arm * arm) * (1 - t/(2*arm)*math.Sqrt(young/(4*shear)))
	cost := 0.04811 * t * b * (arm + l)
	return 1.10471*h*h*l + cost, []float64{
		tau/13600 - 1,
		6*load*arm/(b*t*t)/30000 - 1,
		h - b,
		(0.10471*h*h+cost)/5 - 1,
		1 - h/0.125,
		4*load*arm*arm*arm/(young*t*t*t*b)/0.25 - 1,
		1 - buckling/load,
	}
}

// reducer is the weight of a speed reducer: face width, module, teeth, lengths and
// diameters of its two shafts.
func reducer(x []float64) (float64, []float64) {
	b, m, z, l1, l2, d1, d2 := x[0], x[1], x[2], x[3], x[4], x[5], x[6]
	weight := 0.7854*b*m*m*(3.3333*z*z+14.9334*z-43.0934) - 1.508*b*(d1*d1+d2*d2) +
		7.4777*(d1*d1*d1+d2*d2*d2) + 0.7854*(l1*d1*d1+l2*d2*d2)
	return weight, []float64{
		27/(b*m*m*z) - 1,
		397.5/(b*m*m*z*z) - 1,
		1.93*l1*l1*l1/(m*z*math.Pow(d1, 4)) - 1,
		1.93*l2*l2*l2/(m*z*math.Pow(d2, 4)) - 1,
		math.Hypot(745*l1/(m*z), math.Sqrt(16.9e6))/(110*d1*d1*d1) - 1,
		math.Hypot(745*l2/(m*z), math.Sqrt(157.5e6))/(85*d2*d2*d2) - 1,
		m*z/40 - 1,
		5*m/b - 1,
		b/(12*m) - 1,
		(1.5*d1+1.9)/l1 - 1,
		(1.1*d2+1.9)/l2 - 1,
	}
}
