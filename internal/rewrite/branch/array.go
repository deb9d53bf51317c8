package branch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ArrayLater declares an array that is only appended to from its beginning in the branches that use it. If
// the array is moved to the heap, each call that declares it allocates it.
func ArrayLater(on *code.Site) []code.Edit {
	s := &site{on}
	decl, ok := s.Cur.Node().(*ast.DeclStmt)
	if !ok || s.Cur.ParentEdgeKind() != edge.BlockStmt_List || s.Commented(decl) {
		return nil
	}
	spec := code.OnlySpec(decl)
	fn, body := code.Function(s.Cur)
	if spec == nil || len(spec.Values) > 0 || body == nil {
		return nil
	}
	v, ok := s.Info().Defs[spec.Names[0]].(*types.Var)
	if !ok {
		return nil
	}
	if _, array := v.Type().Underlying().(*types.Array); !array {
		return nil
	}
	block := s.Cur.Parent().Node()
	groups := map[ast.Node][]inspector.Cursor{} // uses by the outermost branch in the innermost loop
	var order []ast.Node
	edit := code.Edit{Text: fmt.Sprintf("declare `%s` in the branches that use it", v.Name()), Changes: []code.Change{s.Replace(decl, "")}}
	for _, u := range s.Uses(v, fn)[1:] {
		lists, loop := branches(u, block)
		if len(lists) == 0 || !code.Within(u, fn) || !s.refilled(u) {
			return nil
		}
		if loop {
			edit.Open = fmt.Sprintf("no turn of a loop may rest on what another one left in `%s`", v.Name())
		}
		top := lists[len(lists)-1]
		if groups[top] == nil {
			order = append(order, top)
		}
		groups[top] = append(groups[top], u)
	}
	for _, top := range order {
		at := first(groups[top], block)
		if s.Lookup(v.Name(), at.Node().Pos()) != v || !s.sameNames(spec.Type, at.Node()) {
			return nil
		}
		edit.Changes = append(edit.Changes, s.Before(at.Node(), s.Source(decl)))
	}
	if len(order) == 0 {
		return nil
	}
	return []code.Edit{edit}
}

// refilled reports whether a use of an array overwrites it from its beginning: append(x[:0], …).
func (s *site) refilled(u inspector.Cursor) bool {
	cut, ok := u.Parent().Node().(*ast.SliceExpr)
	if !ok || u.ParentEdgeKind() != edge.SliceExpr_X || cut.Low != nil || cut.High == nil || !s.IsZero(cut.High) {
		return false
	}
	call, ok := u.Parent().Parent().Node().(*ast.CallExpr)
	return ok && s.Builtin(call, "append") != nil && call.Args[0] == ast.Expr(cut)
}

// branches are the lists of statements of the branches around a use, the innermost first, up to a loop or the block.
func branches(u inspector.Cursor, block ast.Node) (lists []ast.Node, loop bool) {
	for c := range u.Enclosing() {
		if c.Node() == block {
			return lists, loop
		}
		switch c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop = true
		case *ast.LabeledStmt:
			return nil, loop // a jump may come back
		}
		if loop {
			continue
		}
		switch c.ParentEdgeKind() {
		case edge.IfStmt_Body, edge.IfStmt_Else:
			if _, list := c.Node().(*ast.BlockStmt); list {
				lists = append(lists, c.Node())
			}
		case edge.CaseClause_Body, edge.CommClause_Body:
			lists = append(lists, c.Parent().Node())
		}
	}
	return nil, loop
}

// first is the statement before which all of some uses see a declaration: in the innermost branch around them all.
func first(uses []inspector.Cursor, block ast.Node) inspector.Cursor {
	common, _ := branches(uses[0], block)
	for _, u := range uses[1:] {
		lists, _ := branches(u, block)
		common = slices.DeleteFunc(common, func(l ast.Node) bool { return !slices.Contains(lists, l) })
	}
	var at inspector.Cursor
	for c := range uses[0].Enclosing() {
		if c.Parent().Node() == common[0] {
			at = c
			break
		}
	}
	return at
}
