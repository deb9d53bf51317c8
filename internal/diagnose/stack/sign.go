package stack

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Sign is something that shows on the stack of a CPU sample beside the bucket
// that the sample is in.
type Sign int

// The signs.
const (
	SignFinalizer   Sign = iota // registers, queues or runs a finalizer or a cleanup
	SignStackScan               // marks from a goroutine's stack
	SignStackGrowth             // copies a goroutine's stack to a larger one
	SignStackShrink             // copies it to a smaller one
	signCount
)

// signSet is a set of Signs, a bit for each.
type signSet uint8

// signNames tell the signs, Go 1.21 to 1.27. Copying a stack is part of growing and of
// shrinking: see signTally.
var signNames = [signCount][]string{
	SignFinalizer: {"runtime.runFinalizers*", "runtime.runfinq*", "runtime.runCleanups*", "runtime.callCleanup*",
		"runtime.SetFinalizer*", "runtime.AddCleanup*",
		"runtime.addfinalizer", "runtime.addCleanup", "runtime.queuefinalizer", "runtime.(*cleanupQueue)*",
		"runtime.createfing"},
	SignStackScan:   {"runtime.scanstack"},
	SignStackGrowth: {"runtime.copystack"},
	SignStackShrink: {"runtime.shrinkstack"},
}

// signs returns what a function is a sign of.
func (t *Table) signs(function string) signSet {
	var out signSet
	for s, names := range signNames {
		if MatchName(function, names) {
			out |= 1 << s
		}
	}
	return out
}

// Signs counts CPU samples by sign, and by the function that the user can
// name: the innermost one outside the standard library.
type Signs struct {
	Samples [signCount][ClassCount]float64
	By      [signCount]map[string]float64
}

// Add counts a stack of n samples of a bucket.
func (t *Signs) Add(c *Classifier, stack []*evidence.Location, b Bucket, n float64) {
	var set signSet
	for _, l := range stack {
		set |= c.Loc(l).signs
	}
	if set == 0 {
		return
	}
	if set&(1<<SignStackShrink) != 0 {
		set &^= 1 << SignStackGrowth
	}
	name := c.named(stack)
	for s := range t.Samples {
		if set&(1<<s) == 0 {
			continue
		}
		t.Samples[s][b.Class()] += n
		if t.By[s] == nil {
			t.By[s] = map[string]float64{}
		}
		t.By[s][name] += n
	}
}

// named is the innermost function of the user's or another module's; "" on a
// stack without any.
func (c *Classifier) named(stack []*evidence.Location) string {
	for _, l := range stack {
		for i, f := range c.Loc(l).Frames {
			if f.Owner != OwnerRuntime && f.Owner != OwnerStd {
				return strings.TrimSuffix(l.Frames[i].Function, "[...]")
			}
		}
	}
	return ""
}
