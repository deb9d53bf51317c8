// Package cycles sums up a collector's log: phases and pauses, the heap's growth from cycle
// to cycle, the time between cycles, and all of it over time. It is pure and takes one cycle
// after the other, so that a log of any length, or one that is still being written, needs
// the same little memory.
package cycles

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Summary is the summary of a log. Distributions of times are in nanoseconds, those of sizes
// in bytes.
type Summary struct {
	Count Count

	MinProcs int
	MaxProcs int

	// Span is the time that the log covers: of each process from its first cycle
	// to its last, from its start if the first has number 1.
	Span time.Duration
	// Ends is when the last cycle ended on the time line.
	Ends time.Duration

	Phases Phases
	Steps  Steps
	Heap   HeapSizes
	CPU    CPU
	// AllocRate is in bytes per second over Span.
	AllocRate float64

	Width time.Duration // of a row of the time line
	Rows  []Row
}

// CPU is the collector's CPU time over the span. Idle marking ran where nothing
// else did.
type CPU struct {
	Assist, Background, Idle, Stopped time.Duration
	// Share is what the collector took, without idle marking, of the time of
	// all Ps in Span, from 0 to 1.
	Share float64
}

// HeapSizes are the sizes of the heap over a log.
type HeapSizes struct {
	LiveFirst, LiveLast, LiveMin, LiveMax unit.Bytes
	Peak                                  unit.Bytes
	GoalMax                               unit.Bytes
}

// Steps are figures from one cycle to the next of the same process.
type Steps struct {
	Between  Distribution // time from the end of one to the start of the next
	Grown    Distribution // bytes allocated meanwhile and until the end of marking
	InMark   Distribution // bytes by which the heap grew while marking went on
	OverGoal int          // cycles that ended above their goal
}

// Phases are the times of the phases of the cycles.
type Phases struct {
	SweepTermination Distribution // a stop of the world
	Mark             Distribution // concurrent
	MarkTermination  Distribution // a stop of the world
	Pause            Distribution // every stop, two in a cycle
	Pauses           []Bar        // the same as a histogram, from the shortest on
}

// Count is how many cycles a log has, by kind, and of how many processes.
type Count struct {
	Cycles    int
	Forced    int
	Periodic  int // started because two minutes had passed
	Processes int // that wrote the log, told by the numbers of their cycles
	Lost      int // cycles whose lines are not there, by their numbers
}

// Bar is one bar of a histogram of times: more than the one before it, up to
// and with UpTo.
type Bar struct {
	UpTo  time.Duration
	Count int64
}

// Tally counts cycles. The zero value is ready to use; it is not safe for
// concurrent use.
type Tally struct {
	// Rows bounds the time line; 0 means 48. Do not change it after the first Add.
	Rows int

	s                             Summary
	sweepTerm, mark, markTerm     histogram
	pause, between, grown, inMark histogram
	pauses                        [len(steps)*decades + 1]int64
	streams                       []stream
	line                          timeline
	cpu, procTime, allocated      float64 // over Span; procTime is that of all Ps
}

const defaultRows = 48

// Step is the change from the previous cycle of the same process to this one.
type Step struct {
	Known   bool          // there is a previous cycle, or this is the first of its process
	Between time.Duration // from the end of the previous cycle, or the start of the process, to the start of this one
	Grown   unit.Bytes    // from the live heap of the previous cycle to the heap at the end of marking
}

// Add counts one cycle, in the order of the log.
func (t *Tally) Add(c evidence.Cycle) Step {
	s := &t.s
	s.Count.Cycles++
	if c.Forced {
		s.Count.Forced++
	}
	if c.Periodic {
		s.Count.Periodic++
	}
	t.phases(c)
	t.sizes(c)
	step, at := t.follow(c)
	rows := t.Rows
	if rows <= 0 {
		rows = defaultRows
	}
	s.Ends = max(s.Ends, at)
	t.line.add(at, c, rows)
	return step
}

func (t *Tally) phases(c evidence.Cycle) {
	t.sweepTerm.add(float64(c.Wall.SweepTermination))
	t.mark.add(float64(c.Wall.ConcurrentMark))
	t.markTerm.add(float64(c.Wall.MarkTermination))
	for _, p := range []time.Duration{c.Wall.SweepTermination, c.Wall.MarkTermination} {
		t.pause.add(float64(p))
		t.pauses[barOf(p)]++
	}
}

