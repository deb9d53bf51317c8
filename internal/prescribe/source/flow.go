package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Flow says what SSA form shows of a call's result.
type Flow struct {
	// Partly: there is a way through the function, other than on an error, on
	// which the result is made and never used.
	Partly bool
	Unused []int // lines that run only when the result is not used
	Used   []int // lines that use it
	Failed bool  // it is used on ways only that end in an error or a panic

	// Fixed: the call is in a loop and none of its operands is made there, so
	// every iteration asks for the same.
	Fixed     bool
	FixedLoop int // line of the loop
}

// FlowOf follows the result of a call or a composite literal; nil when SSA form
// does not hold it.
func (l *Line) FlowOf(e *Expr) *Flow {
	pos := token.NoPos
	switch n := e.node.(type) {
	case *ast.CallExpr:
		pos = n.Lparen
	case *ast.BinaryExpr:
		pos = n.OpPos
	case *ast.CompositeLit:
		pos = n.Lbrace
	case *ast.UnaryExpr:
		if lit, ok := n.X.(*ast.CompositeLit); ok {
			pos = lit.Lbrace
		}
	}
	if l.Func.fn == nil || !pos.IsValid() {
		return nil
	}
	v := valueAt(l.Func.fn, pos)
	if v == nil {
		return nil
	}
	f := &Flow{}
	l.partly(f, v)
	if call, ok := v.(*ssa.Call); ok {
		l.fixed(f, call, e)
	}
	return f
}

// made is a value with the place where it is made.
type made interface {
	ssa.Value
	ssa.Instruction
}

func valueAt(fn *ssa.Function, pos token.Pos) made {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch v := in.(type) {
			case *ssa.Call, *ssa.Alloc, *ssa.BinOp, *ssa.Convert, *ssa.MakeSlice, *ssa.MakeMap:
				if in.Pos() == pos {
					return v.(made)
				}
			}
		}
	}
	return nil
}

// edge is a way from one block to the next.
type edge struct{ from, to *ssa.BasicBlock }

// uses are the places where a value is used: in a block, or by the choice of a
// phi on the way into one.
type uses struct {
	blocks map[*ssa.BasicBlock]bool
	edges  map[edge]bool
	lines  []int
}

// partly looks for a way from the call to the function's end that passes no
// use of the result.
func (l *Line) partly(f *Flow, call made) {
	if made, ok := call.(*ssa.Call); ok && !flow.Harmless(&made.Call) {
		return
	}
	u := uses{blocks: map[*ssa.BasicBlock]bool{}, edges: map[edge]bool{}}
	l.addUses(&u, call, map[ssa.Value]bool{})
	if len(u.blocks)+len(u.edges) == 0 || u.blocks[call.Block()] {
		return
	}
	start := call.Block()
	seen := map[*ssa.BasicBlock]bool{}
	idle := false
	var visit func(b *ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && !returnsError(ret) {
			idle = true
		}
		for _, s := range b.Succs {
			switch {
			case u.edges[edge{b, s}] || u.blocks[s] || errorPath(b, s, call):
			case s == start:
				idle = true
			case !seen[s]:
				seen[s] = true
				visit(s)
			}
		}
	}
	visit(start)
	if !idle {
		return
	}
	f.Partly, f.Used, f.Failed = true, u.lines, u.fail()
	f.Unused = l.linesOf(start, seen, u)
}

// fail reports whether all uses are in blocks that end in an error or a panic.
func (u *uses) fail() bool {
	for b := range u.blocks {
		switch end := b.Instrs[len(b.Instrs)-1].(type) {
		case *ssa.Return:
			if !returnsError(end) {
				return false
			}
		case *ssa.Panic:
		default:
			return false
		}
	}
	return len(u.edges) == 0 && len(u.blocks) > 0
}

// Avoidable reports whether there is a way from this line to the end of its
// function, or to this line again, that does not pass another line, other than
// one that ends in an error or a panic. Without SSA form that is not known, and
// the answer is no.
func (l *Line) Avoidable(line int) bool {
	if l.Func.fn == nil {
		return false
	}
	starts, passed := map[*ssa.BasicBlock]bool{}, map[*ssa.BasicBlock]bool{}
	for _, b := range l.Func.fn.Blocks {
		for _, in := range b.Instrs {
			switch in.(type) {
			case *ssa.Phi, *ssa.DebugRef:
				continue // they stand where the variable does
			}
			if p := in.Pos(); p.IsValid() {
				starts[b] = starts[b] || l.LineOf(p) == l.Number
				passed[b] = passed[b] || l.LineOf(p) == line
			}
		}
	}
	seen := map[*ssa.BasicBlock]bool{}
	var avoids func(b *ssa.BasicBlock) bool
	avoids = func(b *ssa.BasicBlock) bool {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			return !returnsError(ret)
		}
		for _, s := range b.Succs {
			if passed[s] || seen[s] {
				continue
			}
			seen[s] = true
			if starts[s] || avoids(s) {
				return true
			}
		}
		return false
	}
	for b := range starts {
		if starts[b] && avoids(b) {
			return true
		}
	}
	return false
}

