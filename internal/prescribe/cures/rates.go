package cures

// Rated is when the rules were tried, and on which commit.
const Rated = "2026-11-24 working tree"

// rates has how often each rule was right on the train cases of lab/truth: go run ./truth -rates
var rates = []Rate{
	{"cache-compiled", "a call of constants", 4, 4, 3},
	{"avoid-conversion", "a call that is only looked at", 2, 3, 2},
	{"cache-compiled", "a call to make once", 1, 1, 1},
	{"pool-buffer", "a call with a pooled buffer", 1, 2, 2},
	{"pool-object", "a call with a pooled object", 2, 2, 1},
	{"reuse-buffer", "a call with memory of yours", 0, 1, 1},
	{"avoid-conversion", "a call without a copy", 27, 28, 16},
	{"unbox-interface", "a call without boxes", 1, 2, 2},
	{"keep-on-stack", "a call without the object", 1, 1, 1},
	{"unbox-interface", "boxed for a call", 3, 3, 3},
	{"presize-builder", "builder grown once", 0, 2, 2},
	{"avoid-conversion", "concatenation", 4, 4, 4},
	{"avoid-conversion", "constant bytes", 1, 1, 1},
	{"avoid-conversion", "conversion", 22, 22, 14},
	{"keep-on-stack", "copied on the cold branch", 1, 4, 3},
	{"reuse-buffer", "edit: appended in place", 11, 11, 8},
	{"keep-on-stack", "edit: array on the stack", 0, 10, 5},
	{"presize-builder", "edit: builder with its size", 1, 2, 2},
	{"avoid-conversion", "edit: no conversion and back", 22, 22, 16},
	{"batch-arena", "edit: objects in one slice", 0, 2, 1},
	{"skip-work", "edit: original instead of a copy", 12, 12, 9},
	{"reuse-buffer", "field not set to nil", 6, 6, 4},
	{"reuse-buffer", "field of its owner", 1, 1, 1},
	{"pool-buffer", "large buffer from a pool", 2, 4, 1},
	{"pool-object", "large object from a pool", 1, 2, 2},
	{"presize-map", "map of a known size", 1, 2, 1},
	{"reuse-buffer", "memory handed down", 1, 3, 2},
	{"presize-slice", "slice of a known length", 2, 2, 2},
	{"presize-slice", "slice of a usual length", 3, 4, 3},
	{"batch-arena", "slices of one array", 1, 1, 1},
	{"skip-work", "work that is not used", 1, 1, 1},
}
