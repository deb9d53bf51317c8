package stack

import (
	"go/token"
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
	Via   string   // function that the site calls and that allocates, outside the user's code
	Above []string // functions of the runtime above the site; valid until the Classifier's next path

	at    *evidence.Location // of the site; nil without a frame of the user's
	frame int                // of at
}

// PerSite finds what belongs to the site of a stack of one profile. Find is called once for
// each place in the user's code, as long as it returns no zero value: most of the time would
// go into comparing names.
type PerSite[T comparable] struct {
	Find func(Key) T
	at   [][]T // by Location.Index and frame
}

// NewPerSite returns a PerSite of the profile of c.
func NewPerSite[T comparable](c *Classifier, find func(Key) T) PerSite[T] {
	return PerSite[T]{Find: find, at: make([][]T, len(c.locs))}
}

// Of returns what belongs to the site of a path.
func (s *PerSite[T]) Of(p Path) T {
	if p.at == nil {
		return s.Find(p.Key)
	}
	frames := &s.at[p.at.Index]
	if *frames == nil {
		*frames = make([]T, len(p.at.Frames))
	}
	v := &(*frames)[p.frame]
	var none T
	if *v == none {
		*v = s.Find(p.Key)
	}
	return *v
}

// FindPath walks a stack from its leaf to the first frame that the user can
// change, through inlined frames.
func FindPath(c *Classifier, stack []*evidence.Location) Path {
	p := Path{Above: c.above[:0]}
	defer func() { c.above = p.Above }()
	var outer, last evidence.Frame
	for _, l := range stack {
		lc := c.Loc(l)
		for i, f := range l.Frames {
			switch own := lc.Frames[i].Owner; own {
			case OwnerUser, OwnerTest:
				p.Key = Key{lc.Frames[i].function, f.File, f.Line, own}
				p.at, p.frame = l, i
				return p
			case OwnerRuntime:
				p.Above = append(p.Above, f.Function)
				if called(f.Function) {
					p.Via = f.Function
				}
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

// called reports whether a function is one of package runtime that programs call by its name.
func called(function string) bool {
	name, ok := strings.CutPrefix(function, "runtime.")
	return ok && (token.IsExported(name) || strings.HasPrefix(name, "(*Frames)."))
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
