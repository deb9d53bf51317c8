package correct

import (
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestServiceScale: the collector's samples of a service count for the collections of its
// unprofiled pass, by the request or the second; where the recorder measured its part of the
// live heap, for those that this part explains, whatever the heap grew to in the other pass.
func TestServiceScale(t *testing.T) {
	f := func(name string, want float64, known bool, set func(d *run.Data)) {
		t.Helper()
		d := &run.Data{Sites: &run.Sites{}}
		d.CPU.Wall, d.CPU.Ops = 10*time.Second, 1000
		d.Run.Parts = []evidence.Part{{Kind: evidence.KindCPU, Pass: evidence.PassTiming, Cycles: 200, Ops: 1000}}
		d.Collector.Window = 5 * time.Second
		set(d)
		r := Apply(d, Options{Processors: 2})
		if r.CycleKnown != known || math.Abs(r.CycleScale-want) > 1e-9 {
			t.Errorf("%s: scale %v, known %v, want %v, %v", name, r.CycleScale, r.CycleKnown, want, known)
		}
	}
	cycles := func(n int, live, goal unit.Bytes) []evidence.Cycle {
		out := make([]evidence.Cycle, n)
		for i := range out {
			out[i] = evidence.Cycle{HeapLive: live, Goal: goal}
		}
		return out
	}
	f("by the second", 1.5, true, func(d *run.Data) {
		d.Collector.Cycles, d.Collector.Service.Unprofiled = cycles(150, 9<<20, 18<<20), true
	})
	f("by the request, half as many in half of the time", 1.5, true, func(d *run.Data) {
		d.Collector.Cycles, d.Collector.Service.Unprofiled, d.Collector.Ops = cycles(150, 9<<20, 18<<20), true, 500
	})
	f("by the request, of a faster load", 0.75, true, func(d *run.Data) {
		d.Collector.Cycles, d.Collector.Service.Unprofiled, d.Collector.Ops = cycles(150, 9<<20, 18<<20), true, 1000
	})
	f("too few collections", 1, false, func(d *run.Data) {
		d.Collector.Cycles, d.Collector.Service.Unprofiled = cycles(3, 9<<20, 18<<20), true
	})
	f("not plausible", 1, false, func(d *run.Data) {
		d.Collector.Cycles, d.Collector.Service.Unprofiled = cycles(900, 9<<20, 18<<20), true
	})
	const half = unit.MiB / 2 // the middle of a log's step
	f("a goal by GOGC", 1.2, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, 10*unit.MiB-half, 20*unit.MiB), 2<<20
	})
	f("the minimum heap", 2.0/3, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, unit.MiB-half, 4*unit.MiB), 1<<20
	})
	f("above the minimum heap by the profile alone", 1.2, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, 3*unit.MiB/2-half, 4*unit.MiB), 3<<19
	})
	setTo := func(d *run.Data, gogc float64) {
		d.Collector.Metrics = []evidence.Metrics{{Values: map[string]float64{"/gc/gogc:percent": gogc}}}
	}
	f("the minimum heap of another GOGC", 13.0/15, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, unit.MiB-half, 16*unit.MiB), 2<<20
		setTo(d, 400)
	})
	f("stacks and globals stay", 1.1, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, 10*unit.MiB-half, 30*unit.MiB), 2<<20
	})
	f("the goal of a memory limit", 0.5, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(100, 10*unit.MiB-half, 14*unit.MiB), 2<<20
	})
	f("the heap grew until the unprofiled pass", 1.2, true, func(d *run.Data) {
		d.Collector.Cycles, d.Run.Parts[0].OwnLive = cycles(50, 10*unit.MiB-half, 20*unit.MiB), 2<<20
		d.Collector.Service.Unprofiled, d.Collector.Service.OwnLive = true, 44_064
	})
	f("nothing known", 1, false, func(d *run.Data) { d.Collector.Cycles = cycles(100, 10<<20, 20<<20) })
}
