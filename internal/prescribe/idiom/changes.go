package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// writing are the beginnings of the names of library functions that write to the elements of what they are handed.
var writing = []string{"sort.", "slices.Sort", "slices.Reverse", "slices.Delete", "slices.Insert", "slices.Compact", "slices.Replace", "maps.Copy", "maps.Delete", "maps.Insert", "io.Read", "encoding/binary."}

// setting are methods that change what they are of, of templates and others.
var setting = []string{"Parse", "ParseFiles", "ParseFS", "Funcs", "Delims", "Option", "AddParseTree"}

// changed reports whether the function writes to a variable's memory behind a place. With handed, calls that get the
// variable count, too.
func (p Place) changed(v types.Object, behind token.Pos, handed bool) (yes bool) {
	fn := p.Body()
	if fn == nil {
		return true
	}
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		if id.Pos() < behind {
			return
		}
		e := ast.Node(id)
		for i := len(path) - 1; i >= 0 && !yes; i-- {
			switch around := path[i].(type) {
			case *ast.IndexExpr, *ast.SelectorExpr, *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr:
				e = around
				continue
			case *ast.IncDecStmt:
				yes = true
			case *ast.UnaryExpr:
				yes = around.Op == token.AND
			case *ast.AssignStmt:
				for _, to := range around.Lhs {
					yes = yes || to == e
				}
			case *ast.CallExpr:
				sel, method := around.Fun.(*ast.SelectorExpr)
				own := around.Fun == e && method && p.Info.Selections[sel] != nil
				yes = own && (handed || slices.Contains(setting, sel.Sel.Name)) || around.Fun != e && p.writesTo(around, e, handed)
			}
			return
		}
	})
	return yes
}

// writesTo reports whether a call writes to what it is handed as an argument.
func (p Place) writesTo(c *ast.CallExpr, argument ast.Node, handed bool) bool {
	for _, name := range []string{"append", "copy", "delete", "clear"} {
		if p.isBuiltin(c, name) {
			return c.Args[0] == argument
		}
	}
	if p.isBuiltin(c, "len") || p.isBuiltin(c, "cap") {
		return false
	}
	callee := p.callee(c)
	for _, name := range writing {
		if strings.HasPrefix(callee, name) {
			return true
		}
	}
	return handed && p.Info.Types[c.Fun].IsValue()
}

// Overwritten reports whether the function writes to what the expression makes, or returns it to callers who can.
func (p Place) Overwritten() bool {
	v := p.Defined()
	if c, ok := p.Expr.(*ast.CallExpr); ok && len(p.Path) > 0 {
		if v == nil {
			v = p.made(c) // with an error
		}
		if p.handsUp(c, v) {
			return true
		}
	}
	return v != nil && p.changed(v, p.Expr.End(), false)
}

// handsUp reports whether the function returns a call's result, or a variable that has it, and that is a pointer to a struct
// with exported fields.
func (p Place) handsUp(c *ast.CallExpr, v types.Object) (yes bool) {
	t := p.Info.TypeOf(c)
	if list, ok := t.(*types.Tuple); ok && list.Len() > 0 {
		t = list.At(0).Type()
	}
	if t == nil {
		return false
	}
	at, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	s, ok := at.Elem().Underlying().(*types.Struct)
	if !ok || !slices.ContainsFunc(slices.Collect(s.Fields()), (*types.Var).Exported) {
		return false
	}
	if _, returned := p.Path[len(p.Path)-1].(*ast.ReturnStmt); returned {
		return true
	}
	if fn := p.Body(); fn != nil && v != nil {
		p.uses(fn, v, func(_ *ast.Ident, path []ast.Node) {
			_, is := path[len(path)-1].(*ast.ReturnStmt)
			yes = yes || is
		})
	}
	return yes
}

// Snapshot reports whether a copy's original may change while the copy is used: it is no variable of the function, or one
// that is written to or handed on.
func (p Place) Snapshot() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(c.Args) == 0 || len(p.Path) == 0 {
		return true
	}
	return !p.atOnce() && p.unsteady(c.Args[len(c.Args)-1], c.End())
}

