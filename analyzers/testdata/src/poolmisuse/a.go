package poolmisuse

import (
	"bytes"
	"sync"
)

var slices = sync.Pool{New: func() any { return make([]byte, 1024) }}

func useSlice(n int) {
	b := slices.Get().([]byte)
	slices.Put(b) // want `Put boxes b, one allocation each time: pool a pointer to it`
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func useBuffer() {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	buffers.Put(b) // want `a buffer that has held one large message keeps its size in the pool`
}

var oneWay = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func take() *bytes.Buffer {
	return oneWay.Get().(*bytes.Buffer) // want `nothing is ever put into oneWay: each Get makes a new value`
}

type server struct{ pool sync.Pool }

func (s *server) take() *int {
	return s.pool.Get().(*int) // want `nothing is ever put into pool`
}

// Silent from here on.

var pointers = sync.Pool{New: func() any { return new([]byte) }}

func usePointer() {
	b := pointers.Get().(*[]byte)
	pointers.Put(b)
}

func bounded(b *bytes.Buffer) {
	if b.Cap() < 1<<16 {
		buffers.Put(b)
	}
}

// Shared is for other packages too.
var Shared = sync.Pool{New: func() any { return new(int) }}

func takeShared() *int { return Shared.Get().(*int) }

var lent sync.Pool

func lend(f func(*sync.Pool)) { f(&lent) }

func takeLent() *int { return lent.Get().(*int) }

type stack struct{}

func (stack) Put(any) {}

type poolLike struct{ Pool stack }

func shadowed(b []byte) {
	var sync poolLike
	p := sync.Pool
	p.Put(b)
}
