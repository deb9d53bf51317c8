package pool

import (
	"runtime"
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// Values of several sizes, with pointers and without.
type (
	number     int64
	numbers    [7]int64
	page       [128]int64
	linkedPage [128]*int64
)

// valueUse is how a benchmark uses a pool of values.
type valueUse struct {
	hold  int // values that a goroutine keeps; a power of two
	crowd int // goroutines for each P
}

// BenchmarkValues gets and puts a value, and keeps none.
func BenchmarkValues(b *testing.B) { benchmarkValues(b, valueUse{1, 1}) }

// BenchmarkValues16 keeps 16 values; an op puts the one kept longest and gets another.
func BenchmarkValues16(b *testing.B) { benchmarkValues(b, valueUse{16, 1}) }

// BenchmarkValuesCrowd has more goroutines than can have stashes of their own.
func BenchmarkValuesCrowd(b *testing.B) { benchmarkValues(b, valueUse{1, 64}) }

// apart is how many values lie between those of two goroutines, lest they share lines.
const apart = 16

func benchmarkValues(b *testing.B, u valueUse) {
	valuesOf[number](b, "8B", u)
	valuesOf[*object](b, "8B-pointer", u)
	valuesOf[[]byte](b, "24B-slice", u)
	valuesOf[object](b, "56B-pointers", u)
	valuesOf[numbers](b, "56B", u)
	valuesOf[page](b, "1KiB", u)
	valuesOf[linkedPage](b, "1KiB-pointers", u)
}

func valuesOf[T any](b *testing.B, size string, u valueUse) {
	parallel := func(name string, f func(pb *testing.PB)) {
		measure(b, name+"-"+size, func(b *testing.B, start func()) {
			b.SetParallelism(u.crowd)
			start()
			b.RunParallel(f)
		})
	}
	var two twoPools[T]
	parallel("two-pools", func(pb *testing.PB) {
		held := make([]T, u.hold, u.hold+apart)
		for i := range held {
			held[i] = two.get()
		}
		for i := 0; pb.Next(); i++ {
			h := &held[i&(u.hold-1)]
			two.put(*h)
			*h = two.get()
			u.yield(i)
		}
	})
	var ours pool.Values[T]
	parallel("heaptrim", func(pb *testing.PB) {
		held := make([]T, u.hold, u.hold+apart)
		for i := range held {
			held[i] = ours.Get()
		}
		for i := 0; pb.Next(); i++ {
			h := &held[i&(u.hold-1)]
			ours.Put(*h)
			*h = ours.Get()
			u.yield(i)
		}
	})
}

// yield has a crowd take turns.
func (u valueUse) yield(i int) {
	if u.crowd > 1 && i&63 == 0 {
		runtime.Gosched()
	}
}

// BenchmarkValuesProdCons gets on one goroutine and puts on another.
func BenchmarkValuesProdCons(b *testing.B) {
	valuesMoved[[]byte](b, "24B-slice")
	valuesMoved[object](b, "56B-pointers")
	valuesMoved[page](b, "1KiB")
}

func valuesMoved[T any](b *testing.B, size string) {
	moved(b, "floor-"+size, func() (v T) { return v }, func(T) {})
	var two twoPools[T]
	moved(b, "two-pools-"+size, two.get, two.put)
	var ours pool.Values[T]
	moved(b, "heaptrim-"+size, ours.Get, ours.Put)
}

func moved[T any](b *testing.B, name string, get func() T, put func(T)) {
	measure(b, name, func(b *testing.B, start func()) {
		full, empty := make(chan []T, 8), make(chan []T, 8)
		for range 8 {
			empty <- make([]T, 0, 32)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for batch := range full {
				for _, v := range batch {
					put(v)
				}
				empty <- batch[:0]
			}
		})
		batch := <-empty
		op := func() {
			batch = append(batch, get())
			if len(batch) == cap(batch) {
				full <- batch
				batch = <-empty
			}
		}
		for range warm {
			op()
		}
		start()
		for range b.N {
			op()
		}
		full <- batch
		close(full)
		wg.Wait()
	})
}
