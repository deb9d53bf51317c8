// Package idiom knows ways to write something that allocate more than another way does. Each is a fact about an
// expression and the statements around it.
package idiom

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// body is the body of the function around an expression; nil for none.
func body(e *source.Expr) *ast.BlockStmt {
	if path := e.Path(); len(path) > 0 {
		switch fn := path[0].(type) {
		case *ast.FuncDecl:
			return fn.Body
		case *ast.FuncLit:
			return fn.Body
		}
	}
	return nil
}

// expr is the expression itself.
func expr(e *source.Expr) ast.Expr { return e.Node().(ast.Expr) }

// list is the innermost list of statements around an expression, and the place of its statement there; -1 for none.
func list(e *source.Expr) ([]ast.Stmt, int) {
	path := e.Path()
	for i := len(path) - 1; i >= 0; i-- {
		stmts := statements(path[i])
		if stmts == nil {
			continue
		}
		at := slices.IndexFunc(stmts, func(s ast.Stmt) bool { return s.Pos() <= e.Place() && e.Place() < s.End() })
		return stmts, at
	}
	return nil, -1
}

func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// call is e as a call of one of the functions; nil for another.
func call(l *source.Line, e ast.Expr, names ...string) *ast.CallExpr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !slices.Contains(names, l.Callee(c)) {
		return nil
	}
	return c
}

// appends is e as an append; nil for another expression.
func appends(l *source.Line, e ast.Expr) *ast.CallExpr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(c.Args) < 2 {
		return nil
	}
	if id, ok := c.Fun.(*ast.Ident); !ok || l.Info().Uses[id] != types.Universe.Lookup("append") {
		return nil
	}
	return c
}

// variable is the variable that an expression names; nil for another.
func variable(l *source.Line, e ast.Expr) types.Object {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	if obj := l.Info().Defs[id]; obj != nil {
		return obj
	}
	v, ok := l.Info().Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	return v
}

// set is the variable and the value of a statement that sets one; nil for another.
func set(l *source.Line, s ast.Stmt) (types.Object, ast.Expr) {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return nil, nil
	}
	return variable(l, a.Lhs[0]), a.Rhs[0]
}

// isCopy reports whether an expression makes a copy of a slice that has no room for more.
func isCopy(l *source.Line, e ast.Expr) bool {
	if call(l, e, "slices.Clone", "bytes.Clone") != nil {
		return true
	}
	c := appends(l, e)
	return c != nil && c.Ellipsis.IsValid() && isEmpty(l, c.Args[0])
}

// isEmpty reports whether an expression is a slice without memory: nil, a literal without elements, or one that is cut
// to no capacity.
func isEmpty(l *source.Line, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return len(e.Args) == 1 && l.Info().Types[e.Fun].IsType() && l.Info().Types[e.Args[0]].IsNil()
	case *ast.SliceExpr:
		return e.Slice3 && isZero(l, e.High) && isZero(l, e.Max)
	}
	return false
}

func isZero(l *source.Line, e ast.Expr) bool {
	v := l.Info().Types[e].Value
	return v != nil && constant.Compare(v, token.EQL, constant.MakeInt64(0))
}

// CopyGrows reports whether an append goes to a copy that was made for it, and that has no room: its array is made twice.
func CopyGrows(l *source.Line, e *source.Expr) bool {
	outer := appends(l, expr(e))
	if outer == nil {
		return false
	}
	if isCopy(l, outer.Args[0]) {
		return true
	}
	if path := e.Path(); len(path) > 0 { // the copy itself
		if around, ok := path[len(path)-1].(ast.Expr); ok {
			if c := appends(l, around); c != nil && c.Args[0] == expr(e) && isCopy(l, c.Args[0]) {
				return true
			}
		}
	}
	stmts, at := list(e)
	if at < 1 {
		return false
	}
	to, value := set(l, stmts[at])
	of, made := set(l, stmts[at-1])
	return to != nil && to == of && ast.Unparen(value) == ast.Expr(outer) && variable(l, outer.Args[0]) == to && isCopy(l, made)
}

