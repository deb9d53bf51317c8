//go:build gc && !tinygo && !go1.28 && !asan && !msan && !heaptrimnoseats

#include "textflag.h"

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ TLS, CX
	MOVQ 0(CX)(TLS*1), AX
	MOVQ AX, ret+0(FP)
	RET

// func fetch(p *unsafe.Pointer, n int)
TEXT ·fetch(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
next:
	MOVQ -8(AX)(CX*8), DX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x0A // PREFETCHW (DX), which the assembler does not know
	SUBQ $1, CX
	JGT  next
	RET
