package owner

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// HoldValue lets a struct hold an object itself in place of a pointer to it: each owner gets a new one in its literal, only
// fields and methods are used through the pointer, and no owner is copied.
func HoldValue(on *code.Site) []code.Edit {
	s := &site{on}
	entry, ok := s.Cur.Parent().Node().(*ast.KeyValueExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.KeyValueExpr_Value {
		return nil
	}
	key, ok := entry.Key.(*ast.Ident)
	if !ok {
		return nil
	}
	field, ok := s.Info().Uses[key].(*types.Var)
	if !ok || !field.IsField() || field.Exported() || field.Embedded() || field.Pkg() != s.Pkg.Types {
		return nil
	}
	owner, ok := types.Unalias(s.Info().TypeOf(s.Cur.Parent().Parent().Node().(ast.Expr))).(*types.Named)
	if !ok || owner.TypeArgs().Len() > 0 {
		return nil
	}
	v := &value{field: field, owner: owner, changes: map[*code.File][]code.Change{}}
	uses := 0
	for _, obj := range s.Info().Uses {
		if obj == types.Object(field) {
			uses++
		}
	}
	for _, f := range s.Package {
		if !v.all(f, &uses) {
			return nil
		}
	}
	if uses != 0 || !v.declared { // others are in files that are not to be edited
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("let `%s` hold the object itself", field.Name()), Changes: v.changes[s.File]}
	for _, f := range s.Package {
		if f != s.File && len(v.changes[f]) > 0 {
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: v.changes[f]})
		}
	}
	if owner.Obj().Exported() {
		e.Open = fmt.Sprintf("no other package may copy a `%s`", owner.Obj().Name())
	}
	return []code.Edit{e}
}

// value is a field on its way from a pointer to what that points to.
type value struct {
	field    *types.Var
	owner    *types.Named
	declared bool
	changes  map[*code.File][]code.Change
}

// all takes the uses of the field in a file; false if there is one that needs a pointer, or a copy of an owner.
func (v *value) all(f *code.File, uses *int) bool {
	for c := range f.Root.Preorder((*ast.Ident)(nil), (*ast.CompositeLit)(nil), (*ast.StarExpr)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.Ident:
			switch types.Object(v.field) {
			case f.Info().Uses[n]:
				*uses--
				if !v.use(f, c) {
					return false
				}
			case f.Info().Defs[n]:
				if !v.declare(f, c) {
					return false
				}
			}
			if obj, ok := f.Info().ObjectOf(n).(*types.Var); ok && types.Identical(obj.Type(), v.owner) {
				return false // a variable or field that is an owner
			}
		case *ast.CompositeLit:
			if types.Identical(f.Info().TypeOf(n), v.owner) && !v.literal(f, n, c) {
				return false
			}
		case *ast.StarExpr:
			if t := f.Info().Types[n]; t.IsValue() && types.Identical(t.Type, v.owner) {
				return false
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "new" && types.Identical(f.Info().TypeOf(n), types.NewPointer(v.owner)) {
				return false
			}
		}
	}
	return true
}

// literal reports whether a literal is that of a new owner, by its address, which gets a new object.
func (v *value) literal(f *code.File, lit *ast.CompositeLit, c inspector.Cursor) bool {
	if u, ok := c.Parent().Node().(*ast.UnaryExpr); !ok || u.Op != token.AND {
		return false
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		if id, ok := kv.Key.(*ast.Ident); ok && f.Info().Uses[id] == types.Object(v.field) {
			return true
		}
	}
	return false
}

// declare changes the declaration of the field.
func (v *value) declare(f *code.File, c inspector.Cursor) bool {
	d, ok := c.Parent().Node().(*ast.Field)
	if !ok || len(d.Names) != 1 {
		return false
	}
	star, ok := d.Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	if _, ok := v.field.Type().(*types.Pointer).Elem().Underlying().(*types.Struct); !ok {
		return false
	}
	v.declared = true
	v.changes[f] = append(v.changes[f], code.Change{From: f.Offset(star.Pos()), To: f.Offset(star.X.Pos())})
	return true
}

// use changes a use of the field; false if that needs a pointer.
func (v *value) use(f *code.File, c inspector.Cursor) bool {
	switch up := c.Parent().Node().(type) {
	case *ast.SelectorExpr: // x.field, of which a method or a field is used
		through, ok := c.Parent().Parent().Node().(*ast.SelectorExpr)
		return ok && through.X == ast.Expr(up)
	case *ast.KeyValueExpr:
		switch made := ast.Unparen(up.Value).(type) {
		case *ast.CallExpr:
			if f.Builtin(made, "new") == nil {
				return false
			}
			v.changes[f] = append(v.changes[f], zero(f, up, made))
			return true
		case *ast.UnaryExpr:
			if _, lit := made.X.(*ast.CompositeLit); !lit || made.Op != token.AND {
				return false
			}
			v.changes[f] = append(v.changes[f], code.Change{From: f.Offset(made.Pos()), To: f.Offset(made.X.Pos())})
			return true
		}
	}
	return false
}

// zero leaves out an entry that makes a zero value, with its line where it stands on one of its own.
func zero(f *code.File, entry *ast.KeyValueExpr, made *ast.CallExpr) code.Change {
	from, to := f.Offset(entry.Pos()), f.Offset(entry.End())
	start := bytes.LastIndexByte(f.Text[:from], '\n') + 1
	end := bytes.IndexByte(f.Text[to:], '\n')
	if end < 0 || strings.TrimSpace(string(f.Text[start:from])) != "" || strings.TrimSpace(string(f.Text[to:to+end])) != "," {
		return f.Replace(made, f.Source(made.Args[0])+"{}")
	}
	return code.Change{From: start, To: to + end + 1}
}