// replaced is e as a replacement of all of one constant text by another; nil for another expression.
func replaced(l *source.Line, e ast.Expr) *ast.CallExpr {
	c := call(l, e, "strings.ReplaceAll", "strings.Replace")
	if c == nil || !l.Constant(c.Args[1]) || !l.Constant(c.Args[2]) {
		return nil
	}
	if len(c.Args) == 4 {
		if n := l.Info().Types[c.Args[3]].Value; n == nil || constant.Sign(n) >= 0 {
			return nil
		}
	}
	return c
}

// Replacements is the number of replacements, one made in the text of another, that a call is one of; 0 where
// one of all texts at once would give another result: what one puts in is a part of what a later one looks for.
func Replacements(l *source.Line, e *source.Expr) int {
	if replaced(l, expr(e)) == nil {
		return 0
	}
	var chain []*ast.CallExpr // the last first
	nested := func(x ast.Expr) {
		for c := replaced(l, x); c != nil; c = replaced(l, c.Args[0]) {
			chain = append(chain, c)
		}
	}
	stmts, at := list(e)
	if at < 0 {
		return 0
	}
	to, value := set(l, stmts[at])
	if to == nil || replaced(l, value) == nil {
		outermost := expr(e)
		for i := len(e.Path()) - 1; i >= 0; i-- {
			x, ok := e.Path()[i].(ast.Expr)
			if !ok || replaced(l, x) == nil || replaced(l, x).Args[0] != outermost {
				break
			}
			outermost = x
		}
		nested(outermost)
		return independent(l, chain)
	}
	follows := func(i int) bool { // the statement replaces in the text of the one before
		v, x := set(l, stmts[i])
		for c := replaced(l, x); v == to && c != nil; c = replaced(l, c.Args[0]) {
			if variable(l, c.Args[0]) == to {
				return true
			}
		}
		return false
	}
	first, last := at, at
	for first > 0 && follows(first) {
		if v, x := set(l, stmts[first-1]); v != to || replaced(l, x) == nil {
			break
		}
		first--
	}
	for last+1 < len(stmts) && follows(last+1) {
		last++
	}
	for i := last; i >= first; i-- {
		_, x := set(l, stmts[i])
		nested(x)
	}
	return independent(l, chain)
}

// independent is the number of replacements, the last first, whose order makes no difference; 0 for others.
func independent(l *source.Line, chain []*ast.CallExpr) int {
	text := func(e ast.Expr) string { return constant.StringVal(l.Info().Types[e].Value) }
	for i, later := range chain {
		for _, earlier := range chain[i+1:] {
			if old := text(later.Args[1]); old == "" || strings.ContainsAny(text(earlier.Args[2]), old) || strings.ContainsAny(text(earlier.Args[1]), old) {
				return 0
			}
		}
	}
	return len(chain)
}

// OnlyErrorsAs reports whether a variable has its address taken by calls of errors.As alone, as their target, and no
// function literal has it.
func OnlyErrorsAs(l *source.Line, e *source.Expr) bool {
	id, ok := e.Node().(*ast.Ident)
	fn := body(e)
	if !ok || fn == nil {
		return false
	}
	v := l.Info().Defs[id]
	taken, asked := 0, 0
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(in ast.Node) bool {
				if x, ok := in.(*ast.Ident); ok && l.Info().Uses[x] == v {
					taken++
				}
				return true
			})
			return false
		case *ast.UnaryExpr:
			if n.Op == token.AND && variable(l, n.X) == v {
				taken++
			}
		case *ast.CallExpr:
			if c := call(l, n, "errors.As"); c != nil {
				if u, ok := ast.Unparen(c.Args[1]).(*ast.UnaryExpr); ok && u.Op == token.AND && variable(l, u.X) == v {
					asked++
				}
			}
		}
		return true
	})
	return asked > 0 && taken == asked
}
