package vector

import "golang.org/x/sys/cpu"

// fast reports whether the processor has what vector_amd64.s needs. Where AVX was switched off,
// math.Exp goes another way than it.
func fast() bool { return cpu.X86.HasAVX && cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// features are those that decide how sums are rounded: here, in math.Exp, or where the compiler
// fuses multiplications and additions (GOAMD64=v3).
func features() string {
	names := ""
	switch {
	case fast():
		names = "+avx2+fma"
	case cpu.X86.HasAVX && cpu.X86.HasFMA:
		names = "+fma"
	}
	if x := 1 + rounding; x*x+(-1-2*rounding) != 0 { // its square is lost where a product is rounded
		names += "+fused"
	}
	return names
}

// rounded keeps the compiler from fusing a product and a sum where the vectors do not.
func rounded(product float64) float64 { return float64(product) }

// rounding is a variable so that the compiler does not compute with it, which it does exactly.
var rounding = 0x1p-30

// All numbers n are positive. That of dotsAVX2 is a multiple of 8, and but for tileAVX2 the
// others are of 4. slope may be nil.

//go:noescape
func matern52AVX2(k, slope, r2 *float64, n int, signal float64)

//go:noescape
func tileAVX2(c *float64, ldc int, a *float64, lda int, b *float64, ldb, n int)

//go:noescape
func addSquaresAVX2(dst, col *float64, n int, z float64)

//go:noescape
func dotsAVX2(dst, w *float64, ld int, x *float64, n int)

//go:noescape
func addRowsAVX2(dst, w *float64, ld int, x *float64, n int)
