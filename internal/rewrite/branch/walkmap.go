package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// gathered is a slice of all keys, or all values, of a map.
type gathered struct {
	of     ast.Expr // the map
	values bool
	from   token.Pos        // where the statements begin that gather it
	until  token.Pos        // and where they end
	walk   inspector.Cursor // the loop that goes through it, and alone names it
}

// WalkMap goes through a map itself where its keys or its values are gathered in a slice that one loop goes through,
// in no order.
func WalkMap(on *code.Site) []code.Edit {
	s := &site{on}
	g, ok := s.gatheredByCall()
	if !ok {
		g, ok = s.gatheredBefore()
	}
	if !ok {
		return nil
	}
	loop, ok := g.walk.Node().(*ast.RangeStmt)
	if !ok || loop.Tok != token.DEFINE || !blank(loop.Key) || !s.Pure(g.of) {
		return nil
	}
	said := func(c *ast.CommentGroup) bool { return s.Line(c.Pos()) > s.Line(g.until) && c.Pos() < loop.Body.Pos() }
	if slices.ContainsFunc(s.Syntax.Comments, said) {
		return nil // of the loop that stays
	}
	m, isMap := s.Info().TypeOf(g.of).Underlying().(*types.Map)
	v := s.Local(loop.Value)
	if !isMap || v == nil || s.changesEntries(g, loop.Body, v) {
		return nil
	}
	names, elem := v.Name(), m.Key()
	if g.values {
		names, elem = "_, "+names, m.Elem()
	}
	if !types.Identical(v.Type(), elem) {
		return nil
	}
	name := s.Source(g.of)
	return []code.Edit{{Text: fmt.Sprintf("walk through `%s` itself", name), Open: fmt.Sprintf("the loop must not add to `%s`, or take anything out", name),
		Changes: []code.Change{{From: s.Offset(g.from), To: s.Offset(loop.Body.Pos()), Text: fmt.Sprintf("for %s := range %s ", names, name)}}}}
}

func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// gatheredByCall is what a loop goes through that calls a function for it.
func (s *site) gatheredByCall() (g gathered, ok bool) {
	call, isCall := s.Cur.Node().(*ast.CallExpr)
	if !isCall || s.Cur.ParentEdgeKind() != edge.RangeStmt_X {
		return g, false
	}
	g = gathered{from: s.Cur.Parent().Node().Pos(), until: call.Pos(), walk: s.Cur.Parent()}
	if s.Callee(call) == "slices.Collect" {
		call, isCall = call.Args[0].(*ast.CallExpr)
		if !isCall {
			return g, false
		}
	}
	switch s.Callee(call) {
	case "maps.Keys", "golang.org/x/exp/maps.Keys":
		g.of = call.Args[0]
		return g, true
	case "maps.Values", "golang.org/x/exp/maps.Values":
		g.of, g.values = call.Args[0], true
		return g, true
	}
	lit, isLit := call.Fun.(*ast.FuncLit)
	if !isLit || len(call.Args) > 0 || len(lit.Body.List) < 2 {
		return g, false
	}
	list := lit.Body.List
	result, returns := list[len(list)-1].(*ast.ReturnStmt)
	v, of, values := s.gathers(list[len(list)-2])
	if !returns || v == nil || len(result.Results) > 1 || len(result.Results) == 1 && s.Local(result.Results[0]) != v {
		return g, false
	}
	if len(list) == 2 { // the result has a name
		results := lit.Type.Results
		ok = results != nil && v.Pos() >= results.Pos() && v.Pos() < results.End()
	} else {
		ok = len(list) == 3 && s.declaresEmpty(list[0], v)
	}
	g.of, g.values = of, values
	return g, ok
}

// gatheredBefore is what a statement declares, the next one fills, and the one behind that goes through.
func (s *site) gatheredBefore() (g gathered, ok bool) {
	decl, found := code.Statement(s.Cur)
	if assign, _ := s.Appends(); assign != nil && found {
		if decl, found = code.Statement(decl.Parent()); found {
			decl, found = decl.PrevSibling()
		}
	}
	if !found {
		return g, false
	}
	fill, more := decl.NextSibling()
	if !more {
		return g, false
	}
	v, of, values := s.gathers(fill.Node())
	walk, more := fill.NextSibling()
	if v == nil || !more || !s.declaresEmpty(decl.Node(), v) {
		return g, false
	}
	fn, _ := code.Function(s.Cur)
	loop, isLoop := walk.Node().(*ast.RangeStmt)
	if !isLoop || s.Local(loop.X) != v || len(s.Uses(v, fn)) != 4 {
		return g, false
	}
	return gathered{of: of, values: values, from: decl.Node().Pos(), until: fill.Node().End(), walk: walk}, true
}

// gathers says which slice a loop only appends the keys or the values of a map to; nil for none.
func (s *site) gathers(stmt ast.Node) (v *types.Var, of ast.Expr, values bool) {
	loop, ok := stmt.(*ast.RangeStmt)
	if !ok || loop.Tok != token.DEFINE || len(loop.Body.List) != 1 {
		return nil, nil, false
	}
	assign, ok := loop.Body.List[0].(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil, nil, false
	}
	call := s.Builtin(assign.Rhs[0], "append")
	if call == nil || len(call.Args) != 2 || s.Local(call.Args[0]) == nil || s.Local(call.Args[0]) != s.Local(assign.Lhs[0]) {
		return nil, nil, false
	}
	switch s.Local(call.Args[1]) {
	case nil:
		return nil, nil, false
	case s.Local(loop.Key):
		return s.Local(assign.Lhs[0]), loop.X, false
	case s.Local(loop.Value):
		return s.Local(assign.Lhs[0]), loop.X, true
	}
	return nil, nil, false
}

// declaresEmpty reports whether a statement only declares a slice without elements.
func (s *site) declaresEmpty(stmt ast.Node, v *types.Var) bool {
	switch n := stmt.(type) {
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		return spec != nil && s.Info().Defs[spec.Names[0]] == types.Object(v) && (len(spec.Values) == 0 || s.empty(spec.Values[0]))
	case *ast.AssignStmt:
		return n.Tok == token.DEFINE && len(n.Lhs) == 1 && s.Local(n.Lhs[0]) == v && s.empty(n.Rhs[0])
	}
	return false
}

// empty reports whether an expression is a slice without elements, with room or without.
func (s *site) empty(e ast.Expr) bool {
	made := s.Builtin(e, "make")
	return s.EmptySlice(e) || made != nil && len(made.Args) > 1 && s.IsZero(made.Args[1]) && s.PureSize(made.Args[len(made.Args)-1])
}

// changesEntries reports whether a loop puts other entries into a map, or takes others out, than the one that it is at.
func (s *site) changesEntries(g gathered, body *ast.BlockStmt, at *types.Var) bool {
	name, found := s.Source(g.of), false
	other := func(of, key ast.Expr) bool { return s.Source(of) == name && (g.values || s.Local(key) != at) }
	entry := func(e ast.Expr) bool {
		ix, ok := ast.Unparen(e).(*ast.IndexExpr)
		return ok && other(ix.X, ix.Index)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, entry)
		case *ast.IncDecStmt:
			found = found || entry(n.X)
		case *ast.CallExpr:
			if s.Builtin(n, "delete") != nil {
				found = found || other(n.Args[0], n.Args[1])
			}
			found = found || s.Builtin(n, "clear") != nil && s.Source(n.Args[0]) == name
		}
		return true
	})
	return found
}
