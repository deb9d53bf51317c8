package after

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/record/cachemiss"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Share is the part of the recorded time that the measurement of cache misses may take.
const Share = 0.15

// A few comparisons already give a figure, and more than 4 s for a shape gain nothing on
// a shared machine.
const (
	fewest = 12 * cachemiss.Comparison
	most   = 4 * time.Second
)

// CacheMisses measures the cache-miss cost of fresh memory for programs with the runs'
// shapes, now that no run uses the machine any more, and adds it to the recording.
// recorded is how long the runs took. After a short recording there is no time for the
// measurement, or only for the shapes of most runs.
func CacheMisses(ctx context.Context, w *bundle.Writer, recorded time.Duration, progress func(string, ...any)) error {
	var runs []evidence.Run
	if err := w.Update(func(m *evidence.Manifest) { runs = slices.Clone(m.Runs) }); err != nil {
		return err
	}
	count := map[cachemiss.Shape]int{}
	of := make([]cachemiss.Shape, len(runs))
	for i, run := range runs {
		if s, ok := shapeOf(w.Dir(), run); ok {
			of[i] = s
			count[s]++
		}
	}
	shapes := mostFirst(count)
	allowed := time.Duration(Share * float64(recorded))
	shapes = shapes[:min(len(shapes), int(allowed/fewest))]
	if len(shapes) == 0 {
		return nil
	}
	n := int(min(allowed/time.Duration(len(shapes)), most) / cachemiss.Comparison)
	known := map[cachemiss.Shape]*evidence.CacheMiss{}
	for _, s := range shapes {
		progress("measuring the cache misses that fresh memory causes with %s in use", unit.Bytes(s.LiveBytes))
		c, err := cachemiss.Measure(ctx, s, n)
		if err != nil {
			return err
		}
		known[s] = &c
	}
	return w.Update(func(m *evidence.Manifest) {
		for i := range m.Runs {
			m.Runs[i].CacheMiss = known[of[i]]
		}
	})
}

// mostFirst sorts shapes by their number of runs, largest first.
func mostFirst(count map[cachemiss.Shape]int) []cachemiss.Shape {
	var shapes []cachemiss.Shape
	for s := range count {
		shapes = append(shapes, s)
	}
	slices.SortFunc(shapes, func(a, b cachemiss.Shape) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		if d := a.Threads - b.Threads; d != 0 {
			return d
		}
		return int(a.LiveBytes - b.LiveBytes)
	})
	return shapes
}

// shapeOf returns how a run uses memory: its live heap by the collector's log, in
// steps of half an octave, and the number of threads that it kept busy. It returns
// false if the recording does not show it.
func shapeOf(dir string, run evidence.Run) (cachemiss.Shape, bool) {
	var live, fresh []unit.Bytes
	s := cachemiss.Shape{Threads: 1}
	for _, p := range run.Parts {
		switch p.Kind {
		case evidence.KindGCTrace:
			found, between, err := heaps(filepath.Join(dir, filepath.FromSlash(p.Path)))
			if err != nil {
				return s, false
			}
			live, fresh = append(live, found...), append(fresh, between...)
		case evidence.KindCPU:
			if p.Wall > 0 {
				s.Threads = max(s.Threads, int(math.Round(p.CPU.Seconds()/p.Wall.Seconds())))
			}
		}
	}
	if len(live) == 0 {
		return s, false
	}
	s.LiveBytes = min(halfOctave(live), cachemiss.MaxLive)
	s.FreshBytes = min(halfOctave(fresh), cachemiss.MaxFresh)
	return s, true
}

// halfOctave returns the median in steps of half an octave. The log has whole MiB; a
// smaller size counts as half a MiB.
func halfOctave(sizes []unit.Bytes) int64 {
	slices.Sort(sizes)
	median := math.Max(float64(sizes[len(sizes)/2]), 1<<19)
	return int64(math.Exp2(math.Round(2*math.Log2(median)) / 2))
}

// heaps returns for each collection of a log its live bytes and the distance from
// there to its heap goal. Forced collections are excluded.
func heaps(file string) (live, fresh []unit.Bytes, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	_, err = gctrace.Scan(file, f, func(c evidence.Cycle) error {
		if !c.Forced {
			live, fresh = append(live, c.HeapLive), append(fresh, max(c.Goal-c.HeapLive, 0))
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("live heap: %w", err)
	}
	return live, fresh, nil
}