// atOnce reports whether a value is made for one call that returns nothing of it, of the standard library or of a function
// that is handed nothing else which could lead to the original, or to be converted to a text.
func (p Place) atOnce() bool {
	c, ok := p.Path[len(p.Path)-1].(*ast.CallExpr)
	if !ok || p.Info.Types[c.Fun].IsType() {
		return ok && flow.IsText(p.Info.TypeOf(c))
	}
	fn, ok := typeutil.Callee(p.Info, c).(*types.Func)
	return ok && flow.ReturnsPlain(fn) && (flow.Standard(fn.Pkg().Path()) || fn.Signature().Recv() == nil && len(c.Args) == 1)
}

// unsteady reports whether an expression's memory may change behind a place.
func (p Place) unsteady(e ast.Expr, behind token.Pos) bool {
	v, ok := p.Variable(e).(*types.Var)
	return !ok || v.Parent() == v.Pkg().Scope() || p.changed(v, behind, true)
}

// Links reports whether the expression is a literal that gets pointers to others of its type, as a node of a list or tree.
func (p Place) Links() bool {
	e := ast.Unparen(p.Expr)
	if at, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(at.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	own := types.NewPointer(p.Info.TypeOf(lit))
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		t := p.Info.TypeOf(e)
		iface, abstract := t.Underlying().(*types.Interface)
		if types.Identical(t, own) || abstract && iface.NumMethods() > 0 && types.Implements(own, iface) {
			return true
		}
	}
	return false
}

// Guarded names the field of which the expression makes a copy while a lock is held. It is "" for another expression, and
// for copies of the function's own variables.
func (p Place) Guarded() string {
	stmts, at := p.list()
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || at < 0 || len(c.Args) == 0 {
		return ""
	}
	from := c.Args[len(c.Args)-1]
	if p.isBuiltin(c, "make") {
		v, value := p.Set(stmts[at])
		if v == nil || value != p.Expr || at+1 >= len(stmts) {
			return ""
		}
		next, ok := stmts[at+1].(*ast.ExprStmt)
		if !ok {
			return ""
		}
		copies, ok := next.X.(*ast.CallExpr)
		if !ok || !p.isBuiltin(copies, "copy") || p.Variable(copies.Args[0]) != v {
			return ""
		}
		from = copies.Args[1]
		at++
	}
	if p.Variable(from) != nil || p.stem(from) == nil {
		return ""
	}
	locks := func(stmts []ast.Stmt, names ...string) bool {
		return slices.ContainsFunc(stmts, func(s ast.Stmt) bool {
			e, ok := s.(*ast.ExprStmt)
			if !ok {
				return false
			}
			call, ok := e.X.(*ast.CallExpr)
			return ok && slices.Contains(names, p.callee(call))
		})
	}
	if !locks(stmts[:at], "sync.(*Mutex).Lock", "sync.(*RWMutex).RLock", "sync.(*RWMutex).Lock") || !locks(stmts[at+1:min(at+3, len(stmts))], "sync.(*Mutex).Unlock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).Unlock") {
		return ""
	}
	return types.ExprString(from)
}

// FullResult reports whether the expression makes a slice without room, which the function returns: with a length alone,
// or by one append at the end.
func (p Place) FullResult() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	fn := p.Body()
	if !ok || fn == nil {
		return false
	}
	_, last := p.Path[len(p.Path)-1].(*ast.ReturnStmt)
	full := p.isBuiltin(c, "make") && len(c.Args) == 2
	if last || !full {
		return last && (full || p.Appends(c) != nil)
	}
	v, returned := p.Defined(), false
	if v == nil {
		return false
	}
	p.uses(fn, v, func(_ *ast.Ident, path []ast.Node) {
		_, is := path[len(path)-1].(*ast.ReturnStmt)
		returned = returned || is
	})
	return returned
}

