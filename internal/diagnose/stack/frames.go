// Package stack classifies the frames of recorded stacks: into which class of
// CPU time a sample belongs, whose code a frame is, and at which line of the
// user's a stack allocates. Its tables are data, with the Go versions that they
// hold for.
package stack

import (
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

// Bucket is one class of CPU time. Their order is the order of the rows.
type Bucket int

// The buckets. The rows of the decomposition say what each is.
const (
	BucketApp Bucket = iota
	BucketMalloc
	BucketZeroing
	BucketGrowCopy
	BucketConvert
	BucketProfiler
	BucketAssist
	BucketMarkDedicated
	BucketMarkFractional
	BucketMarkOther
	BucketCycle
	BucketSweep
	BucketScavenge
	BucketCycleScheduler
	BucketCollectorUnsampled
	BucketBarrier
	BucketStackGrowth
	BucketStackAlloc
	BucketFault
	BucketNUMA
	BucketHugePages
	BucketScheduler
	BucketSchedulerUnsampled
	BucketAppUnsampled
	BucketTooling
	BucketRemainder
	BucketMarkIdle
	BucketCount // how many there are
)

// Class groups buckets for corrections of samples.
type Class int

// The classes.
const (
	Plain      Class = iota
	Collecting       // work in proportion to the number of collections
	ClassCount       // how many there are
)

// Class returns the class of a bucket.
func (b Bucket) Class() Class {
	if BucketInfo[b].Collector || b == BucketAssist || b == BucketMarkIdle {
		return Collecting
	}
	return Plain
}

// The groups of the decomposition.
const (
	GroupCollecting  = "collecting"
	GroupAllocating  = "allocating"
	GroupFilling     = "clearing and copying"
	GroupPages       = "stacks and pages"
	GroupApplication = "application and scheduler"
)

// Groups lists the groups, those of memory management first.
func Groups() []string {
	return []string{GroupCollecting, GroupAllocating, GroupFilling, GroupPages, GroupApplication}
}

// BucketInfo describes the rows of the decomposition. memory rows add up to what memory
// management costs; collector rows to the cost that is apportioned as churn and retention
// (assists are charged to the stacks that did them). Rows of one group are shown as one
// where there is no room for all.
var BucketInfo = [BucketCount]struct {
	Name              string
	Memory, Collector bool
	Group             string
}{
	BucketApp:            {"application", false, false, GroupApplication},
	BucketMalloc:         {"malloc", true, false, GroupAllocating},
	BucketZeroing:        {"zeroing", true, false, GroupFilling},
	BucketGrowCopy:       {"growslice copying", true, false, GroupFilling},
	BucketConvert:        {"conversion copying", true, false, GroupFilling},
	BucketProfiler:       {"heap profiler", true, false, GroupAllocating},
	BucketAssist:         {"mark assist", true, false, GroupCollecting},
	BucketMarkDedicated:  {"mark, dedicated workers", true, true, GroupCollecting},
	BucketMarkFractional: {"mark, fractional workers", true, true, GroupCollecting},
	BucketMarkOther:      {"mark, other", true, true, GroupCollecting},
	BucketCycle:          {"cycle start and end", true, true, GroupCollecting},
	BucketSweep:          {"sweep", true, true, GroupCollecting},
	BucketScavenge:       {"scavenge", true, true, GroupCollecting},
	// No frames lead there: see unsampled.go.
	BucketCycleScheduler:     {"scheduler, for collections", true, true, GroupCollecting},
	BucketCollectorUnsampled: {"collector, in no sample", true, true, GroupCollecting},
	BucketBarrier:            {"write barrier", true, true, GroupCollecting},
	BucketStackGrowth:        {"stack growth", true, false, GroupPages},
	BucketStackAlloc:         {"goroutine stacks", true, false, GroupPages},
	BucketFault:              {"page faults", true, false, GroupPages},
	BucketNUMA:               {"NUMA balancing", true, false, GroupPages},
	BucketHugePages:          {"huge pages", true, false, GroupPages},
	BucketScheduler:          {"scheduler, timers, netpoll", false, false, GroupApplication},
	BucketSchedulerUnsampled: {"scheduler, in no sample", false, false, GroupApplication},
	BucketAppUnsampled:       {"application, in no sample", false, false, GroupApplication},
	BucketTooling:            {"profiling itself", false, false, GroupApplication},
	BucketRemainder:          {"not classified", false, false, GroupApplication},
	BucketMarkIdle:           {"mark, idle workers", true, false, GroupCollecting},
}

// frameRule puts every stack that holds one of its functions into a bucket.
// Names are exact, or a prefix when they end in "*". The first rule of the
// table that matches any frame of a stack wins, so collector frames that run
// on an allocating stack come before malloc itself.
type frameRule struct {
	to           Bucket
	since, until int // minor Go versions that have these frames; 0: open
	names        []string
	kernel       kernel.Class // in place of names, for frames of the kernel, which perf has
}

// KernelBuckets are known from stacks that go on into the kernel only.
var KernelBuckets = []Bucket{BucketFault, BucketNUMA, BucketHugePages}

// frameRules names the frames of package runtime, Go 1.24 to 1.27, read from
// its source and checked against recordings of each release.
var frameRules = []frameRule{
	{to: BucketTooling, names: []string{
		// Not the whole package: pprof.Do runs the program's own code.
		"runtime/pprof.profileWriter", "runtime/pprof.(*profileBuilder)*", "runtime/pprof.(*profMap)*",
		"runtime/pprof.writeHeap*",
		"runtime/pprof.(*Profile).WriteTo", "runtime/pprof.StartCPUProfile", "runtime/pprof.StopCPUProfile",
		"runtime.profileloop", "runtime.sigprof", "runtime.memProfile*", "runtime.readMetrics*", "runtime/metrics.Read",
	}},
	// The kernel's work comes before the Go code that caused it: no other row shows it.
	// Returning memory is not here: scavenging does that.
	{to: BucketNUMA, kernel: kernel.NUMA},
	{to: BucketHugePages, kernel: kernel.HugePages},
	{to: BucketApp, kernel: kernel.FileFault},
	{to: BucketFault, kernel: kernel.Fault},
	{to: BucketMarkIdle, names: []string{"runtime.gcDrainMarkWorkerIdle"}},
	{to: BucketMarkDedicated, names: []string{"runtime.gcDrainMarkWorkerDedicated"}},
	{to: BucketMarkFractional, names: []string{"runtime.gcDrainMarkWorkerFractional"}},
	{to: BucketAssist, names: []string{"runtime.gcAssistAlloc*", "runtime.gcParkAssist"}},
	{to: BucketAssist, since: 25, names: []string{"runtime.deductAssistCredit"}},
	{
		to: BucketMarkOther,
		names: []string{
			"runtime.gcBgMarkWorker*", "runtime.gcBgMarkStartWorkers", "runtime.gcDrain", "runtime.gcDrainN",
			"runtime.markroot*", "runtime._GC",
		},
	},
	{
		to: BucketMarkOther, since: 25,
		names: []string{
			"internal/runtime/gc/scan.*", "runtime.scanSpan*", "runtime.(*spanQueue)*", "runtime.expandAVX512*",
			"expandAVX512*", "scanSpanPacked*",
		},
	},
	{
		to: BucketCycle,
		names: []string{
			"runtime.gcStart*", "runtime.gcMarkDone*", "runtime.gcMarkTermination*", "runtime.stopTheWorld*",
			"runtime.startTheWorld*", "runtime.gcResetMarkState", "runtime.gcSweep", "runtime.forcegchelper",
			"runtime.clearpools",
		},
	},
	// A processor's own part in it: it stops with the world, and runs the per-processor work
	// at the ends of a cycle.
	{
		to: BucketCycle,
		names: []string{"runtime.gcstopm", "runtime.runSafePointFn", "runtime.forEachP*",
			"runtime.(*gcControllerState)*"},
	},
	{
		to: BucketSweep,
		names: []string{
			"runtime.bgsweep", "runtime.sweepone", "runtime.deductSweepCredit", "runtime.(*sweepLocked).sweep*",
			"runtime.(*mspan).sweep*", "runtime.(*mheap).reclaim*",
		},
	},
	{
		to: BucketScavenge,
		names: []string{
			"runtime.bgscavenge", "runtime.(*pageAlloc).scavenge*", "runtime.(*scavengerState)*", "runtime.sysUnused*",
		},
	},
	{
		to: BucketBarrier,
		names: []string{
			"runtime.gcWriteBarrier*", "gcWriteBarrier*", "runtime.wbBufFlush*", "runtime.wbMove", "runtime.wbZero",
			"runtime.bulkBarrierPreWrite*",
		},
	},
	// A goroutine that a signal stopped wherever it was has asyncPreempt on top of its own
	// frames. As a leaf that is the program's: the kernel delivers the profiler's signal and
	// the scheduler's at the same tick. 0.4 to 2 % of the profile's samples are there, but
	// less than 0.03 % of the time by perf in the same process.
	{to: BucketScheduler, names: []string{"runtime.gopreempt_m", "runtime.preemptPark", "runtime.asyncPreempt2*"}},
	{
		to:    BucketStackGrowth,
		names: []string{"runtime.newstack", "runtime.copystack", "runtime.morestack*", "runtime.shrinkstack"},
	},
	{to: BucketProfiler, names: []string{"runtime.mProf_Malloc", "runtime.profilealloc", "runtime.mProf_Free"}},
	{
		to: BucketMalloc,
		names: []string{
			"runtime.mallocgc*", "runtime.newobject", "runtime.newarray", "runtime.makeslice*", "runtime.growslice*",
			"runtime.rawbyteslice", "runtime.rawstring*", "runtime.persistentalloc*",
		},
	},
	{
		to: BucketMalloc, since: 26,
		names: []string{"runtime.mallocTiny*", "runtime.mallocNoscan*", "runtime.mallocScan*", "runtime.freegc*"},
	},
	// Besides allocating, these fill the memory they allocated: that work goes away with the
	// allocation.
	{
		to: BucketConvert,
		names: []string{
			"runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.stringtoslicerune",
			"runtime.slicerunetostring", "runtime.intstring", "runtime.concatstring*", "runtime.concatbyte*",
			"runtime.convT*",
		},
	},
	{
		to: BucketStackAlloc,
		names: []string{
			"runtime.stackalloc", "runtime.stackfree", "runtime.malg*", "runtime.stackcache*", "runtime.gfget",
			"runtime.gfput",
		},
	},
}

// schedulerRule classifies stacks that hold runtime frames only.
var schedulerRule = frameRule{to: BucketScheduler, names: []string{
	"runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.findRunnable", "runtime.goexit0",
	"runtime.gosched*",
	"runtime.goschedImpl", "runtime.mstart*", "runtime.sysmon", "runtime.systemstack*", "runtime.goexit*",
	"runtime.netpoll*",
	"runtime.ready*", "runtime.goready*", "runtime.startm", "runtime.stopm", "runtime.wakep", "runtime.futex*",
	"runtime.usleep*",
	"runtime.exitsyscall*", "runtime.entersyscall*", "runtime.reentersyscall", "runtime.osyield",
	"runtime.procyield*", "runtime.retake",
	"runtime.preempt*", "runtime.asyncPreempt*", "runtime.handoffp", "runtime.execute", "runtime.gogo",
	"runtime.runqgrab",
	"runtime.runqsteal", "runtime.stealWork", "runtime.checkTimers*", "runtime.(*timers)*", "runtime.(*timer)*",
	"runtime.runTimer",
	"runtime.lock*", "runtime.unlock*", "runtime.note*", "runtime.casgstatus", "runtime.nanotime*",
	"runtime.walltime*", "runtime.main",
	"runtime.runfinq*", "runtime.runFinalizers*", "runtime.runCleanups*", "runtime.morestack", "runtime._System",
	"runtime._VDSO", "runtime._ExternalCode",
	"runtime._LostSIGPROFDuringAtomic64", "runtime.sig*", "runtime.tgkill*", "runtime.signalM", "runtime.cgocall*",
	"runtime.epollwait", "runtime.kevent*",
	"runtime.gopark*", "runtime.rt0_go", "runtime.newproc*", "runtime.newm*", "runtime.acquirep",
	"runtime.releasep", "runtime.pidle*", "runtime.write*", "runtime.madvise*",
	"runtime.mPark", "runtime.resetspinning", "runtime.injectglist", "runtime.globrunq*", "runtime.dropg",
	"runtime.read*", "runtime.closechan", "runtime.runq*",
}}

// Leaves that split malloc further.
var (
	zeroingLeaves = []string{"runtime.memclrNoHeapPointers*", "runtime.memclrHasPointers"}
	copyLeaves    = []string{"runtime.memmove", "runtime.typedmemmove"}
	growFrames    = []string{"runtime.growslice*"}
)

// Table answers, for one Go version, which rule a function matches.
type Table struct {
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

// NewTable makes the table for a version such as "go1.26.8". An unknown
// or future version gets every rule: a name that a release lacks cannot match.
func NewTable(version string) *Table {
	t := &Table{
		exact: map[string]int{}, rules: append(append([]frameRule(nil), frameRules...), schedulerRule),
		kernel: kernel.NewTable(), classes: map[kernel.Class]int{},
	}
	minor := MinorVersion(version)
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
func (t *Table) of(f evidence.Frame, name string) int {
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
func (t *Table) rule(function string) int {
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

// MinorVersion returns 26 for "go1.26.8" and 0 for what it cannot read.
func MinorVersion(version string) int {
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

// MatchName reports whether a function matches one of the names, which end in
// "*" when they are prefixes.
func MatchName(function string, names []string) bool {
	for _, n := range names {
		if p, ok := strings.CutSuffix(n, "*"); ok && strings.HasPrefix(function, p) || function == n {
			return true
		}
	}
	return false
}
