//go:build gc && !tinygo && !go1.28 && !asan && !msan && !heaptrimnoseats

#include "textflag.h"

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ TLS, CX
	MOVQ 0(CX)(TLS*1), AX
	MOVQ AX, ret+0(FP)
	RET
