package prescribe

var numaBind = Cure{
	Code:  "numa-bind",
	Title: "bind the process to one memory node",
	Why: "On machines with several memory nodes the kernel moves pages to where they are used, by taking page faults on purpose. The collector touches all of the heap, " +
		"so its pages move without end. A process bound to one node has none of that.",
	Before:  "./server",
	After:   "numactl --cpunodebind=0 --membind=0 ./server",
	Safety:  Advice,
	Needs:   "perf data with kernel stacks",
	WhenNot: "When the process needs more processors or memory than one node has.",
}