// addUses collects where a value, or one that is made of it without work, is
// used.
func (l *Line) addUses(u *uses, v ssa.Value, seen map[ssa.Value]bool) {
	if seen[v] || v.Referrers() == nil {
		return
	}
	seen[v] = true
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Extract:
			if !isError(r.Type()) {
				l.addUses(u, r, seen)
			}
		case *ssa.MakeInterface, *ssa.ChangeType, *ssa.ChangeInterface:
			l.addUses(u, r.(ssa.Value), seen)
		case *ssa.FieldAddr:
			if m, ok := v.(made); !ok || !onlyFilled(r) || r.Block() != m.Block() {
				u.blocks[r.Block()] = true
			}
		case *ssa.Phi:
			for i, e := range r.Edges {
				if e == v {
					u.edges[edge{r.Block().Preds[i], r.Block()}] = true
				}
			}
		default:
			u.blocks[r.Block()] = true
			if p := r.Pos(); p.IsValid() {
				u.lines = append(u.lines, l.LineOf(p))
			}
		}
	}
}

// onlyFilled reports whether a field's address serves to set the field and for
// nothing else, as a composite literal does.
func onlyFilled(a *ssa.FieldAddr) bool {
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr != ssa.Value(a) {
				return false
			}
		case *ssa.FieldAddr:
			if !onlyFilled(r) {
				return false
			}
		case *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// returnsError reports whether a return reports an error.
func returnsError(r *ssa.Return) bool {
	if len(r.Results) == 0 {
		return false
	}
	last := r.Results[len(r.Results)-1]
	if !isError(last.Type()) {
		return false
	}
	c, ok := last.(*ssa.Const)
	return !ok || !c.IsNil()
}

// errorPath reports whether a branch is taken because the call itself failed.
func errorPath(b, s *ssa.BasicBlock, call ssa.Value) bool {
	cond, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return false
	}
	cmp, ok := cond.Cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	for _, v := range []ssa.Value{cmp.X, cmp.Y} {
		if x, ok := v.(*ssa.Extract); ok && x.Tuple == call && isError(x.Type()) {
			failed := b.Succs[0]
			if cmp.Op == token.EQL {
				failed = b.Succs[1]
			}
			return s == failed
		}
	}
	return false
}

// reachesUse reports whether a use may come after a block.
func reachesUse(b *ssa.BasicBlock, u uses, seen map[*ssa.BasicBlock]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	for _, s := range b.Succs {
		if u.blocks[s] || u.edges[edge{b, s}] || reachesUse(s, u, seen) {
			return true
		}
	}
	return false
}

// linesOf lists the lines of blocks that run on an unused way only: neither
// before a use nor after one.
func (l *Line) linesOf(start *ssa.BasicBlock, idle map[*ssa.BasicBlock]bool, u uses) []int {
	after := map[*ssa.BasicBlock]bool{}
	var mark func(b *ssa.BasicBlock)
	mark = func(b *ssa.BasicBlock) {
		if b == start || after[b] {
			return
		}
		after[b] = true
		for _, s := range b.Succs {
			mark(s)
		}
	}
	for b := range u.blocks {
		mark(b)
	}
	for e := range u.edges {
		mark(e.to)
	}
	var lines []int
	for b := range idle {
		if after[b] || reachesUse(b, u, map[*ssa.BasicBlock]bool{start: true}) {
			continue
		}
		for _, in := range b.Instrs {
			if p := in.Pos(); p.IsValid() {
				lines = append(lines, l.LineOf(p))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// fixed reports whether a call inside a loop asks for the same each time: no
// operand is made inside the loop, and none is memory that the loop may write.
func (l *Line) fixed(f *Flow, call *ssa.Call, e *Expr) {
	if len(e.Loops) == 0 || call.Call.IsInvoke() || len(call.Call.Args) == 0 {
		return
	}
	loop := e.Loops[0].node
	for _, a := range call.Call.Args {
		if !outside(a, loop, 0) {
			return
		}
	}
	f.Fixed, f.FixedLoop = true, e.Loops[0].First
}

// maxDepth bounds how far a value is followed to what it is made of.
const maxDepth = 8

// outside reports whether a value is made before a loop, out of values that
// cannot change.
func outside(v ssa.Value, loop ast.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const, *ssa.Parameter, *ssa.Function:
		return immutable(v.Type())
	case *ssa.Phi, *ssa.UnOp, *ssa.Alloc, *ssa.FreeVar, *ssa.Global:
		return false
	case ssa.Instruction:
		if p := v.Pos(); !p.IsValid() || loop.Pos() <= p && p < loop.End() {
			return false
		}
		return immutable(v.(ssa.Value).Type())
	}
	return false
}

// immutable reports whether equal values of a type stay equal whatever the
// program does.
func immutable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Signature:
		return true
	case *types.Struct:
		for fl := range u.Fields() {
			if !immutable(fl.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
