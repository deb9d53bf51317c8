package stack

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Closing returns the index behind the bracket that closes the one at open.
func Closing(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// Key identifies an allocation site. Sites that hold no frame of the
// user's are keyed by the outermost frame outside the runtime, or of the
// runtime's own goroutines.
type Key struct {
	Function, File string
	Line           int
	By             owner // ownerUser, ownerTest, or ownerStd for "outside the user's code"
}

// Less orders keys by file, line, function and owner.
func (k Key) Less(o Key) bool {
	switch {
	case k.File != o.File:
		return k.File < o.File
	case k.Line != o.Line:
		return k.Line < o.Line
	case k.Function != o.Function:
		return k.Function < o.Function
	}
	return k.By < o.By
}

// Path is one stack seen from its site.
type Path struct {
	Key   Key
	Via   string // function that the site calls and that allocates, outside the user's code
	Above []string
}

// FindPath walks a stack from its leaf to the first frame that the user can
// change, through inlined frames.
func FindPath(c *Classifier, stack []*evidence.Location) Path {
	var p Path
	var outer, last evidence.Frame
	for _, l := range stack {
		lc := c.Loc(l)
		for i, f := range l.Frames {
			switch own := lc.Frames[i].Owner; own {
			case OwnerUser, OwnerTest:
				p.Key = Key{AnyTypes(f.Function), f.File, f.Line, own}
				return p
			case OwnerRuntime:
				p.Above = append(p.Above, f.Function)
			default:
				outer = f
				p.Via = f.Function
			}
			last = f
		}
	}
	if outer.Function == "" {
		outer = last
	}
	p.Key = Key{AnyTypes(outer.Function), outer.File, outer.Line, OwnerStd}
	return p
}

// AnyTypes spells the type arguments of an instantiated function as heap profiles do,
// "[...]": CPU profiles name the shapes, and both must give the same site.
func AnyTypes(function string) string {
	open := strings.IndexByte(function, '[')
	if open < 0 {
		return function
	}
	end := Closing(function, open)
	return function[:open] + "[...]" + AnyTypes(function[end:])
}
