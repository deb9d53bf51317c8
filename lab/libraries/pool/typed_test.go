package pool

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

type object struct {
	a int64
	_ [3]int64 // fields that nobody reads, as objects have them
	_ string
	_ *int
}

// twoPools keeps values without an allocation by the usual way: the pointer that
// a value is stored behind goes to a second sync.Pool while the value is out.
type twoPools[T any] struct{ items, pointers sync.Pool }

func (p *twoPools[T]) get() (v T) {
	if x, _ := p.items.Get().(*T); x != nil {
		v = *x
		var zero T
		*x = zero
		p.pointers.Put(x)
	}
	return v
}

func (p *twoPools[T]) put(v T) {
	x, _ := p.pointers.Get().(*T)
	if x == nil {
		x = new(T)
	}
	*x = v
	p.items.Put(x)
}

// BenchmarkTyped gets, changes and puts one object.
func BenchmarkTyped(b *testing.B) {
	parallel := func(name string, f func(pb *testing.PB)) {
		measure(b, name, func(b *testing.B, start func()) { start(); b.RunParallel(f) })
	}
	parallel("floor", func(pb *testing.PB) {
		o := new(object)
		for pb.Next() {
			o.a++
		}
	})
	plain := sync.Pool{New: func() any { return new(object) }}
	parallel("sync.Pool", func(pb *testing.PB) {
		for pb.Next() {
			o := plain.Get().(*object)
			o.a++
			plain.Put(o)
		}
	})
	var of pool.Of[object]
	parallel("heaptrim-of", func(pb *testing.PB) {
		for pb.Next() {
			o := of.Get()
			o.a++
			of.Put(o)
		}
	})
	// The least that values cost which lie behind a pointer: two sync.Pools, used
	// twice in each op, and no value.
	full, empty := sync.Pool{New: func() any { return new(object) }}, sync.Pool{New: func() any { return new(object) }}
	parallel("floor-two-pools", func(pb *testing.PB) {
		for pb.Next() {
			o := full.Get().(*object)
			empty.Put(o)
			o = empty.Get().(*object)
			o.a++
			full.Put(o)
		}
	})
	var two twoPools[object]
	parallel("two-pools-value", func(pb *testing.PB) {
		for pb.Next() {
			o := two.get()
			o.a++
			two.put(o)
		}
	})
	var values pool.Values[object]
	parallel("heaptrim-value", func(pb *testing.PB) {
		for pb.Next() {
			o := values.Get()
			o.a++
			values.Put(o)
		}
	})
	var slices twoPools[[]byte]
	parallel("two-pools-slice", func(pb *testing.PB) {
		for pb.Next() {
			o := slices.get()
			slices.put(o)
		}
	})
	var ours pool.Values[[]byte]
	parallel("heaptrim-slice", func(pb *testing.PB) {
		for pb.Next() {
			o := ours.Get()
			ours.Put(o)
		}
	})
}

type unzipper struct {
	src bytes.Reader
	zip gzip.Reader
}

// BenchmarkGunzip decompresses 17 KB.
func BenchmarkGunzip(b *testing.B) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(bytes.Repeat([]byte("how now brown cow"), 1024))
	w.Close()
	data := z.Bytes()
	scratch := make([]byte, 64<<10)
	drain := func(r io.Reader) {
		for {
			if _, err := r.Read(scratch); err == io.EOF {
				return
			} else if err != nil {
				panic(err)
			}
		}
	}
	reset := func(zip *gzip.Reader, src io.Reader) {
		if err := zip.Reset(src); err != nil {
			panic(err)
		}
	}
	loop := func(name string, f func()) {
		measure(b, name, func(b *testing.B, start func()) {
			f()
			start()
			for range b.N {
				f()
			}
		})
	}
	var one unzipper
	loop("floor", func() {
		one.src.Reset(data)
		reset(&one.zip, &one.src)
		drain(&one.zip)
	})
	loop("new", func() {
		zip, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			panic(err)
		}
		drain(zip)
	})
	plain := sync.Pool{New: func() any { return new(gzip.Reader) }}
	loop("sync.Pool", func() {
		zip := plain.Get().(*gzip.Reader)
		reset(zip, bytes.NewReader(data))
		drain(zip)
		plain.Put(zip)
	})
	both := sync.Pool{New: func() any { return new(unzipper) }}
	loop("sync.Pool-both", func() {
		u := both.Get().(*unzipper)
		u.src.Reset(data)
		reset(&u.zip, &u.src)
		drain(&u.zip)
		both.Put(u)
	})
	var only pool.Of[gzip.Reader]
	loop("heaptrim-of", func() {
		zip := only.Get()
		reset(zip, bytes.NewReader(data))
		drain(zip)
		only.Put(zip)
	})
	of := pool.Of[unzipper]{Reset: func(u *unzipper) { u.src.Reset(nil) }}
	loop("heaptrim-of-both", func() {
		u := of.Get()
		u.src.Reset(data)
		reset(&u.zip, &u.src)
		drain(&u.zip)
		of.Put(u)
	})
}
