package pool_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

func BenchmarkBytes(b *testing.B) {
	var p pool.Bytes
	b.ReportAllocs()
	n := 1
	for b.Loop() {
		p.Put(p.Get(n))
		n = (n + 977) & 0xffff
	}
}

func BenchmarkLocal(b *testing.B) {
	var p pool.Bytes
	l := p.Local()
	defer l.Release()
	b.ReportAllocs()
	n := 1
	for b.Loop() {
		l.Put(l.Get(n))
		n = (n + 977) & 0xffff
	}
}

func BenchmarkBytesParallel(b *testing.B) {
	var p pool.Bytes
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 1; pb.Next(); n = (n + 977) & 0xffff {
			p.Put(p.Get(n))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	var p pool.Of[[64]byte]
	b.ReportAllocs()
	for b.Loop() {
		p.Put(p.Get())
	}
}

func BenchmarkValues(b *testing.B) {
	var p pool.Values[[]byte]
	b.ReportAllocs()
	for b.Loop() {
		p.Put(p.Get())
	}
}
