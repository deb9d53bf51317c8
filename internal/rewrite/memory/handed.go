package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CallersArray gives a function of the package that collects a slice and returns it an array of the caller's frame
// to begin with, where the caller only looks at the slice. All other callers hand it nothing.
func CallersArray(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	callee, _ := typeutil.Callee(s.Info(), call).(*types.Func)
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	v, stmt := s.Local(assign.Lhs[0]), inspector.Cursor{}
	if callee == nil || callee.Pkg() != s.Pkg.Types || callee.Exported() || v == nil || len(assign.Rhs) != 1 {
		return nil
	}
	stmt, listed := code.Statement(s.Cur)
	slice, isSlice := v.Type().(*types.Slice)
	c := s.collectedBy(callee)
	if !listed || !isSlice || c == nil || !types.Identical(c.v.Type(), slice) {
		return nil
	}
	n := s.elements64(slice.Elem())
	if len(s.Place.Sizes) == 0 {
		n = 8
	}
	open, ok := s.looked(v)
	elem := s.TypeText(slice.Elem())
	if n == 0 || n*s.SizeOf(slice.Elem()) > largestArray || !ok || elem == "" {
		return nil
	}
	array := s.Fresh(v.Name()+"Array", call.Pos())
	changes := map[*code.File][]code.Change{s.File: {s.Before(stmt.Node(), fmt.Sprintf("var %s [%d]%s", array, n, elem))}}
	if !c.change(call, array+"[:0]", changes) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("let %s collect up to %d elements in an array of its caller", callee.Name(), n), Open: open, Changes: changes[s.File]}
	for _, f := range s.Package {
		if f != s.File && len(changes[f]) > 0 {
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: changes[f]})
		}
	}
	return []code.Edit{e}
}

// looked reports whether the function of the site only looks at a slice and sets it anew, and what that rests on.
func (s *site) looked(v *types.Var) (open string, ok bool) {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return "", false
	}
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) {
			return "", false
		}
		if assign, isAssign := u.Parent().Node().(*ast.AssignStmt); isAssign && u.ParentEdgeKind() == edge.AssignStmt_Lhs {
			if len(assign.Rhs) == 1 && (!s.names(assign.Rhs[0], v) || s.appendsTo(assign, v)) {
				continue
			}
			return "", false
		}
		if u.Node().Pos() == v.Pos() || s.looksAt(u, v) {
			continue
		}
		by := ""
		if u.ParentEdgeKind() == edge.CallExpr_Args {
			by = s.Callee(u.Parent().Node().(*ast.CallExpr))
		}
		if by == "" {
			return "", false
		}
		open = fmt.Sprintf("%s must take a slice without elements as it takes nil", by)
	}
	return open, true
}

// names reports whether an expression names a variable.
func (s *site) names(e ast.Expr, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.Info().ObjectOf(id) == types.Object(v)
		return !found
	})
	return found
}

// collected is a function that collects a slice in a variable and returns it first.
type collected struct {
	in   *site // of its declaration
	fn   *types.Func
	decl *ast.FuncDecl
	v    *types.Var
	stmt ast.Node // that declares the variable
}

// collectedBy is what a function of the package collects; nil if that is not a slice which begins as nil, or the function
// asks whether it is.
func (s *site) collectedBy(callee *types.Func) *collected {
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.FuncDecl)(nil)) {
			decl := c.Node().(*ast.FuncDecl)
			if f.Info().Defs[decl.Name] != types.Object(callee) || decl.Body == nil || code.HasTypeParams(decl) || callee.Signature().Variadic() {
				continue
			}
			for stmt := range c.Preorder((*ast.DeclStmt)(nil)) {
				in := &site{&code.Site{File: f, Cur: stmt}}
				spec := code.OnlySpec(stmt.Node().(*ast.DeclStmt))
				if spec == nil || len(spec.Values) > 0 || stmt.Parent().Node() != ast.Node(decl.Body) || f.Commented(stmt.Node()) {
					continue
				}
				v, _ := f.Info().Defs[spec.Names[0]].(*types.Var)
				if v != nil && in.returned(v, c) {
					return &collected{in: in, fn: callee, decl: decl, v: v, stmt: stmt.Node()}
				}
			}
		}
	}
	return nil
}

// returned reports whether a function appends to a slice, returns it first, and never asks for its capacity or whether it is nil.
func (s *site) returned(v *types.Var, fn inspector.Cursor) bool {
	returned, appended := false, false
	for _, u := range s.Uses(v, fn) {
		switch {
		case u.Node().Pos() == v.Pos():
		case !code.Within(u, fn):
			return false
		case u.ParentEdgeKind() == edge.ReturnStmt_Results:
			returned = returned || u.Parent().Node().(*ast.ReturnStmt).Results[0] == u.Node()
		case s.appendedResult(u):
			returned, appended = true, true
		case u.ParentEdgeKind() == edge.AssignStmt_Lhs && s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v):
			appended = true
		case !s.looksAt(u, v):
			return false
		}
	}
	return returned && appended
}

// appendedResult reports whether a use of a slice is that of return append(v, …).
func (s *site) appendedResult(u inspector.Cursor) bool {
	if u.ParentEdgeKind() != edge.CallExpr_Args || u.Parent().ParentEdgeKind() != edge.ReturnStmt_Results {
		return false
	}
	call := u.Parent().Node().(*ast.CallExpr)
	return s.Builtin(call, "append") != nil && call.Args[0] == u.Node() && u.Parent().Parent().Node().(*ast.ReturnStmt).Results[0] == ast.Expr(call)
}

// change makes the variable a parameter, and hands it an array in one call and nil in all others; false if the function is
// used in another way.
func (c *collected) change(site *ast.CallExpr, array string, changes map[*code.File][]code.Change) bool {
	f := c.in.File
	text := c.v.Name() + " " + f.TypeText(c.v.Type())
	last := c.decl.Type.Params.List
	switch {
	case len(last) == 0:
		changes[f] = append(changes[f], f.Insert(f.Offset(c.decl.Type.Params.Opening)+1, text))
	case len(last[0].Names) == 0:
		return false
	default:
		changes[f] = append(changes[f], f.Insert(f.Offset(last[len(last)-1].End()), ", "+text))
	}
	changes[f] = append(changes[f], f.Replace(c.stmt, ""))
	uses := 0
	for _, obj := range f.Info().Uses {
		if obj == types.Object(c.fn) {
			uses++
		}
	}
	for _, in := range c.in.Package {
		for cur := range in.Root.Preorder((*ast.CallExpr)(nil)) {
			call := cur.Node().(*ast.CallExpr)
			if typeutil.Callee(in.Info(), call) != types.Object(c.fn) {
				continue
			}
			arg, at := "nil", in.Offset(call.Lparen)+1
			if call == site {
				arg = array
			}
			if n := len(call.Args); n > 0 {
				arg, at = ", "+arg, in.Offset(call.Args[n-1].End())
			}
			if call.Ellipsis != token.NoPos || len(call.Args) != c.fn.Signature().Params().Len() {
				return false
			}
			changes[in] = append(changes[in], in.Insert(at, arg))
			uses--
		}
	}
	return uses == 0 && !slices.ContainsFunc(c.decl.Type.Params.List, func(p *ast.Field) bool { return len(p.Names) == 0 })
}
