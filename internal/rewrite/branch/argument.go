package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CopyArgument lets functions that are given a pointer to the struct of the site hand a copy to a call
// that may keep it, where they make that call in a branch: a hook that is seldom set, a report of a
// failure. The struct itself can then stay on the stack.
func CopyArgument(on *code.Site) []code.Edit {
	s := &site{on}
	n := s.structMade()
	if n == nil || code.HoldsLock(n) {
		return nil
	}
	e := code.Edit{}
	var to []ast.Expr
	for _, f := range s.Package {
		var changes []code.Change
		for fn := range f.Root.Preorder((*ast.FuncDecl)(nil)) {
			in := &site{&code.Site{File: f, Cur: fn}}
			more, callees := in.argumentCopies(n)
			changes, to = append(changes, more...), append(to, callees...)
		}
		switch {
		case len(changes) == 0:
		case f.Name == s.Name:
			e.Changes = changes
		default:
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: changes})
		}
	}
	if len(to) == 0 {
		return nil
	}
	e.Text = fmt.Sprintf("hand a copy of the %s to `%s`, in the branch that calls it", n.Obj().Name(), exprText(to[0]))
	for _, callee := range to {
		if e.Open == "" && !s.neverSet(callee) {
			e.Open = fmt.Sprintf("`%s` must not change the %s for others, know it by its address, or expect nil", exprText(callee), n.Obj().Name())
		}
	}
	return []code.Edit{e}
}

// exprText is what is called, in short.
func exprText(e ast.Expr) string { return code.Brief(types.ExprString(e)) }

// neverSet reports whether an expression is a variable of the package that holds no function, ever: nothing outside of
// tests sets it, so that the branch which calls it is not reached.
func (s *site) neverSet(e ast.Expr) bool {
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := s.Info().ObjectOf(name).(*types.Var)
	if !ok || v.Exported() || v.Parent() != s.Pkg.Types.Scope() || slices.ContainsFunc(s.Pkg.Syntax, linked) {
		return false
	}
	for c := range inspector.New(s.Pkg.Syntax).Root().Preorder((*ast.Ident)(nil)) {
		id := c.Node().(*ast.Ident)
		if s.Info().ObjectOf(id) != types.Object(v) {
			continue
		}
		switch c.ParentEdgeKind() {
		case edge.ValueSpec_Names:
			if len(c.Parent().Node().(*ast.ValueSpec).Values) > 0 {
				return false
			}
		case edge.BinaryExpr_X, edge.BinaryExpr_Y, edge.CallExpr_Fun:
		default:
			return false
		}
	}
	return true
}

// linked reports whether a file gives names of the package to others.
func linked(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				return true
			}
		}
	}
	return false
}

// structMade is the struct of the package that the site puts on the heap by &T{…} or new(T); nil for others.
func (s *site) structMade() *types.Named {
	var t types.Type
	switch e := s.Cur.Node().(type) {
	case *ast.UnaryExpr:
		if lit, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			t = s.Info().TypeOf(lit)
		}
	case *ast.CallExpr:
		if s.Builtin(e, "new") != nil && s.Info().Types[e.Args[0]].IsType() {
			t = s.Info().TypeOf(e.Args[0])
		}
	}
	n, ok := types.Unalias(t).(*types.Named)
	if t == nil || !ok || n.Obj().Pkg() != s.Pkg.Types || n.TypeArgs().Len() > 0 {
		return nil
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil
	}
	return n
}

// argumentCopies puts copies in place of the receiver and the parameters of a function that point to a
// struct, in the branches that hand them to a call of an unknown function; callees are these.
func (s *site) argumentCopies(n *types.Named) (changes []code.Change, callees []ast.Expr) {
	decl := s.Cur.Node().(*ast.FuncDecl)
	if decl.Body == nil || code.HasTypeParams(decl) {
		return nil, nil
	}
	sig := s.Info().Defs[decl.Name].(*types.Func).Signature()
	vars := []*types.Var{}
	if sig.Recv() != nil {
		vars = append(vars, sig.Recv())
	}
	for v := range sig.Params().Variables() {
		vars = append(vars, v)
	}
	for _, v := range vars {
		if p, ok := v.Type().(*types.Pointer); !ok || types.Unalias(p.Elem()) != types.Type(n) {
			continue
		}
		more, to := s.copiesOf(v, decl)
		changes, callees = append(changes, more...), append(callees, to...)
	}
	return changes, callees
}

// copiesOf are the changes for one pointer of a function; none if it goes elsewhere, or in any case.
func (s *site) copiesOf(v *types.Var, decl *ast.FuncDecl) (changes []code.Change, callees []ast.Expr) {
	before := map[ast.Node]string{}
	for _, u := range s.Uses(v, s.Cur) {
		if u.Node().Pos() == v.Pos() {
			continue
		}
		to, known := s.handsOn(u)
		switch {
		case known:
			continue
		case to == nil || !code.Within(u, s.Cur):
			return nil, nil
		}
		at, ok := branch(u, decl.Body)
		if ok {
			at, ok = code.Statement(u)
		}
		if !ok || s.loopBetween(at, decl.Body) {
			return nil, nil
		}
		name := before[at.Node()]
		if name == "" {
			name = s.Fresh(v.Name()+"Copy", u.Node().Pos())
			before[at.Node()] = name
			changes = append(changes, s.Before(at.Node(), fmt.Sprintf("%s := *%s", name, v.Name())))
		}
		changes = append(changes, s.Replace(u.Node(), "&"+name))
		callees = append(callees, to)
	}
	return changes, callees
}

// handsOn says what a use of a pointer does with it: known is true for what is certain not to keep it, or
// is looked at by itself, a field and a call of a function of the package. Else to is the function that it
// is handed to; nil where it goes anywhere else.
func (s *site) handsOn(u inspector.Cursor) (to ast.Expr, known bool) {
	switch u.ParentEdgeKind() {
	case edge.SelectorExpr_X:
		m := s.Info().Selections[u.Parent().Node().(*ast.SelectorExpr)]
		if m == nil || s.addressed(u.Parent()) {
			return nil, false
		}
		return nil, m.Kind() == types.FieldVal || u.Parent().ParentEdgeKind() == edge.CallExpr_Fun && m.Obj().Pkg() == s.Pkg.Types
	case edge.StarExpr_X:
		return nil, true
	case edge.BinaryExpr_X, edge.BinaryExpr_Y:
		return nil, true
	case edge.CallExpr_Args:
		call := u.Parent().Node().(*ast.CallExpr)
		if fn, ok := typeutil.Callee(s.Info(), call).(*types.Func); ok && fn.Pkg() == s.Pkg.Types && !isInterface(fn) {
			return nil, true
		}
		if s.Info().Types[call.Fun].IsType() || s.Builtin(call, "append") != nil || u.Parent().ParentEdgeKind() != edge.ExprStmt_X ||
			s.Callee(call) == "(*sync.Pool).Put" {
			return nil, false
		}
		return call.Fun, false
	}
	return nil, false
}

// isInterface reports whether a function is a method of an interface.
func isInterface(fn *types.Func) bool {
	r := fn.Signature().Recv()
	return r != nil && types.IsInterface(r.Type())
}
