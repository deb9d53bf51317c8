package life

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// built are the methods of a bytes.Buffer that a strings.Builder has, too.
var built = []string{"Write", "WriteString", "WriteByte", "WriteRune", "String", "Len", "Cap", "Grow"}

// onlyBuilt reports whether all that is done with the bytes.Buffer of a call is to build one text in it, so that a
// strings.Builder would do: it is a variable or field of which no function uses anything else.
func (t *Tracer) onlyBuilt(v ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	if !ok || len(call.Call.Args) == 0 {
		return false
	}
	switch b := call.Call.Args[0].(type) {
	case *ssa.Alloc:
		return builds(b, mostHands)
	case *ssa.Call: // bytes.NewBuffer(nil)
		return builds(b, mostHands)
	case *ssa.FieldAddr:
		for f := range t.uses(b) {
			if !builds(f, mostHands) {
				return false
			}
		}
		return true
	}
	return false
}

// builds reports whether a buffer is only written to and made a text of, also as an io.Writer, in closures, and by
// functions that it is handed to.
func builds(v ssa.Value, deep int) bool {
	return deep > 0 && !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.MakeInterface:
			return false
		case *ssa.MakeClosure:
			fn := in.Fn.(*ssa.Function)
			at := slices.Index(in.Bindings, v)
			return at < 0 || !builds(fn.FreeVars[at], deep-1)
		case ssa.CallInstruction:
			if method, ok := strings.CutPrefix(calleeName(in.Common()), "bytes.(*Buffer)."); ok {
				return !slices.Contains(built, method)
			}
			callee, at := in.Common().StaticCallee(), slices.Index(in.Common().Args, v)
			return callee == nil || callee.Blocks == nil || at < 0 || !builds(callee.Params[at], deep-1)
		case *ssa.Store:
			return in.Val == v // a new value is as good as none
		}
		return true
	})
}

// mostHands is how often a buffer is followed into closures and functions.
const mostHands = 4
