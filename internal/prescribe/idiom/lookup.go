package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// KeyFirst names the map that is asked for a text right after its conversion from bytes. Where the map has it, the function
// returns or the loop goes on, so that only new texts are kept. It is "" for another expression.
func (p Place) KeyFirst() string {
	c, ok := p.Expr.(*ast.CallExpr)
	stmts, at := p.list()
	if !ok || at < 0 || at+1 >= len(stmts) || len(c.Args) != 1 || !p.Info.Types[c.Fun].IsType() || !flow.IsText(p.Info.TypeOf(c)) || !flow.IsBytes(p.Info.TypeOf(c.Args[0])) {
		return ""
	}
	v, value := p.Set(stmts[at])
	asks, ok := stmts[at+1].(*ast.IfStmt)
	if v == nil || value != ast.Expr(c) || !ok || asks.Init == nil || asks.Else != nil {
		return ""
	}
	a, ok := asks.Init.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
		return ""
	}
	in, ok := a.Rhs[0].(*ast.IndexExpr)
	if !ok || p.Variable(in.Index) != v || p.Variable(asks.Cond) == nil || p.Variable(asks.Cond) != p.Variable(a.Lhs[1]) {
		return ""
	}
	_, isMap := p.Info.TypeOf(in.X).Underlying().(*types.Map)
	last := len(asks.Body.List) - 1
	if !isMap || last < 0 || !endsTurn(asks.Body.List[last]) || p.holdsName(asks.Body, v) {
		return ""
	}
	return types.ExprString(in.X)
}

// endsTurn reports whether a statement ends the function or the turn of a loop.
func endsTurn(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return endsLoop(s) || ok && b.Tok == token.CONTINUE
}

// holdsName reports whether a node names a variable.
func (p Place) holdsName(n ast.Node, v types.Object) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		yes = yes || ok && p.Info.Uses[id] == v
		return !yes
	})
	return yes
}

// CopyBuffer reports whether a loop reads into the expression's slice of bytes, and writes out what it read.
func (p Place) CopyBuffer() bool {
	fn, v := p.Body(), p.Defined()
	if fn == nil || v == nil || !flow.IsBytes(v.Type()) {
		return false
	}
	read, written, other := false, false, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		e := ast.Expr(id)
		i := len(path) - 1
		for ; i > 0; i-- {
			s, slice := path[i].(*ast.SliceExpr)
			if !slice || s.X != e {
				break
			}
			e = s
		}
		c, ok := path[i].(*ast.CallExpr)
		loop := slices.ContainsFunc(path[:i], func(n ast.Node) bool { _, loop := n.(*ast.ForStmt); return loop })
		sel, method := ast.Expr(nil), ""
		if ok {
			sel = c.Fun
		}
		if s, is := sel.(*ast.SelectorExpr); is {
			method = s.Sel.Name
		}
		switch {
		case ok && loop && (method == "Read" && len(c.Args) == 1 || p.call(c, "io.ReadFull", "io.ReadAtLeast") != nil && c.Args[1] == e):
			read = true
		case ok && p.call(c, "io.CopyBuffer") != nil && c.Args[2] == e:
			read, written = true, true
		case ok && loop && method == "Write" && len(c.Args) == 1:
			written = true
		case ok && (p.isBuiltin(c, "len") || p.isBuiltin(c, "cap")):
		default:
			other = true
		}
	})
	return read && written && !other
}
