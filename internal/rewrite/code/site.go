package code

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

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

// SpecOf is the specification of a declaration that names a variable; nil for none.
func SpecOf(d *ast.DeclStmt, v *types.Var) *ast.ValueSpec {
	gen, ok := d.Decl.(*ast.GenDecl)
	if !ok || gen.Tok != token.VAR {
		return nil
	}
	for _, spec := range gen.Specs {
		for _, n := range spec.(*ast.ValueSpec).Names {
			if n.Pos() == v.Pos() {
				return spec.(*ast.ValueSpec)
			}
		}
	}
	return nil
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

// HoldsLock reports whether values of a type must not be copied: a lock, an atomic value, or a mark against
// copies is in it.
func HoldsLock(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if pkg := n.Obj().Pkg(); pkg != nil && (pkg.Path() == "sync" || pkg.Path() == "sync/atomic") {
			return true
		}
		if lock, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, nil, "Lock"); lock != nil {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return HoldsLock(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if HoldsLock(f.Type()) {
				return true
			}
		}
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

// FuncOf is the declaration of a function of the package, and the file that has it; nil where that is not to be edited.
func (f *File) FuncOf(fn *types.Func) (*File, *ast.FuncDecl) {
	for _, in := range f.Package {
		for _, d := range in.Syntax.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && in.Info().Defs[decl.Name] == types.Object(fn) {
				return in, decl
			}
		}
	}
	return nil, nil
}

// StructOf is the declaration of a struct type of the package, and the file that has it; nil where that is not
// to be edited.
func (f *File) StructOf(n *types.Named) (*File, *ast.StructType) {
	for _, in := range f.Package {
		if in.Syntax.FileStart > n.Obj().Pos() || in.Syntax.FileEnd < n.Obj().Pos() {
			continue
		}
		for c := range in.Root.Preorder((*ast.TypeSpec)(nil)) {
			if spec := c.Node().(*ast.TypeSpec); in.Info().Defs[spec.Name] == types.Object(n.Obj()) {
				st, _ := spec.Type.(*ast.StructType)
				return in, st
			}
		}
	}
	return nil, nil
}

// Constrained reports whether the file is left out of some builds.
func (f *File) Constrained() bool {
	for _, g := range f.Syntax.Comments {
		if g.Pos() < f.Syntax.Package && slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return constraint.IsGoBuild(c.Text) }) {
			return true
		}
	}
	for _, target := range [][2]string{{"plan9", "arm"}, {"windows", "s390x"}} {
		c := build.Default
		c.GOOS, c.GOARCH = target[0], target[1]
		if ok, err := c.MatchFile(filepath.Dir(f.Name), filepath.Base(f.Name)); err != nil || !ok {
			return true
		}
	}
	return false
}

// Spell is a type as the file writes it at a position, and what to import for that.
func (f *File) Spell(t types.Type, at token.Pos) (text string, imports []string, ok bool) {
	ok = true
	text = types.TypeString(t, func(p *types.Package) string {
		if p == f.Pkg.Types {
			return ""
		}
		name, needs, found := f.Use(p.Path(), at)
		if len(needs) > 0 && name != p.Name() {
			found = false
		}
		ok, imports = ok && found, append(imports, needs...)
		return name
	})
	return text, imports, ok
}

// Appends returns the statement `x = append(x, …)` that the site is, or that of another function that
// takes the slice first and returns it, and its call.
func (s *Site) Appends() (*ast.AssignStmt, *ast.CallExpr) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || len(call.Args) == 0 || s.Info().Types[call.Fun].IsType() {
		return nil, nil
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || s.Source(assign.Lhs[0]) != s.Source(call.Args[0]) {
		return nil, nil
	}
	if _, ok := s.Info().TypeOf(call.Args[0]).Underlying().(*types.Slice); !ok {
		return nil, nil
	}
	return assign, call
}

// Jumps reports whether the function around the site has a goto that edits do not allow for: one that goes back, which
// makes a loop, or one over a change that declares something.
func (s *Site) Jumps(changes []Change) bool {
	fn := Declaration(s.Cur)
	if fn == nil || fn.Body == nil {
		return false
	}
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		jump, ok := n.(*ast.BranchStmt)
		if !ok || jump.Tok != token.GOTO {
			return !found
		}
		from, to := s.Offset(jump.Pos()), s.Offset(s.Info().Uses[jump.Label].Pos())
		found = found || to <= from || slices.ContainsFunc(changes, func(c Change) bool {
			return c.To > from && c.From <= to && (strings.Contains(c.Text, ":=") || strings.Contains(c.Text, "var "))
		})
		return !found
	})
	return found
}

// Commented reports whether a comment stands inside a node.
func (f *File) Commented(n ast.Node) bool {
	return slices.ContainsFunc(f.Syntax.Comments, func(g *ast.CommentGroup) bool { return g.Pos() > n.Pos() && g.End() < n.End() })
}

// SizeOf is a type's size in bytes; 0 for one that depends on type parameters.
func (f *File) SizeOf(t types.Type) (size int64) {
	defer func() {
		if recover() != nil { // a type parameter has no size
			size = 0
		}
	}()
	return f.Pkg.TypesSizes.Sizeof(t)
}

// Aside reports whether a node is on another way through an if or a switch statement than the site, and no loop that the
// variable outlives comes from one to the other.
func (s *Site) Aside(u inspector.Cursor, v *types.Var) bool {
	at := s.Cur
	for !at.Parent().Contains(u) {
		at = at.Parent()
	}
	fork := at.Parent()
	for u.Parent() != fork {
		u = u.Parent()
	}
	switch n := fork.Node().(type) {
	case *ast.IfStmt:
		if at.Node() != n.Body && at.Node() != n.Else || u.Node() != n.Body && u.Node() != n.Else {
			return false
		}
	case *ast.BlockStmt:
		one, isCase := at.Node().(*ast.CaseClause)
		other, also := u.Node().(*ast.CaseClause)
		if !isCase || !also || fallsThrough(one) || fallsThrough(other) {
			return false
		}
	default:
		return false
	}
	for loop := range fork.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil)) {
		if loop.Node().Pos() > v.Pos() {
			return false
		}
	}
	return true
}

func fallsThrough(c *ast.CaseClause) bool {
	if len(c.Body) == 0 {
		return false
	}
	last, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt)
	return ok && last.Tok == token.FALLTHROUGH
}
