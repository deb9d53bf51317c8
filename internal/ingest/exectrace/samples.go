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
	for _, b := range g.batches {
		if b.extra || special(g.data[b.start:b.end], v) != wire.CPUSamples {
			continue
		}
		r := tableReader{g: g, pos: b.start + 1, end: b.end}
		for r.pos < r.end {
			kind := r.byte()
			at, thread, _, goroutine, stack := r.number(), r.number(), r.number(), r.number(), r.number()
			s := cpuSample{nanoseconds(at, unit), int64(thread), int64(goroutine), stack}
			if kind != wire.CPUSample || r.bad || at > farthest || s.time < 0 {
				return nil, &Error{Offset: g.offset + int64(r.pos), Reason: fmt.Sprintf("a sample of the CPU is cut short or out of range, or event %d instead", kind)}
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
