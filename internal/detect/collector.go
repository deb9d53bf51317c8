package detect

import (
	"fmt"
	"go/version"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// fewForced is the number of forced collections that are not reported: a recording forces
// one at either end, and benchmarks begin with one.
const fewForced = 5

// forced: the program calls runtime.GC or debug.FreeOSMemory.
func forced(s *diagnose.Signals) (finding.Detection, bool) {
	share, of, n := collected(s, func(c evidence.Cycle) bool { return c.Forced })
	if n < fewForced || share.Value < leastShare {
		return finding.Detection{}, false
	}
	rate := ""
	if s.Window > 0 {
		rate = fmt.Sprintf(", %.3g a second", float64(n)/s.Window.Seconds())
	}
	return finding.Detection{
		Title: "Forced collections", Code: "skip-work", Amount: share.Value,
		Text: "remove the calls of runtime.GC and debug.FreeOSMemory: the pacer starts cycles when they pay. " +
			"To use less memory, set GOMEMLIMIT",
		Evidence: fmt.Sprintf("%d of %d cycles are forced%s; they take %s %s", n, len(s.Cycles), rate, percent(share), of),
	}, true
}

// periodic: a program that allocates nothing is collected every two minutes.
func periodic(s *diagnose.Signals) (finding.Detection, bool) {
	share, of, n := collected(s, func(c evidence.Cycle) bool { return c.Periodic })
	if n < 2 || share.Value < leastShare {
		return finding.Detection{}, false
	}
	return finding.Detection{
		Title: "Collections of an idle program", Code: "gc-headroom", Amount: share.Value,
		Text:     "the runtime collects when two minutes have passed without a cycle. With GOGC=off and a memory limit it does not",
		Evidence: fmt.Sprintf("%d of %d cycles were started because two minutes had passed; they take %s %s", n, len(s.Cycles), percent(share), of),
	}, true
}

// Bounds of tinyHeap: enough cycles to speak of, and so many a second that the
// fixed part of each counts.
const (
	constantCycles = 20
	constantRate   = 10.0 // a second
	worthConstant  = 0.02
)

// minimumGoal is the smallest goal that GOGC=100 sets (runtime/mgcpacer.go,
// defaultHeapMinimum).
const minimumGoal = 4 << 20

// tinyHeap: so little is live that the runtime's minimum sets the goal.
func tinyHeap(s *diagnose.Signals) (finding.Detection, bool) {
	automatic := func(c evidence.Cycle) bool { return !c.Forced }
	share, of, n := collected(s, automatic)
	// What is live in a benchmark is not what is live in the program.
	if s.Benchmark || n < constantCycles || s.Window <= 0 || share.Value < worthConstant {
		return finding.Detection{}, false
	}
	rate := float64(n) / s.Window.Seconds()
	var goals, live []float64
	for _, c := range s.Cycles {
		if automatic(c) {
			goals, live = append(goals, float64(c.Goal)), append(live, float64(c.HeapLive))
		}
	}
	percentGOGC := gogc(s.Environment.GOGC)
	if percentGOGC <= 0 || rate < constantRate || median(goals) > 1.25*minimumGoal*percentGOGC/100 {
		return finding.Detection{}, false
	}
	return finding.Detection{
		Title: "The heap is so small that cycles never end", Code: "gc-headroom", Amount: share.Value,
		Text: fmt.Sprintf("the minimum of the goal is 4 MiB for each 100 of GOGC: GOGC=%.0f lets the heap grow to %s and collects a quarter as often; a ballast or a memory limit with GOGC=off does more",
			4*percentGOGC, unit.FormatBytes(4*minimumGoal*percentGOGC/100)),
		Evidence: fmt.Sprintf("%.0f cycles a second with %s live and a goal of %s; the collector takes %s %s", rate, unit.FormatBytes(median(live)+float64(unit.MiB)/2),
			unit.FormatBytes(median(goals)), percent(share), of),
	}, true
}

// gogc reads the setting: 100 when it is not known, 0 for off.
func gogc(text string) float64 {
	switch t := strings.TrimSpace(text); t {
	case "":
		return 100
	case "off":
		return 0
	default:
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return 0
		}
		return v
	}
}

// longMarking is the share of the time in which workers must be at work for
// their number to matter.
const longMarking = 0.05

