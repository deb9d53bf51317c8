package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// timers are functions that make a timer, or a context with one.
var timers = []string{"time.After", "time.NewTimer", "time.NewTicker", "context.WithTimeout", "context.WithDeadline"}

// Waits reports whether the expression makes a timer for a select that has other cases, and none of them is tried without
// one before.
func (p Place) Waits() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	fn := p.Body()
	if !ok || fn == nil || !slices.Contains(timers, p.callee(c)) || p.inLoop() {
		return false
	}
	var waits, tries *ast.SelectStmt
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Body == fn
		case *ast.ForStmt, *ast.RangeStmt:
			return n.Pos() <= c.Pos() && c.End() <= n.End() // it is made once for all turns
		case *ast.SelectStmt:
			switch own, others, immediate := p.casesOf(n, c); {
			case immediate && n.End() < c.Pos():
				tries = n
			case own && others && waits == nil && !immediate:
				waits = n
			}
		}
		return true
	})
	if waits == nil || tries != nil || waits.Pos() < c.Pos() && waits.End() < c.End() {
		return false
	}
	only := true // the work may need the context from its start
	if v := p.made(c); v != nil {
		p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
			_, asked := path[len(path)-1].(*ast.SelectorExpr)
			only = only && (asked || id.Pos() < c.End() || id.Pos() > waits.Pos() && id.End() < waits.End())
		})
	}
	return only
}

// casesOf reports whether a select waits for the timer that a call makes, for a value, and whether it has a default.
func (p Place) casesOf(s *ast.SelectStmt, timer *ast.CallExpr) (own, others, immediate bool) {
	v := p.made(timer)
	for _, clause := range s.Body.List {
		comm := clause.(*ast.CommClause).Comm
		if comm == nil {
			immediate = true
			continue
		}
		of := false
		ast.Inspect(comm, func(n ast.Node) bool {
			id, isName := n.(*ast.Ident)
			of = of || n == ast.Node(timer) || isName && v != nil && p.Variable(id) == v
			return !of
		})
		own, others = own || of, others || !of && !p.isSignal(comm)
	}
	return own, others, immediate
}

// isSignal reports whether a case waits for an end, or another event without a value: such a case is seldom ready. An
// empty struct of a type with a name may be something to be had.
func (p Place) isSignal(comm ast.Stmt) bool {
	signal := false
	ast.Inspect(comm, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			s, empty := types.Unalias(p.Info.TypeOf(u)).(*types.Struct)
			signal = signal || empty && s.NumFields() == 0
		}
		return !signal
	})
	return signal
}

// made is the first variable that a call sets; nil for none.
func (p Place) made(c *ast.CallExpr) (v types.Object) {
	ast.Inspect(p.Path[0], func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(c) {
			v = p.Variable(a.Lhs[0])
		}
		return v == nil
	})
	return v
}

// Descends names the parameter, a text, that the expression lengthens for a call of its own function; "" for another.
func (p Place) Descends() string {
	sum, ok := p.Expr.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || len(p.Path) == 0 {
		return ""
	}
	fn, ok := p.Path[0].(*ast.FuncDecl)
	if !ok {
		return ""
	}
	first := ast.Expr(sum)
	for {
		b, ok := ast.Unparen(first).(*ast.BinaryExpr)
		if !ok {
			break
		}
		first = b.X
	}
	v := p.Variable(first)
	if v == nil || v.Pos() < fn.Type.Params.Pos() || v.Pos() >= fn.Type.Params.End() {
		return ""
	}
	if p.neededAtOnce(fn, v) {
		return ""
	}
	if around, ok := p.Path[len(p.Path)-1].(*ast.CallExpr); ok && p.isOwn(around) {
		return v.Name()
	}
	to, only := p.Defined(), false
	if to == nil {
		return ""
	}
	p.uses(fn.Body, to, func(_ *ast.Ident, path []ast.Node) {
		c, ok := path[len(path)-1].(*ast.CallExpr)
		only = only || ok && p.isOwn(c)
	})
	if !only {
		return ""
	}
	return v.Name()
}

// isOwn reports whether a call is of the function around the place.
func (p Place) isOwn(c *ast.CallExpr) bool {
	fn, ok := p.Path[0].(*ast.FuncDecl)
	if !ok {
		return false
	}
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		return p.Info.Uses[f] == p.Info.Defs[fn.Name]
	case *ast.SelectorExpr:
		return p.Info.Uses[f.Sel] == p.Info.Defs[fn.Name]
	}
	return false
}

// recurses reports whether a statement of the function calls the function.
func (p Place) recurses(in ast.Node) (yes bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		yes = yes || ok && p.isOwn(c)
		return !yes
	})
	return yes
}

// neededAtOnce reports whether the function needs a text in each of its calls: other than to lengthen it, to hand it down,
// to compare it, or in a branch that does not call the function.
func (p Place) neededAtOnce(fn *ast.FuncDecl, v types.Object) (needed bool) {
	p.uses(fn.Body, v, func(id *ast.Ident, path []ast.Node) {
		for i := len(path) - 1; i > 0; i-- {
			switch around := path[i].(type) {
			case *ast.BinaryExpr:
				return // a longer text, or an answer
			case *ast.CallExpr:
				if p.isOwn(around) || p.isBuiltin(around, "len") {
					return
				}
			case *ast.BlockStmt:
				if _, branch := path[i-1].(*ast.IfStmt); branch && !p.recurses(around) {
					return
				}
			case *ast.CaseClause:
				if !p.recurses(around) {
					return
				}
			}
		}
		needed = true
	})
	return needed
}

// OnlyBytes reports whether the expression is a text that is only converted to bytes: it is put together and then copied.
func (p Place) OnlyBytes() bool {
	fn, v := p.Body(), p.holder()
	if t := p.Info.TypeOf(p.Expr); fn == nil || v == nil || t == nil || !flow.IsText(t) || !flow.IsText(v.Type()) {
		return false
	}
	converted, other := false, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		c, ok := path[len(path)-1].(*ast.CallExpr)
		if ok && p.Info.Types[c.Fun].IsType() && flow.IsBytes(p.Info.Types[c.Fun].Type) {
			converted = true
			return
		}
		a, sets := path[len(path)-1].(*ast.AssignStmt)
		other = other || !(sets && slices.Contains(a.Lhs, ast.Expr(id)))
	})
	return converted && !other
}
