package prescribe

var gcHeadroom = Cure{
	Code:  "gc-headroom",
	Title: "give the collector more room",
	Why: "The cost of a cycle does not depend on how much was allocated since the last one, so fewer cycles cost " +
		"less. GOGC, a memory limit or a ballast trade memory for fewer cycles; " +
		"with a small live heap the trade is nearly free.",
	Before:  "GOGC=100",
	After:   "GOGC=400 GOMEMLIMIT=3GiB",
	Safety:  Review,
	Needs:   "gctrace or runtime/metrics",
	WhenNot: "Near the container's limit: when the live heap reaches a limit, the collector never stops running.",
}
