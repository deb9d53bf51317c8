package ballast

import (
	"math"
	"runtime/metrics"
)

// reading is the state of the runtime at one moment. Sizes are in bytes, as the
// runtime counts them: the ballast is among them.
type reading struct {
	cycles    uint64 // collections so far
	automatic uint64 // of those, not forced
	live      int64  // heap marked by the last one
	roots     int64  // stacks and globals, which the pacer counts as live
	gogc      int    // in force; off is -1
	limit     int64  // in force; none is math.MaxInt64
	mapped    int64  // taken from the system and not given back
	objects   int64  // in use on the heap, unswept ones too
	free      int64  // idle heap
	unused    int64  // free slots in spans in use
	gcCPU     float64
	assistCPU float64
	busyCPU   float64 // of the process; these three in seconds, since its start
}

// nonHeap is what is neither object, nor room for one: stacks, the tables of the
// runtime, profiling.
func (r reading) nonHeap() int64 { return max(0, r.mapped-r.objects-r.free-r.unused) }

// gauge reads the runtime. All of it costs a third of a microsecond, and never
// stops the world. It is not for concurrent use.
type gauge struct {
	samples []metrics.Sample
}

// The order is that of the calls in read.
func newGauge() *gauge {
	g := &gauge{}
	for _, name := range []string{
		"/gc/cycles/total:gc-cycles",
		"/gc/cycles/automatic:gc-cycles",
		"/gc/heap/live:bytes",
		"/gc/scan/stack:bytes",
		"/gc/scan/globals:bytes",
		"/gc/gogc:percent",
		"/gc/gomemlimit:bytes",
		"/memory/classes/total:bytes",
		"/memory/classes/heap/released:bytes",
		"/memory/classes/heap/objects:bytes",
		"/memory/classes/heap/free:bytes",
		"/memory/classes/heap/unused:bytes",
		"/cpu/classes/gc/total:cpu-seconds",
		"/cpu/classes/gc/mark/idle:cpu-seconds",
		"/cpu/classes/gc/mark/assist:cpu-seconds",
		"/cpu/classes/total:cpu-seconds",
		"/cpu/classes/idle:cpu-seconds",
	} {
		g.samples = append(g.samples, metrics.Sample{Name: name})
	}
	return g
}

func (g *gauge) read() reading {
	metrics.Read(g.samples)
	idleMark := g.float(13)
	return reading{
		cycles:    g.uint(0),
		automatic: g.uint(1),
		live:      g.int(2),
		roots:     g.int(3) + g.int(4),
		gogc:      g.percent(5),
		limit:     g.int(6),
		mapped:    g.int(7) - g.int(8),
		objects:   g.int(9),
		free:      g.int(10),
		unused:    g.int(11),
		gcCPU:     g.float(12) - idleMark,
		assistCPU: g.float(14),
		busyCPU:   g.float(15) - g.float(16) - idleMark,
	}
}

// uint is 0 for a metric that the toolchain does not know.
func (g *gauge) uint(i int) uint64 {
	if v := g.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return 0
}

func (g *gauge) int(i int) int64 { return int64(min(g.uint(i), math.MaxInt64)) }

func (g *gauge) percent(i int) int {
	if n := g.uint(i); n < math.MaxInt32 {
		return int(n)
	}
	return gogcOff
}

func (g *gauge) float(i int) float64 {
	if v := g.samples[i].Value; v.Kind() == metrics.KindFloat64 {
		return v.Float64()
	}
	return 0
}
