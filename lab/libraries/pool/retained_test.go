package pool

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkRetained gets a burst of 256 MiB, gives it back, and reports what is
// kept after some collections. It says nothing about time.
func BenchmarkRetained(b *testing.B) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for _, p := range append(ours(), others()...) {
		b.Run(p.name, func(b *testing.B) {
			if b.N > 1 {
				return // once is enough
			}
			u := p.start(largest)()
			runtime.GC()
			runtime.GC()
			base := heap()
			out := make([]buffer, 256)
			for i := range out {
				out[i] = u.get(1 << 20)
				for j := 0; j < 1<<20; j += 4096 {
					out[i].b[j] = 1
				}
			}
			for i := range out {
				u.put(out[i])
				out[i] = buffer{}
			}
			for n, after := range []string{"MiB-after-1-GC", "", "MiB-after-3-GCs"} {
				runtime.GC()
				if n != 1 {
					b.ReportMetric(max(0, heap()-base), after)
				}
			}
			runtime.KeepAlive(u)
		})
	}
}

// BenchmarkWaste reports the capacity handed out for each byte asked for, with 64
// buffers out.
func BenchmarkWaste(b *testing.B) {
	wide, narrow := logUniform(64, 1<<20), logUniform(64, 4<<10)
	mixes := []struct {
		name string
		size func(r *rand.Rand) int
	}{
		{"mixed-ratio", func(r *rand.Rand) int { return mixed(r, big) }},
		{"64B-1MiB-ratio", func(r *rand.Rand) int { return wide[r.IntN(len(wide))] }},
		{"64B-4KiB-ratio", func(r *rand.Rand) int { return narrow[r.IntN(len(narrow))] }},
	}
	for _, p := range append(ours(), others()...) {
		b.Run(p.name, func(b *testing.B) {
			if b.N > 1 {
				return
			}
			u := p.start(largest)()
			for _, mix := range mixes {
				r := rand.New(rand.NewPCG(5, 6))
				var out [64]buffer
				var asked, given float64
				for i := range 20000 {
					slot := &out[r.IntN(len(out))]
					if slot.b != nil {
						u.put(*slot)
					}
					*slot = u.get(mix.size(r))
					if i > 10000 {
						asked += float64(len(slot.b))
						given += float64(cap(slot.b))
					}
				}
				for _, x := range out {
					if x.b != nil {
						u.put(x)
					}
				}
				b.ReportMetric(given/asked, mix.name)
			}
		})
	}
}
