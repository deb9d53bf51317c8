// Package again has the edits by which memory that is there is used, in place of new memory that takes its place.
package again

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/prescribe/written"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/rewrite/idiom"
)

// FilterInPlace moves the elements that a loop keeps of a slice to the front of its own array, where a new slice took its
// place.
func FilterInPlace(s *code.Site) []code.Edit {
	e, ok := s.Cur.Node().(ast.Expr)
	if !ok || !s.Since("go1.21") {
		return nil
	}
	loop, back := written.Filtered(idiom.Place(s, e))
	if loop == nil || !s.Pure(loop.X) {
		return nil
	}
	fn, _ := code.Function(s.Cur)
	kept, of := s.Local(back.Rhs[0]), s.Source(loop.X)
	if kept == nil {
		return nil
	}
	begins, open := beginsEmpty(s, kept, fn, of+"[:0]")
	if begins == nil || s.Changed(loop.X, fn.Node(), kept.Pos(), loop.Pos()) {
		return nil
	}
	changes := []code.Change{*begins}
	if slice := kept.Type().Underlying().(*types.Slice); !code.PointerFree(slice.Elem()) {
		changes = append(changes, s.Before(back, fmt.Sprintf("clear(%s[len(%s):])", of, kept.Name())))
	}
	return []code.Edit{{Text: fmt.Sprintf("keep the elements of `%s` in its own array", code.Brief(of)),
		Open: fmt.Sprintf("nothing else must have the array of `%s`%s", code.Brief(of), open), Changes: changes}}
}

// beginsEmpty is the change by which a slice without elements begins as another expression; nil where it does not begin as
// one without elements. open says what changes with it.
func beginsEmpty(s *code.Site, v *types.Var, fn inspector.Cursor, text string) (c *code.Change, open string) {
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() != v.Pos() {
			continue
		}
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs:
			a := u.Parent().Node().(*ast.AssignStmt)
			if a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
				return nil, ""
			}
			made := s.Builtin(a.Rhs[0], "make")
			empty := s.EmptySlice(a.Rhs[0]) || made != nil && len(made.Args) > 1 && s.IsZero(made.Args[1])
			if !empty {
				return nil, ""
			}
			change := s.Replace(a.Rhs[0], text)
			return &change, ""
		case edge.ValueSpec_Names:
			d, ok := u.Parent().Parent().Parent().Node().(*ast.DeclStmt)
			if !ok || code.OnlySpec(d) == nil || len(code.OnlySpec(d).Names) != 1 || len(code.OnlySpec(d).Values) > 0 {
				return nil, ""
			}
			change := s.Replace(d, v.Name()+" := "+text)
			return &change, ", and one without elements is empty where it was nil"
		}
	}
	return nil, ""
}

// InItsPlace hands on the address of a field or an element itself, where a copy of it was handed on and put back.
func InItsPlace(s *code.Site) []code.Edit {
	id, ok := s.Cur.Node().(*ast.Ident)
	if !ok {
		return nil
	}
	set, back := written.CopiedBack(idiom.Place(s, id))
	if set == nil {
		return nil
	}
	v, _ := s.Info().Defs[id].(*types.Var)
	fn, _ := code.Function(s.Cur)
	if v == nil || types.IsInterface(v.Type()) {
		return nil
	}
	of := s.Source(set.Rhs[0])
	changes := []code.Change{s.Replace(set.Rhs[0], "&"+of)}
	for _, u := range s.Uses(v, fn) {
		switch {
		case u.Node().Pos() == v.Pos(), u.Node().Pos() >= back.Pos() && u.Node().End() <= back.End():
		case u.ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND:
			changes = append(changes, s.Replace(u.Parent().Node(), v.Name()))
		case u.ParentEdgeKind() == edge.SelectorExpr_X:
			if _, pointer := v.Type().Underlying().(*types.Pointer); pointer {
				return nil
			}
		case u.ParentEdgeKind() == edge.CallExpr_Args, u.ParentEdgeKind() == edge.AssignStmt_Rhs, u.ParentEdgeKind() == edge.ReturnStmt_Results:
			changes = append(changes, s.Replace(u.Node(), "*"+v.Name()))
		default:
			return nil
		}
	}
	changes = append(changes, without(s, back))
	return []code.Edit{{Text: fmt.Sprintf("hand on the address of `%s` itself", code.Brief(of)),
		Open: fmt.Sprintf("nothing else must look at `%s`, or put another array in its place, before the calls are over", code.Brief(of)), Changes: changes}}
}

// without is the change that takes a statement out, with its line where it has one of its own.
func without(s *code.Site, stmt ast.Stmt) code.Change {
	from, to := s.Offset(stmt.Pos()), s.Offset(stmt.End())
	indent := len(s.Text[:from]) - len(strings.TrimRight(string(s.Text[:from]), " \t"))
	if start := from - indent; start > 0 && s.Text[start-1] == '\n' && to < len(s.Text) && (s.Text[to] == '\n' || s.Text[to] == '\r') {
		from = start - 1
		if from > 0 && s.Text[from-1] == '\r' {
			from--
		}
	}
	return code.Change{From: from, To: to}
}

