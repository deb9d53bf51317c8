// Package way has questions about the stack on which an object is allocated.
package way

import (
	"cmp"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/once"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// PoolGet is the function of a pool that hands out an object.
const PoolGet = "sync.(*Pool).Get"

// Begins reports whether a goroutine began with the function of a finding's site, on each of its heaviest stacks.
func Begins(f *finding.Finding) bool {
	for _, st := range f.Stacks {
		n := len(st.Frames)
		if n > 0 && st.Frames[n-1].Function == "runtime.goexit" {
			n--
		}
		if n == 0 || st.Frames[n-1].Function != f.Site.Function {
			return false
		}
	}
	return len(f.Stacks) > 0
}

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
// call outwards, without those of tests, on the heaviest of its stacks.
func Getters(stacks []finding.Stack, yours Yours) []evidence.Frame {
	if len(stacks) == 0 {
		return nil
	}
	inside := false
	var own []evidence.Frame
	for _, f := range stacks[0].Frames {
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

// Inside is the innermost function of an allocation's heaviest stack outside the runtime, and the method of a compressor
// that another library is handed and calls; empty for none.
func Inside(of *finding.Finding, m finding.Mix, yours Yours) (leaf, compressor string) {
	at := slices.IndexFunc(of.Stacks, func(st finding.Stack) bool { return st.Kind == m.Kind && st.Via == m.Via })
	if len(of.Stacks) == 0 {
		return "", ""
	}
	for _, f := range of.Stacks[max(at, 0)].Frames {
		name := life.Plain(f.Function)
		switch {
		case f.Function == m.Via:
			return cmp.Or(leaf, name), compressor
		case yours(f):
			return cmp.Or(leaf, name), ""
		case leaf == "io.copyBuffer" && (strings.HasSuffix(name, ").ReadFrom") || strings.HasSuffix(name, ").WriteTo")):
			leaf = name // it copies with a buffer of its own, whatever it is handed
		case !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "internal/runtime/"):
			leaf = cmp.Or(leaf, name)
		}
		if strings.Contains(name, "compress/") && life.OwnMemory(name) && !strings.Contains(m.Via, "compress/") {
			compressor = name
		}
	}
	return leaf, ""
}

// Deeper is the share of stacks on which a function is running already when it is called.
func Deeper(stacks []finding.Stack, function string) float64 {
	all, deeper := 0.0, 0.0
	for _, st := range stacks {
		all += st.Share
		if Recurses(st, function) {
			deeper += st.Share
		}
	}
	if all == 0 {
		return 0
	}
	return deeper / all
}

// MakesPool reports whether the function around a pool's New, at which objects are made, allocates in each operation: the pool
// is then made as often.
func MakesPool(d *finding.Diagnosis, of *finding.Finding) bool {
	maker := literalEnd.ReplaceAllString(of.Site.Function, "")
	return maker != of.Site.Function && slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
		return f.Run == of.Run && f.Site.Function == maker && f.Cost.ObjectsPerOp.Value >= 0.5
	})
}

// literalEnd matches the compiler's addition to the name of a function, for a literal in it.
var literalEnd = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// Exported reports whether other modules can call a function: it and the type of its receiver are exported.
func Exported(function string) bool {
	name := strings.NewReplacer("(", "", ")", "", "*", "").Replace(life.ShortName(function))
	return !slices.ContainsFunc(strings.Split(name, ".")[1:], func(n string) bool { return !ast.IsExported(n) })
}

// Public says that a change of a function changes its callers' code, where it is exported; "" for others.
func Public(function string) string {
	if !Exported(function) {
		return ""
	}
	return ": the function is exported, so callers of other modules change with it"
}

// RunsOnce reports whether the heaviest stack is that of the function of a sync.Once that is a variable of a package.
func RunsOnce(src *source.Program, stacks []finding.Stack) bool {
	if src == nil || len(stacks) == 0 {
		return false
	}
	frames := stacks[0].Frames
	for i, f := range frames[:len(frames)-1] {
		if f.Function != "sync.(*Once).doSlow" && f.Function != "sync.(*Once).Do" {
			continue
		}
		for _, caller := range frames[i+1:] {
			if strings.HasPrefix(caller.Function, "sync.") {
				continue
			}
			return ofPackage(src, caller)
		}
	}
	return false
}

// ofPackage reports whether a line calls Do of a sync.Once that is a variable of a package, or a part of one.
func ofPackage(src *source.Program, at evidence.Frame) bool {
	fn := src.Function(at.File, at.Line, at.Function)
	if fn == nil {
		return false
	}
	for in := range flow.Instructions(fn) {
		call, ok := in.(ssa.CallInstruction)
		if !ok || src.LineOf(in.Pos()) != at.Line || call.Common().StaticCallee() == nil || flow.NameOf(call.Common().StaticCallee()) != "sync.(*Once).Do" {
			continue
		}
		v := call.Common().Args[0]
		for {
			field, ok := v.(*ssa.FieldAddr)
			if !ok {
				break
			}
			v = field.X
		}
		_, global := v.(*ssa.Global)
		return global
	}
	return false
}