// ReadInLoop reports whether the loop around an append that sets a variable uses the variable elsewhere, too.
func (p Place) ReadInLoop() (yes bool) {
	loop, fn := p.loop(), p.Body()
	if loop == nil || fn == nil {
		return false
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return false
	}
	v := p.Variable(a.Lhs[0])
	if v == nil {
		return true
	}
	p.uses(fn, v, func(id *ast.Ident, _ []ast.Node) {
		within := loop.Pos() < id.Pos() && id.End() <= loop.End()
		yes = yes || within && (id.Pos() < a.Pos() || id.Pos() > a.End())
	})
	return yes
}

// Refilled reports whether the bytes of a conversion may be written to after it: the copy then keeps the old ones.
func (p Place) Refilled() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || p.Overwritten() {
		return ok
	}
	if flow.IsText(p.Info.TypeOf(c.Args[0])) {
		return false
	}
	behind := c.End()
	if loop := p.loop(); loop != nil {
		behind = loop.Pos() // a later turn may write what an earlier text is of
	}
	v, ok := p.stem(c.Args[0]).(*types.Var)
	return ok && p.Defined() != nil && p.changed(v, behind, true)
}

// Cut reports whether the loop around the expression cuts the variable to which the expression adds.
func (p Place) Cut() (yes bool) {
	loop := p.loop()
	if loop == nil {
		return false
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	v, isName := p.Expr.(*ast.Ident)
	to := types.Object(nil)
	switch {
	case ok && len(a.Lhs) == 1:
		to = p.Variable(a.Lhs[0])
	case isName:
		to = p.Variable(v)
	}
	if to == nil {
		return false
	}
	ast.Inspect(loop, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && p.Variable(a.Lhs[0]) == to {
			s, cut := a.Rhs[0].(*ast.SliceExpr)
			yes = yes || cut && p.Variable(s.X) == to
		}
		return !yes
	})
	return yes
}

// Captured reports whether a function literal has the variable of what the expression makes, or whether that is a channel
// which is closed: the next turn needs another one.
func (p Place) Captured() (yes bool) {
	fn, v := p.Body(), p.Defined()
	if fn == nil || v == nil {
		return false
	}
	p.uses(fn, v, func(_ *ast.Ident, path []ast.Node) {
		c, ok := path[len(path)-1].(*ast.CallExpr)
		literal := slices.ContainsFunc(path, func(n ast.Node) bool { _, is := n.(*ast.FuncLit); return is })
		yes = yes || literal || ok && p.isBuiltin(c, "close")
	})
	return yes
}

// NilElse reports whether the function, of one result, returns nil in place of what the expression makes.
func (p Place) NilElse() (yes bool) {
	fn := p.Body()
	if fn == nil {
		return false
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Body == fn
		case *ast.ReturnStmt:
			yes = yes || len(n.Results) == 1 && p.Info.Types[n.Results[0]].IsNil()
		}
		return !yes
	})
	return yes
}

// comparison is the comparison of which the expression is an operand, and the other operand; nil for none.
func (p Place) comparison() (b *ast.BinaryExpr, other ast.Expr) {
	if len(p.Path) == 0 {
		return nil, nil
	}
	b, ok := p.Path[len(p.Path)-1].(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ {
		return nil, nil
	}
	if ast.Unparen(b.X) == p.Expr {
		return b, ast.Unparen(b.Y)
	}
	return b, ast.Unparen(b.X)
}

// ComparedElse reports whether a text that is not brought into one case is compared: nothing is written anywhere.
func (p Place) ComparedElse() bool {
	b, _ := p.comparison()
	c, ok := p.Expr.(*ast.CallExpr)
	if b == nil || !ok {
		return false
	}
	callee := p.callee(c)
	return !strings.HasSuffix(callee, ".ToLower") && !strings.HasSuffix(callee, ".ToUpper")
}

// BothAsText reports whether the expression is compared with the same method's text of another value of its type.
func (p Place) BothAsText() bool {
	b, other := p.comparison()
	c, ok := p.Expr.(*ast.CallExpr)
	o, same := other.(*ast.CallExpr)
	return b != nil && ok && same && p.callee(c) != "" && p.callee(c) == p.callee(o)
}
