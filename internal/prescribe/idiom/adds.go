package idiom

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Added is how many elements a function appends to a slice.
type Added struct {
	Each  int  // in each turn of a loop, at most
	Once  int  // outside the loop
	Exact bool // each turn appends so many
}

// Added counts what the function appends to a slice, given the slice's text and the line of the loop around the expression,
// an append; nothing where that loop is not around it. It is false where the number is not seen: elements of another slice,
// other loops, function literals.
func (p Place) Added(slice string, line int) (a Added, ok bool) {
	fn := p.Body()
	if fn == nil {
		return a, false
	}
	var loop *ast.BlockStmt
	skips := false
	for _, n := range p.Path {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		}
		if body != nil && p.Line(n.Pos()) == line {
			loop, skips = body, flow.Skips(n, n.End(), func(e ast.Expr) bool { return types.ExprString(e) == slice })
		}
	}
	if loop == nil {
		return a, true
	}
	c := &adding{slice: slice, ok: true, exact: true}
	a.Each, a.Exact = c.list(loop.List), c.exact && !skips
	all := &adding{slice: slice, ok: true, without: loop}
	a.Once = all.list(fn.List)
	return a, c.ok && all.ok
}

// adding counts the elements that statements append to a slice.
type adding struct {
	slice     string
	without   *ast.BlockStmt // is not counted
	ok, exact bool
}

func (c *adding) list(stmts []ast.Stmt) (n int) {
	for i, s := range stmts {
		if f, ok := s.(*ast.IfStmt); ok && f.Else == nil && len(f.Body.List) > 0 {
			if b, ok := f.Body.List[len(f.Body.List)-1].(*ast.BranchStmt); ok && b.Tok == token.CONTINUE && b.Label == nil {
				return n + c.either(c.list(f.Body.List), c.list(stmts[i+1:]))
			}
		}
		n += c.stmt(s)
	}
	return n
}

func (c *adding) stmt(s ast.Stmt) int {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && len(s.Rhs) == 1 && types.ExprString(s.Lhs[0]) == c.slice {
			return c.value(s.Rhs[0], s.Tok)
		}
	case *ast.BlockStmt:
		return c.list(s.List)
	case *ast.LabeledStmt:
		return c.stmt(s.Stmt)
	case *ast.IfStmt:
		other := 0
		if s.Else != nil {
			other = c.stmt(s.Else)
		}
		return c.either(c.list(s.Body.List), other)
	case *ast.SwitchStmt:
		return c.cases(s.Body)
	case *ast.TypeSwitchStmt:
		return c.cases(s.Body)
	case *ast.ForStmt:
		return c.loop(s.Body)
	case *ast.RangeStmt:
		return c.loop(s.Body)
	}
	c.ok = c.ok && !c.appendsIn(s)
	return 0
}

// either is what one of two branches appends.
func (c *adding) either(a, b int) int {
	c.exact = c.exact && a == b
	return max(a, b)
}

func (c *adding) cases(body *ast.BlockStmt) int {
	most, rest := -1, 0
	for _, s := range body.List {
		clause := s.(*ast.CaseClause)
		n := c.list(clause.Body)
		if clause.List == nil {
			rest = n
			continue
		}
		if most < 0 {
			most = n
		}
		most = c.either(most, n)
	}
	return c.either(max(most, 0), rest)
}

// loop is what an inner loop appends, which must be nothing.
func (c *adding) loop(body *ast.BlockStmt) int {
	if body != c.without {
		if inner := (&adding{slice: c.slice, ok: true, without: c.without}); inner.list(body.List) > 0 || !inner.ok {
			c.ok = false
		}
	}
	return 0
}

// value is what a statement that sets the slice to a value appends.
func (c *adding) value(e ast.Expr, tok token.Token) int {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || types.ExprString(call.Args[0]) != c.slice {
		c.ok = c.ok && (tok == token.DEFINE || begins(e))
		if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
			return len(lit.Elts)
		}
		return 0
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "append" || call.Ellipsis.IsValid() {
		c.ok = false
	}
	return len(call.Args) - 1
}

// begins reports whether a value is a new slice of no other's elements.
func begins(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.CallExpr:
		id, ok := e.Fun.(*ast.Ident)
		return ok && id.Name == "make"
	}
	return false
}

// appendsIn reports whether a statement appends to the slice in an expression or a function literal of its own.
func (c *adding) appendsIn(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, to := range a.Lhs {
				found = found || types.ExprString(to) == c.slice
			}
		}
		return !found
	})
	return found
}