// Function is the one that a site is in; nil where it was not read.
func Function(src *source.Program, at evidence.Site) *ssa.Function {
	if src == nil {
		return nil
	}
	return src.Function(at.File, at.Line, at.Function)
}

// AskedOnce reports whether the function that a way begins with makes a map of a list only to ask it once, itself or on the
// line that calls it.
func AskedOnce(src *source.Program, own []evidence.Frame) bool {
	if len(own) == 0 {
		return false
	}
	var caller *ssa.Function
	line := 0
	if len(own) > 1 {
		caller, line = src.Function(own[1].File, own[1].Line, own[1].Function), own[1].Line
	}
	return once.AskedOnce(src.Function(own[0].File, own[0].Line, own[0].Function), caller, func(in ssa.Instruction) bool { return src.LineOf(in.Pos()) == line })
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

// OfType is the innermost frame of a way whose function's only parameter, beside a receiver with settings, is a
// reflect.Type, and which returns something: what it makes depends on the type alone. It is zero for none, or without a
// source.
func OfType(src *source.Program, own []evidence.Frame) evidence.Frame {
	if src == nil {
		return evidence.Frame{}
	}
	for _, f := range own {
		fn := src.Function(f.File, f.Line, f.Function)
		if fn == nil {
			return evidence.Frame{}
		}
		sig := fn.Signature
		if sig.Recv() != nil && len(fn.Params) > 0 && !onlySettings(fn.Params[0]) {
			continue
		}
		if sig.Params().Len() == 1 && sig.Results().Len() > 0 && types.TypeString(sig.Params().At(0).Type(), nil) == "reflect.Type" {
			return f
		}
	}
	return evidence.Frame{}
}

// onlySettings reports whether a function only reads texts, numbers and functions that a receiver has, or maps, which may
// be caches. What else it reads may be another input.
func onlySettings(receiver *ssa.Parameter) bool {
	return !slices.ContainsFunc(*receiver.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.Call:
			return false
		case *ssa.FieldAddr:
			switch flow.Field(in).Type().Underlying().(type) {
			case *types.Basic, *types.Signature, *types.Map:
				return slices.ContainsFunc(*in.Referrers(), func(use ssa.Instruction) bool { _, store := use.(*ssa.Store); return store })
			}
		}
		return true
	})
}

// TakesTurns reports whether a way begins with a function whose caller, in a loop, puts each of its results in the place of
// an operand of the next call.
func TakesTurns(src *source.Program, own []evidence.Frame) bool {
	if len(own) < 2 {
		return false
	}
	l := src.At(own[1].File, own[1].Line)
	return l != nil && slices.ContainsFunc(l.Exprs, func(e *source.Expr) bool {
		return e.Kind == source.Call && e.Call.Callee == life.Plain(own[0].Function) && place(l, e).TakesTurns()
	})
}

// Outgrown reports whether a way begins with a function to whose result its caller appends at once.
func Outgrown(src *source.Program, own []evidence.Frame) bool {
	if len(own) < 2 {
		return false
	}
	l := src.At(own[1].File, own[1].Line)
	return l != nil && slices.ContainsFunc(l.Exprs, func(e *source.Expr) bool {
		c, ok := e.Node().(*ast.CallExpr)
		if !ok || e.Kind != source.Append {
			return false
		}
		return slices.ContainsFunc(l.Exprs, func(made *source.Expr) bool {
			return made.Kind == source.Call && made.Call.Callee == life.Plain(own[0].Function) && made.Node() == ast.Node(ast.Unparen(c.Args[0]))
		})
	})
}

// Asked is what the caller of the function that a way begins with uses of its result, if that is little; "" for all, or if
// it is not known.
func Asked(src *source.Program, own []evidence.Frame) string {
	if len(own) < 2 {
		return ""
	}
	l := src.At(own[1].File, own[1].Line)
	if l == nil {
		return ""
	}
	e := l.Asked(life.Plain(own[0].Function))
	fn := src.Function(own[0].File, own[0].Line, own[0].Function)
	if e == nil || needsAll(fn) || e.Use.Kind == source.UseDropped && fn.Signature.Results().Len() > 1 { // the others tell whether it is right
		return ""
	}
	_, maker, _ := strings.Cut(life.ShortName(own[0].Function), ".")
	constructor := strings.HasPrefix(strings.ToLower(maker), "new")
	switch u := e.Use; {
	case u.Counts && !constructor:
		return "only " + u.Name + " of the result is used"
	case u.Kind == source.UseAssigned && !u.Field && !constructor:
		return place(l, e).LittleUse()
	case u.Kind == source.UseRanged && place(l, e).ChangesOwner():
		return ""
	default:
		return u.Little()
	}
}

