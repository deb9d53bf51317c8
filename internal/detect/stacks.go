package detect

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// stackScan: marking begins at the goroutines' stacks, all of them, each cycle.
func stackScan(s *diagnose.Signals) (finding.Detection, bool) {
	share := s.Share(stack.SignStackScan)
	if !worth(share, s.Samples) {
		return finding.Detection{}, false
	}
	evidence := fmt.Sprintf("scanning goroutines' stacks takes %s of CPU", percent(share))
	stack, heap := median(s.Metric("/gc/scan/stack:bytes")), median(s.Metric("/gc/scan/total:bytes"))
	if heap > 0 {
		evidence += fmt.Sprintf("; %s of the %s to scan in a cycle are stacks", unit.FormatBytes(stack), unit.FormatBytes(heap))
	}
	if n := median(s.Metric("/sched/goroutines:goroutines")); n > 0 {
		evidence += fmt.Sprintf("; %s goroutines", unit.FormatScaled(n))
	}
	title, text := stackAdvice(stack, heap)
	return finding.Detection{Title: title, Code: "goroutine-stacks", Amount: share.Value, Text: text, Evidence: evidence}, true
}

// muchStack is the part of what a cycle scans from which on there are too many
// stacks, or too large ones; below it they are only scanned too often.
const muchStack = 0.1

// stackAdvice says what to do about stacks of so many bytes to scan, among all
// the bytes to scan in a cycle; 0 when that is not known.
func stackAdvice(stack, all float64) (title, text string) {
	const often = "fewer cycles scan them less often: see gc-headroom"
	if all > 0 && stack < muchStack*all {
		return "Goroutines' stacks are scanned in each of many cycles", often
	}
	return "Goroutines' stacks are much of what the collector scans",
		"fewer goroutines that wait, and none in the depth of a call: what waits in a small function has a small stack. F" + often[1:]
}

// stackGrowth: a goroutine begins with a small stack, which is copied to one of
// twice the size whenever it does not suffice.
func stackGrowth(s *diagnose.Signals) (finding.Detection, bool) {
	share := s.Share(stack.SignStackGrowth)
	if !worth(share, s.Samples) {
		return finding.Detection{}, false
	}
	return finding.Detection{
		Title: "Goroutines' stacks are copied as they grow", Code: "goroutine-stacks", Amount: share.Value,
		Text:     "let goroutines live on and take the next piece of work, so that each stack grows once; keep large arrays out of frames. GODEBUG=adaptivestackstart=1 lets new goroutines begin with the size that they mostly come to",
		Evidence: fmt.Sprintf("copying growing stacks takes %s of CPU%s", percent(share), where(s, stack.SignStackGrowth)),
	}, true
}

// worthShrinking is less than Worth: to shrink costs little, to grow again is
// what costs.
const worthShrinking = 0.002

// stackShrink: a cycle halves every stack of which less than a quarter is in
// use, and the goroutine's next deep call grows it again.
func stackShrink(s *diagnose.Signals) (finding.Detection, bool) {
	shrink, grow := s.Share(stack.SignStackShrink), s.Share(stack.SignStackGrowth)
	both := shrink.Add(grow)
	if shrink.Low < worthShrinking/2 || shrink.Value < worthShrinking || !worth(both, s.Samples) {
		return finding.Detection{}, false
	}
	return finding.Detection{
		Title: "Stacks shrink in each cycle and grow again", Code: "goroutine-stacks", Amount: both.Value,
		Text:     "GODEBUG=gcshrinkstackoff=1 leaves stacks as large as they became; the memory stays with the goroutines",
		Evidence: fmt.Sprintf("shrinking takes %s of CPU and growing %s", percent(shrink), percent(grow)),
		// What shrinks grows again at most once: growth by new goroutines stays.
		Saves: stats.Interval{Value: shrink.Value + min(shrink.Value, grow.Value), Low: shrink.Low, High: both.High},
		Basis: "the samples in which stacks are copied; those of new goroutines' growth stay",
	}, true
}

// finalizers run on goroutines of the runtime's, cost a table entry each, and
// keep their object for one more cycle.
func finalizers(s *diagnose.Signals) (finding.Detection, bool) {
	share := s.Share(stack.SignFinalizer)
	if !worth(share, s.Samples) {
		return finding.Detection{}, false
	}
	evidence := fmt.Sprintf("registering, queueing and running finalizers and cleanups takes %s of CPU%s", percent(share), where(s, stack.SignFinalizer))
	for _, k := range []struct{ name, what string }{{"/gc/finalizers/executed:finalizers", "finalizers"}, {"/gc/cleanups/executed:cleanups", "cleanups"}} {
		if n, length, ok := rise(s, k.name); ok && n > 0 {
			evidence += fmt.Sprintf("; %s %s/s", unit.FormatScaled(n/length.Seconds()), k.what)
		}
	}
	return finding.Detection{
		Title: "Finalizers and cleanups", Code: "finalizer-cost", Amount: share.Value,
		Text:     "close what is finalized when it is done with, and keep the finalizer for what was forgotten; runtime.AddCleanup costs less than runtime.SetFinalizer and does not keep the object for another cycle",
		Evidence: evidence,
	}, true
}

// enoughWaiting is a queue that no burst explains.
const enoughWaiting = 10_000

// backlog: what waits for its finalizer or cleanup stays in memory.
func backlog(s *diagnose.Signals) (finding.Detection, bool) {
	for _, k := range []struct{ queued, executed, what string }{
		{"/gc/finalizers/queued:finalizers", "/gc/finalizers/executed:finalizers", "finalizers"},
		{"/gc/cleanups/queued:cleanups", "/gc/cleanups/executed:cleanups", "cleanups"},
	} {
		queued, executed := s.Metric(k.queued), s.Metric(k.executed)
		n := min(len(queued), len(executed))
		if n < 3 {
			continue
		}
		// The queue is long, and has been so for the last third.
		waiting := queued[n-1] - executed[n-1]
		for i := n - max(n/3, 1); i < n; i++ {
			waiting = min(waiting, queued[i]-executed[i])
		}
		if waiting < enoughWaiting {
			continue
		}
		return finding.Detection{
			Title: "Finalizers do not keep up", Code: "finalizer-cost", Amount: waiting / max(queued[n-1], 1),
			Text:     "one goroutine runs all finalizers: let none wait for anything, and close what is finalized when it is done with",
			Evidence: fmt.Sprintf("at least %s %s wait to be run through the last third of the recording; what they keep stays in memory", unit.FormatScaled(waiting), k.what),
		}, true
	}
	return finding.Detection{}, false
}
