// Package gcmodel is the arithmetic of Go's garbage-collection pacer: what a
// workload's collector costs under a setting, what each byte allocated, kept
// or scanned adds to that cost, and what remains without one allocation site.
//
// The model is the steady state of runtime/mgcpacer.go (Go 1.19 to 1.27; the
// formulas did not change): every cycle the program allocates the distance
// from heapMarked to heapGoal, then pays one mark phase.
//
//	cost = cycles × cost of a cycle = A/(goal−marked) × (fixed + k·W)
//
// It is pure: no files, no clocks, no state. Rates may be per second or per
// operation, as long as one Workload uses one of them throughout.
package gcmodel

import (
	"errors"
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// Setting is what a user can set. The zero value is GOGC=0, which collects without pause;
// the runtime's default is Setting{GOGC: 100}.
type Setting struct {
	GOGC    int        // percent; negative: off
	Limit   unit.Bytes // GOMEMLIMIT; 0: none
	Ballast unit.Bytes // pointer-free bytes kept alive only to raise the goal
}

// Workload is a program in steady state. Sizes are bytes; they are float64
// because they are means of samples.
type Workload struct {
	AllocRate float64 // bytes allocated per time unit (second or operation)
	Live      float64 // heapMarked: bytes marked by a cycle, without Setting.Ballast
	MarkAlloc float64 // of Live: allocated during marking, which survives the cycle in any case; 0: not known
	HeapScan  float64 // scan work of a cycle in the heap: pointerful prefixes only
	Stacks    float64 // lastStackScan: stack bytes scanned
	Globals   float64 // globalsScan: data and bss bytes scanned
	NonHeap   float64 // mapped, not released, and neither free nor heap objects; used under a limit only

	CollectorCost float64 // processor time of the collector per time unit, as measured under the Setting
	FixedShare    float64 // part of a cycle's cost that does not grow with scan work, 0 to 1; see Fit
}

// Regime says which term of the pacer's formula decides the goal.
type Regime int

// The regimes, with the term of runtime/mgcpacer.go that decides in each.
const (
	Proportional  Regime = iota // gcPercentHeapGoal: headroom grows with the live heap
	MinimumHeap                 // heapMinimum, 4 MiB·GOGC/100: the goal is a constant
	MemoryLimit                 // memoryLimitHeapGoal: the goal is what the limit leaves
	MinimumRunway               // sweepDistMinTrigger and minRunway: headroom is a constant
)

// String names the regime in the words of a report.
func (r Regime) String() string {
	switch r {
	case Proportional:
		return "proportional"
	case MinimumHeap:
		return "minimum heap"
	case MemoryLimit:
		return "memory limit"
	case MinimumRunway:
		return "minimum runway"
	}
	return fmt.Sprintf("regime %d", int(r))
}

// Errors that say a steady state does not exist; test for them with errors.Is.
var (
	ErrNeverCollects = errors.New("the collector never runs: GOGC is off and there is no memory limit")
	ErrNoHeadroom    = errors.New("the memory limit leaves no headroom: the collector runs without pause")
)

// Target is where the pacer aims.
type Target struct {
	Marked   float64 // bytes alive after a cycle, ballast included
	Goal     float64 // heap size at which a cycle should end
	Headroom float64 // Goal − Marked: bytes allocated per cycle; above 0
	Regime   Regime
}

// LimitHeadroom is the part of a goal under a memory limit that the pacer keeps
// free: memoryLimitHeapGoalHeadroomPercent of runtime/mgcpacer.go.
const LimitHeadroom = 0.03

// Constants of runtime/mgcpacer.go.
const (
	defaultHeapMinimum = 4 << 20
	minRunway          = 64 << 10 // between trigger and goal
	limitHeadroomMin   = 1 << 20  // memoryLimitMinHeapGoalHeadroom
	// sweepDistance is sweepMinHeapDistance of runtime/mgc.go: under GOGC no cycle begins
	// before this much is allocated after the last one, so that the sweeper can finish. The
	// goal then moves behind the trigger.
	sweepDistance = 1 << 20
)

// Goal returns what the pacer aims at for w under s. It fails for quantities
// that are negative or not finite, and with ErrNeverCollects or ErrNoHeadroom.
func Goal(w Workload, s Setting) (Target, error) {
	if err := w.check(s); err != nil {
		return Target{}, err
	}
	h := headroomOf(w, s)
	t := Target{
		Marked:   w.Live + float64(s.Ballast),
		Headroom: h.bytes(w, s),
		Regime:   h.regime,
	}
	t.Goal = t.Marked + t.Headroom
	switch {
	case math.IsInf(t.Headroom, 1):
		return Target{}, ErrNeverCollects
	case t.Headroom <= 0:
		return Target{}, ErrNoHeadroom
	}
	return t, nil
}

// headroom is goal − heapMarked as a linear form of the workload; it is linear in every
// regime of the pacer. The coefficients are its derivatives.
type headroom struct {
	regime  Regime
	live    float64 // per byte of live heap
	ballast float64 // per byte of ballast
	roots   float64 // per byte of stacks and globals
	shared  float64 // constant bytes
}

func (h headroom) bytes(w Workload, s Setting) float64 {
	return h.shared + h.live*w.Live + h.ballast*float64(s.Ballast) + h.roots*w.roots()
}

// headroomOf follows heapGoalInternal: the larger of gcPercentHeapGoal and
// heapMinimum; the limit's goal if that is smaller; else at least what the
// sweeper needs.
func headroomOf(w Workload, s Setting) headroom {
	h := headroom{regime: Proportional, shared: math.Inf(1)}
	if s.GOGC >= 0 {
		g := float64(s.GOGC) / 100
		h = larger(w, s,
			headroom{regime: Proportional, live: g, ballast: g, roots: g},
			headroom{regime: MinimumHeap, shared: defaultHeapMinimum * g, live: -1, ballast: -1})
	}
	if s.Limit > 0 {
		l := headroom{regime: MemoryLimit, shared: limitGoal(w, s), live: -1, ballast: -1}
		if l.bytes(w, s) < h.bytes(w, s) {
			return l
		}
	}
	return larger(w, s, h, headroom{regime: MinimumRunway, shared: sweepDistance + minRunway})
}

func larger(w Workload, s Setting, a, b headroom) headroom {
	if b.bytes(w, s) > a.bytes(w, s) {
		return b
	}
	return a
}

// limitGoal is memoryLimitHeapGoal before it is clamped to heapMarked. The term for an
// overage is ignored: it is transient.
func limitGoal(w Workload, s Setting) float64 {
	goal := float64(s.Limit) - w.NonHeap
	if goal <= 0 {
		return 0
	}
	reserve := math.Max(goal*LimitHeadroom, limitHeadroomMin)
	return math.Max(goal-reserve, reserve)
}

// roots is what a cycle scans outside the heap.
func (w Workload) roots() float64 { return w.Stacks + w.Globals }

// scanWork is W, the scan work of one cycle.
func (w Workload) scanWork() float64 { return w.HeapScan + w.roots() }

// maxQuantity bounds every input, so that no product of two overflows.
const maxQuantity = 1e60

func (w Workload) check(s Setting) error {
	quantities := []struct {
		name  string
		value float64
	}{
		{"allocation rate", w.AllocRate},
		{"live heap", w.Live},
		{"allocation while marking", w.MarkAlloc},
		{"heap scan work", w.HeapScan},
		{"stack scan work", w.Stacks},
		{"globals scan work", w.Globals},
		{"non-heap memory", w.NonHeap},
		{"collector cost", w.CollectorCost},
		{"fixed share", w.FixedShare},
		{"memory limit", float64(s.Limit)},
		{"ballast", float64(s.Ballast)},
	}
	for _, q := range quantities {
		if !(q.value >= 0 && q.value <= maxQuantity) {
			return fmt.Errorf("%s %v is out of range", q.name, q.value)
		}
	}
	if w.FixedShare > 1 {
		return fmt.Errorf("fixed share %v is above 1", w.FixedShare)
	}
	return nil
}
