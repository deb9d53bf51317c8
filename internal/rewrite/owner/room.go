package owner

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// FieldRoom sets the capacity of a field that append grows, in the only composite literal of its struct: that which nine of
// ten blocks of the recording had, if they have at most code.MostReserved bytes.
func FieldRoom(on *code.Site) []code.Edit {
	s := &site{on}
	assign, call := s.Appends()
	if assign == nil || !s.Place.Grown || s.Builtin(call, "append") == nil {
		return nil
	}
	field := s.fieldOf(s.File, assign.Lhs[0])
	if field == nil {
		return nil
	}
	slice, ok := field.Type().Underlying().(*types.Slice)
	if !ok || s.SizeOf(slice.Elem()) == 0 {
		return nil
	}
	room := s.Seen(code.MostReserved) / s.SizeOf(slice.Elem())
	if room < 2 {
		return nil
	}
	f, lit := s.onlyMaker(ast.Unparen(assign.Lhs[0]).(*ast.SelectorExpr), field)
	if lit == nil {
		return nil
	}
	text, imports, ok := f.Spell(field.Type(), lit.Pos())
	if !ok || !atTop(f, "make("+text+")", lit.Pos()) {
		return nil
	}
	value := fmt.Sprintf("%s: make(%s, 0, %d)", field.Name(), text, room)
	if f.Line(lit.Lbrace) < f.Line(lit.Rbrace) {
		value = "\n" + value
	}
	value += ", " // another field may be inserted at the same place
	e := code.Edit{Text: fmt.Sprintf("make `%s` with capacity %d with its struct", s.Source(assign.Lhs[0]), room), Imports: imports,
		Open:    fmt.Sprintf("every struct allocates %d elements, even if it needs fewer; code, encoders and reflection must not depend on a nil field", room),
		Changes: []code.Change{f.Insert(f.Offset(lit.Lbrace)+1, value)}}
	return []code.Edit{s.in(f, e)}
}

// atTop reports whether all names of an expression resolve to package or universe scope at a position.
func atTop(f *code.File, expr string, at token.Pos) bool {
	e, err := parser.ParseExpr(expr)
	if err != nil {
		return false
	}
	same := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := f.Lookup(id.Name, at); obj != nil {
				_, pkg := obj.(*types.PkgName)
				same = same && (pkg || obj.Parent() == types.Universe || obj.Parent() == f.Pkg.Types.Scope())
			}
		}
		return same
	})
	return same
}

// onlyMaker is the only literal of the struct that has a field, with its file, if it names other fields only; nil otherwise.
func (s *site) onlyMaker(sel *ast.SelectorExpr, field *types.Var) (*code.File, *ast.CompositeLit) {
	named, ok := pointed(s.Info().TypeOf(sel.X)).(*types.Named)
	selection := s.Info().Selections[sel]
	if !ok || named.TypeArgs().Len() > 0 || selection == nil || len(selection.Index()) > 1 || s.copies(named) {
		return nil, nil // of an embedded struct, or of one whose copies would append to the same array
	}
	var in *code.File
	var only *ast.CompositeLit
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CompositeLit)(nil)) {
			lit := c.Node().(*ast.CompositeLit)
			if pointed(f.Info().TypeOf(lit)) != types.Type(named) { // that of `{…}` in a list of pointers is a pointer
				continue
			}
			if only != nil || code.Declaration(c) == nil { // one of several, or of a variable of the package
				return nil, nil
			}
			in, only = f, lit
		}
	}
	if only == nil || !keyedWithout(only, field.Name()) {
		return nil, nil
	}
	return in, only
}

// keyedWithout reports whether a literal names its fields, and not this one.
func keyedWithout(lit *ast.CompositeLit, field string) bool {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
			return false
		}
	}
	return true
}