func (t *Tally) sizes(c evidence.Cycle) {
	s := &t.s
	if s.Count.Cycles == 1 {
		s.Heap.LiveFirst, s.Heap.LiveMin, s.MinProcs = c.HeapLive, c.HeapLive, c.Procs
	}
	s.Heap.LiveLast = c.HeapLive
	s.Heap.LiveMin, s.Heap.LiveMax = min(s.Heap.LiveMin, c.HeapLive), max(s.Heap.LiveMax, c.HeapLive)
	s.Heap.Peak, s.Heap.GoalMax = max(s.Heap.Peak, c.HeapEnd), max(s.Heap.GoalMax, c.Goal)
	s.MinProcs, s.MaxProcs = min(s.MinProcs, c.Procs), max(s.MaxProcs, c.Procs)
	t.inMark.add(float64(c.HeapEnd - c.HeapStart))
	if c.HeapEnd > c.Goal && !c.Forced {
		s.Steps.OverGoal++
	}
}

// follow joins a cycle to the previous one and returns the step between them, and the
// cycle's end on the time line.
func (t *Tally) follow(c evidence.Cycle) (Step, time.Duration) {
	before, known := t.stream(c)
	step := Step{Known: known}
	if known {
		start := c.At - c.Wall.SweepTermination - c.Wall.ConcurrentMark - c.Wall.MarkTermination
		step.Between = max(start-before.at, 0)
		step.Grown = max(c.HeapEnd-before.live, 0)
		if before.n > 0 {
			t.between.add(float64(step.Between))
			t.grown.add(float64(step.Grown))
		}
		passed := max(c.At-before.at, 0)
		t.s.Span = plus(t.s.Span, passed)
		t.procTime += float64(passed) * float64(max(c.Procs, 1))
		t.allocated += float64(step.Grown)
		t.cpu += float64(c.CPU())
		t.s.CPU.Assist = plus(t.s.CPU.Assist, c.Used.Assist)
		t.s.CPU.Background = plus(t.s.CPU.Background, c.Used.Background)
		t.s.CPU.Idle = plus(t.s.CPU.Idle, c.Used.Idle)
		t.s.CPU.Stopped = plus(t.s.CPU.Stopped, c.Used.SweepTermination+c.Used.MarkTermination)
	}
	return step, plus(before.base, c.At)
}

// endless is more than any sum of real times: sums of hostile values stop there.
const endless = time.Duration(1) << 61

func plus(a, b time.Duration) time.Duration { return min(a+b, endless) }

// Summary returns what was counted so far.
func (t *Tally) Summary() *Summary {
	s := t.s
	s.Phases.SweepTermination, s.Phases.Mark, s.Phases.MarkTermination = t.sweepTerm.distribution(),
		t.mark.distribution(), t.markTerm.distribution()
	s.Phases.Pause, s.Steps.Between = t.pause.distribution(), t.between.distribution()
	s.Steps.Grown, s.Steps.InMark = t.grown.distribution(), t.inMark.distribution()
	s.Phases.Pauses = bars(t.pauses[:])
	if t.procTime > 0 {
		s.CPU.Share = t.cpu / t.procTime
	}
	if s.Span > 0 {
		s.AllocRate = t.allocated / s.Span.Seconds()
	}
	s.Width, s.Rows = t.line.width, t.line.used()
	return &s
}

// The bars of the histogram end at 1, 2 and 5 of each power of ten from a
// microsecond on; the last holds all that is longer.
var steps = [3]int64{1, 2, 5}

const decades = 9

func barEnd(i int) time.Duration {
	d := time.Microsecond
	for range i / len(steps) {
		d *= 10
	}
	return d * time.Duration(steps[i%len(steps)])
}

func barOf(d time.Duration) int {
	for i := range len(steps) * decades {
		if d <= barEnd(i) {
			return i
		}
	}
	return len(steps) * decades
}

// bars cuts off empty bars at both ends.
func bars(counts []int64) []Bar {
	var out []Bar
	last := 0
	for i, n := range counts {
		if n > 0 {
			last = i
		}
		if n > 0 || len(out) > 0 {
			out = append(out, Bar{barEnd(i), n})
		}
	}
	if len(out) == 0 {
		return nil
	}
	first := len(counts) - len(out)
	return out[:last-first+1]
}
