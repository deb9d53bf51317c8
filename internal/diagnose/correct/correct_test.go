package correct

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestLargeFaults: page faults of large objects are not the allocator's.
func TestLargeFaults(t *testing.T) {
	f := func(large, faults, want float64) {
		t.Helper()
		d := &run.Data{
			Run: evidence.Run{PageFault: &evidence.PageFault{Pages: 9,
				NS: stats.Interval{Value: 1000}}}, CPU: run.CPU{Period: 0.01},
			Sites: &run.Sites{Sites: map[stack.Key]*run.Site{
				{Function: "a"}: {Bytes: 100 * large, Sizes: map[unit.Bytes]float64{1 << 20: 5}},
				{Function: "b"}: {Bytes: 100 * (1 - large), Sizes: map[unit.Bytes]float64{1 << 10: 5}},
			}},
		}
		d.CPU.Buckets[stack.BucketMalloc], d.CPU.Buckets[stack.BucketZeroing], d.CPU.Buckets[stack.BucketApp] = 60, 40,
			300
		r := Apply(d, Options{Without: []string{"cycle-scale", "fault-scale"}})
		r.CycleKnown = true
		r.Unprofiled, r.Profiled = Use{Ops: 100, CPU: 1e6, Faults: 1e6 + faults}, Use{Ops: 100, CPU: 1e6, Faults: 1e6}
		faultScale(r)
		got := r.Buckets()
		scale := got[stack.BucketMalloc] / 60
		if math.Abs(scale-want) > 1e-9 || math.Abs(got[stack.BucketZeroing]-40*scale) > 1e-9 ||
			got[stack.BucketApp] != 300 {
			t.Errorf("%v of the bytes large, %v faults more: samples count %v times, want %v: %+v", large, faults,
				scale, want, got)
		}
		line := &run.Line{CPU: [stack.ClassCount]float64{stack.Plain: 30, stack.Fresh: 50}}
		if n := r.Line(line); math.Abs(n-(80+50*(want-1))) > 1e-9 {
			t.Errorf("%v of the bytes large, %v faults more: the line has %v samples", large, faults, n)
		}
	}
	f(0, 1e6, 2)
	f(0, -5e5, 0.5)
	f(0.75, 1e6, 1.25)
	f(1, 1e6, 1)
	f(0, -1e6, leastFaultScale)
	f(0, 1e10, mostFaultScale)
}

// TestWithout: a correction that is left out changes nothing, and each one has
// its words.
func TestWithout(t *testing.T) {
	d := &run.Data{Sites: &run.Sites{}}
	d.CPU.Buckets[stack.BucketScheduler], d.CPU.Sleeps = 100, 10
	if r := Apply(d, Options{Processors: 2}); r.Buckets()[stack.BucketScheduler] != 100 {
		t.Errorf("without a cycle the scheduler has %v samples, want 100", r.Buckets()[stack.BucketScheduler])
	}
	d.Collector.All = 1
	if r := Apply(d, Options{Processors: 2}); r.Buckets()[stack.BucketCycleScheduler] == 0 {
		t.Errorf("with a cycle for 10 sleeps nothing is given to collections")
	}
	if r := Apply(d, Options{Processors: 2, Without: []string{"scheduler"}}); r.Buckets() != d.CPU.Buckets {
		t.Errorf("without the correction: %v, want %v", r.Buckets(), d.CPU.Buckets)
	}
	for _, c := range List() {
		if c.Name == "" || c.Why == "" || c.Needs == "" {
			t.Errorf("correction %+v", c)
		}
	}
}