// PutBack sets a field to what its array grew to, where a function began with that array and let the grown one go.
func PutBack(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	field, v := written.Unkept(idiom.Place(s, call))
	stmt, listed := code.Statement(s.Cur)
	if field == nil || !listed || !s.Pure(field) {
		return nil
	}
	of := s.Source(field)
	e := code.Edit{Text: fmt.Sprintf("put the grown array back into `%s`", of),
		Open: fmt.Sprintf("what has the elements must not need them when `%s` is filled again", of)}
	if v == nil {
		if !first(s, call, stmt) {
			return nil
		}
		e.Changes = []code.Change{s.Before(stmt.Node(), fmt.Sprintf("%s = %s", of, s.Source(call))), s.Replace(call, of)}
		return []code.Edit{e}
	}
	local, isVar := v.(*types.Var)
	if !isVar {
		return nil
	}
	last, ok := lastSet(s, local)
	if !ok {
		return nil
	}
	e.Changes = []code.Change{s.After(last, fmt.Sprintf("%s = %s", of, local.Name()))}
	return []code.Edit{e}
}

// first reports whether an expression can be computed before its statement: the statement does not run several times, and
// calls that are not around the expression are none.
func first(s *code.Site, e ast.Expr, stmt inspector.Cursor) bool {
	switch stmt.Node().(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt:
	default:
		return false
	}
	ok := true
	ast.Inspect(stmt.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			around := n.Pos() <= e.Pos() && e.End() <= n.End()
			inside := e.Pos() <= n.Pos() && n.End() <= e.End()
			ok = ok && (around || inside)
		case *ast.FuncLit:
			ok = false
		case *ast.BinaryExpr:
			ok = ok && n.Op != token.LAND && n.Op != token.LOR
		}
		return ok
	})
	return ok
}

// lastSet is the statement of the block in which a variable is declared that is, or has, the last one that sets the
// variable; false where it cannot be found.
func lastSet(s *code.Site, v *types.Var) (ast.Stmt, bool) {
	fn, _ := code.Function(s.Cur)
	var list []ast.Stmt
	var end token.Pos
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() == v.Pos() {
			block, ok := u.Parent().Parent().Node().(*ast.BlockStmt)
			if !ok {
				return nil, false
			}
			list = block.List
		}
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs {
			end = max(end, u.Node().Pos())
		}
	}
	for _, stmt := range list {
		if stmt.Pos() <= end && end < stmt.End() {
			_, labelled := stmt.(*ast.LabeledStmt)
			return stmt, !labelled
		}
	}
	return nil, false
}

// ResetInTurn makes an object once that each turn of a loop makes by its constructor, and calls its Reset in the others.
func ResetInTurn(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	v, stmt := s.Defined()
	loop, in := s.LoopAround()
	callee := calleeOf(s, call)
	if v == nil || !in || callee == nil || !strings.HasPrefix(strings.ToLower(callee.Name()), "new") || callee.Signature().Recv() != nil {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(v.Type(), true, v.Pkg(), "Reset")
	reset, ok := obj.(*types.Func)
	if !ok || !nilable(v.Type()) || !types.Identical(reset.Signature().Params(), callee.Signature().Params()) || reset.Signature().Results().Len() > 0 {
		return nil
	}
	list, ok := code.Statement(loop)
	typ, imports, spelled := s.Spell(v.Type(), loop.Node().Pos())
	if !ok || list != loop || !spelled || s.Lookup(v.Name(), loop.Node().Pos()) != nil || !staysInTurn(s, v, loop) {
		return nil
	}
	var args []string
	for _, a := range call.Args {
		args = append(args, s.Source(a))
	}
	name := v.Name()
	return []code.Edit{{Text: fmt.Sprintf("make `%s` once, and reset it in each turn", name),
		Open: fmt.Sprintf("after Reset, `%s` must be as a new one, and nothing of an earlier turn may still be used", name), Imports: imports,
		Changes: []code.Change{s.Before(loop.Node(), fmt.Sprintf("var %s %s", name, typ)),
			s.Replace(stmt.Node(), fmt.Sprintf("if %s == nil {\n%[1]s = %s\n} else {\n%[1]s.Reset(%[3]s)\n}", name, s.Source(call), strings.Join(args, ", ")))}}}
}

// calleeOf is the function that a call names; nil for others.
func calleeOf(s *code.Site, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		fun = sel.Sel
	}
	id, ok := fun.(*ast.Ident)
	if !ok {
		return nil
	}
	fn, _ := s.Info().Uses[id].(*types.Func)
	return fn
}

// nilable reports whether a type is a pointer or an interface.
func nilable(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}

