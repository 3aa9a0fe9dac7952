//go:build !amd64

package vector

func fast() bool { return false }

func features() string { return "" }

// All numbers go through one loop here: fused or not, each has the same digits in every place.
func rounded(product float64) float64 { return product }

func matern52AVX2(k, slope, r2 *float64, n int, signal float64) {}

func tileAVX2(c *float64, ldc int, a *float64, lda int, b *float64, ldb, n int) {}

func addSquaresAVX2(dst, col *float64, n int, z float64) {}

func dotsAVX2(dst, w *float64, ld int, x *float64, n int) {}

func addRowsAVX2(dst, w *float64, ld int, x *float64, n int) {}
