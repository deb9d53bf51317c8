package run

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
)

// TestNonHeapOfMemStats: MemStats give what the runtime's metrics give of memory beside heap
// objects: mapped, neither released, nor free, nor objects.
func TestNonHeapOfMemStats(t *testing.T) {
	stats := metrics.MemStats{Sys: 27 << 20, HeapSys: 20 << 20, HeapIdle: 11 << 20, HeapInuse: 9 << 20,
		HeapReleased: 6 << 20, HeapAlloc: 7 << 20}
	l := CollectorLog{Stats: []metrics.MemStats{stats, stats, {}}}
	if tables, slots := l.Mapped(); tables != 7<<20 || slots != 2<<20 {
		t.Errorf("%v bytes of tables and %v of free slots, want 7 and 2 MiB", tables, slots)
	}
	if got, want := l.NonHeap(), float64(stats.Sys-stats.HeapIdle-stats.HeapAlloc); got != want {
		t.Errorf("%v bytes beside the heap, want %v", got, want)
	}
	if got := (CollectorLog{Stats: []metrics.MemStats{{NextGC: 4 << 20}}}).NonHeap(); got != 0 {
		t.Errorf("%v bytes beside the heap without figures, want 0", got)
	}
}

// TestMemLimit: the limit that a program sets itself shows in its metrics; none is the largest number there is.
func TestMemLimit(t *testing.T) {
	for want, values := range map[string][]float64{"": nil, "off": {math.MaxInt64}, "512MiB": {math.MaxInt64, 512 << 20}} {
		var l CollectorLog
		for _, v := range values {
			l.Metrics = append(l.Metrics, evidence.Metrics{Values: map[string]float64{"/gc/gomemlimit:bytes": v}})
		}
		if got := l.MemLimit(); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}
