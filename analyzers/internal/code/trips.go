package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// manyTrips is the least constant number of trips at which growing on the way
// is worth a word: below it, append reaches its size in two steps.
const manyTrips = 5

// trips says in Go how often a loop runs, when that is known before it starts
// and cheap to ask for; else it is "". Counts that come from outside, such as a
// number read from a file, are not used: memory must not be promised to them.
func (s *Source) trips(loop ast.Node) string {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		return s.rangeTrips(loop)
	case *ast.ForStmt:
		return s.countedTrips(loop)
	}
	return ""
}

func (s *Source) rangeTrips(loop *ast.RangeStmt) string {
	t := s.TypesInfo.TypeOf(loop.X)
	if t == nil || IsTypeParam(t) || !s.Pure(loop.X) {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return "len(" + types.ExprString(loop.X) + ")"
	case *types.Array:
		return s.arrayTrips(u, loop.X)
	case *types.Pointer:
		if array, ok := u.Elem().Underlying().(*types.Array); ok {
			return s.arrayTrips(array, loop.X)
		}
	case *types.Basic:
		if u.Info()&types.IsString != 0 && !s.IsConstant(loop.X) {
			return "len(" + types.ExprString(loop.X) + ")"
		}
		return s.bound(loop.X)
	}
	return ""
}

func (s *Source) arrayTrips(array *types.Array, x ast.Expr) string {
	if array.Len() < manyTrips {
		return ""
	}
	return "len(" + types.ExprString(x) + ")"
}

// countedTrips is trips for `for i := 0; i < n; i++`.
func (s *Source) countedTrips(loop *ast.ForStmt) string {
	init, ok := loop.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return ""
	}
	i := s.Object(init.Lhs[0])
	cond, isCond := loop.Cond.(*ast.BinaryExpr)
	post, isPost := loop.Post.(*ast.IncDecStmt)
	if i == nil || !s.IsInt(init.Rhs[0], 0) || !isCond || !isPost {
		return ""
	}
	if cond.Op != token.LSS || post.Tok != token.INC || s.Object(cond.X) != i || s.Object(post.X) != i {
		return ""
	}
	if s.assigned(loop.Body, i) || s.changes(loop.Body, cond.Y) {
		return ""
	}
	return s.bound(cond.Y)
}

// changes reports whether body assigns to a variable that e names.
func (s *Source) changes(body ast.Node, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			v, _ := s.TypesInfo.Uses[id].(*types.Var)
			found = s.assigned(body, v)
		}
		return !found
	})
	return found
}

// bound is a number of trips that is safe to allocate for: a constant, a
// length, or what counts the parts of something that exists already.
func (s *Source) bound(e ast.Expr) string {
	if s.IsConstant(e) {
		if n, ok := s.IntValue(e); ok && n >= manyTrips && n <= 1<<16 {
			return types.ExprString(e)
		}
		return ""
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return ""
	}
	if _, ok := s.Builtin(call, "len"); ok && s.Pure(call) {
		return types.ExprString(e)
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 0 || !s.Pure(sel.X) || s.CalleeName(call) == "" {
		return ""
	}
	if sel.Sel.Name == "Len" || strings.HasPrefix(s.CalleeName(call), "(reflect.") &&
		strings.HasPrefix(sel.Sel.Name, "Num") {
		return types.ExprString(e)
	}
	return ""
}

// assigned reports whether v, or something reached through it, is assigned to
// in body; a nil v never is.
func (s *Source) assigned(body ast.Node, v *types.Var) bool {
	if v == nil {
		return false
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || s.TypesInfo.ObjectOf(root(lhs)) == v
			}
		case *ast.IncDecStmt:
			found = found || s.TypesInfo.ObjectOf(root(n.X)) == v
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && s.TypesInfo.ObjectOf(root(n.X)) == v
		case *ast.RangeStmt:
			found = found || n.Key != nil && s.Object(n.Key) == v || n.Value != nil && s.Object(n.Value) == v
		}
		return !found
	})
	return found
}

