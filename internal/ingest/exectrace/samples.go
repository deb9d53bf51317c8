package exectrace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// cpuSample is a sample of a CPU profile that was recorded with the trace.
type cpuSample struct {
	time              int64 // nanoseconds
	thread, goroutine int64
	stack             uint64
}

// readSamples returns the samples of g, in the order of their times.
func readSamples(g *generation, v version, unit float64) ([]cpuSample, error) {
	var samples []cpuSample
	for i := range g.batches {
		b := &g.batches[i]
		if b.holds(v) != wire.CPUSamples {
			continue
		}
		r, err := g.table(b, nil)
		if err != nil {
			return nil, err
		}
		r.pos++ // wire.CPUSamples
		for r.pos < len(r.data) {
			kind := r.byte()
			at, thread, _, goroutine, stack := r.number(), r.number(), r.number(), r.number(), r.number()
			s := cpuSample{nanoseconds(at, unit), int64(thread), int64(goroutine), stack}
			if kind != wire.CPUSample || r.bad || at > farthest || s.time < 0 {
				return nil, r.fail(fmt.Errorf("a sample of the CPU is cut short or out of range, or event %d instead", kind))
			}
			if s.goroutine == 0 {
				s.goroutine = None
			}
			samples = append(samples, s)
		}
	}
	slices.SortFunc(samples, func(a, b cpuSample) int { return cmp.Compare(a.time, b.time) })
	return samples, nil
}