// staysInTurn reports whether a turn of a loop only calls methods of a variable, gets at its fields, compares it and hands it to
// calls, and no function literal has it.
func staysInTurn(s *code.Site, v *types.Var, loop inspector.Cursor) bool {
	fn, _ := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() == v.Pos() {
			continue
		}
		if inner, _ := code.Function(u); inner != fn {
			return false
		}
		switch u.ParentEdgeKind() {
		case edge.SelectorExpr_X, edge.BinaryExpr_X, edge.BinaryExpr_Y:
		case edge.CallExpr_Args:
			call := u.Parent()
			if s.Builtin(call.Node().(*ast.CallExpr), "append") != nil || call.ParentEdgeKind() == edge.GoStmt_Call || call.ParentEdgeKind() == edge.DeferStmt_Call {
				return false
			}
		default:
			return false
		}
		for c := range u.Enclosing((*ast.GoStmt)(nil), (*ast.DeferStmt)(nil)) {
			if c.Node().Pos() > loop.Node().Pos() {
				return false
			}
		}
	}
	return true
}

// HandBack hands what the result of a call replaces to that call, in place of nil: it is set anew there.
func HandBack(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	a := s.Cur.Parent().Node().(*ast.AssignStmt)
	sig, ok := s.Info().TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok || a.Tok != token.ASSIGN || len(a.Rhs) != 1 || sig.Variadic() || len(call.Args) != sig.Params().Len() || len(a.Lhs) != sig.Results().Len() {
		return nil
	}
	for i, arg := range call.Args {
		if !s.Info().Types[arg].IsNil() || !nilable(sig.Params().At(i).Type()) {
			continue
		}
		for r, to := range a.Lhs {
			if _, field := to.(*ast.SelectorExpr); !field || !s.Pure(to) ||
				!types.Identical(sig.Params().At(i).Type(), sig.Results().At(r).Type()) || !types.Identical(s.Info().TypeOf(to), sig.Params().At(i).Type()) {
				continue
			}
			return []code.Edit{{Text: fmt.Sprintf("hand `%s` to the call that sets it, in place of nil", s.Source(to)),
				Open: fmt.Sprintf("nothing else must have the `%s` of before", s.Source(to)), Changes: []code.Change{s.Replace(arg, s.Source(to))}}}
		}
	}
	return nil
}

// KeepGrown sets a field to the result of a call that grew its memory, where the result was dropped.
func KeepGrown(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || stmt != s.Cur.Parent() {
		return nil
	}
	a := stmt.Node().(*ast.AssignStmt)
	sig, ok := s.Info().TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok || len(a.Rhs) != 1 || len(a.Lhs) != sig.Results().Len() || len(call.Args) != sig.Params().Len() {
		return nil
	}
	for r, to := range a.Lhs {
		if id, ok := to.(*ast.Ident); !ok || id.Name != "_" {
			continue
		}
		for i, arg := range call.Args {
			field, begins := s.Source(arg), beginsAnew(s, call, i)
			if cut, ok := arg.(*ast.SliceExpr); ok && cut.Low == nil && s.IsZero(cut.High) && !cut.Slice3 {
				arg, field, begins = cut.X, s.Source(cut.X), true
			}
			if !begins {
				continue
			}
			sel, ok := ast.Unparen(arg).(*ast.SelectorExpr)
			if _, slice := sig.Results().At(r).Type().Underlying().(*types.Slice); !ok || !slice || s.Info().Selections[sel] == nil || !s.Pure(sel) ||
				!types.Identical(s.Info().TypeOf(sel), sig.Results().At(r).Type()) || !types.Identical(sig.Params().At(i).Type(), sig.Results().At(r).Type()) {
				continue
			}
			e := code.Edit{Text: fmt.Sprintf("keep what the call makes of `%s`", field), Open: fmt.Sprintf("the result has to be the memory of `%s`, grown", field)}
			if a.Tok == token.ASSIGN {
				e.Changes = []code.Change{s.Replace(to, field)}
			} else {
				name := s.Fresh("grown", stmt.Node().Pos())
				e.Changes = []code.Change{s.Replace(to, name), s.After(stmt.Node(), field+" = "+name)}
			}
			return []code.Edit{e}
		}
	}
	return nil
}

// beginsAnew reports whether a function of the package uses the memory of a parameter from its beginning, whatever that held.
func beginsAnew(s *code.Site, call *ast.CallExpr, param int) bool {
	fn := calleeOf(s, call)
	if fn == nil {
		return false
	}
	f, decl := s.FuncOf(fn)
	if decl == nil || decl.Body == nil || param >= fn.Signature().Params().Len() {
		return false
	}
	v, cut := fn.Signature().Params().At(param), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		part, ok := n.(*ast.SliceExpr)
		cut = cut || ok && part.Low == nil && part.High != nil && f.Info().ObjectOf(identOf(part.X)) == types.Object(v)
		return !cut
	})
	return cut
}

func identOf(e ast.Expr) *ast.Ident { id, _ := ast.Unparen(e).(*ast.Ident); return id }
