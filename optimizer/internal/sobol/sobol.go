// Package sobol makes space-filling designs in the unit cube: the Owen-scrambled Sobol
// sequence, and maximin Latin hypercubes.
package sobol

import (
	_ "embed"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Sequence is a scrambled Sobol sequence of 2^32 points in (0,1)^dim, in the order of the
// Gray code. It is immutable: point i is a pure function of (dim, seed, i), so any
// part of it can be asked for again.
//
// It is randomised by nested uniform (Owen) scrambling, done by hashing as in Laine and Karras
// 2011: each binary digit is flipped depending on the digits before it, which keeps every
// stratification of the sequence and makes each point uniformly distributed.
//
// The first 64 dimensions have direction numbers by Joe and Kuo. Further ones are
// padded as in Burley, Practical Hash-based Owen Scrambling (2020): each further
// group of 64 uses the same direction numbers in an order of its own that Owen
// scrambling of the index gives, so that groups are combined as if at random.
type Sequence struct {
	dim   int
	dirs  [][32]uint32
	digit []keys // scramble of each dimension
	index []keys // scramble of the index of each group
}

// Scrambled returns the sequence with the given seed; dim >= 1.
func Scrambled(dim int, seed uint64) *Sequence {
	dim = max(dim, 1)
	s := &Sequence{
		dim:   dim,
		dirs:  directions(min(dim, tableDims)),
		digit: make([]keys, dim),
		index: make([]keys, (dim-1)/tableDims+1),
	}
	for j := range s.digit {
		s.digit[j] = newKeys(seed, uint64(j))
	}
	for g := range s.index {
		s.index[g] = newKeys(seed, 1<<32+uint64(g))
	}
	return s
}

// At writes point i into x, which has an element for each dimension. Coordinates lie in
// the open interval (0, 1).
func (s *Sequence) At(i uint32, x []float64) {
	for g := 0; g*tableDims < s.dim; g++ {
		k := i
		if g > 0 {
			k = s.index[g].scramble(i)
		}
		gray := k ^ k>>1
		for j := g * tableDims; j < min(s.dim, (g+1)*tableDims); j++ {
			v := s.digit[j].scramble(combine(&s.dirs[j-g*tableDims], gray))
			x[j] = (float64(v) + 0.5) / (1 << 32)
		}
	}
}

// Points returns the points from, from+1, ... from+n-1.
func (s *Sequence) Points(from uint32, n int) [][]float64 {
	points := slices.Collect(slices.Chunk(make([]float64, n*s.dim), s.dim))
	for i, p := range points {
		s.At(from+uint32(i), p)
	}
	return points
}

// combine adds, over GF(2), the direction numbers of the bits of gray.
func combine(dirs *[32]uint32, gray uint32) uint32 {
	v := uint32(0)
	for ; gray != 0; gray &= gray - 1 {
		v ^= dirs[bits.TrailingZeros32(gray)]
	}
	return v
}

// keys parametrises one nested scramble of 32 binary digits.
type keys [4]uint32

// newKeys derives keys from a seed and the number of their stream.
func newKeys(seed, stream uint64) keys {
	a := Mix(seed ^ Mix(stream+Golden))
	b := Mix(a + Golden)
	return keys{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)}
}

// Golden is what SplitMix64 adds to its state.
const Golden = 0x9e3779b97f4a7c15

// Mix is a bijection of 64-bit words that changes about half of the output bits
// for each input bit (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// scramble flips each digit of v, most significant first, depending on the digits
// before it. On the reversed word every operation below carries from low bits to
// high ones only: adding, multiplying by an odd number, and exclusive or with an
// even multiple of the word itself.
func (k keys) scramble(v uint32) uint32 {
	v = bits.Reverse32(v)
	v += k[0]
	v ^= v * (k[1] &^ 1)
	v *= k[2] | 1
	v ^= v * (k[3] &^ 1)
	v += k[1]
	v ^= v * (k[0] &^ 1)
	v *= k[3] | 1
	return bits.Reverse32(v)
}

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