// needsAll reports whether a function brings something in order, for which it needs all of it, or takes what it gives under
// a lock that its callers do not have.
func needsAll(fn *ssa.Function) bool {
	if fn == nil {
		return true
	}
	for in := range flow.Instructions(fn) {
		call, ok := in.(ssa.CallInstruction)
		if !ok || call.Common().StaticCallee() == nil {
			continue
		}
		if obj, ok := call.Common().StaticCallee().Object().(*types.Func); ok {
			name := flow.Spelling(obj)
			if strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sync.") && strings.HasSuffix(name, "Lock") {
				return true
			}
		}
	}
	return false
}

// place is an expression of a line, for package idiom.
func place(l *source.Line, e *source.Expr) idiom.Place {
	return idiom.Place{Info: l.Info(), Expr: e.Node().(ast.Expr), Path: idiom.Within(e.Path()), Line: l.LineOf}
}

// Bodyless is the function without a body to which the compiler says that a value goes; false for none.
func Bodyless(src *source.Program, e *finding.Escape) (source.Declared, bool) {
	if src == nil || e == nil || len(e.Flow) == 0 {
		return source.Declared{}, false
	}
	edges := e.Flow[len(e.Flow)-1].Edges
	if len(edges) == 0 || edges[len(edges)-1].Why != "call parameter" {
		return source.Declared{}, false
	}
	l := src.At(edges[len(edges)-1].File, edges[len(edges)-1].Line)
	if l == nil {
		return source.Declared{}, false
	}
	return l.Bodyless()
}

// Unwritten reports whether nothing writes to elements of the type of a slice while a copy of it is read: by a loop that goes
// through the copy, or in the rest of the function in which the copy dies. The original is the same then for as long.
func Unwritten(src *source.Program, site evidence.Site, p idiom.Place, diesHere bool) bool {
	slice, ok := p.Info.TypeOf(p.Expr).Underlying().(*types.Slice)
	if !ok || src == nil || len(p.Path) == 0 {
		return false
	}
	from, to := p.Expr.End(), p.Path[0].End()
	if loop, ok := p.Path[len(p.Path)-1].(*ast.RangeStmt); ok && ast.Unparen(loop.X) == p.Expr {
		from, to = loop.Body.Pos(), loop.Body.End()
	} else if !diesHere || slices.ContainsFunc(p.Path, isLoop) {
		return false
	}
	fn := Function(src, site)
	return fn != nil && !flow.MayWrite(fn, from, to, slice.Elem())
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// Allocates reports whether something is allocated on a line of the file of a finding, in the same run.
func Allocates(d *finding.Diagnosis, of *finding.Finding, line int) bool {
	return slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
		return f.Run == of.Run && f.Site.File == of.Site.File && f.Site.Line == line && f.Cost.Objects.Value > 0
	})
}

// Call is the innermost call on a way that a question has an answer to, by its frame and that answer; "" for none. The
// question gets the call, and the function that it calls, nil where that was not read. Calls on the line that allocates are asked first: of a function
// that the compiler has put in their place, the memory of a parameter is made there.
func Call(src *source.Program, own []evidence.Frame, ask func(idiom.Place, *ssa.Function) string) (at evidence.Frame, answer string) {
	for i := 0; src != nil && i < len(own); i++ {
		var above *ssa.Function
		if i > 0 {
			above = src.Function(own[i-1].File, own[i-1].Line, own[i-1].Function)
		}
		l := src.At(own[i].File, own[i].Line)
		if l == nil || i > 0 && above == nil {
			return evidence.Frame{}, ""
		}
		for _, e := range l.Exprs {
			callee := above
			switch {
			case e.Kind != source.Call:
				continue
			case i == 0:
				callee = calleeOf(src, l, e)
			case e.Call.Callee != life.Plain(own[i-1].Function) && !callsByInterface(l, e, above.Name()):
				continue
			}
			if callee == nil && i > 0 {
				continue
			}
			if answer = ask(place(l, e), callee); answer != "" {
				return own[i], answer
			}
		}
	}
	return evidence.Frame{}, ""
}

// calleeOf is the function of the program that a call names; nil for others.
func calleeOf(src *source.Program, l *source.Line, e *source.Expr) *ssa.Function {
	c, ok := e.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn, ok := typeutil.Callee(l.Info(), c).(*types.Func)
	if !ok {
		return nil
	}
	return src.Function(src.FileOf(fn.Pos()), src.LineOf(fn.Pos()), flow.Spelling(fn))
}

// callsByInterface reports whether an expression calls a method of an interface by a name.
func callsByInterface(l *source.Line, e *source.Expr, method string) bool {
	c, ok := e.Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	return ok && l.Dynamic(e) && sel.Sel.Name == method
}
