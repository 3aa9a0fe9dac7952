// Vectors of four for AVX2 and FMA; vector.go says what is computed.

#include "textflag.h"

#define ROWS \
	MOVQ w+8(FP), SI         \
	MOVQ ld+16(FP), R8       \
	SHLQ $3, R8              \
	LEAQ (SI)(R8*1), R9      \
	LEAQ (SI)(R8*2), R10     \
	LEAQ (R9)(R8*2), R11     \
	MOVQ n+32(FP), CX        \
	XORQ AX, AX

// Four of each constant.
#define FOUR(at, v) \
DATA constants<>+(at)(SB)/8, v      \
DATA constants<>+(at+8)(SB)/8, v    \
DATA constants<>+(at+16)(SB)/8, v   \
DATA constants<>+(at+24)(SB)/8, v

FOUR(0, $5.0)
FOUR(32, $-708.0) // below it e^x is 0 to any sum
FOUR(64, $1.4426950408889634073599246810018920) // 1/ln 2
FOUR(96, $0.69314718055966295651160180568695068359375) // ln 2, upper half
FOUR(128, $0.28235290563031577122588448175013436025525412068e-12) // lower half
FOUR(160, $0.0625)
FOUR(192, $2.4801587301587301587e-5) // 1/8! and so on
FOUR(224, $1.9841269841269841270e-4)
FOUR(256, $1.3888888888888888889e-3)
FOUR(288, $8.3333333333333333333e-3)
FOUR(320, $4.1666666666666666667e-2)
FOUR(352, $1.6666666666666666667e-1)
FOUR(384, $0.5)
FOUR(416, $1.0)
FOUR(448, $2.0)
FOUR(480, $1023)
FOUR(512, $0.333333333333333333333)
FOUR(544, $1.66666666666666666667)
FOUR(576, $0x8000000000000000)
GLOBL constants<>(SB), RODATA|NOPTR, $608

// func matern52AVX2(k, slope, r2 *float64, n int, signal float64)
TEXT ·matern52AVX2(SB), NOSPLIT, $0-40
	MOVQ         k+0(FP), DI
	MOVQ         slope+8(FP), DX
	MOVQ         r2+16(FP), SI
	MOVQ         n+24(FP), CX
	VBROADCASTSD signal+32(FP), Y15
	VMOVUPD      constants<>+32(SB), Y14
	VMOVUPD      constants<>+416(SB), Y13
	VMOVUPD      constants<>+448(SB), Y12
	VMOVUPD      constants<>+480(SB), Y11
	XORQ         AX, AX

matern:
	VMOVUPD (SI)(AX*8), Y0
	VMULPD  constants<>+0(SB), Y0, Y0
	VSQRTPD Y0, Y0                      // s
	VXORPD  constants<>+576(SB), Y0, Y1
	VMAXPD  Y1, Y14, Y1                 // −s, a NaN as it is

	// e^(−s) as math.Exp has it, step by step: 2^m e^x, x/16 by its series, and four
	// times e^2x − 1 = (e^x − 1)(e^x − 1 + 2).
	VMULPD       constants<>+64(SB), Y1, Y2
	VCVTPD2DQY   Y2, X3
	VCVTDQ2PD    X3, Y2
	VFNMADD231PD constants<>+96(SB), Y2, Y1
	VFNMADD231PD constants<>+128(SB), Y2, Y1
	VMULPD       constants<>+160(SB), Y1, Y1
	VMOVUPD      constants<>+192(SB), Y2
	VFMADD213PD  constants<>+224(SB), Y1, Y2
	VFMADD213PD  constants<>+256(SB), Y1, Y2
	VFMADD213PD  constants<>+288(SB), Y1, Y2
	VFMADD213PD  constants<>+320(SB), Y1, Y2
	VFMADD213PD  constants<>+352(SB), Y1, Y2
	VFMADD213PD  constants<>+384(SB), Y1, Y2
	VFMADD213PD  Y13, Y1, Y2
	VMULPD       Y2, Y1, Y1
	VADDPD       Y12, Y1, Y2
	VMULPD       Y2, Y1, Y1
	VADDPD       Y12, Y1, Y2
	VMULPD       Y2, Y1, Y1
	VADDPD       Y12, Y1, Y2
	VMULPD       Y2, Y1, Y1
	VADDPD       Y12, Y1, Y2
	VFMADD213PD  Y13, Y2, Y1
	VPMOVSXDQ    X3, Y3
	VPADDQ       Y11, Y3, Y3
	VPSLLQ       $52, Y3, Y3
	VMULPD       Y3, Y1, Y1

	VMULPD  Y15, Y1, Y1
	VADDPD  Y13, Y0, Y4
	VMULPD  Y0, Y0, Y5
	VMULPD  constants<>+512(SB), Y5, Y5
	VADDPD  Y5, Y4, Y5
	VMULPD  Y5, Y1, Y5
	VMOVUPD Y5, (DI)(AX*8)
	TESTQ   DX, DX
	JZ      next
	VMULPD  constants<>+544(SB), Y1, Y1
	VMULPD  Y4, Y1, Y1
	VMOVUPD Y1, (DX)(AX*8)

