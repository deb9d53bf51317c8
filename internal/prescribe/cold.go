package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
)

// tooLarge reports whether the value may be on the heap for its size: the compiler says so,
// or has nothing on a value of such a size.
func (c *candidate) tooLarge() bool {
	switch kind := c.Finding.Allocation.Kind; c.fate() {
	case finding.FateTooLarge:
		return true
	case finding.FateUnexplained, finding.FateUnasked:
		return kind == finding.KindNew || kind == finding.KindMap
	}
	return false
}

// onlySized reports whether nothing but its size puts a slice on the heap: the compiler says so, or has no way out of
// the function for it.
func (c *candidate) onlySized() bool {
	return c.fate() == finding.FateTooLarge || c.fate() == finding.FateUnexplained
}

// coldEscape is the line of the same function that makes the value escape, if that line is
// in a branch without recorded cost; 0 if there is none or it is not known.
func (c *candidate) coldEscape() int {
	e := c.Finding.Escape
	if e == nil || c.Line == nil || len(c.diagnosis.Lines) == 0 {
		return 0
	}
	if !c.onlyCold(c.Parts[0].Life.Ways) {
		return 0
	}
	cold := 0
	for _, f := range e.Flow {
		for _, edge := range f.Edges {
			switch {
			case edge.Line == c.Finding.Site.Line, !strings.HasSuffix(edge.File, baseOf(c.Finding.Site.File)):
				continue
			case edge.Line < c.Line.Func.First || edge.Line > c.Line.Func.Last:
				return 0
			case waste.Heaviest(c.diagnosis, c.Finding.Site.File, []int{edge.Line}) > 0 || !c.Line.Conditional(edge.Line):
				return 0
			case !c.Line.Avoidable(edge.Line):
				return 0 // every call passes there, too quickly to be sampled
			}
			cold = edge.Line
		}
	}
	return cold
}

// onlyCold reports whether all lines that hand the value on are in branches without recorded
// cost; the compiler names one of them only.
func (c *candidate) onlyCold(ways []int) bool {
	for _, line := range ways {
		if line != c.Finding.Site.Line && (waste.Heaviest(c.diagnosis, c.Finding.Site.File, []int{line}) > 0 ||
			!c.Line.Conditional(line) || !c.Line.Avoidable(line)) {
			return false
		}
	}
	return true
}

func baseOf(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// moved reports whether the compiler moved a declared variable to the heap.
func moved(e *finding.Escape) bool {
	return e != nil && e.From != nil && string(e.From.Verb) == "moved to heap"
}
