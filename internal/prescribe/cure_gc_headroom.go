package prescribe

var gcHeadroom = Cure{
	Code:  "gc-headroom",
	Title: "give the collector more room",
	Why: "A cycle costs the same whatever was allocated since the last one, so fewer cycles cost less. GOGC, a memory limit or a ballast trade memory for that; " +
		"with a small live heap the trade is nearly free.",
	Before:  "GOGC=100",
	After:   "GOGC=400 GOMEMLIMIT=3GiB",
	Safety:  Review,
	Needs:   "gctrace or runtime/metrics",
	WhenNot: "Near the container's limit: a limit that the live heap reaches makes the collector run without end.",
}