next:
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  matern
	VZEROUPPER
	RET

// func tileAVX2(c *float64, ldc int, a *float64, lda int, b *float64, ldb, n int)
TEXT ·tileAVX2(SB), NOSPLIT, $0-56
	MOVQ c+0(FP), DI
	MOVQ ldc+8(FP), R8
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R9
	MOVQ b+32(FP), BX
	MOVQ ldb+40(FP), R10
	MOVQ n+48(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	SHLQ $3, R10
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

product:
	VMOVUPD      (BX), Y8
	VMOVUPD      32(BX), Y9
	VBROADCASTSD (SI), Y10
	VBROADCASTSD 8(SI), Y11
	VBROADCASTSD 16(SI), Y12
	VBROADCASTSD 24(SI), Y13
	VFMADD231PD  Y8, Y10, Y0
	VFMADD231PD  Y9, Y10, Y1
	VFMADD231PD  Y8, Y11, Y2
	VFMADD231PD  Y9, Y11, Y3
	VFMADD231PD  Y8, Y12, Y4
	VFMADD231PD  Y9, Y12, Y5
	VFMADD231PD  Y8, Y13, Y6
	VFMADD231PD  Y9, Y13, Y7
	ADDQ         R9, SI
	ADDQ         R10, BX
	DECQ         CX
	JNZ          product

#define SUBTRACT(left, right) \
	VMOVUPD (DI), Y8         \
	VMOVUPD 32(DI), Y9       \
	VSUBPD  left, Y8, Y8     \
	VSUBPD  right, Y9, Y9    \
	VMOVUPD Y8, (DI)         \
	VMOVUPD Y9, 32(DI)       \
	ADDQ    R8, DI

	SUBTRACT(Y0, Y1)
	SUBTRACT(Y2, Y3)
	SUBTRACT(Y4, Y5)
	SUBTRACT(Y6, Y7)
	VZEROUPPER
	RET

// func addSquaresAVX2(dst, col *float64, n int, z float64)
TEXT ·addSquaresAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         col+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD z+24(FP), Y0
	XORQ         AX, AX

square:
	VSUBPD  (SI)(AX*8), Y0, Y1
	VMULPD  Y1, Y1, Y1
	VADDPD  (DI)(AX*8), Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     square
	VZEROUPPER
	RET

// func dotsAVX2(dst, w *float64, ld int, x *float64, n int)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	ROWS
	MOVQ   dst+0(FP), DI
	MOVQ   x+24(FP), BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

dots:
	VMOVUPD     (BX)(AX*8), Y8
	VMOVUPD     32(BX)(AX*8), Y9
	VFMADD231PD (SI)(AX*8), Y8, Y0
	VFMADD231PD (R9)(AX*8), Y8, Y1
	VFMADD231PD (R10)(AX*8), Y8, Y2
	VFMADD231PD (R11)(AX*8), Y8, Y3
	VFMADD231PD 32(SI)(AX*8), Y9, Y4
	VFMADD231PD 32(R9)(AX*8), Y9, Y5
	VFMADD231PD 32(R10)(AX*8), Y9, Y6
	VFMADD231PD 32(R11)(AX*8), Y9, Y7
	ADDQ        $8, AX
	CMPQ        AX, CX
	JLT         dots
	VADDPD      Y4, Y0, Y0
	VADDPD      Y5, Y1, Y1
	VADDPD      Y6, Y2, Y2
	VADDPD      Y7, Y3, Y3
	VHADDPD     Y1, Y0, Y0
	VHADDPD     Y3, Y2, Y2
	VPERM2F128  $0x20, Y2, Y0, Y4
	VPERM2F128  $0x31, Y2, Y0, Y5
	VADDPD      Y5, Y4, Y4
	VMOVUPD     Y4, (DI)
	VZEROUPPER
	RET

// func addRowsAVX2(dst, w *float64, ld int, x *float64, n int)
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-40
	ROWS
	MOVQ         dst+0(FP), DI
	MOVQ         x+24(FP), BX
	VBROADCASTSD (BX), Y0
	VBROADCASTSD 8(BX), Y1
	VBROADCASTSD 16(BX), Y2
	VBROADCASTSD 24(BX), Y3

rows:
	VMOVUPD     (DI)(AX*8), Y4
	VFMADD231PD (SI)(AX*8), Y0, Y4
	VFMADD231PD (R9)(AX*8), Y1, Y4
	VFMADD231PD (R10)(AX*8), Y2, Y4
	VFMADD231PD (R11)(AX*8), Y3, Y4
	VMOVUPD     Y4, (DI)(AX*8)
	ADDQ        $4, AX
	CMPQ        AX, CX
	JLT         rows
	VZEROUPPER
	RET
