package prescribe

var numaBind = Cure{
	Code:  "numa-bind",
	Title: "bind the process to one memory node",
	Why: "On machines with several memory nodes the kernel moves pages to the node that uses them, by causing " +
		"page faults on purpose. The collector touches the whole heap, " +
		"so its pages keep moving. A process bound to one node avoids this.",
	Before:  "./server",
	After:   "numactl --cpunodebind=0 --membind=0 ./server",
	Safety:  Advice,
	Needs:   "perf data with kernel stacks",
	WhenNot: "When the process needs more processors or memory than one node has.",
}
