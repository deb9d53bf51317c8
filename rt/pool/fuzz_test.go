package pool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// model runs the operations that ops spells against a pool, and checks them
// against what must be true: every buffer that is out is as long as was asked for,
// belongs to one user, and holds what that user wrote.
func model(t *testing.T, ops []byte) {
	p := pool.Bytes{MaxBytes: 1 << 20, MaxSize: 256 << 10}
	if len(ops) > 0 && ops[0]&1 == 0 {
		p.MaxBytes, p.MaxSize = 0, 0
	}
	locals := []*pool.Local{p.Local(), p.Local()}
	var owned [][]byte
	stamp := func(b []byte, v uint64) {
		for i := 0; i+8 <= len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], v)
		}
	}
	intact := func(b []byte) bool {
		for i := 8; i+8 <= len(b); i += 8 {
			if binary.LittleEndian.Uint64(b[i:]) != binary.LittleEndian.Uint64(b) {
				return false
			}
		}
		return len(b) < 8 || binary.LittleEndian.Uint64(b) == uint64(cap(b))<<32|uint64(len(b))
	}
	for len(ops) >= 4 {
		op, who := ops[0]%8, ops[0]>>3%4
		n := int(ops[1]) << (ops[2] % 13)
		pick := int(ops[3])
		ops = ops[4:]
		switch {
		case op < 4:
			b := get(&p, locals, who, n)
			if len(b) != n || n > 0 && cap(b) < n {
				t.Fatalf("asked for %d bytes, got %d of %d", n, len(b), cap(b))
			}
			stamp(b, uint64(cap(b))<<32|uint64(len(b)))
			owned = append(owned, b)
		case op < 7 && len(owned) > 0:
			i := pick % len(owned)
			b := owned[i]
			owned[i] = owned[len(owned)-1]
			owned = owned[:len(owned)-1]
			if !intact(b) {
				t.Fatalf("a buffer of %d bytes was written to by somebody else", len(b))
			}
			put(&p, locals, who, b[:pick%(len(b)+1)])
		case op == 7 && pick < 8:
			runtime.GC()
		case op == 7 && who < 2:
			locals[who].Release()
			locals[who] = p.Local()
		}
	}
	for _, b := range owned {
		if !intact(b) {
			t.Fatalf("a buffer of %d bytes was written to by somebody else", len(b))
		}
		p.Put(b)
	}
	if held := p.Stats().HeldBytes; held < 0 {
		t.Fatalf("%d bytes held", held)
	}
}

func get(p *pool.Bytes, locals []*pool.Local, who byte, n int) []byte {
	switch who {
	case 0, 1:
		return locals[who].Get(n)
	case 2:
		return p.GetZeroed(n)
	default:
		return p.Get(n)
	}
}

func put(p *pool.Bytes, locals []*pool.Local, who byte, b []byte) {
	if who < 2 {
		locals[who].Put(b)
	} else {
		p.Put(b)
	}
}

// What the collector does is not repeatable, so run it with -fuzzminimizetime 1x.
func FuzzBytes(f *testing.F) {
	for seed := range uint64(4) {
		r := rand.NewChaCha8([32]byte{byte(seed)})
		ops := make([]byte, 400)
		r.Read(ops)
		f.Add(ops)
	}
	f.Fuzz(model)
}

func TestModel(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 5
	}
	r := rand.NewChaCha8([32]byte{42})
	ops := make([]byte, 4000)
	for range rounds {
		r.Read(ops)
		model(t, ops)
	}
}
