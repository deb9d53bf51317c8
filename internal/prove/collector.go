package prove

import (
	"math"
	"os"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
)

// window is the part of a run that counts, and what the system says of it.
type window struct {
	from, to time.Duration // since the program's start; to 0 is its end
	cpu      time.Duration
	rss      int64 // largest resident set; 0 when not known
}

// collection adds what a log of collections says of the window. Collections
// that the program asked for are left out.
func (s *Sample) collection(file string, w window) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var cycles, heap float64
	var gc, assist, idle, total time.Duration
	var pauses []uint32
	_, err = gctrace.Scan(file, f, func(c evidence.Cycle) error {
		if c.Forced || c.At < w.from || w.to > 0 && c.At > w.to {
			return nil
		}
		cycles++
		gc, assist, idle = gc+c.CPU(), assist+c.Used.Assist, idle+c.Used.Idle
		total += c.Wall.SweepTermination + c.Wall.MarkTermination
		pauses = append(pauses, short(c.Wall.SweepTermination), short(c.Wall.MarkTermination))
		heap = max(heap, float64(c.HeapEnd))
		return nil
	})
	if s.Values == nil {
		s.Values = map[string]float64{}
	}
	s.Values[unitCycles], s.Values[unitPauses] = cycles, float64(total)
	if cpu := w.cpu - idle; cpu > 0 {
		s.Values[unitGCCPU], s.Values[unitAssist] = float64(gc)/float64(cpu), float64(assist)/float64(cpu)
	}
	if w.rss > 0 {
		s.Values[unitRSS] = float64(w.rss)
	}
	if cycles > 0 {
		slices.Sort(pauses)
		s.Values[unitHeap] = heap
		s.Values[unitPauseP50], s.Values[unitPauseP99] = float64(quantile(pauses, 0.5)), float64(quantile(pauses, 0.99))
		s.Values[unitPause] = float64(pauses[len(pauses)-1])
		s.pauses = thin(pauses)
	}
	return err
}

// short is a pause in nanoseconds, four seconds at most.
func short(d time.Duration) uint32 { return uint32(min(max(d, 0), math.MaxUint32)) }

// thin leaves so many of sorted values that all runs together stay small, with
// their quantiles and their largest.
func thin(sorted []uint32) []uint32 {
	const most = 1 << 14
	if len(sorted) <= most {
		return sorted
	}
	out := make([]uint32, most)
	for i := range out {
		out[i] = sorted[(i+1)*len(sorted)/most-1]
	}
	return out
}

// quantile is the value that a share q of sorted values does not exceed; there
// is one at least.
func quantile(sorted []uint32, q float64) uint32 {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// pausesOf are the pauses of all runs of one side.
func pausesOf(runs []Sample, side int) Pauses {
	var all []uint32
	for _, r := range runs {
		if r.Side == side {
			all = append(all, r.pauses...)
		}
	}
	if len(all) == 0 {
		return Pauses{}
	}
	slices.Sort(all)
	return Pauses{len(all), time.Duration(quantile(all, 0.5)), time.Duration(quantile(all, 0.99)), time.Duration(all[len(all)-1])}
}
