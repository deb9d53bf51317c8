package ballast

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkCycle is all that a Tuner does at the end of a collection of a steady
// program: reading, guard, plan, the next sentinel.
func BenchmarkCycle(b *testing.B) {
	tu, err := set(Options{Mode: Steer, Headroom: 1 << 30}, machine, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	defer tu.Stop()
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		tu.mu.Lock()
		r := tu.gauge.read()
		tu.applied.seen = r.cycles + 1 // as if there had been a collection since
		tu.act(r)
		tu.mu.Unlock()
	}
}

// BenchmarkSentinel is the making of a sentinel, and its share of the collection.
func BenchmarkSentinel(b *testing.B) {
	tu, err := set(Options{Mode: Steer, Headroom: 1 << 30}, machine, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	tu.Stop() // its cleanups do nothing more
	b.ReportAllocs()
	for b.Loop() {
		tu.arm()
	}
}

// BenchmarkTick is what a Tuner does each second.
func BenchmarkTick(b *testing.B) {
	tu, err := Set(Options{Mode: Steer, Headroom: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer tu.Stop()
	for b.Loop() {
		tu.tick()
	}
}

// BenchmarkRefresh is what it does each ten seconds.
func BenchmarkRefresh(b *testing.B) {
	tu, err := Set(Options{Mode: Steer, Headroom: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer tu.Stop()
	for b.Loop() {
		tu.refresh()
	}
}
