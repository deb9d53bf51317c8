package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// AsText reports whether a function converts a text to bytes only for a function of its package, which is not exported and
// would do with the text itself: all that it does to the bytes can be done to a text, too, and nobody hands it other bytes.
func AsText(all iter.Seq[*ssa.Function], fn *ssa.Function, n ast.Node) bool {
	if fn == nil || n == nil {
		return false
	}
	for in := range Instructions(fn) {
		v, ok := in.(*ssa.Convert)
		if ok && ofText(v) && v.Pos() >= n.Pos() && v.Pos() < n.End() {
			calls := called(v)
			return len(calls) == 1 && isOurs(fn, calls[0]) && textual(v, map[ssa.Value]bool{}) && onlyOfTexts(all, calls[0], v)
		}
	}
	return false
}

// ofText reports whether a value is bytes that are converted from a text.
func ofText(v ssa.Value) bool {
	c, ok := v.(*ssa.Convert)
	return ok && IsBytes(c.Type()) && IsText(c.X.Type())
}

// onlyOfTexts reports whether all that use the function which a call hands bytes to call it, with bytes of a text.
func onlyOfTexts(all iter.Seq[*ssa.Function], call *ssa.Call, v ssa.Value) bool {
	f, at := call.Call.StaticCallee(), slices.Index(call.Call.Args, v)
	for fn := range all {
		if fn.Pkg != f.Pkg {
			continue
		}
		for in := range Instructions(fn) {
			c, ok := in.(ssa.CallInstruction)
			if ok && c.Common().StaticCallee() == f {
				if !ofText(c.Common().Args[at]) {
					return false
				}
				continue
			}
			_, debug := in.(*ssa.DebugRef)
			if !debug && slices.ContainsFunc(in.Operands(nil), func(op *ssa.Value) bool { return *op == ssa.Value(f) }) {
				return false
			}
		}
	}
	return true
}

// called are the calls that use a value; nil where something else does.
func called(v ssa.Value) (calls []*ssa.Call) {
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.Call:
			calls = append(calls, in)
		default:
			return nil
		}
	}
	return calls
}

// isOurs reports whether a call is of a function of fn's package that is not exported, and not of one that has a type for its
// signature.
func isOurs(fn *ssa.Function, c *ssa.Call) bool {
	f := c.Call.StaticCallee()
	return f != nil && f.Pkg != nil && f.Pkg == fn.Pkg && !token.IsExported(f.Name()) && len(f.Blocks) > 0 && f.Parent() == nil
}

// textual reports whether all that is done to bytes can be done to a text.
func textual(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return true
	}
	seen[v] = true
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.Phi:
			if slices.ContainsFunc(in.Edges, func(e ssa.Value) bool { _, constant := e.(*ssa.Const); return constant }) || !textual(in, seen) {
				return false // nil is no text
			}
		case *ssa.Slice:
			if in.X != v || in.Max != nil || !textual(in, seen) {
				return false
			}
		case *ssa.IndexAddr:
			if !onlyLoaded(in) {
				return false
			}
		case *ssa.Convert:
			if !IsText(in.Type()) {
				return false
			}
		case *ssa.Call:
			if !takesText(in, v, seen) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func onlyLoaded(at *ssa.IndexAddr) bool {
	return !slices.ContainsFunc(*at.Referrers(), func(in ssa.Instruction) bool {
		load, ok := in.(*ssa.UnOp)
		_, debug := in.(*ssa.DebugRef)
		return !debug && (!ok || load.Op != token.MUL)
	})
}

// ofTexts are the functions of package bytes that package strings has, too, and whose results have no bytes.
var ofTexts = []string{"Compare", "Contains", "ContainsAny", "ContainsFunc", "ContainsRune", "Count", "EqualFold", "HasPrefix", "HasSuffix",
	"Index", "IndexAny", "IndexByte", "IndexFunc", "IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte", "LastIndexFunc"}

// ofRunes are those of unicode/utf8 that have a form for texts, whose name ends in InString or String.
var ofRunes = []string{"DecodeRune", "DecodeLastRune", "FullRune", "RuneCount", "Valid"}

// takesText reports whether a call would take a text in the place of bytes.
func takesText(c *ssa.Call, v ssa.Value, seen map[ssa.Value]bool) bool {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		return b.Name() == "len" || slices.Contains([]string{"copy", "append"}, b.Name()) && c.Call.Args[0] != v
	}
	f := c.Call.StaticCallee()
	if f == nil {
		return false
	}
	if isOurs(c.Parent(), c) {
		for i, a := range c.Call.Args {
			if a == v && (!IsBytes(f.Params[i].Type()) || f.Signature.Variadic() && i == len(c.Call.Args)-1 || !textual(f.Params[i], seen)) {
				return false
			}
		}
		return true
	}
	name, others := NameOf(f), 0
	for _, a := range c.Call.Args {
		if IsBytes(a.Type()) && a != v && !isConstantText(a) {
			others++
		}
	}
	pkg, short, _ := strings.Cut(name, ".")
	return others == 0 && (pkg == "bytes" && slices.Contains(ofTexts, short) || pkg == "unicode/utf8" && slices.Contains(ofRunes, short))
}

// isConstantText reports whether bytes are made of a constant text.
func isConstantText(v ssa.Value) bool {
	c, ok := v.(*ssa.Convert)
	if !ok {
		return false
	}
	x, ok := c.X.(*ssa.Const)
	return ok && types.Identical(x.Type().Underlying(), types.Typ[types.String])
}
