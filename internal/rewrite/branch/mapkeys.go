package branch

import (
	"fmt"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// KeysOneByOne walks through a map of package reflect without a slice of all its keys.
func KeysOneByOne(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.RangeStmt_X || s.Callee(call) != "(reflect.Value).MapKeys" || !s.Since("go1.12") {
		return nil
	}
	loop := s.Cur.Parent().Node().(*ast.RangeStmt)
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	first, _ := loop.Key.(*ast.Ident)
	key := s.Local(loop.Value)
	if !isSel || first == nil || first.Name != "_" || key == nil || loop.Tok != token.DEFINE || !s.Pure(sel.X) {
		return nil
	}
	x, iter := s.Source(sel.X), s.Fresh("iter", call.Pos())
	if s.Changed(sel.X, loop.Body, loop.Body.Pos(), loop.Body.End()) {
		return nil
	}
	changes := []code.Change{{From: s.Offset(loop.Pos()), To: s.Offset(loop.Body.Lbrace) + 1,
		Text: fmt.Sprintf("for %s := %s.MapRange(); %[1]s.Next(); {\n%[3]s := %[1]s.Key()\n", iter, x, key.Name())}}
	for c := range s.Cur.Parent().Preorder((*ast.CallExpr)(nil)) {
		get := c.Node().(*ast.CallExpr)
		of, ok := ast.Unparen(get.Fun).(*ast.SelectorExpr)
		if ok && s.Callee(get) == "(reflect.Value).MapIndex" && s.Source(of.X) == x && s.Local(get.Args[0]) == key {
			changes = append(changes, s.Replace(get, iter+".Value()"))
		}
	}
	return []code.Edit{{Text: fmt.Sprintf("walk through `%s` by MapRange", x), Changes: changes,
		Open: fmt.Sprintf("the loop must not add to `%s`, or take anything out", x)}}
}
