package vector

import "golang.org/x/sys/cpu"

// fast reports whether the processor has what vector_amd64.s needs.
func fast() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

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