// Straight reports whether every trip runs body to its end, but for those that
// give up with an error.
func (s *Source) Straight(body *ast.BlockStmt) bool { return s.LeavesBy(body, token.FALLTHROUGH) }

// LeavesBy reports whether the only branches in body are of the given kind,
// and the only returns those of errors.
func (s *Source) LeavesBy(body *ast.BlockStmt, kind token.Token) bool {
	ok := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			// A break may belong to an inner loop or switch; without it being
			// looked up, the loop is left alone.
			ok = ok && n.Label == nil && (n.Tok == kind || n.Tok == token.FALLTHROUGH)
		case *ast.ReturnStmt:
			ok = ok && s.GivesUp(n)
		}
		return ok
	})
	return ok
}

// GivesUp reports whether ret returns an error, known or new.
func (s *Source) GivesUp(ret *ast.ReturnStmt) bool {
	if len(ret.Results) == 0 {
		return false
	}
	last := ret.Results[len(ret.Results)-1]
	t := s.TypesInfo.TypeOf(last)
	return t != nil && !s.IsNil(last) && isError(t)
}

// FreshBefore finds the declaration of v as an empty value, as isEmpty defines
// it, among the statements before loop in the same list, with v unused between.
// A result that has a name counts, for a loop in the function's own list.
func (s *Source) FreshBefore(loop inspector.Cursor, v *types.Var, isEmpty func(ast.Expr) bool) (ast.Node, bool) {
	for c, ok := loop.PrevSibling(); ok; c, ok = c.PrevSibling() {
		if !s.mentions(c, v) {
			continue
		}
		return c.Node(), s.declaresEmpty(c.Node(), v, isEmpty)
	}
	fn, ok := EnclosingFunc(loop)
	if !ok || loop.Parent().Node() != funcBody(fn.Node()) || !isEmpty(nil) {
		return nil, false
	}
	results := funcType(fn.Node()).Results
	return results, results != nil && s.MentionsIn(results, v)
}

// declaresEmpty reports whether stmt is `var v T` or `v := EMPTY`.
func (s *Source) declaresEmpty(stmt ast.Node, v *types.Var, isEmpty func(ast.Expr) bool) bool {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		return stmt.Tok == token.DEFINE && len(stmt.Lhs) == 1 && len(stmt.Rhs) == 1 &&
			s.Object(stmt.Lhs[0]) == v && isEmpty(stmt.Rhs[0])
	case *ast.DeclStmt:
		decl, ok := stmt.Decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			return false
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, name := range spec.Names {
				if s.Object(name) == v {
					return len(spec.Values) == 0 && isEmpty(nil) || i < len(spec.Values) && isEmpty(spec.Values[i])
				}
			}
		}
	}
	return false
}

func funcBody(fn ast.Node) *ast.BlockStmt {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Body
	case *ast.FuncLit:
		return fn.Body
	}
	return nil
}

func funcType(fn ast.Node) *ast.FuncType {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Type
	case *ast.FuncLit:
		return fn.Type
	}
	return &ast.FuncType{}
}

// EachSizedLoop calls visit for the loops of the package whose number of trips is known,
// that are not cold and that stand in a plain list of statements.
func (s *Source) EachSizedLoop(visit func(loop inspector.Cursor, body *ast.BlockStmt, trips string)) {
	s.Each(func(c inspector.Cursor) {
		if kind := c.ParentEdgeKind(); kind != edge.BlockStmt_List && kind != edge.CaseClause_Body {
			return
		}
		n := s.trips(c.Node())
		if n == "" || s.Cold(c) {
			return
		}
		switch loop := c.Node().(type) {
		case *ast.RangeStmt:
			visit(c, loop.Body, n)
		case *ast.ForStmt:
			visit(c, loop.Body, n)
		}
	}, (*ast.RangeStmt)(nil), (*ast.ForStmt)(nil))
}
