package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/lbotune/lbotune/spaces"
)

// shaped are random functions of forms that a sum of bends and products of pairs is not, on which the
// widths of intervals were chosen: bells on a plain, products of all parameters, powers as in formulas of
// physics, walls, bowls turned against the axes, and waves. Every fourth parameter does nothing.
func shaped(form string, d int, seed uint64) problem {
	rng := rand.New(rand.NewPCG(seed, uint64(100+d)))
	size, at, shape := make([]float64, d), make([]float64, d), make([]float64, d)
	for n, i := range rng.Perm(d) {
		if n < max(d-d/4, 2) {
			size[i] = math.Pow(0.5+0.3*rng.Float64(), float64(n))
		}
		at[i], shape[i] = rng.Float64(), rng.Float64()
	}
	p := problem{name: fmt.Sprintf("%s %d/%d", form, d, seed)}
	for i := range d {
		par := float("x" + strconv.Itoa(i+1))
		if seed%3 == 2 && rng.IntN(3) == 0 {
			par = []spaces.Param{ints(par.Name, 1, 12), choice(par.Name, 3), yesno(par.Name)}[rng.IntN(3)]
		}
		p.params = append(p.params, par)
	}
	each := func(u []float64, start float64, add func(v, size float64, i int) float64) float64 {
		for i := range u {
			start = add(start, size[i], i)
		}
		return start
	}
	turned := make([][]float64, d)
	for k := range turned {
		for range d {
			turned[k] = append(turned[k], rng.NormFloat64())
		}
	}
	switch form {
	case "bells":
		p.f = func(u []float64) (v float64) {
			for b := range 3 {
				v -= (1 - 0.3*float64(b)) * math.Exp(-each(u, 0, func(v, size float64, i int) float64 {
					middle := math.Mod(at[i]+float64(b)*shape[i], 1)
					return v + 6*size*(u[i]-middle)*(u[i]-middle)
				}))
			}
			return v
		}
	case "products":
		p.f = func(u []float64) float64 {
			return each(u, 1, func(v, size float64, i int) float64 {
				bend := math.Abs(2*u[i] - 2*at[i])
				if shape[i] < 0.5 {
					bend = math.Cos(4 * (u[i] - at[i]))
				}
				return v * (1 + 0.9*size*(bend-0.5))
			})
		}
	case "powers":
		p.f = func(u []float64) float64 {
			up := each(u, 1, func(v, size float64, i int) float64 {
				return v * math.Pow(0.3+u[i], 3*size*(shape[i]-0.5))
			})
			down := each(u, 0.2, func(v, size float64, i int) float64 { return v + size*u[(i+1)%d]*at[i] })
			return up / down
		}
	case "walls":
		p.f = func(u []float64) float64 {
			steep := each(u, -1, func(v, size float64, i int) float64 { return v + 1.5*size*(u[i]-0.5)*(shape[i]-0.3) })
			bowl := each(u, 0, func(v, size float64, i int) float64 { return v + size*(u[i]-at[i])*(u[i]-at[i]) })
			return bowl + 0.2*math.Exp(3*steep+2)
		}
	case "bowls":
		p.f = func(u []float64) (v float64) {
			for k := range min(d, 4) {
				along := each(u, 0, func(v, size float64, i int) float64 { return v + turned[k][i]*size*(u[i]-at[i]) })
				v += math.Pow(math.Abs(along), 1+shape[k]*2)
			}
			return v
		}
	case "waves":
		p.f = func(u []float64) (v float64) {
			for k := range 3 {
				phase := each(u, 3*at[k%d], func(v, size float64, i int) float64 { return v + 2*turned[k][i]*size*u[i] })
				v += math.Pow(0.7, float64(k)) * math.Sin(phase)
			}
			return v + each(u, 0, func(v, size float64, i int) float64 { return v + size*(u[i]-at[i])*(u[i]-at[i]) })
		}
	}
	return p
}

// forms are functions of all forms, in these numbers of parameters.
func forms(ds ...int) (out []problem) {
	for k, d := range ds {
		for f, form := range []string{"bells", "products", "powers", "walls", "bowls", "waves"} {
			out = append(out, shaped(form, d, uint64(3*f+k)))
		}
	}
	return out
}

