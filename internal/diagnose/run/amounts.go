package run

import (
	"fmt"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// InUseEvents is the number of sampled live objects behind a site's in-use
// figure. Snapshots see the same long-lived objects again, so their number
// adds nothing.
func (r *Data) InUseEvents(t *Site) float64 {
	return math.Max(Events(t.InUseObjs.Mean(), t.InUse.Mean(), r.Heap.Rate), 0.5)
}

// SecondsOfAllocs is the time of an undisturbed program for the work behind the allocation
// columns.
func (r *Data) SecondsOfAllocs() float64 {
	if !r.Bench {
		// The runtime's own count of the undisturbed run says how fast the
		// program allocates; the profiles say where. A profile of another pass,
		// or one that was cut short, has a speed of its own.
		if rate := r.Collector.allocRate(); rate > 0 {
			return r.AllBytes() / rate
		}
		return r.Heap.Window.Seconds()
	}
	if ns := r.nsPerOp(); ns > 0 {
		return r.Heap.Ops * ns / 1e9
	}
	return 0
}

// nsPerOp is the mean of the timing pass's results; 0 when there are none.
func (r *Data) nsPerOp() float64 {
	var m MeanOf
	for _, b := range r.Results {
		if b.Pass == evidence.PassTiming {
			m.Add(b.NsPerOp)
		}
	}
	return m.Mean()
}

// AllBytes is what all sites allocated in the window.
func (r *Data) AllBytes() float64 {
	if r.parts.all {
		return r.parts.total
	}
	return r.sumBytes()
}

func (r *Data) sumBytes() float64 {
	total := 0.0
	for _, t := range r.Sites.Sorted() {
		total += math.Max(t.Bytes, 0)
	}
	return total
}

// CyclePeriod is the mean time between automatic cycles; 0 when not known.
func (r *Data) CyclePeriod() time.Duration {
	n := len(r.Collector.Automatic())
	if n == 0 {
		return 0
	}
	return r.Collector.Window / time.Duration(n)
}

// ShareOf is a site's share of all bytes allocated; 0 when not known.
func (d *Data) ShareOf(t *Site) float64 { return t.ShareOf(d.AllBytes()) }

// maxDisagreement is the largest difference between the bytes of all sites and the count of
// package testing that gives no warning. Calibration runs and goroutines that outlive an
// operation explain a few per cent.
const maxDisagreement = 0.2

// Disagreement compares a benchmark's sites with package testing's own count. They differ if
// set-up cannot be separated from the measured operation.
func (d *Data) Disagreement() string {
	sites, counted := d.bytesPerOp()
	if math.Abs(sites-counted) <= maxDisagreement*counted+16 {
		return ""
	}
	why := "what runs beside the measured loop is among them"
	if sites < counted {
		why = "some of what is measured is not in the loops over b.N"
	}
	return fmt.Sprintf(
		"%s: the sites add up to %s/op, package testing counted %s/op: %s",
		d.Run.Name, unit.FormatBytes(sites), unit.FormatBytes(counted), why,
	)
}

// leastInLoops is the part of a benchmark's bytes that its measured loops must have, for the rest to be set-up.
const leastInLoops = 0.5

// bytesPerOp are the bytes of an operation by all sites, and as package testing counted them; 0 where either is not known.
func (d *Data) bytesPerOp() (sites, counted float64) {
	var all MeanOf
	for _, b := range d.Results {
		if b.Pass == evidence.PassTiming {
			all.Add(b.BytesPerOp)
		}
	}
	if d.Heap.Ops == 0 || all.Mean() == 0 {
		return 0, 0
	}
	return d.AllBytes() / d.Heap.Ops, all.Mean()
}
