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

	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Place is an expression, with the nodes around it and the types of its file. No method changes them.
type Place struct {
	Info *types.Info
	Expr ast.Expr
	Path []ast.Node // from the function around it to its parent
	Line func(token.Pos) int
}

// Within is the end of a path that begins with the innermost function, which may be a literal.
func Within(path []ast.Node) []ast.Node {
	for i := len(path) - 1; i > 0; i-- {
		if _, literal := path[i].(*ast.FuncLit); literal {
			return path[i:]
		}
	}
	return path
}

func (p Place) callee(c *ast.CallExpr) string {
	if fn, ok := typeutil.Callee(p.Info, c).(*types.Func); ok {
		return flow.Spelling(fn)
	}
	return ""
}

func (p Place) constant(e ast.Expr) bool { return p.Info.Types[e].Value != nil }

// Body is the body of the function around an expression; nil for none.
func (p Place) Body() *ast.BlockStmt {
	if path := p.Path; len(path) > 0 {
		switch fn := path[0].(type) {
		case *ast.FuncDecl:
			return fn.Body
		case *ast.FuncLit:
			return fn.Body
		}
	}
	return nil
}

// list is the innermost list of statements around an expression, and the place of its statement there; -1 for none.
func (p Place) list() ([]ast.Stmt, int) {
	path := p.Path
	for i := len(path) - 1; i >= 0; i-- {
		stmts := statements(path[i])
		if stmts == nil {
			continue
		}
		at := slices.IndexFunc(stmts, func(s ast.Stmt) bool { return s.Pos() <= p.Expr.Pos() && p.Expr.Pos() < s.End() })
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
func (p Place) call(e ast.Expr, names ...string) *ast.CallExpr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !slices.Contains(names, p.callee(c)) {
		return nil
	}
	return c
}

// Appends is e as an append; nil for another expression.
func (p Place) Appends(e ast.Expr) *ast.CallExpr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(c.Args) < 2 {
		return nil
	}
	if id, ok := c.Fun.(*ast.Ident); !ok || p.Info.Uses[id] != types.Universe.Lookup("append") {
		return nil
	}
	return c
}

// Variable is the variable that an expression names; nil for another.
func (p Place) Variable(e ast.Expr) types.Object {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	if obj := p.Info.Defs[id]; obj != nil {
		return obj
	}
	v, ok := p.Info.Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	return v
}

// Set is the variable and the value of a statement that sets one; nil for another.
func (p Place) Set(s ast.Stmt) (types.Object, ast.Expr) {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return nil, nil
	}
	return p.Variable(a.Lhs[0]), a.Rhs[0]
}

// Copied is the slice that an expression makes a copy of without room for more; nil for another expression.
func (p Place) Copied(e ast.Expr) ast.Expr {
	if c := p.call(e, "slices.Clone", "bytes.Clone"); c != nil {
		return c.Args[0]
	}
	if c := p.Appends(e); c != nil && c.Ellipsis.IsValid() && p.isEmpty(c.Args[0]) {
		return c.Args[1]
	}
	return nil
}

// isEmpty reports whether an expression is a slice without memory: nil, a literal without elements, or one that is cut
// to no capacity.
func (p Place) isEmpty(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return len(e.Args) == 1 && p.Info.Types[e.Fun].IsType() && p.Info.Types[e.Args[0]].IsNil()
	case *ast.SliceExpr:
		return e.Slice3 && p.isZero(e.High) && p.isZero(e.Max)
	}
	return false
}

func (p Place) isZero(e ast.Expr) bool {
	v := p.Info.Types[e].Value
	return v != nil && constant.Compare(v, token.EQL, constant.MakeInt64(0))
}

// CopyGrows is an append to a copy that was made for it, and that has no room, with the copy: its array is made twice. The
// append or the copy is the expression. Both are nil for others.
func (p Place) CopyGrows() (grows, made *ast.CallExpr) {
	outer := p.Appends(p.Expr)
	if outer == nil {
		return nil, nil
	}
	if p.Copied(outer.Args[0]) != nil {
		return outer, ast.Unparen(outer.Args[0]).(*ast.CallExpr)
	}
	if path := p.Path; len(path) > 0 { // the copy itself
		if around, ok := path[len(path)-1].(ast.Expr); ok {
			if c := p.Appends(around); c != nil && c.Args[0] == p.Expr && p.Copied(outer) != nil {
				return c, outer
			}
		}
	}
	stmts, at := p.list()
	if at < 0 {
		return nil, nil
	}
	if p.Copied(outer) != nil {
		at++ // the copy itself
	}
	if at < 1 || at >= len(stmts) {
		return nil, nil
	}
	to, value := p.Set(stmts[at])
	of, before := p.Set(stmts[at-1])
	outer = p.Appends(value)
	if to == nil || to != of || outer == nil || p.Variable(outer.Args[0]) != to || p.Copied(before) == nil {
		return nil, nil
	}
	return outer, ast.Unparen(before).(*ast.CallExpr)
}

// IsOutgrownCopy reports whether the expression is the copy, or the slice that is made full, that an append outgrows at once.
func (p Place) IsOutgrownCopy() bool {
	_, made := p.CopyGrows()
	if made == nil {
		_, made = p.FullGrows()
	}
	return made != nil && p.Expr == ast.Expr(made)
}

