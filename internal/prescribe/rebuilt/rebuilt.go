// Package rebuilt knows texts that a loop makes anew, character by character, although all of them may stay.
package rebuilt

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// Unchanged is the text that a loop copies, character by character, into what the expression fills, where some characters
// are replaced and the others stay, and that the function makes a text of; "" for others. A text of which all stay need not
// be copied.
func Unchanged(p idiom.Place) string {
	fn := p.Body()
	if fn == nil {
		return ""
	}
	for _, s := range fn.List {
		loop, text, char := characters(p, s)
		if loop == nil {
			continue
		}
		to := copiesSome(p, loop, char)
		if to != nil && fills(p, to) && returnsText(p, fn, to) && onlyIn(p, fn, loop, to) && !leaves(loop) && !returned(p, fn, text) {
			return text.Name()
		}
	}
	return ""
}

// characters is the body of a loop over a text, a variable, and the variable that holds each character; nil for others.
func characters(p idiom.Place, s ast.Stmt) (body *ast.BlockStmt, text, char types.Object) {
	switch s := s.(type) {
	case *ast.RangeStmt:
		if s.Value == nil || !flow.IsText(p.Info.TypeOf(s.X)) {
			return nil, nil, nil
		}
		text, char = p.Variable(s.X), p.Variable(s.Value)
		body = s.Body
	case *ast.ForStmt:
		if len(s.Body.List) == 0 || !fromStart(p, s) {
			return nil, nil, nil
		}
		first := s.Body.List[0]
		if i, ok := first.(*ast.IfStmt); ok && i.Init != nil {
			first = i.Init
		}
		v, value := p.Set(first)
		at, ok := value.(*ast.IndexExpr)
		if !ok || !flow.IsText(p.Info.TypeOf(at.X)) {
			return nil, nil, nil
		}
		text, char = p.Variable(at.X), v
		body = s.Body
	}
	if text == nil || char == nil {
		return nil, nil, nil
	}
	return body, text, char
}

// returned reports whether a function returns a text itself somewhere: it has looked whether all may stay.
func returned(p idiom.Place, fn *ast.BlockStmt, text types.Object) (yes bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		yes = yes || ok && slices.ContainsFunc(r.Results, func(e ast.Expr) bool { return p.Variable(e) == text })
		return !yes
	})
	return yes
}

// fromStart reports whether a loop counts from 0.
func fromStart(p idiom.Place, s *ast.ForStmt) bool {
	_, value := p.Set(s.Init)
	v := p.Info.Types[value].Value
	return v != nil && constant.Compare(v, token.EQL, constant.MakeInt64(0))
}

// onlyIn reports whether a builder, buffer or slice gets nothing outside a loop.
func onlyIn(p idiom.Place, fn, loop *ast.BlockStmt, v types.Object) bool {
	only := true
	var path []ast.Node
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if n == ast.Node(loop) {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == v {
			switch around := path[len(path)-1].(type) {
			case *ast.SelectorExpr:
				only = only && slices.Contains([]string{"Grow", "String", "Len", "Reset"}, around.Sel.Name)
			case *ast.CallExpr:
				t := p.Info.Types[around.Fun]
				only = only && (t.IsType() || t.IsBuiltin()) && p.Appends(around) == nil
			case *ast.SliceExpr:
				outer, _ := path[len(path)-2].(*ast.CallExpr)
				only = only && around.X == id && outer != nil && p.Info.Types[outer.Fun].IsType()
			default:
				only = false
			}
		}
		path = append(path, n)
		return true
	})
	return only
}

// copiesSome is the builder, buffer or slice that gets each character itself in some branches of a loop, and something else
// in others; nil for others.
func copiesSome(p idiom.Place, loop *ast.BlockStmt, char types.Object) (to types.Object) {
	same, other, mixed := false, false, false
	see := func(v types.Object, what ast.Expr, branch bool) {
		if v == nil || to != nil && v != to {
			mixed = mixed || v != nil
			return
		}
		to = v
		if p.Variable(converted(p, what)) == char {
			same = same || branch
		} else {
			other = other || branch
		}
	}
	var path []ast.Node
	ast.Inspect(loop, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		branch := slices.ContainsFunc(path, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.IfStmt, *ast.CaseClause:
				return true
			}
			return false
		})
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if ok && len(n.Args) == 1 && slices.Contains([]string{"WriteByte", "WriteRune", "WriteString"}, sel.Sel.Name) {
				see(p.Variable(sel.X), n.Args[0], branch)
			} else if c := p.Appends(n); c != nil && len(c.Args) == 2 {
				see(p.Variable(c.Args[0]), c.Args[1], branch)
			}
		case *ast.AssignStmt: // out[i] = c
			if at, ok := n.Lhs[0].(*ast.IndexExpr); ok && len(n.Lhs) == 1 && n.Tok == token.ASSIGN {
				see(p.Variable(at.X), n.Rhs[0], branch)
			}
		}
		path = append(path, n)
		return true
	})
	if !same || !other || mixed {
		return nil
	}
	return to
}

// fills reports whether the expression makes a variable or is a call of one of its methods, or an append to it.
func fills(p idiom.Place, v types.Object) bool {
	if p.Defined() == v {
		return true
	}
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok {
		id, is := p.Expr.(*ast.Ident)
		return is && p.Info.Defs[id] == v
	}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && p.Variable(sel.X) == v {
		return true
	}
	return p.Appends(c) != nil && p.Variable(c.Args[0]) == v || len(c.Args) == 1 && p.Info.Types[c.Fun].IsType() && p.Variable(whole(c.Args[0])) == v
}

// returnsText reports whether the last statement of a function returns a variable's text, and no other.
func returnsText(p idiom.Place, fn *ast.BlockStmt, v types.Object) bool {
	r, ok := fn.List[len(fn.List)-1].(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return false
	}
	c, ok := ast.Unparen(r.Results[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	if sel, method := c.Fun.(*ast.SelectorExpr); method && sel.Sel.Name == "String" {
		return p.Variable(sel.X) == v
	}
	return len(c.Args) == 1 && p.Info.Types[c.Fun].IsType() && flow.IsText(p.Info.TypeOf(c)) && p.Variable(whole(c.Args[0])) == v
}

// whole is what an expression slices, or itself.
func whole(e ast.Expr) ast.Expr {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
		return s.X
	}
	return e
}

// converted is what an expression converts to another type, or itself.
func converted(p idiom.Place, e ast.Expr) ast.Expr {
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(c.Args) == 1 && p.Info.Types[c.Fun].IsType() {
		return c.Args[0]
	}
	return e
}

// leaves reports whether a loop may leave a character out: where it goes on or breaks off.
func leaves(loop *ast.BlockStmt) (yes bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		yes = yes || ok && b.Tok == token.BREAK
		return !yes
	})
	return yes
}
