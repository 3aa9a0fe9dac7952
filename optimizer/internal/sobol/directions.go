package sobol

import (
	_ "embed"
	"strconv"
	"strings"
)

// tableDims is the number of dimensions with direction numbers of their own.
const tableDims = 64

// joeKuo holds the direction numbers of Joe and Kuo, Constructing Sobol sequences
// with better two-dimensional projections (2008), search criterion D(6), for
// dimensions 2 to 64. One dimension a line: the degree s of its primitive
// polynomial over GF(2), the polynomial's inner coefficients a as a binary number,
// and the initial numbers m_1 ... m_s.
//
//go:embed joe-kuo.txt
var joeKuo string

// directions returns the direction numbers v_1 ... v_32 of the first n <= tableDims
// dimensions as 32-bit binary fractions: dimension j, bit k at [j][k].
func directions(n int) [][32]uint32 {
	v := make([][32]uint32, n)
	for k := range 32 {
		v[0][k] = 1 << (31 - k)
	}
	for j, line := range strings.Split(joeKuo, "\n")[:n-1] {
		fields := strings.Fields(line)
		number := func(i int) uint32 {
			u, _ := strconv.ParseUint(fields[i], 10, 32) // the table is constant, and a test reads all of it
			return uint32(u)
		}
		v[j+1] = recurrence(int(number(0)), number(1), func(k int) uint32 { return number(2 + k) })
	}
	return v
}

// recurrence extends the initial numbers m(0) ... m(s-1) by the recurrence of the
// polynomial x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1 (Bratley and Fox 1988).
func recurrence(s int, a uint32, m func(k int) uint32) (v [32]uint32) {
	for k := range 32 {
		if k < s {
			v[k] = m(k) << (31 - k)
			continue
		}
		v[k] = v[k-s] ^ v[k-s]>>s
		for i := 1; i < s; i++ {
			if a>>(s-1-i)&1 == 1 {
				v[k] ^= v[k-i]
			}
		}
	}
	return v
}
