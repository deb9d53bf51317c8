package prescribe

import "strings"

// prior is the rate of a rule that no case has tried.
const prior = 0.4

// leastRate is the rate from which a cure is told as another way.
const leastRate = 0.1

// hitRate is how often a rule is right.
func hitRate(rule string) float64 {
	if r, ok := rates[rule]; ok {
		return r
	}
	if strings.HasPrefix(rule, editRule) {
		return 0.7
	}
	return prior
}

var rates = map[string]float64{
	"copied on the cold branch": .9, "variable handed on by value": .56, "returned by value": .72, "made and returned by value": .64, "many returned by value": .25,
	"variadic slice": .25, "memory from the caller": .12, "a call without the object": .8, "a call without boxes": .8, "boxed for a call that is known": .16,
	"boxed for a call": .72, "boxed": .72, "reflected": .25, "closure made once": .8, "closure returned": .8, "slice of a known length": 1,
	"slice of a bounded length": .8, "slice of a usual length": .36, "a call with a length": .8, "map of a known size": 1, "map of a usual size": .64,
	"a call with a size": .8, "builder grown once": .49, "concatenation in a loop": .8, "a call without a copy": .8, "a call that is only looked at": 1,
	"constant converted": .8, "conversion": .8, "concatenation": .72, "constant bytes": .9, "one copy of equal texts": .25, "a call of constants": 1,
	"compiled by input": .36, "a call to make once": .8, "compiled of constants": .8, "a call less often": .49, "work that is not used": 1,
	"a call with memory of yours": .8, "field of its owner": .42, "made before the loop": .5, "field cut to length zero": .36, "array kept for the next turn": .12,
	"field not set to nil": .8, "memory handed down": .4,
	"map cleared": .16, "a call with a pooled buffer": .8, "builder's buffer from a pool": .42, "large buffer from a pool": .72, "buffer from a pool": .36,
	"a call with a pooled object": .8, "large object from a pool": .72, "object from a pool": .36, "container from a pool": .16, "boxed by Put": 1,
	"pool without Put": .64, "objects in slabs": .64, "nested objects in slabs": .64, "slices of one array": .72, "nested slices of one array": .72,
	"fields by size": .36, "goroutine for each": .49,
}
