// Package exectrace reads execution traces of Go 1.22 and later for what
// memory management does in them.
//
// [Scan] answers the questions about the collector – cycles, assists, sweeping,
// pauses, the heap – from the wire format, without putting the events of all
// threads in order, which is what reading a trace usually takes its time for.
// [Events] gives every event in order, for questions that need the states of
// goroutines.
//
// A file, or another source that can be read at any offset, is read batch by batch as needed, and
// must not change meanwhile. Of anything else, Scan holds two or three generations in memory, and Events one or
// two (the runtime begins a generation every second). Neither grows with the length of the trace.
package exectrace

import (
	"fmt"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/course"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// listed is how many cycles, stops and goroutines a Summary lists at most,
// each. Totals go on beyond it.
const listed = 1 << 16

// Summary is what a trace says about memory management. Moments are since
// Start. Where the trace ends before its end, it holds the generations that
// were complete.
type Summary struct {
	Read ReadStats

	Start  time.Duration // of the trace, on its own clock
	Length time.Duration // from the first to the last event

	Cycles  Cycles
	Assist  Assist
	Workers Workers
	Sweep   Sweep
	Heap    Heap
	Pauses  []Pause     // by reason, longest total first
	Stops   []Stop      // each stop of the world, in the order of the trace
	Delayed []Goroutine // goroutines that assisted, swept or stopped the world, by ID
	Others  Goroutine   // the sum of those beyond what is listed; ID 0

	// What Listed cut off. The goroutines are those in Others.
	UnlistedCycles, UnlistedStops int
}

// ReadStats is how much of a trace was read.
type ReadStats struct {
	Version     string // format, as the release that introduced it: "1.22", "1.23", "1.25" or "1.26"
	Bytes       int64  // of the file, up to the end of the last generation counted
	Generations int
	Batches     int
	Events      int64
}

// Cycles are the mark phases: from the end of the first stop of a collection
// to its mark termination.
type Cycles struct {
	Count int
	Mark  time.Duration // wall-clock time in mark phases
	List  []Cycle
}

// Cycle is one mark phase.
type Cycle struct {
	Start, End time.Duration
	// The newest values when marking began and ended; 0 where the trace had
	// shown none yet.
	LiveStart, LiveEnd unit.Bytes
	Goal               unit.Bytes // when marking began
	Open               bool       // began before the trace, or went on after it: Start or End is the trace's own
}

// Assist is marking done by goroutines that allocate. The three times make up
// the time from the beginning to the end of the assists.
type Assist struct {
	Count   int           // assists that ended
	OnCPU   time.Duration // marking
	Parked  time.Duration // off the CPU after blocking, mostly in the assist queue, until running again
	Waiting time.Duration // off the CPU after being preempted, until running again
}

func (a *Assist) add(b Assist) {
	a.Count += b.Count
	a.OnCPU += b.OnCPU
	a.Parked += b.Parked
	a.Waiting += b.Waiting
}

// Workers is the time of the background mark workers, by kind. Idle workers
// ran where nothing else wanted to.
type Workers struct {
	Dedicated, Fractional, Idle time.Duration
}

// Sweep is sweeping on behalf of an allocation.
type Sweep struct {
	Count            int
	Time             time.Duration
	Swept, Reclaimed unit.Bytes
}

func (s *Sweep) add(b Sweep) {
	s.Count += b.Count
	s.Time += b.Time
	s.Swept += b.Swept
	s.Reclaimed += b.Reclaimed
}

// Heap is the course of the live heap and its goal.
type Heap struct {
	Live Course
	Goal Course // 0 where GOGC is off and there is no limit
}

// Course is how an amount changed over the trace.
type Course = course.Course

// Pause sums the stops of the world for one reason.
type Pause struct {
	Reason string // in the runtime's words, such as "GC mark termination"
	Count  int
	Total  time.Duration
	Max    time.Duration
}

// Stop is one stop of the world: from the request to the restart.
type Stop struct {
	Start, Length time.Duration
	Reason        string
	Goroutine     uint64 // that stopped the world
}

// Goroutine is what one goroutine paid. ID 0 stands for threads that ran no
// goroutine.
type Goroutine struct {
	ID        uint64
	Assist    Assist
	Sweep     Sweep
	Stops     int           // of the world, begun by the goroutine
	StopsTime time.Duration // how long they took
}

// Options say how to scan.
type Options struct {
	Workers int // that parse at the same time; 0 stands for GOMAXPROCS
}

// Error says what is wrong with a trace, and where.
type Error struct {
	Offset int64 // in the file, in bytes
	Reason string
	Err    error // io.ErrUnexpectedEOF where the trace was cut short, or nil
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("execution trace, offset %d: %s", e.Offset, e.Reason)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
