// Package course follows an amount of memory through a trace.
package course

import (
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// Course is how an amount changed over the trace.
type Course struct {
	Samples     int // in the trace; without any the rest is 0
	First, Last unit.Bytes
	Min, Max    unit.Bytes
}

// Sample is an amount at a time, in the units of the trace's clock.
type Sample struct{ At, Value uint64 }

// Follower makes a Course. The zero value is ready to use.
type Follower struct {
	Course
	first  uint64 // time of First
	latest Sample // of all generations so far
}

// Amount is v as bytes; what no memory can hold is as much as an amount can.
func Amount(v uint64) unit.Bytes { return unit.Bytes(min(v, math.MaxInt64)) }

// Follow adds the samples of a generation, batch by batch and those of a batch in order, and returns the newest value at each
// of the bounds, which are sorted. Of samples with one stamp the largest
// counts, so that the order of threads does not matter.
func (c *Follower) Follow(bounds []uint64, batches iter.Seq[[]Sample]) []unit.Bytes {
	newest := make([]Sample, len(bounds)+1) // among those up to bound i and after bound i-1
	for samples := range batches {
		c.see(samples)
		for k := 0; len(samples) > 0; {
			next, _ := slices.BinarySearch(bounds[k:], samples[0].At)
			k += next
			n := len(samples)
			if k < len(bounds) {
				n = sort.Search(n, func(i int) bool { return samples[i].At > bounds[k] })
			}
			for j := n - 1; j >= 0 && samples[j].At == samples[n-1].At; j-- {
				newest[k] = newer(newest[k], samples[j])
			}
			samples = samples[n:]
		}
	}
	values := make([]unit.Bytes, len(bounds))
	for i := range values {
		c.latest = newer(c.latest, newest[i])
		values[i] = Amount(c.latest.Value)
	}
	c.latest = newer(c.latest, newest[len(bounds)])
	c.Last = Amount(c.latest.Value)
	return values
}

func newer(a, b Sample) Sample {
	if b.At > a.At || b.At == a.At && b.Value > a.Value {
		return b
	}
	return a
}

// see takes the samples of a batch, in order, into the extremes.
func (c *Follower) see(samples []Sample) {
	if len(samples) == 0 {
		return
	}
	first := samples[0]
	least, most := first.Value, first.Value
	for _, s := range samples {
		least, most = min(least, s.Value), max(most, s.Value)
		if s.At == first.At {
			first.Value = least
		}
	}
	if c.Samples == 0 {
		c.first, c.First, c.Min = first.At, Amount(first.Value), Amount(least)
	}
	c.Samples += len(samples)
	c.Min, c.Max = min(c.Min, Amount(least)), max(c.Max, Amount(most))
	if first.At < c.first || first.At == c.first && Amount(first.Value) < c.First {
		c.first, c.First = first.At, Amount(first.Value)
	}
}
