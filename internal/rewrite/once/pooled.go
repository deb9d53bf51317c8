package once

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// PoolOnce makes a pool that each owner, or each call, makes for itself a variable of the package: one that has just
// been made is empty. The site is in its New.
func PoolOnce(on *code.Site) []code.Edit {
	s := &site{on}
	at := s.poolAround()
	fn := code.Declaration(s.Cur)
	if !at.Valid() || fn == nil || fn.Recv == nil && fn.Name.Name == "init" {
		return nil
	}
	lit := at.Node().(*ast.CompositeLit)
	if s.captures(lit) {
		return nil
	}
	var whole ast.Expr = lit
	pointer := at.ParentEdgeKind() == edge.UnaryExpr_X
	if pointer {
		at = at.Parent()
		whole = at.Node().(*ast.UnaryExpr)
	}
	s = &site{&code.Site{File: s.File, Cur: at, Place: s.Place}} // one edit for all that New makes
	e := s.once(fn, whole, "pool", "what is put into the pool must be of use to every one that takes from it")
	if pointer {
		return []code.Edit{e}
	}
	e.Changes[1].Text = "&" + e.Changes[1].Text
	if v, _ := s.assignedTo(at); v == nil || v.IsField() && !s.pointTo(v, &e) {
		return nil
	}
	return []code.Edit{e}
}

// poolAround is the literal of the sync.Pool in whose New the site is.
func (s *site) poolAround() inspector.Cursor {
	for c := s.Cur; c.Node() != nil; c = c.Parent() {
		switch n := c.Node().(type) {
		case *ast.CompositeLit:
			if code.Named(s.Info().TypeOf(n), "sync.Pool") {
				return c
			}
		case *ast.FuncDecl, *ast.File:
			return inspector.Cursor{}
		}
	}
	return inspector.Cursor{}
}

// captures reports whether an expression names something of the function around it.
func (s *site) captures(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return !found
		}
		obj := s.Info().Uses[id]
		switch v := obj.(type) {
		case nil, *types.PkgName, *types.Func, *types.Builtin, *types.Nil, *types.Label:
			return !found
		case *types.Var:
			if v.IsField() {
				return !found
			}
		}
		outside := obj.Pos() < e.Pos() || obj.Pos() >= e.End()
		found = found || outside && obj.Pkg() == s.Pkg.Types && obj.Parent() != s.Pkg.Types.Scope()
		return !found
	})
	return found
}

// assignedTo is the variable or field that an expression becomes the value of; nil for others.
func (s *site) assignedTo(c inspector.Cursor) (v *types.Var, ok bool) {
	var to ast.Expr
	switch n := c.Parent().Node().(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 {
			to = n.Lhs[0]
		}
	case *ast.KeyValueExpr:
		to = n.Key
	}
	switch e := to.(type) {
	case *ast.SelectorExpr:
		v, ok = s.Info().Uses[e.Sel].(*types.Var)
	case *ast.Ident:
		v, ok = s.Info().ObjectOf(e).(*types.Var)
	}
	return v, ok
}

// pointTo makes an unexported field a pointer, where every owner is made by the function of the site, by its address.
func (s *site) pointTo(field *types.Var, e *code.Edit) bool {
	if field.Exported() || field.Embedded() || field.Pkg() != s.Pkg.Types {
		return false
	}
	var owner types.Type
	var typ *ast.Field
	var file *code.File
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.TypeSpec)(nil)) {
			spec := c.Node().(*ast.TypeSpec)
			st, ok := spec.Type.(*ast.StructType)
			if !ok || spec.TypeParams != nil {
				continue
			}
			for _, d := range st.Fields.List {
				if len(d.Names) == 1 && f.Info().Defs[d.Names[0]] == types.Object(field) {
					owner, typ, file = f.Info().Defs[spec.Name].Type(), d, f
				}
			}
		}
	}
	if typ == nil || !s.madeHereOnly(owner) {
		return false
	}
	c := code.Change{From: file.Offset(typ.Type.Pos()), To: file.Offset(typ.Type.Pos()), Text: "*"}
	if file == s.File {
		e.Changes = append(e.Changes, c)
	} else {
		e.Also = append(e.Also, code.Part{File: file.Name, Changes: []code.Change{c}})
	}
	return true
}

// madeHereOnly reports whether one literal of the package makes values of a type, by its address, in the function of the site.
func (s *site) madeHereOnly(t types.Type) bool {
	fn := code.Declaration(s.Cur)
	made := 0
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CompositeLit)(nil), (*ast.Ident)(nil), (*ast.CallExpr)(nil)) {
			switch n := c.Node().(type) {
			case *ast.CompositeLit:
				if !types.Identical(f.Info().TypeOf(n), t) {
					continue
				}
				u, ok := c.Parent().Node().(*ast.UnaryExpr)
				if made++; made > 1 || !ok || u.Op != token.AND || f != s.File || n.Pos() < fn.Pos() || n.Pos() >= fn.End() {
					return false
				}
			case *ast.Ident:
				if v, ok := f.Info().ObjectOf(n).(*types.Var); ok && types.Identical(v.Type(), t) {
					return false
				}
			case *ast.CallExpr:
				if f.Builtin(n, "new") != nil && types.Identical(f.Info().TypeOf(n), types.NewPointer(t)) {
					return false
				}
			}
		}
	}
	return made == 1
}
