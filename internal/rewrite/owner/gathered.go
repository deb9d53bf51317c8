package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// GatheredBytes gathers the text of a field in bytes that are used again: each += copies all of a string. Who reads the
// field gets a copy, as far as the compiler makes one.
func GatheredBytes(on *code.Site) []code.Edit {
	s := &site{on}
	assign, ok := s.Cur.Parent().Node().(*ast.AssignStmt)
	if !ok {
		if assign, ok = s.Cur.Node().(*ast.AssignStmt); !ok {
			return nil
		}
	}
	sel, ok := ast.Unparen(assign.Lhs[0]).(*ast.SelectorExpr)
	if !ok || assign.Tok != token.ADD_ASSIGN || !s.Since("go1.18") {
		return nil
	}
	field, ok := s.Info().Uses[sel.Sel].(*types.Var)
	if !ok || !field.IsField() || field.Exported() || field.Embedded() || field.Pkg() != s.Pkg.Types || field.Type() != types.Typ[types.String] {
		return nil
	}
	g := &gathered{field: field, changes: map[*code.File]*code.Part{}}
	uses := 0
	for _, obj := range s.Info().Uses {
		if obj == types.Object(field) {
			uses++
		}
	}
	for _, f := range s.Package {
		if !g.all(f, &uses) || f != s.File && g.changes[f] != nil && f.Constrained() {
			return nil
		}
	}
	if uses != 0 || g.owner == nil || s.copies(g.owner) || s.unkeyed(g.owner) || s.measured(g.owner) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("gather the text of `%s` in bytes that are used again", field.Name())}
	if p := g.changes[s.File]; p != nil {
		e.Changes, e.Imports = p.Changes, p.Imports
	}
	for _, f := range s.Package {
		if p := g.changes[f]; f != s.File && p != nil {
			e.Also = append(e.Also, *p)
		}
	}
	switch name := g.owner.Obj().Name(); {
	case g.owner.Obj().Exported():
		e.Open = fmt.Sprintf("nobody may copy or compare a `%s`, or what holds one", name)
	case s.held(g.owner):
		e.Open = fmt.Sprintf("what holds a `%s` must not be copied", name)
	}
	return []code.Edit{e}
}

// held reports whether a struct of the package has a field of a type: who copies that struct copies the value.
func (s *site) held(t *types.Named) bool {
	for _, obj := range s.Info().Defs {
		if v, ok := obj.(*types.Var); ok && v.IsField() && types.Identical(v.Type(), t) {
			return true
		}
	}
	return false
}

// gathered is a field on its way from a string to bytes.
type gathered struct {
	field   *types.Var
	owner   *types.Named // the struct that has it
	changes map[*code.File]*code.Part
}

func (g *gathered) change(f *code.File, c code.Change, imports ...string) {
	if g.changes[f] == nil {
		g.changes[f] = &code.Part{File: f.Name}
	}
	p := g.changes[f]
	p.Changes = append(p.Changes, c)
	for _, i := range imports {
		if !slices.Contains(p.Imports, i) {
			p.Imports = append(p.Imports, i)
		}
	}
}

// all takes the uses of the field in a file; false if there is one that needs a string of the field's own.
func (g *gathered) all(f *code.File, uses *int) bool {
	for c := range f.Root.Preorder((*ast.Ident)(nil)) {
		id := c.Node().(*ast.Ident)
		switch types.Object(g.field) {
		case f.Info().Defs[id]:
			d, ok := c.Parent().Node().(*ast.Field)
			if !ok || len(d.Names) != 1 || !g.declared(f, c) {
				return false
			}
			g.change(f, f.Replace(d.Type, "[]byte"))
		case f.Info().Uses[id]:
			*uses--
			if _, ok := c.Parent().Node().(*ast.SelectorExpr); !ok || !g.use(f, c.Parent()) {
				return false // a key of a literal
			}
		}
	}
	return true
}

// declared finds the named struct that declares the field.
func (g *gathered) declared(f *code.File, c inspector.Cursor) bool {
	for ; c.Node() != nil; c = c.Parent() {
		if spec, ok := c.Node().(*ast.TypeSpec); ok {
			if spec.TypeParams != nil {
				return false
			}
			g.owner, ok = f.Info().Defs[spec.Name].Type().(*types.Named)
			return ok && hasField(g.owner.Underlying().(*types.Struct), g.field)
		}
		if _, ok := c.Node().(*ast.File); ok {
			break
		}
	}
	return false
}

// use rewrites one use of the field, x.f; false if the use needs a string variable.
func (g *gathered) use(f *code.File, c inspector.Cursor) bool {
	sel := c.Node().(*ast.SelectorExpr)
	text := f.Source(sel)
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs:
		return g.assigned(f, c.Parent().Node().(*ast.AssignStmt), sel)
	case edge.UnaryExpr_X:
		return false // its address
	case edge.CallExpr_Args:
		if f.Builtin(c.Parent().Node().(ast.Expr), "len") != nil {
			return true
		}
	case edge.IndexExpr_X:
		return true // a byte, in both
	case edge.BinaryExpr_X, edge.BinaryExpr_Y:
		if b := c.Parent().Node().(*ast.BinaryExpr); f.IsEmptyString(b.X) || f.IsEmptyString(b.Y) {
			return g.empty(f, b, text)
		}
	}
	g.change(f, f.Replace(sel, "string("+text+")"))
	return true
}

// assigned changes an assignment of a text to the field, or to the field among others.
func (g *gathered) assigned(f *code.File, n *ast.AssignStmt, sel *ast.SelectorExpr) bool {
	i := slices.Index(n.Lhs, ast.Expr(sel))
	if i < 0 || len(n.Lhs) != len(n.Rhs) || !f.Pure(sel) || g.names(f, n.Rhs[i]) {
		return false
	}
	text := f.Source(sel)
	to := text
	if n.Tok == token.ASSIGN {
		to += "[:0]"
	}
	value, imports, ok := g.added(f, n.Rhs[i], to)
	if !ok {
		return false
	}
	if len(n.Lhs) > 1 {
		g.change(f, f.Replace(n.Rhs[i], value), imports...)
	} else {
		g.change(f, f.Replace(n, fmt.Sprintf("%s = %s", text, value)), imports...)
	}
	return true
}

// empty asks for the length instead of comparing with an empty string.
func (g *gathered) empty(f *code.File, b *ast.BinaryExpr, text string) bool {
	if b.Op != token.EQL && b.Op != token.NEQ {
		return false
	}
	g.change(f, f.Replace(b, fmt.Sprintf("len(%s) %s 0", text, b.Op)))
	return true
}

// added is the expression that appends a text, or a character, to bytes.
func (g *gathered) added(f *code.File, e ast.Expr, to string) (text string, imports []string, ok bool) {
	if f.IsEmptyString(e) {
		return to, nil, true
	}
	if char := f.Character(e); char != "" {
		pkg, imports, ok := f.Use("unicode/utf8", e.Pos())
		return fmt.Sprintf("%s.AppendRune(%s, %s)", pkg, to, char), imports, ok
	}
	return fmt.Sprintf("append(%s, %s...)", to, f.Source(e)), nil, true
}

// names reports whether an expression reads the field, of any owner.
func (g *gathered) names(f *code.File, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.Info().Uses[id] == types.Object(g.field)
		return !found
	})
	return found
}