// workers: the runtime counts Ps, and what it counts may not be there. A quarter
// of GOMAXPROCS marks at a time, whatever the container's quota is.
func workers(s *diagnose.Signals) (finding.Detection, bool) {
	available := float64(s.Environment.NumCPU)
	quota := s.Environment.CgroupCPU > 0 && (available == 0 || s.Environment.CgroupCPU < available)
	if quota {
		available = s.Environment.CgroupCPU
	}
	if available <= 0 || len(s.Cycles) < fewForced || s.Window <= 0 {
		return finding.Detection{}, false
	}
	procs := s.Cycles[len(s.Cycles)-1].Procs
	n := dedicated(procs)
	var mark time.Duration
	for _, c := range s.Cycles {
		mark += c.Wall.ConcurrentMark
	}
	share := float64(mark) / float64(s.Window)
	if float64(procs) <= math.Ceil(available) || float64(n) < available/2 || share < longMarking {
		return finding.Detection{}, false
	}
	have := fmt.Sprintf("%.3g processors", available)
	if quota {
		have = fmt.Sprintf("a quota of %.3g processors", available)
	}
	code := "gc-headroom"
	if v := s.Environment.GoVersion; quota && version.IsValid(v) && version.Compare(v, countsQuota) < 0 {
		code = "upgrade-go"
	}
	return finding.Detection{
		Title: "More workers of the collector than processors to spare", Code: code, Amount: share,
		Text: fmt.Sprintf("set GOMAXPROCS=%.0f; from Go 1.25 on the runtime does so by itself from the container's quota, where GOMAXPROCS is not set", math.Ceil(available)),
		Evidence: fmt.Sprintf("GOMAXPROCS is %d on %s: in each cycle the collector starts %d workers that do not "+
			"yield, and it marks %.1f %% of the time",
			procs, have, n, 100*share),
	}, true
}

// countsQuota is the first release whose GOMAXPROCS follows the container.
const countsQuota = "go1.25"

// dedicated is how many workers of a cycle mark without giving way
// (runtime/mgcpacer.go, startCycle): a quarter of the Ps, rounded so that it is
// off by less than 30 %, else down.
func dedicated(procs int) int {
	quarter := float64(procs) / 4
	n := math.Floor(quarter + 0.5)
	if off := n/quarter - 1; quarter > 0 && math.Abs(off) > 0.3 && n > quarter {
		n--
	}
	return int(n)
}

// limiter: the runtime lets memory exceed the limit rather than spend more than
// half of the time on collecting.
func limiter(s *diagnose.Signals) (finding.Detection, bool) {
	enabled, total := s.Metric("/gc/limiter/last-enabled:gc-cycle"), s.Metric("/gc/cycles/total:gc-cycles")
	if len(enabled) < 2 || len(total) < 2 {
		return finding.Detection{}, false
	}
	at, first := enabled[len(enabled)-1], total[0]
	if at <= 0 || at < first {
		return finding.Detection{}, false
	}
	moments := 0
	for i := 1; i < len(enabled); i++ {
		if enabled[i] != enabled[i-1] {
			moments++
		}
	}
	evidence := fmt.Sprintf("the limiter of the collector's CPU was on, last in cycle %.0f of %.0f, and came on "+
		"again between %d of %d samples", at, total[len(total)-1], moments, len(enabled))
	amount := s.Collector.Value
	if s.CPUSeconds > 0 {
		evidence += fmt.Sprintf("; the collector takes %s of CPU", percent(s.Collector))
	}
	if limit, ok := last(s, "/gc/gomemlimit:bytes"); ok && limit < 1<<60 {
		evidence += fmt.Sprintf("; the memory limit is %s with %s live", unit.FormatBytes(limit), unit.FormatBytes(median(s.Metric("/gc/heap/live:bytes"))))
	}
	return finding.Detection{
		Title: "The memory limit leaves no room to collect", Code: "gc-headroom", Amount: math.Max(amount, leastShare),
		Text:     "raise GOMEMLIMIT well above the live heap, a third at least, or keep less; until then memory passes the limit and goroutines that allocate do not help to mark",
		Evidence: evidence,
	}, true
}

// median is 0 without values.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return stats.Median(v).Value
}

// half is where an effect is between none and all of a share.
func half(share stats.Interval) stats.Interval {
	return stats.Interval{Value: share.Value / 2, High: share.High}
}
