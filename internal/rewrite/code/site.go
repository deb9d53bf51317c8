package code

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Defined is the variable that a statement of the form `v := e` defines, where e is the site.
func (s *Site) Defined() (v *types.Var, stmt inspector.Cursor) {
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil, stmt
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	stmt, listed := Statement(s.Cur)
	if !listed || stmt.Node() != ast.Node(assign) || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 {
		return nil, stmt
	}
	return s.Local(assign.Lhs[0]), stmt
}

// NamesLocals reports whether e names something that is declared inside a function.
func (s *Site) NamesLocals(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			obj := s.Info().ObjectOf(id)
			if obj == nil || obj.Parent() != types.Universe && obj.Parent() != s.Pkg.Types.Scope() {
				_, pkg := obj.(*types.PkgName)
				found = found || !pkg && obj != nil && obj.Pkg() == s.Pkg.Types
			}
		}
		return !found
	})
	return found
}

// DeclaredAfter reports whether e names a local variable that is declared behind a position.
func (f *File) DeclaredAfter(e ast.Expr, at token.Pos) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v := f.Local(id); v != nil && v.Pos() >= at {
				found = true
			}
		}
		return !found
	})
	return found
}

// ThroughPointer reports whether naming e follows a pointer, which may be nil.
func (f *File) ThroughPointer(e ast.Expr) bool {
	for {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		t := f.Info().TypeOf(sel.X)
		if t != nil {
			if _, pointer := t.Underlying().(*types.Pointer); pointer {
				return true
			}
		}
		e = sel.X
	}
}

// OnlySpec is the specification of a declaration of one variable; nil for others.
func OnlySpec(d *ast.DeclStmt) *ast.ValueSpec {
	gen, ok := d.Decl.(*ast.GenDecl)
	if !ok || gen.Tok != token.VAR || len(gen.Specs) != 1 {
		return nil
	}
	spec := gen.Specs[0].(*ast.ValueSpec)
	if len(spec.Names) != 1 {
		return nil
	}
	return spec
}

// PointerFree reports whether values of a type hold no pointers.
func PointerFree(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsNumeric) != 0
	case *types.Array:
		return PointerFree(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !PointerFree(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// HasTypeParams reports whether a function or its receiver is generic.
func HasTypeParams(fn *ast.FuncDecl) bool {
	return fn.Type.TypeParams != nil || fn.Recv != nil && len(fn.Recv.List) == 1 && isIndexed(fn.Recv.List[0].Type)
}

func isIndexed(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	switch e.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}
