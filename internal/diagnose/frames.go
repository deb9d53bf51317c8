package diagnose

import (
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

// bucket is one class of CPU time. Their order is the order of the rows.
type bucket int

const (
	bucketApp bucket = iota
	bucketMalloc
	bucketZeroing
	bucketGrowCopy
	bucketConvert
	bucketProfiler
	bucketAssist
	bucketMarkDedicated
	bucketMarkFractional
	bucketMarkOther
	bucketCycle
	bucketSweep
	bucketScavenge
	bucketCycleScheduler
	bucketCollectorUnsampled
	bucketBarrier
	bucketStackGrowth
	bucketStackAlloc
	bucketFault
	bucketNUMA
	bucketHugePages
	bucketScheduler
	bucketSchedulerUnsampled
	bucketAppUnsampled
	bucketTooling
	bucketRemainder
	bucketMarkIdle
	bucketCount
)

// bucketInfo describes the rows of the decomposition. memory rows add up to
// what memory management costs; collector rows to what is apportioned as churn
// and retention (assists are charged to the stacks that paid them).
var bucketInfo = [bucketCount]struct {
	name              string
	memory, collector bool
}{
	bucketApp:            {"application", false, false},
	bucketMalloc:         {"malloc", true, false},
	bucketZeroing:        {"zeroing", true, false},
	bucketGrowCopy:       {"growslice copying", true, false},
	bucketConvert:        {"conversion copying", true, false},
	bucketProfiler:       {"heap profiler", true, false},
	bucketAssist:         {"mark assist", true, false},
	bucketMarkDedicated:  {"mark, dedicated workers", true, true},
	bucketMarkFractional: {"mark, fractional workers", true, true},
	bucketMarkOther:      {"mark, other", true, true},
	bucketCycle:          {"cycle start and end", true, true},
	bucketSweep:          {"sweep", true, true},
	bucketScavenge:       {"scavenge", true, true},
	// No frames lead there: see unsampled.go.
	bucketCycleScheduler:     {"scheduler, for collections", true, true},
	bucketCollectorUnsampled: {"collector, in no sample", true, true},
	bucketBarrier:            {"write barrier", true, true},
	bucketStackGrowth:        {"stack growth", true, false},
	bucketStackAlloc:         {"goroutine stacks", true, false},
	bucketFault:              {"page faults", true, false},
	bucketNUMA:               {"NUMA balancing", true, false},
	bucketHugePages:          {"huge pages", true, false},
	bucketScheduler:          {"scheduler, timers, netpoll", false, false},
	bucketSchedulerUnsampled: {"scheduler, in no sample", false, false},
	bucketAppUnsampled:       {"application, in no sample", false, false},
	bucketTooling:            {"profiling itself", false, false},
	bucketRemainder:          {"not classified", false, false},
	bucketMarkIdle:           {"mark, idle workers", true, false},
}

// frameRule puts every stack that holds one of its functions into a bucket.
// Names are exact, or a prefix when they end in "*". The first rule of the
// table that matches any frame of a stack wins, so collector frames that run
// on an allocating stack come before malloc itself.
type frameRule struct {
	to           bucket
	since, until int // minor Go versions that have these frames; 0: open
	names        []string
	kernel       kernel.Class // in place of names, for frames of the kernel, which perf has
}

// kernelBuckets are known from stacks that go on into the kernel only.
var kernelBuckets = []bucket{bucketFault, bucketNUMA, bucketHugePages}

// frameRules names the frames of package runtime, Go 1.24 to 1.27, read from
// its source and checked against recordings of each release.
var frameRules = []frameRule{
	{to: bucketTooling, names: []string{
		// Not the whole package: pprof.Do runs the program's own code.
		"runtime/pprof.profileWriter", "runtime/pprof.(*profileBuilder)*", "runtime/pprof.(*profMap)*", "runtime/pprof.writeHeap*",
		"runtime/pprof.(*Profile).WriteTo", "runtime/pprof.StartCPUProfile", "runtime/pprof.StopCPUProfile",
		"runtime.profileloop", "runtime.sigprof", "runtime.memProfile*", "runtime.readMetrics*", "runtime/metrics.Read",
	}},
	// The kernel's work comes before what Go was doing when it met the kernel:
	// no other row shows it. Giving memory back is not here: scavenging does that.
	{to: bucketNUMA, kernel: kernel.NUMA},
	{to: bucketHugePages, kernel: kernel.HugePages},
	{to: bucketApp, kernel: kernel.FileFault},
	{to: bucketFault, kernel: kernel.Fault},
	{to: bucketMarkIdle, names: []string{"runtime.gcDrainMarkWorkerIdle"}},
	{to: bucketMarkDedicated, names: []string{"runtime.gcDrainMarkWorkerDedicated"}},
	{to: bucketMarkFractional, names: []string{"runtime.gcDrainMarkWorkerFractional"}},
	{to: bucketAssist, names: []string{"runtime.gcAssistAlloc*", "runtime.gcParkAssist"}},
	{to: bucketAssist, since: 25, names: []string{"runtime.deductAssistCredit"}},
	{to: bucketMarkOther, names: []string{"runtime.gcBgMarkWorker*", "runtime.gcBgMarkStartWorkers", "runtime.gcDrain", "runtime.gcDrainN", "runtime.markroot*", "runtime._GC"}},
	{to: bucketMarkOther, since: 25, names: []string{"internal/runtime/gc/scan.*", "runtime.scanSpan*", "runtime.(*spanQueue)*", "runtime.expandAVX512*", "expandAVX512*", "scanSpanPacked*"}},
	{to: bucketCycle, names: []string{"runtime.gcStart*", "runtime.gcMarkDone*", "runtime.gcMarkTermination*", "runtime.stopTheWorld*", "runtime.startTheWorld*", "runtime.gcResetMarkState", "runtime.gcSweep", "runtime.forcegchelper", "runtime.clearpools"}},
	// A processor's own part in it: it stops for the world to stop, and runs
	// what the cycle's ends ask of each processor.
	{to: bucketCycle, names: []string{"runtime.gcstopm", "runtime.runSafePointFn", "runtime.forEachP*", "runtime.(*gcControllerState)*"}},
	{to: bucketSweep, names: []string{"runtime.bgsweep", "runtime.sweepone", "runtime.deductSweepCredit", "runtime.(*sweepLocked).sweep*", "runtime.(*mspan).sweep*", "runtime.(*mheap).reclaim*"}},
	{to: bucketScavenge, names: []string{"runtime.bgscavenge", "runtime.(*pageAlloc).scavenge*", "runtime.(*scavengerState)*", "runtime.sysUnused*"}},
	{to: bucketBarrier, names: []string{"runtime.gcWriteBarrier*", "gcWriteBarrier*", "runtime.wbBufFlush*", "runtime.wbMove", "runtime.wbZero", "runtime.bulkBarrierPreWrite*"}},
	// A goroutine that a signal stopped wherever it was has asyncPreempt on top of
	// its own frames. As a leaf that is the program's: the kernel delivers the
	// profiler's signal and the scheduler's at the same tick, and by perf, in the
	// same process, what 0.4 to 2 % of the profile's samples show there takes less
	// than 0.03 % of the time.
	{to: bucketScheduler, names: []string{"runtime.gopreempt_m", "runtime.preemptPark", "runtime.asyncPreempt2*"}},
	{to: bucketStackGrowth, names: []string{"runtime.newstack", "runtime.copystack", "runtime.morestack*", "runtime.shrinkstack"}},
	{to: bucketProfiler, names: []string{"runtime.mProf_Malloc", "runtime.profilealloc", "runtime.mProf_Free"}},
	{to: bucketMalloc, names: []string{"runtime.mallocgc*", "runtime.newobject", "runtime.newarray", "runtime.makeslice*", "runtime.growslice*", "runtime.rawbyteslice", "runtime.rawstring*", "runtime.persistentalloc*"}},
	{to: bucketMalloc, since: 26, names: []string{"runtime.mallocTiny*", "runtime.mallocNoscan*", "runtime.mallocScan*", "runtime.freegc*"}},
	// What these do besides allocating is to fill the memory they allocated: it
	// goes away with the allocation.
	{to: bucketConvert, names: []string{"runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.stringtoslicerune", "runtime.slicerunetostring", "runtime.intstring", "runtime.concatstring*", "runtime.concatbyte*", "runtime.convT*"}},
	{to: bucketStackAlloc, names: []string{"runtime.stackalloc", "runtime.stackfree", "runtime.malg*", "runtime.stackcache*", "runtime.gfget", "runtime.gfput"}},
}

// schedulerRule classifies stacks that hold runtime frames only.
var schedulerRule = frameRule{to: bucketScheduler, names: []string{
	"runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.findRunnable", "runtime.goexit0", "runtime.gosched*",
	"runtime.goschedImpl", "runtime.mstart*", "runtime.sysmon", "runtime.systemstack*", "runtime.goexit*", "runtime.netpoll*",
	"runtime.ready*", "runtime.goready*", "runtime.startm", "runtime.stopm", "runtime.wakep", "runtime.futex*", "runtime.usleep*",
	"runtime.exitsyscall*", "runtime.entersyscall*", "runtime.reentersyscall", "runtime.osyield", "runtime.procyield*", "runtime.retake",
	"runtime.preempt*", "runtime.asyncPreempt*", "runtime.handoffp", "runtime.execute", "runtime.gogo", "runtime.runqgrab",
	"runtime.runqsteal", "runtime.stealWork", "runtime.checkTimers*", "runtime.(*timers)*", "runtime.(*timer)*", "runtime.runTimer",
	"runtime.lock*", "runtime.unlock*", "runtime.note*", "runtime.casgstatus", "runtime.nanotime*", "runtime.walltime*", "runtime.main",
	"runtime.runfinq*", "runtime.runFinalizers*", "runtime.runCleanups*", "runtime.morestack", "runtime._System", "runtime._VDSO", "runtime._ExternalCode",
	"runtime._LostSIGPROFDuringAtomic64", "runtime.sig*", "runtime.tgkill*", "runtime.signalM", "runtime.cgocall*", "runtime.epollwait", "runtime.kevent*",
	"runtime.gopark*", "runtime.rt0_go", "runtime.newproc*", "runtime.newm*", "runtime.acquirep", "runtime.releasep", "runtime.pidle*", "runtime.write*", "runtime.madvise*",
	"runtime.mPark", "runtime.resetspinning", "runtime.injectglist", "runtime.globrunq*", "runtime.dropg", "runtime.read*", "runtime.closechan", "runtime.runq*",
}}

// Leaves that split malloc further.
var (
	zeroingLeaves = []string{"runtime.memclrNoHeapPointers*", "runtime.memclrHasPointers"}
	copyLeaves    = []string{"runtime.memmove", "runtime.typedmemmove"}
	growFrames    = []string{"runtime.growslice*"}
)

// frameTable answers, for one Go version, which rule a function matches.
type frameTable struct {
	exact    map[string]int
	prefixes []prefixRule
	rules    []frameRule
	kernel   *kernel.Table
	classes  map[kernel.Class]int // rules of the kernel's frames
}

type prefixRule struct {
	prefix string
	rule   int
}

// newFrameTable makes the table for a version such as "go1.26.8". An unknown
// or future version gets every rule: a name that a release lacks cannot match.
func newFrameTable(version string) *frameTable {
	t := &frameTable{exact: map[string]int{}, rules: append(append([]frameRule(nil), frameRules...), schedulerRule), kernel: kernel.NewTable(), classes: map[kernel.Class]int{}}
	minor := minorVersion(version)
	for i, r := range t.rules {
		if minor > 0 && (r.since > minor || r.until > 0 && r.until < minor) {
			continue
		}
		if r.kernel != kernel.None {
			t.classes[r.kernel] = i
		}
		for _, n := range r.names {
			if p, ok := strings.CutSuffix(n, "*"); ok {
				t.prefixes = append(t.prefixes, prefixRule{p, i})
			} else if _, dup := t.exact[n]; !dup {
				t.exact[n] = i
			}
		}
	}
	return t
}

// of is rule for a frame, which may be the kernel's.
func (t *frameTable) of(f evidence.Frame, name string) int {
	if f.File != perf.KernelFile {
		return t.rule(name)
	}
	if i, ok := t.classes[t.kernel.Of(name)]; ok {
		return i
	}
	return len(t.rules)
}

// rule returns the index of the first rule that matches the function, or
// len(t.rules) when none does.
func (t *frameTable) rule(function string) int {
	best := len(t.rules)
	if i, ok := t.exact[function]; ok {
		best = i
	}
	for _, p := range t.prefixes {
		if p.rule < best && strings.HasPrefix(function, p.prefix) {
			best = p.rule
		}
	}
	return best
}

// minorVersion returns 26 for "go1.26.8" and 0 for what it cannot read.
func minorVersion(version string) int {
	rest, ok := strings.CutPrefix(version, "go1.")
	if !ok {
		return 0
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return 0
	}
	return n
}

// matchName reports whether a function matches one of the names, which end in
// "*" when they are prefixes.
func matchName(function string, names []string) bool {
	for _, n := range names {
		if p, ok := strings.CutSuffix(n, "*"); ok && strings.HasPrefix(function, p) || function == n {
			return true
		}
	}
	return false
}
