// Package fate has questions about the compiler's word on the value of a finding: why it is on the heap, which way
// it goes there, and what holds it.
package fate

import (
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
)

// Text is the compiler's reason for the value; "" if there is none.
func Text(f *finding.Finding) string {
	if f.Escape == nil {
		return ""
	}
	return f.Escape.Text
}

// Refilled reports whether memory of a kind, allocated through a function if via is not empty, can be filled again by who finds
// it in an object from a pool: an object, a slice or a map, not a text, a value or a function of one use. What another function
// makes is made anew each time, unless it grows what its receiver or its first argument has.
func Refilled(kind finding.Kind, via string) bool {
	again := []finding.Kind{finding.KindNew, finding.KindMake, finding.KindGrowth, finding.KindMap, finding.KindMapGrowth}
	return slices.Contains(again, kind) && (via == "" || strings.Contains(via, ").") || strings.Contains(via, ".Append"))
}

// Against is why a cure that matches does not fit: a fact, with the code of the cure, or a trial.
type Against struct{ Code, Why string }

// Inside says that a library's function allocates; known, that there is a better call, which does not fit there.
func Inside(function string, known bool) string {
	text := "the memory is allocated inside " + function + ", and "
	if known {
		return text + "the better call that is known does not fit here"
	}
	return text + "no call without that allocation is known"
}

// Unknown says why no cure is known for memory that no rule fits: how its map grows, or how it ends.
func Unknown(f *finding.Finding, growsMap, outgrown bool, end finding.End) string {
	const object = "internal/runtime/maps.newobject"
	switch {
	case growsMap && outgrown:
		return "the map outgrows its tables, and the code does not show its size where it is made"
	case len(f.Stacks) > 0 && slices.ContainsFunc(f.Stacks[0].Frames, func(f evidence.Frame) bool { return f.Function == object }):
		return "the map makes an object of its own for each key or value of more than 128 B"
	case growsMap && len(f.Allocation.Sizes) > 0:
		return "each map allocates its table once, with its first entry: a size would save nothing, only fewer maps would"
	case end == finding.EndResult:
		return "the memory is part of the result, so it cannot be used again"
	case end == finding.EndStored:
		return "the memory stays in use after the call, so it cannot be used again"
	case end == finding.EndShared:
		return "the memory goes to another goroutine, so it cannot be used again here"
	}
	return "the evidence does not say how the allocation could be avoided"
}

// Of is the compiler's destination of the value.
func Of(f *finding.Finding) finding.Fate {
	if f.Escape == nil {
		return finding.FateUnknown
	}
	return f.Escape.Fate
}

// Kept reports whether the compiler says that the value itself is retained: in a result, in
// a variable outside the function, or in an interface that is.
func Kept(f *finding.Finding) bool {
	switch Of(f) {
	case finding.FateStored, finding.FateReturned, finding.FateInterface:
		return true
	}
	return Edge(f, "return")
}

// Edge reports whether the compiler's flow has a step of a kind, such as
// "return" or "interface-converted".
func Edge(f *finding.Finding, why string) bool {
	if f.Escape == nil {
		return false
	}
	for _, way := range f.Escape.Flow {
		for _, e := range way.Edges {
			if e.Why == why {
				return true
			}
		}
	}
	return false
}

// TooLarge reports whether the value may be on the heap for its size: the compiler says so,
// or has nothing on a value of such a size.
func TooLarge(f *finding.Finding) bool {
	switch kind := f.Allocation.Kind; Of(f) {
	case finding.FateTooLarge:
		return true
	case finding.FateUnexplained, finding.FateUnasked:
		return kind == finding.KindNew || kind == finding.KindMap
	}
	return false
}

// OnlySized reports whether nothing but its size puts a slice on the heap: the compiler says so, or has no way out of
// the function for it.
func OnlySized(f *finding.Finding) bool {
	return Of(f) == finding.FateTooLarge || Of(f) == finding.FateUnexplained
}

// Moved reports whether the compiler moved a declared variable to the heap.
func Moved(e *finding.Escape) bool {
	return e != nil && e.From != nil && string(e.From.Verb) == "moved to heap"
}

// Holder is the field that the compiler says the value is stored in; "" for
// none.
func Holder(f *finding.Finding) string {
	if f.Escape == nil {
		return ""
	}
	name := f.Escape.Holder
	if !strings.Contains(name, ".") || strings.ContainsAny(name, "[({") {
		return ""
	}
	return name
}

// ColdLine is the line of the same function that makes the value escape, if that line and the other ways, by which the
// value is handed on, are in branches without recorded cost; 0 if there is none or it is not known.
func ColdLine(d *finding.Diagnosis, f *finding.Finding, l *source.Line, ways []int) int {
	if f.Escape == nil || l == nil || len(d.Lines) == 0 || !onlyCold(d, f, l, ways) {
		return 0
	}
	cold := 0
	for _, way := range f.Escape.Flow {
		for _, edge := range way.Edges {
			switch {
			case edge.Line == f.Site.Line, !strings.HasSuffix(edge.File, baseOf(f.Site.File)):
				continue
			case edge.Line < l.Func.First || edge.Line > l.Func.Last:
				return 0
			case waste.Heaviest(d, f.Site.File, []int{edge.Line}) > 0 || !l.Conditional(edge.Line):
				return 0
			case !l.Avoidable(edge.Line):
				return 0 // every call passes there, too quickly to be sampled
			}
			cold = edge.Line
		}
	}
	return cold
}

// onlyCold reports whether all lines that hand the value on are in branches without recorded
// cost; the compiler names one of them only.
func onlyCold(d *finding.Diagnosis, f *finding.Finding, l *source.Line, ways []int) bool {
	for _, line := range ways {
		if line != f.Site.Line && (waste.Heaviest(d, f.Site.File, []int{line}) > 0 || !l.Conditional(line) || !l.Avoidable(line)) {
			return false
		}
	}
	return true
}

func baseOf(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
