// Package way has questions about the stack on which an object is allocated.
package way

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
)

// PoolGet is the function of a pool that hands out an object.
const PoolGet = "sync.(*Pool).Get"

// Yours reports whether a frame is of the user's code.
type Yours func(evidence.Frame) bool

// Own are the user's frames of a stack without a break, from the site outwards. Tests and
// benchmarks are callers like any other: what they are handed is a result.
func Own(st finding.Stack, site evidence.Site, yours Yours) []evidence.Frame {
	var own []evidence.Frame
	for _, f := range st.Frames {
		at := f.Function == site.Function && f.Line == site.Line
		switch {
		case len(own) == 0 && !at:
		case !yours(f), len(own) > 0 && isTest(f.File) && !isTest(site.File):
			return own
		default:
			own = append(own, f)
		}
	}
	return own
}

// Getters are the frames of the user's code around the call of Get of the pool whose New makes the object, from the
// call outwards, without those of tests.
func Getters(st finding.Stack, yours Yours) []evidence.Frame {
	inside := false
	var own []evidence.Frame
	for _, f := range st.Frames {
		switch ours := yours(f); {
		case life.Plain(f.Function) == PoolGet:
			inside = true
		case inside && (!ours || isTest(f.File)):
			return own
		case inside:
			own = append(own, f)
		}
	}
	return own
}

// Below reports whether a stack reaches the site through a function: the site is a callback of it.
func Below(st finding.Stack, site evidence.Site, function string) bool {
	at := false
	for _, f := range st.Frames {
		if life.Plain(f.Function) == life.Plain(site.Function) && f.Line == site.Line {
			at = true
			continue
		}
		if at {
			return life.Plain(f.Function) == function
		}
	}
	return false
}

// Recurses reports whether a function is on a stack more than once, as in a parser of nested things.
func Recurses(st finding.Stack, function string) bool {
	n := 0
	for _, f := range st.Frames {
		if life.Plain(f.Function) == life.Plain(function) {
			n++
		}
	}
	return n > 1
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }
