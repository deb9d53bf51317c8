package flow

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Returned is the number of the one parameter that a function returns as its first result on all ways, appended to or
// not; -1 for none.
func Returned(fn *ssa.Function) int { return returned(fn, 0) }

// returned is Returned for a function that others of the same question called, so many deep.
func returned(fn *ssa.Function, depth int) int {
	const most = 3
	found := -1
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) == 0 {
			continue
		}
		i := grownFrom(fn, ret.Results[0], map[ssa.Value]bool{}, most-depth)
		if i == -1 || found >= 0 && i >= 0 && found != i {
			return -1
		}
		if i >= 0 {
			found = i
		}
	}
	return found
}

// cycle means that a value leads back to itself only.
const cycle = -2

// grownFrom is the number of the parameter that a value was grown from; -1 for another origin.
func grownFrom(fn *ssa.Function, v ssa.Value, seen map[ssa.Value]bool, calls int) int {
	if seen[v] {
		return cycle
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range fn.Params {
			if p == v {
				return i
			}
		}
	case *ssa.Slice:
		return grownFrom(fn, v.X, seen, calls)
	case *ssa.ChangeType:
		return grownFrom(fn, v.X, seen, calls)
	case *ssa.Phi:
		found := cycle
		for _, e := range v.Edges {
			switch i := grownFrom(fn, e, seen, calls); {
			case i == -1, i >= 0 && found >= 0 && i != found:
				return -1
			case i >= 0:
				found = i
			}
		}
		return found
	case *ssa.Call:
		return grownByCall(fn, v, seen, calls)
	}
	return -1
}

// grownByCall is grownFrom for the result of a call.
func grownByCall(fn *ssa.Function, v *ssa.Call, seen map[ssa.Value]bool, calls int) int {
	c := v.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok && b.Name() == "append" {
		return grownFrom(fn, c.Args[0], seen, calls)
	}
	callee := c.StaticCallee()
	if callee == nil || calls == 0 {
		return -1
	}
	if obj, ok := callee.Object().(*types.Func); ok && Appends(Spelling(obj)) && len(c.Args) > 0 {
		return grownFrom(fn, c.Args[0], seen, calls)
	}
	if callee.Blocks == nil {
		return -1
	}
	if i := returned(callee, 3-calls+1); i >= 0 && i < len(c.Args) {
		return grownFrom(fn, c.Args[i], seen, calls-1)
	}
	return -1
}

// Appends reports whether a library function appends to its first argument and returns it.
func Appends(callee string) bool {
	pkg, name, _ := strings.Cut(callee[strings.LastIndexByte(callee, '/')+1:], ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	switch pkg {
	case "strconv", "fmt", "utf8", "utf16", "binary", "hex", "base64", "base32", "time", "netip", "big":
		return strings.HasPrefix(name, "Append") || name == "Append"
	case "slices":
		return name == "Grow" || name == "AppendSeq" || name == "Insert"
	}
	return false
}
