package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// onlyFormatted is the buffer or builder that is on the heap only because fmt.Fprint, Fprintf or Fprintln is handed it:
// all else that is done with it are calls of its own methods. What is formatted are texts, numbers and truth values,
// which it can be written without fmt. "" for another.
func onlyFormatted(p idiom.Place) string {
	v := variable(p)
	if v == nil || p.Body() == nil || !isBuffer(v.Type()) {
		return ""
	}
	u := use{p: p, of: v}
	ast.Inspect(p.Body(), u.visit)
	if u.other || u.formatted == 0 {
		return ""
	}
	return v.Name()
}

// variable is the local variable that a place is, or that it defines.
func variable(p idiom.Place) types.Object {
	v := p.Variable(p.Expr)
	for i := len(p.Path) - 1; v == nil && i >= 0 && i >= len(p.Path)-2; i-- {
		switch n := p.Path[i].(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
				v = p.Variable(n.Lhs[0])
			}
		case *ast.ValueSpec:
			if len(n.Names) == 1 {
				v = p.Info.Defs[n.Names[0]]
			}
		}
	}
	return v
}

func isBuffer(t types.Type) bool {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return t.String() == "strings.Builder" || t.String() == "bytes.Buffer"
}

// use looks at the uses of a variable.
type use struct {
	p         idiom.Place
	of        types.Object
	path      []ast.Node
	formatted int
	other     bool
}

func (u *use) visit(n ast.Node) bool {
	if n == nil {
		u.path = u.path[:len(u.path)-1]
		return true
	}
	if id, ok := n.(*ast.Ident); ok && u.p.Info.Uses[id] == u.of {
		u.ask(id)
	}
	u.path = append(u.path, n)
	return true
}

// ask looks at one use, whose path leads to it.
func (u *use) ask(id *ast.Ident) {
	for _, n := range u.path {
		if _, captured := n.(*ast.FuncLit); captured {
			u.other = true
		}
	}
	up := func(i int) ast.Node { return u.path[len(u.path)-i] }
	var e ast.Expr = id
	if addr, ok := up(1).(*ast.UnaryExpr); ok && addr.Op == token.AND {
		e, u.path = addr, u.path[:len(u.path)-1]
		defer func() { u.path = append(u.path, addr) }()
	}
	switch n := up(1).(type) {
	case *ast.SelectorExpr:
		call, ok := up(2).(*ast.CallExpr)
		u.other = u.other || !ok || call.Fun != ast.Expr(n)
	case *ast.CallExpr:
		u.other = u.other || n.Args[0] != e || !u.plain(n)
		u.formatted++
	default:
		u.other = true
	}
}

// plain reports whether a call prints texts, numbers and truth values with fmt.
func (u *use) plain(c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || c.Ellipsis.IsValid() {
		return false
	}
	fn, ok := u.p.Info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" || !strings.HasPrefix(fn.Name(), "Fprint") {
		return false
	}
	for _, a := range c.Args[1:] {
		t := u.p.Info.TypeOf(a)
		b, ok := t.Underlying().(*types.Basic)
		if !ok || b.Info()&(types.IsString|types.IsInteger|types.IsBoolean) == 0 || types.NewMethodSet(t).Len() > 0 {
			return false
		}
	}
	return true
}
