package prescribe

import "github.com/heaptrim/heaptrim/internal/diagnose"

var goroutineStacks = Cure{
	Code:  "goroutine-stacks",
	Title: "start fewer goroutines, or keep their stacks",
	Why: "A goroutine's descriptor and its first stack come from the heap when none is free; a stack that outgrows its size is copied to one twice as large, " +
		"and the collector scans all of them. Workers that live on pay this once.",
	Before: "for _, j := range jobs {\n\tgo handle(j)\n}",
	After:  "for range workers {\n\tgo func() {\n\t\tfor j := range queue {\n\t\t\thandle(j)\n\t\t}\n\t}()\n}",
	Safety: Advice,
	Needs:  "the kind of allocation; for growth, the stacks bucket of the decomposition",
	Not:    "When goroutines wait most of their life: then their number is the design.",
	match: func(c *Case, p *Part) (Proposal, bool) {
		if p.Kind != diagnose.KindGoroutine {
			return Proposal{}, false
		}
		return all(0.7, "let goroutines that live on take the work from a channel instead of starting one each time", c.amount(p)), true
	},
}

var finalizerCost = Cure{
	Code:  "finalizer-cost",
	Title: "do without the finalizer or cleanup",
	Why: "An object with a finalizer survives the cycle that finds it dead, and each one is a special record that the sweeper has to look at. " +
		"Releasing it where its use ends costs nothing; a cleanup at least does not keep the object.",
	Before: "runtime.SetFinalizer(f, (*File).close)",
	After:  "defer f.Close()",
	Safety: Review,
	Needs:  "stacks through runtime.SetFinalizer or AddCleanup",
	Not:    "As a safety net on few, long-lived objects it costs nothing worth the change.",
	match: func(c *Case, p *Part) (Proposal, bool) {
		pr, ok := c.fromLibrary(p, "finalizer-cost")
		pr.Text = "release the object where its use ends, and set no finalizer on the hot path"
		return pr, ok
	},
}

var gcHeadroom = Cure{
	Code:  "gc-headroom",
	Title: "give the collector more room",
	Why: "A cycle costs the same whatever was allocated since the last one, so fewer cycles cost less. GOGC, a memory limit or a ballast trade memory for that; " +
		"with a small live heap the trade is nearly free.",
	Before: "GOGC=100",
	After:  "GOGC=400 GOMEMLIMIT=3GiB",
	Safety: Review,
	Needs:  "gctrace or runtime/metrics",
	Not:    "Near the container's limit: a limit that the live heap reaches makes the collector run without end.",
}

var upgradeGo = Cure{
	Code:   "upgrade-go",
	Title:  "build with a newer Go",
	Why:    "The collector and the allocator get cheaper with nearly every release, at the price of a rebuild.",
	Before: "go 1.24",
	After:  "go 1.26",
	Safety: Review,
	Needs:  "the target's Go version and the collector's share of CPU; heaptrim prove measures it",
	Not:    "When a dependency does not build with it yet.",
}

var numaBind = Cure{
	Code:  "numa-bind",
	Title: "bind the process to one memory node",
	Why: "On machines with several memory nodes the kernel moves pages to where they are used, by taking page faults on purpose. The collector touches all of the heap, " +
		"so its pages move without end. A process bound to one node has none of that.",
	Before: "./server",
	After:  "numactl --cpunodebind=0 --membind=0 ./server",
	Safety: Advice,
	Needs:  "perf data with kernel stacks",
	Not:    "When the process needs more processors or memory than one node has.",
}

var hugePages = Cure{
	Code:  "huge-pages",
	Title: "settle huge pages",
	Why: "Transparent huge pages make page faults rarer and address translation cheaper, but also make memory resident that nobody touched and are split again " +
		"when the runtime returns memory.",
	Before: "echo always > /sys/kernel/mm/transparent_hugepage/enabled",
	After:  "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	Safety: Advice,
	Needs:  "perf data with kernel stacks",
	Not:    "Without page faults in the profile there is nothing to settle.",
}
