//go:build gc && !tinygo && !go1.28 && !asan && !msan && !heaptrimnoseats

#include "textflag.h"

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, ret+0(FP)
	RET

// func fetch(p *unsafe.Pointer, n int)
TEXT ·fetch(SB), NOSPLIT|NOFRAME, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	ADD  R1<<3, R0
next:
	MOVD.W -8(R0), R2
	PRFM   (R2), PSTL1KEEP
	SUBS   $1, R1
	BGT    next
	RET
