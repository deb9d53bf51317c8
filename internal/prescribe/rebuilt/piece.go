package rebuilt

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// Piece is the string of which a loop puts each character, one after the other and as it is, into what the expression fills;
// "" for others. What is gathered so is a piece of the string.
func Piece(p idiom.Place) (text string) {
	fn := p.Body()
	if fn == nil {
		return ""
	}
	var around []ast.Node
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		body := loopBody(n)
		if body == nil {
			return true
		}
		for i, s := range body.List {
			to, what := gets(p, s)
			if to == nil || !begins(fn, around, to) || !fills(p, to) || slices.ContainsFunc(body.List[:i], goesOn) {
				continue
			}
			if from := each(p, n, what); from != nil && onlyGathers(p, fn, s, to) {
				text = from.Name()
			}
		}
		return true
	})
	return text
}

// loopBody is the body of a loop; nil for others.
func loopBody(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.RangeStmt:
		return n.Body
	case *ast.ForStmt:
		return n.Body
	}
	return nil
}

// begins reports whether a variable is the function's own, and none of the nodes around its loop, the last of them, is a loop
// behind its declaration or another function: it would have what earlier turns put into it, as a parameter may have elements.
func begins(fn *ast.BlockStmt, around []ast.Node, v types.Object) bool {
	for _, n := range around[:len(around)-1] {
		_, literal := n.(*ast.FuncLit)
		if literal || loopBody(n) != nil && v.Pos() < n.Pos() {
			return false
		}
	}
	return fn.Pos() < v.Pos() && v.Pos() < fn.End()
}

// gets is the slice, builder or buffer that a statement puts one value into, at its end, and the value; nil for others.
func gets(p idiom.Place, s ast.Stmt) (to types.Object, what ast.Expr) {
	switch s := s.(type) {
	case *ast.AssignStmt: // out = append(out, c)
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return nil, nil
		}
		c := p.Appends(s.Rhs[0])
		if c == nil || len(c.Args) != 2 || c.Ellipsis.IsValid() || p.Variable(s.Lhs[0]) != p.Variable(c.Args[0]) {
			return nil, nil
		}
		return p.Variable(c.Args[0]), c.Args[1]
	case *ast.ExprStmt: // out.WriteRune(c)
		c, ok := s.X.(*ast.CallExpr)
		if !ok || len(c.Args) != 1 {
			return nil, nil
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if ok && (sel.Sel.Name == "WriteByte" || sel.Sel.Name == "WriteRune") {
			return p.Variable(sel.X), c.Args[0]
		}
	}
	return nil, nil
}

// each is the string of which a value is the character that a turn of a loop is at; nil for others.
func each(p idiom.Place, loop ast.Node, what ast.Expr) types.Object {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		if loop.Value != nil && p.Variable(what) != nil && p.Variable(what) == p.Variable(loop.Value) && flow.IsText(p.Info.TypeOf(loop.X)) {
			return p.Variable(loop.X)
		}
	case *ast.ForStmt:
		at, ok := ast.Unparen(what).(*ast.IndexExpr)
		if ok && flow.IsText(p.Info.TypeOf(at.X)) && p.Variable(at.Index) != nil && counts(p, loop, p.Variable(at.Index)) {
			return p.Variable(at.X)
		}
	}
	return nil
}

// counts reports whether a loop adds one to a variable after each turn, and nothing else in it sets that.
func counts(p idiom.Place, loop *ast.ForStmt, i types.Object) bool {
	switch post := loop.Post.(type) {
	case *ast.IncDecStmt:
		if post.Tok != token.INC || p.Variable(post.X) != i {
			return false
		}
	case *ast.AssignStmt:
		one := types.ExprString(post.Rhs[0])
		if len(post.Lhs) != 1 || p.Variable(post.Lhs[0]) != i || (post.Tok != token.ADD_ASSIGN || one != "1") && one != i.Name()+" + 1" {
			return false
		}
	default:
		return false
	}
	sets := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			sets = sets || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return p.Variable(e) == i })
		case *ast.IncDecStmt:
			sets = sets || p.Variable(n.X) == i
		case *ast.UnaryExpr:
			sets = sets || n.Op == token.AND && p.Variable(n.X) == i
		}
		return !sets
	})
	return !sets
}

// goesOn reports whether a statement may go on with the next turn of the loop, or jump.
func goesOn(s ast.Stmt) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		yes = yes || ok && (b.Tok == token.CONTINUE || b.Tok == token.GOTO)
		return !yes
	})
	return yes
}

// onlyGathers reports whether nothing but one statement of a function puts anything into a variable, or takes its address.
// It may begin empty, and be emptied.
func onlyGathers(p idiom.Place, fn *ast.BlockStmt, by ast.Stmt, v types.Object) bool {
	only := true
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == ast.Node(by) {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if at, ok := to.(*ast.IndexExpr); ok && p.Variable(at.X) == v {
					only = false
				}
				if p.Variable(to) == v {
					only = only && len(n.Lhs) == len(n.Rhs) && isEmpty(p, n.Rhs[i], v)
				}
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && p.Variable(sel.X) == v {
				only = only && !strings.HasPrefix(sel.Sel.Name, "Write") && sel.Sel.Name != "ReadFrom" && sel.Sel.Name != "Truncate"
			}
			if c := p.Appends(n); c != nil {
				only = only && p.Variable(c.Args[0]) != v
			}
		case *ast.UnaryExpr:
			only = only && !(n.Op == token.AND && p.Variable(n.X) == v)
		}
		return only
	})
	return only
}

// isEmpty reports whether an expression has no elements: nil, a literal, make of none, or a variable cut to none.
func isEmpty(p idiom.Place, e ast.Expr, v types.Object) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		id, ok := e.Fun.(*ast.Ident)
		return ok && (id.Name == "new" || id.Name == "make" && len(e.Args) > 1 && types.ExprString(e.Args[1]) == "0")
	case *ast.SliceExpr:
		return p.Variable(e.X) == v && e.Low == nil && e.High != nil && types.ExprString(e.High) == "0"
	}
	return false
}