// experiments are more functions of the literature on computer experiments, and two like those that are
// tuned; nothing was chosen on them, and they were looked at only after all was.
func experiments() []problem {
	x := func(u []float64, i int, lo, hi float64) float64 { return lo + u[i]*(hi-lo) }
	hartmann := func(d int) problem {
		alpha := []float64{1, 1.2, 3, 3.2}
		a := [][]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}}
		at := [][]float64{{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886}, {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
			{0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650}, {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}}
		return problem{fmt.Sprintf("hartmann %d", d), floats01(d), func(u []float64) (v float64) {
			for k := range 4 {
				e := 0.0
				for i := range d {
					e += a[k][i] * math.Pow(u[i]-at[k][i], 2)
				}
				v -= alpha[k] * math.Exp(-e)
			}
			return v
		}}
	}
	return []problem{
		{"robot arm", floats01(8), func(u []float64) float64 { // An and Owen 2001
			angle, a, b := 0.0, 0.0, 0.0
			for i := range 4 {
				angle += 2 * math.Pi * u[i]
				a += u[4+i] * math.Cos(angle)
				b += u[4+i] * math.Sin(angle)
			}
			return math.Hypot(a, b)
		}},
		{"bratley", floats01(6), func(u []float64) (v float64) { // Bratley et al. 1992
			product := 1.0
			for i := range u {
				product *= u[i]
				v += math.Pow(-1, float64(i+1)) * product
			}
			return v
		}},
		{"morokoff", floats01(5), func(u []float64) float64 { // Morokoff and Caflisch 1995
			v := math.Pow(1+1.0/5, 5)
			for i := range u {
				v *= math.Pow(u[i], 0.2)
			}
			return v
		}},
		{"exponential", floats01(6), func(u []float64) float64 { // Sobol and Levitan 1999
			v := 0.0
			for i, b := range []float64{1.5, 1.1, 0.9, 0.5, 0.3, 0.1} {
				v += b * u[i]
			}
			return math.Exp(v)
		}},
		{"linkletter", floats01(10), func(u []float64) float64 { // Linkletter et al. 2006
			return math.Sin(x(u, 0, 0, 5)) + math.Sin(x(u, 1, 0, 5))
		}},
		{"dette 8", floats01(8), func(u []float64) float64 { // Dette and Pepelyshev 2010
			v := 4*math.Pow(u[0]-2+8*u[1]-8*u[1]*u[1], 2) + math.Pow(3-4*u[1], 2) + 16*math.Sqrt(u[2]+1)*math.Pow(2*u[2]-1, 2)
			sum := u[2]
			for i := 3; i < 8; i++ {
				sum += u[i]
				v += float64(i+1) * math.Log1p(sum)
			}
			return v
		}},
		{"dette curved", floats01(3), func(u []float64) float64 {
			return 4*math.Pow(u[0]-2+8*u[1]-8*u[1]*u[1], 2) + math.Pow(3-4*u[1], 2) + 16*math.Sqrt(u[2]+1)*math.Pow(2*u[2]-1, 2)
		}},
		{"loeppky", floats01(10), func(u []float64) float64 { // Loeppky et al. 2013
			return 6*u[0] + 4*u[1] + 5.5*u[2] + 3*u[0]*u[1] + 2.2*u[0]*u[2] + 1.4*u[1]*u[2] + u[3] + 0.5*u[4] + 0.2*u[5] + 0.1*u[6]
		}},
		{"park", floats01(4), func(u []float64) float64 { // Park 1991
			a := u[0] + 0.05
			return a/2*(math.Sqrt(1+(u[1]+u[2]*u[2])*u[3]/(a*a))-1) + (a+3*u[3])*math.Exp(1+math.Sin(u[2]))
		}},
		{"park 2", floats01(4), func(u []float64) float64 {
			return 2.0/3*math.Exp(u[0]+u[1]) - u[3]*math.Sin(u[2]) + u[2]
		}},
		{"gramacy", floats01(6), func(u []float64) float64 { // Gramacy and Lee 2009
			return math.Exp(math.Sin(math.Pow(0.9*(u[0]+0.48), 10))) + u[1]*u[2] + u[3]
		}},
		{"currin", floats01(4), func(u []float64) float64 { // Currin et al. 1991, and two dummies
			a := 20 * u[0]
			return (1 - math.Exp(-1/(2*math.Max(u[1], 1e-9)))) * (2300*a*a*a + 1900*a*a + 2092*a + 60) / (100*a*a*a + 500*a*a + 4*a + 20)
		}},
		{"franke", floats01(3), func(u []float64) float64 { // Franke 1979, and a dummy
			a, b := 9*u[0], 9*u[1]
			return 0.75*math.Exp(-((a-2)*(a-2)+(b-2)*(b-2))/4) + 0.75*math.Exp(-(a+1)*(a+1)/49-(b+1)/10) +
				0.5*math.Exp(-((a-7)*(a-7)+(b-3)*(b-3))/4) - 0.2*math.Exp(-(a-4)*(a-4)-(b-7)*(b-7))
		}},
		{"flood", floats01(8), func(u []float64) float64 { // Iooss and Lemaitre 2015
			q, ks, zv, zm := x(u, 0, 500, 3000), x(u, 1, 15, 50), x(u, 2, 49, 51), x(u, 3, 54, 56)
			hd, cb, l, b := x(u, 4, 7, 9), x(u, 5, 55, 56), x(u, 6, 4990, 5010), x(u, 7, 295, 305)
			return zv + math.Pow(q/(b*ks*math.Sqrt((zm-zv)/l)), 0.6) - hd - cb
		}},
		{"spill", floats01(4), func(u []float64) float64 { // Bliznyuk et al. 2008, at one place and time
			m, d, l, tau := x(u, 0, 7, 13), x(u, 1, 0.02, 0.12), x(u, 2, 0.01, 3), x(u, 3, 30.01, 30.295)
			c := m / math.Sqrt(4*math.Pi*d*40) * math.Exp(-1.5*1.5/(4*d*40))
			return c + m/math.Sqrt(4*math.Pi*d*(40-tau))*math.Exp(-(1.5-l)*(1.5-l)/(4*d*(40-tau)))
		}},
		{"short column", floats01(5), func(u []float64) float64 { // Kuschel and Rackwitz 1997
			b, h, y, m, f := x(u, 0, 5, 15), x(u, 1, 15, 25), x(u, 2, 4, 6), x(u, 3, 1400, 2600), x(u, 4, 300, 700)
			return 1 - 4*m/(b*h*h*y) - math.Pow(f/(b*h*y), 2)
		}},
		{"cantilever", floats01(6), func(u []float64) float64 { // Wu et al. 2001, and a dummy
			e, a, b, w, t := x(u, 0, 2.2e7, 3.6e7), x(u, 1, 300, 700), x(u, 2, 700, 1300), x(u, 3, 2, 4), x(u, 4, 2, 4)
			return 4 * 1e6 / (e * w * t) * math.Hypot(b/(t*t), a/(w*w))
		}},
		{"sulfur", floats01(9), func(u []float64) float64 { // Charlson et al. 1992, with Tatang's ranges
			v := 1.0
			for i, r := range [][2]float64{{0.59, 0.98}, {0.4, 0.8}, {0.2, 0.5}, {1.2, 2.2}, {2, 7}, {0.4, 0.8}, {0.1, 0.5}, {50, 90}, {3, 9}} {
				factor := x(u, i, r[0], r[1])
				switch i {
				case 0, 1, 5:
					factor *= factor
				}
				v *= factor
			}
			return -v
		}},
		{"camel", floats01(4), func(u []float64) float64 { // with six humps, and two dummies
			a, b := x(u, 0, -2, 2), x(u, 1, -1, 1)
			return (4-2.1*a*a+a*a*a*a/3)*a*a + a*b + (4*b*b-4)*b*b
		}},
		hartmann(3), hartmann(6),
		{"ackley", floats01(5), func(u []float64) float64 {
			square, wave := 0.0, 0.0
			for i := range u {
				z := x(u, i, -10, 20) / float64(i+1)
				square += z * z / 5
				wave += math.Cos(2*math.Pi*z) / 5
			}
			return 20 + math.E - 20*math.Exp(-0.2*math.Sqrt(square)) - math.Exp(wave)
		}},
		{"levy", floats01(6), func(u []float64) (v float64) {
			w := func(i int) float64 { return 1 + (x(u, i, -10, 10)/math.Pow(1.7, float64(i))-1)/4 }
			v = math.Pow(math.Sin(math.Pi*w(0)), 2)
			for i := range 5 {
				v += math.Pow(w(i)-1, 2) * (1 + 10*math.Pow(math.Sin(math.Pi*w(i)+1), 2))
			}
			return v + math.Pow(w(5)-1, 2)
		}},
		{"forest", []spaces.Param{ints("depth", 1, 20), float("features"), ints("leaf", 1, 30), choice("criterion", 3), yesno("bootstrap"), when(float("sample"), "bootstrap == true"), ints("trees", 10, 300), float("ccp")},
			func(u []float64) float64 {
				fit := 1 - math.Exp(-4*u[0]/(0.3+u[2])) // how closely the trees fit
				fit *= math.Exp(-5 * u[7])
				v := 0.5 - 0.4*fit + 0.15*fit*fit*(1-u[6]/(0.2+u[6])) + 0.1*math.Pow(u[1]-0.35, 2)
				if u[4] > 0.5 {
					v += 0.08*math.Pow(u[5]-0.7, 2) - 0.02
				}
				if u[3] > 2.0/3 {
					v += 0.015
				}
				return v
			}},
		{"diverges", []spaces.Param{float("lr"), float("momentum"), ints("batch", 1, 9), float("clip"), float("warmup"), float("decay"), choice("schedule", 3), float("beta")},
			func(u []float64) float64 { // a learning rate that is too large for the momentum destroys it
				step := u[0] + 0.35*u[1] - 0.3*u[2] + 0.1*u[3]
				v := 0.3 + 1.5*math.Pow(math.Min(step-0.5, 0), 2) + 0.2*math.Pow(u[5]-0.4, 2)*(1+u[4])
				v += 2.0 / (1 + math.Exp(-25*(step-0.75-0.1*u[4])))
				if u[6] < 1.0/3 {
					v += 0.04
				}
				return v
			}},
	}
}
