package detect

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/kernel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// numa: on a machine with several nodes, the kernel unmaps pages to see who
// uses them and moves them there, while the collector's workers on every node
// touch all of the heap.
func numa(s *diagnose.Signals) (finding.Detection, bool) {
	if s.Kernel == nil {
		return finding.Detection{}, false
	}
	k := s.Kernel.Class[kernel.NUMA]
	if !worth(k.Share, float64(s.Kernel.Samples)) {
		return finding.Detection{}, false
	}
	return finding.Detection{
		Title: "The kernel moves the heap between NUMA nodes", Code: "numa-bind", Amount: k.Share.Value,
		Text:     "bind the process to one node (numactl --cpunodebind=0 --membind=0), one process a node, or switch balancing off (sysctl kernel.numa_balancing=0)",
		Evidence: fmt.Sprintf("NUMA balancing takes %s of CPU%s", percent(k.Share), met(k.By)),
		Saves:    k.Share, Basis: "samples in which the kernel balances; the cost of remote memory is not included",
	}, true
}

// hugePages: making a huge page clears 2 MiB at once, and collecting small ones
// into a huge one copies as much.
func hugePages(s *diagnose.Signals) (finding.Detection, bool) {
	if s.Kernel == nil {
		return finding.Detection{}, false
	}
	k := s.Kernel.Class[kernel.HugePages]
	if !worth(k.Share, float64(s.Kernel.Samples)) {
		return finding.Detection{}, false
	}
	thp := ""
	if s.Environment.THP != "" {
		thp = "; transparent huge pages: " + s.Environment.THP
	}
	return finding.Detection{
		Title: "The kernel works on huge pages", Code: "huge-pages", Amount: k.Share.Value,
		Text:     "they pay when the heap keeps them: compare /sys/kernel/mm/transparent_hugepage/enabled at madvise, and a memory limit with room, so that the runtime gives back less",
		Evidence: fmt.Sprintf("making, splitting and collecting huge pages takes %s of CPU%s%s", percent(k.Share), met(k.By), thp),
	}, true
}

// Bounds of refault: giving back must show in the samples, and what was given
// back must have been taken again.
const worthReturning = 0.005

// refault: memory that was given back to the system is zeroed by the kernel and
// mapped again, page by page, as soon as the heap grows.
func refault(s *diagnose.Signals) (finding.Detection, bool) {
	again, given := taken(s.Metric("/memory/classes/heap/released:bytes"))
	returning := s.Scavenge
	evidence := fmt.Sprintf("giving memory back takes %s of CPU", percent(returning))
	share, samples := returning, s.Samples
	if s.Kernel != nil {
		if r := s.Kernel.Class[kernel.Return]; r.Share.Value > returning.Value {
			returning = r.Share
			evidence = fmt.Sprintf("giving memory back takes %s of CPU", percent(returning))
		}
		faults := s.Kernel.Class[kernel.Fault]
		share, samples = returning.Add(faults.Share), max(samples, float64(s.Kernel.Samples))
		evidence += fmt.Sprintf(", page faults %s%s", percent(faults.Share), met(faults.By))
	}
	if returning.Value < worthReturning || returning.Low < worthReturning/2 || !worth(share, samples) {
		return finding.Detection{}, false
	}
	// Readings of the returned memory, taken less than once a cycle, can meet the
	// same phase each time: then page faults decide.
	faulted := s.Kernel != nil && s.Kernel.Class[kernel.Fault].Share.Value >= leastShare
	switch {
	case len(s.Metrics) > 1 && again > 0 && again >= given/4:
		evidence += fmt.Sprintf("; in the window %s were given back and %s taken again", unit.FormatBytes(given), unit.FormatBytes(again))
	case len(s.Metrics) > len(s.Cycles) && len(s.Metrics) > 1:
		return finding.Detection{}, false // given back, and not missed
	case !faulted:
		return finding.Detection{}, false // nothing says that it was taken again
	}
	return finding.Detection{
		Title: "Memory is given back and faulted in again", Code: "gc-headroom", Amount: share.Value,
		Text:     keepIt(s),
		Evidence: evidence,
		Saves:    half(share), Basis: "from none to all of the time for giving back and faulting in",
	}, true
}

// keepIt says how memory is kept, by what makes the runtime give it back.
func keepIt(s *diagnose.Signals) string {
	forced := 0
	for _, c := range s.Cycles {
		if c.Forced {
			forced++
		}
	}
	switch {
	case forced >= fewForced:
		return "call debug.FreeOSMemory less often or not at all: what it gives back is needed again soon"
	case s.Environment.GOMEMLIMIT != "" && s.Environment.GOMEMLIMIT != "off":
		return "raise the memory limit: near it the runtime gives back what it will need soon"
	}
	return "keep the heap goal steady, by a larger GOGC or a ballast ('heaptrim tune'): the runtime gives back what lies above the goal, and the heap grows again"
}

// taken adds up the falls and the rises of what is given back.
func taken(released []float64) (again, given float64) {
	for i := 1; i < len(released); i++ {
		if d := released[i] - released[i-1]; d > 0 {
			given += d
		} else {
			again -= d
		}
	}
	return again, given
}

// met names the function that met the kernel most.
func met(by []kernel.Function) string {
	if len(by) == 0 || by[0].Name == "" {
		return ""
	}
	return ", most under " + by[0].Name
}
