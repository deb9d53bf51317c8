package value

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// OneType gives a local slice of interfaces elements of the only type that it gets: each element that is read is asserted
// to be of this type.
func OneType(on *code.Site) []code.Edit {
	call, ok := on.Cur.Node().(*ast.CallExpr)
	if !ok || on.Builtin(call, "append") == nil || len(call.Args) < 2 {
		return nil
	}
	v := on.Local(call.Args[0])
	if v == nil || isParameter(on, v) {
		return nil
	}
	slice, ok := v.Type().(*types.Slice)
	if !ok || !types.IsInterface(slice.Elem()) {
		return nil
	}
	t := on.Info().TypeOf(call.Args[1])
	text, imports, ok := on.Spell(t, call.Pos())
	if !ok || types.IsInterface(t) || imports != nil {
		return nil
	}
	fn, _ := code.Function(on.Cur)
	for up, body := code.Function(fn.Parent()); body != nil; up, body = code.Function(up.Parent()) {
		fn = up // the variable may be of a function around this one
	}
	e := &elements{Site: on, of: v, elem: t, text: text}
	for _, use := range on.Uses(v, fn) {
		if !e.use(use) {
			return nil
		}
	}
	if !e.declare(fn) || !e.asserted {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("give `%s` elements of the type `%s`", v.Name(), text), Changes: e.changes}}
}

func isParameter(on *code.Site, v *types.Var) bool {
	for fn, body := code.Function(on.Cur); body != nil; fn, body = code.Function(fn.Parent()) {
		params, results := code.Signature(fn)
		for _, list := range []*ast.FieldList{params, results} {
			if list != nil && list.Pos() <= v.Pos() && v.Pos() < list.End() {
				return true
			}
		}
	}
	return false
}

// elements is a slice on its way to elements of another type.
type elements struct {
	*code.Site
	of       *types.Var
	elem     types.Type
	text     string // of the type
	asserted bool
	changes  []code.Change
}

// is reports whether an expression is of the elements' type, and no constant that may be of another.
func (e *elements) is(x ast.Expr) bool {
	return types.Identical(e.Info().TypeOf(x), e.elem)
}

// use takes one use of the slice; false if that needs interfaces.
func (e *elements) use(c inspector.Cursor) bool {
	switch parent := c.Parent().Node().(type) {
	case *ast.CallExpr:
		if e.Builtin(parent, "append") == nil || parent.Ellipsis.IsValid() {
			return e.Builtin(parent, "len") != nil || e.Builtin(parent, "cap") != nil
		}
		for _, a := range parent.Args[1:] {
			if !e.is(a) {
				return false
			}
		}
		return c.ParentEdgeIndex() == 0 && e.assigned(c.Parent())
	case *ast.AssignStmt:
		return c.ParentEdgeKind() == edge.AssignStmt_Lhs
	case *ast.ValueSpec:
		return c.ParentEdgeKind() == edge.ValueSpec_Names
	case *ast.SliceExpr:
		return c.ParentEdgeKind() == edge.SliceExpr_X && e.assigned(c.Parent())
	case *ast.IndexExpr:
		return c.ParentEdgeKind() == edge.IndexExpr_X && e.element(c.Parent())
	case *ast.RangeStmt:
		return c.ParentEdgeKind() == edge.RangeStmt_X && e.ranged(c.Parent())
	}
	return false
}

// assigned reports whether a value is set to the slice itself.
func (e *elements) assigned(c inspector.Cursor) bool {
	a, ok := c.Parent().Node().(*ast.AssignStmt)
	return ok && len(a.Lhs) == 1 && c.ParentEdgeKind() == edge.AssignStmt_Rhs && e.Local(a.Lhs[0]) == e.of
}

// element takes a use of an element: it is asserted to be of the type, set to a value of it, or changes its place.
func (e *elements) element(c inspector.Cursor) bool {
	switch parent := c.Parent().Node().(type) {
	case *ast.TypeAssertExpr:
		return e.assertion(c.Parent(), parent)
	case *ast.AssignStmt:
		for i, r := range parent.Rhs {
			if len(parent.Rhs) != len(parent.Lhs) || !e.is(r) && !e.ofSlice(r) || !e.ofSlice(parent.Lhs[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// ofSlice reports whether an expression is an element of the slice.
func (e *elements) ofSlice(x ast.Expr) bool {
	ix, ok := ast.Unparen(x).(*ast.IndexExpr)
	return ok && e.Local(ix.X) == e.of
}

// ranged takes a loop over the slice.
func (e *elements) ranged(c inspector.Cursor) bool {
	loop := c.Node().(*ast.RangeStmt)
	if loop.Value == nil {
		return true
	}
	id, ok := loop.Value.(*ast.Ident)
	if !ok || loop.Tok != token.DEFINE {
		return false
	}
	v, ok := e.Info().Defs[id].(*types.Var)
	if !ok {
		return id.Name == "_"
	}
	for _, use := range e.Uses(v, c) {
		if use.Node() == ast.Node(id) {
			continue
		}
		a, ok := use.Parent().Node().(*ast.TypeAssertExpr)
		if !ok || !e.assertion(use.Parent(), a) {
			return false
		}
	}
	return true
}

// assertion drops an assertion, which must have one result.
func (e *elements) assertion(c inspector.Cursor, a *ast.TypeAssertExpr) bool {
	if a.Type == nil || !types.Identical(e.Info().TypeOf(a.Type), e.elem) {
		return false
	}
	if _, two := e.Info().TypeOf(a).(*types.Tuple); two {
		return false
	}
	if _, unused := c.Parent().Node().(*ast.ExprStmt); unused {
		return false
	}
	e.asserted = true
	at := e.Offset(a.X.End())
	e.changes = append(e.changes, code.Change{From: at, To: e.Offset(a.End())})
	return true
}

// declare changes the type where the slice is declared and where it is set to another one.
func (e *elements) declare(fn inspector.Cursor) bool {
	found := false
	for c := range fn.Preorder((*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ValueSpec:
			if e.Info().Defs[n.Names[0]] != types.Object(e.of) {
				continue
			}
			if len(n.Names) > 1 || n.Type != nil && !e.retype(n.Type) || len(n.Values) > 0 && !e.made(n.Values[0]) {
				return false
			}
			found = true
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); !ok || e.Info().ObjectOf(id) != types.Object(e.of) {
					continue
				}
				if len(n.Lhs) != len(n.Rhs) || !e.made(n.Rhs[i]) {
					return false
				}
				found = found || n.Tok == token.DEFINE
			}
		}
	}
	return found
}

// made takes a value that the slice is set to: a new slice, nil, or one made of the slice itself.
func (e *elements) made(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		for _, el := range x.Elts {
			if !e.is(el) {
				return false
			}
		}
		return x.Type != nil && e.retype(x.Type)
	case *ast.CallExpr:
		if e.Builtin(x, "make") != nil { // an element that was not set must not be there
			return e.IsZero(x.Args[1]) && e.retype(x.Args[0])
		}
		return e.Builtin(x, "append") != nil && e.Local(x.Args[0]) == e.of
	case *ast.SliceExpr:
		return e.Local(x.X) == e.of
	}
	return e.Info().Types[x].IsNil()
}

// retype writes the type of the elements anew.
func (e *elements) retype(t ast.Expr) bool {
	list, ok := t.(*ast.ArrayType)
	if !ok || list.Len != nil {
		return false
	}
	e.changes = append(e.changes, e.Replace(list.Elt, e.text))
	return true
}