// Grows reports whether the expression is an append to a copy that has no room, or that copy.
func (p Place) Grows() bool {
	grows, _ := p.CopyGrows()
	return grows != nil
}

// keepers are methods that put a value into a cache.
var keepers = []string{"Store", "LoadOrStore", "Set", "SetDefault", "Add", "Put"}

// Cached reports whether the function puts what the expression makes into a map or a cache.
func (p Place) Cached() (found bool) {
	fn := p.Body()
	if fn == nil || len(p.Path) == 0 {
		return false
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || ast.Unparen(a.Rhs[0]) != p.Expr {
		return false
	}
	if _, element := a.Lhs[0].(*ast.IndexExpr); element {
		return true
	}
	v := p.Variable(a.Lhs[0])
	if v == nil {
		return false
	}
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.CallExpr:
			sel, ok := around.Fun.(*ast.SelectorExpr)
			found = found || ok && slices.Contains(keepers, sel.Sel.Name) && slices.Contains(around.Args, ast.Expr(id))
		case *ast.AssignStmt:
			_, element := around.Lhs[0].(*ast.IndexExpr)
			found = found || element && slices.Contains(around.Rhs, ast.Expr(id))
		}
	})
	return found
}

// replaced is e as a replacement of all of one constant text by another; nil for another expression.
func (p Place) replaced(e ast.Expr) *ast.CallExpr {
	c := p.call(e, "strings.ReplaceAll", "strings.Replace")
	if c == nil || !p.constant(c.Args[1]) || !p.constant(c.Args[2]) {
		return nil
	}
	if len(c.Args) == 4 {
		if n := p.Info.Types[c.Args[3]].Value; n == nil || constant.Sign(n) >= 0 {
			return nil
		}
	}
	return c
}

// Replacements are replacements of constant texts, each made in the text of the one before.
type Replacements struct {
	Calls []*ast.CallExpr // the last first
	Stmts []ast.Stmt      // that set one variable by them, in order; nil where they are one expression
}

// Replacements are those that a call is one of. There are none where one replacement of all texts at once would give
// another result: what one puts in is a part of what a later one looks for.
func (p Place) Replacements() (r Replacements) {
	if p.replaced(p.Expr) == nil {
		return r
	}
	nested := func(x ast.Expr) {
		for c := p.replaced(x); c != nil; c = p.replaced(c.Args[0]) {
			r.Calls = append(r.Calls, c)
		}
	}
	stmts, at := p.list()
	if at < 0 {
		return r
	}
	to, value := p.Set(stmts[at])
	if to == nil || p.replaced(value) == nil {
		outermost := p.Expr
		for i := len(p.Path) - 1; i >= 0; i-- {
			x, ok := p.Path[i].(ast.Expr)
			if !ok || p.replaced(x) == nil || p.replaced(x).Args[0] != outermost {
				break
			}
			outermost = x
		}
		nested(outermost)
		return p.independent(r)
	}
	follows := func(i int) bool { // the statement replaces in the text of the one before
		v, x := p.Set(stmts[i])
		for c := p.replaced(x); v == to && c != nil; c = p.replaced(c.Args[0]) {
			if p.Variable(c.Args[0]) == to {
				return true
			}
		}
		return false
	}
	first, last := at, at
	for first > 0 && follows(first) {
		if v, x := p.Set(stmts[first-1]); v != to || p.replaced(x) == nil {
			break
		}
		first--
	}
	for last+1 < len(stmts) && follows(last+1) {
		last++
	}
	for i := last; i >= first; i-- {
		_, x := p.Set(stmts[i])
		nested(x)
	}
	r.Stmts = stmts[first : last+1]
	return p.independent(r)
}

// independent are replacements whose order makes no difference; none for others.
func (p Place) independent(r Replacements) Replacements {
	text := func(e ast.Expr) string { return constant.StringVal(p.Info.Types[e].Value) }
	for i, later := range r.Calls {
		for _, earlier := range r.Calls[i+1:] {
			old, put := text(later.Args[1]), text(earlier.Args[2])
			if old == "" || strings.ContainsAny(put, old) || strings.ContainsAny(text(earlier.Args[1]), old) ||
				put == "" && len(old) > 1 { // the texts on both sides of the gap may form the later one
				return Replacements{}
			}
		}
	}
	return r
}

// OnlyErrorsAs reports whether a variable of a type of error has its address taken by calls of errors.As alone, as their
// target, and no function literal uses it.
func (p Place) OnlyErrorsAs() bool {
	id, ok := p.Expr.(*ast.Ident)
	fn := p.Body()
	if !ok || fn == nil {
		return false
	}
	v := p.Info.Defs[id]
	if v == nil || !types.Implements(v.Type(), types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		return false
	}
	taken, asked := 0, 0
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(in ast.Node) bool {
				if x, ok := in.(*ast.Ident); ok && p.Info.Uses[x] == v {
					taken++
				}
				return true
			})
			return false
		case *ast.UnaryExpr:
			if n.Op == token.AND && p.Variable(n.X) == v {
				taken++
			}
		case *ast.CallExpr:
			if c := p.call(n, "errors.As"); c != nil {
				if u, ok := ast.Unparen(c.Args[1]).(*ast.UnaryExpr); ok && u.Op == token.AND && p.Variable(u.X) == v {
					asked++
				}
			}
		}
		return true
	})
	return asked > 0 && taken == asked
}
