// Package source reads the packages of modules, asks small questions of their syntax and types, and
// builds them with edits.
package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// File is one file of a package with what its identifiers mean.
type File struct {
	Name   string // relative to the module
	Text   []byte
	Syntax *ast.File
	Fset   *token.FileSet
	Info   *types.Info
	Pkg    *types.Package
	Files  []*File // of the package

	parents map[ast.Node]ast.Node
}

// Place is a node of a file.
type Place struct {
	S *File
	N ast.Node
}

// Around is the function of the package that a node is part of.
func (s *File) Around(n ast.Node) *ast.FuncDecl {
	for _, d := range s.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Pos() <= n.Pos() && n.End() <= fn.End() {
			return fn
		}
	}
	return nil
}

// Spell is the name of a function in a profile.
func (s *File) Spell(fn *ast.FuncDecl) string {
	name := fn.Name.Name
	if fn.Type.TypeParams != nil {
		name += "[...]"
	}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return s.Pkg.Path() + "." + name
	}
	t := fn.Recv.List[0].Type
	star, pointer := t.(*ast.StarExpr)
	if pointer {
		t = star.X
	}
	recv := ""
	switch t := t.(type) {
	case *ast.Ident:
		recv = t.Name
	case *ast.IndexExpr:
		recv = s.Of(t.X) + "[...]"
	case *ast.IndexListExpr:
		recv = s.Of(t.X) + "[...]"
	}
	if pointer {
		recv = "(*" + recv + ")"
	}
	return s.Pkg.Path() + "." + recv + "." + name
}

// Offset is where a position is in the text, in bytes.
func (s *File) Offset(p token.Pos) int { return s.Fset.Position(p).Offset }

// Of is the text of a node.
func (s *File) Of(n ast.Node) string { return string(s.Text[s.Offset(n.Pos()):s.Offset(n.End())]) }

// Swap puts a text in a node's place.
func (s *File) Swap(n ast.Node, text string) corpus.Edit {
	return corpus.Edit{File: s.Name, Start: s.Offset(n.Pos()), End: s.Offset(n.End()), Text: text}
}

// Insert puts a text before a position.
func (s *File) Insert(p token.Pos, text string) corpus.Edit {
	return corpus.Edit{File: s.Name, Start: s.Offset(p), End: s.Offset(p), Text: text}
}

// Named is the name of an imported package in the file, and the edit that imports it where
// it is not. The edit adds no line.
func (s *File) Named(pkg string) (string, []corpus.Edit) {
	for _, spec := range s.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != pkg {
			continue
		}
		if spec.Name == nil {
			return path.Base(pkg), nil
		}
		if spec.Name.Name != "_" && spec.Name.Name != "." {
			return spec.Name.Name, nil
		}
	}
	return path.Base(pkg), []corpus.Edit{s.Insert(s.Syntax.Name.End(), "; import "+strconv.Quote(pkg))}
}

// Blank makes the imports blank that the edits leave without a use.
func (s *File) Blank(edits []corpus.Edit) []corpus.Edit {
	edited := func(at int) bool {
		return slices.ContainsFunc(edits, func(e corpus.Edit) bool {
			return e.File == s.Name && e.Start <= at && at < e.End
		})
	}
	used := map[types.Object]bool{}
	for id, obj := range s.Info.Uses {
		if _, ok := obj.(*types.PkgName); !ok || id.Pos() < s.Syntax.FileStart || id.Pos() >= s.Syntax.FileEnd {
			continue
		}
		again := slices.ContainsFunc(edits, func(e corpus.Edit) bool { return strings.Contains(e.Text, id.Name+".") })
		if again || !edited(s.Offset(id.Pos())) {
			used[obj] = true
		}
	}
	var out []corpus.Edit
	for _, spec := range s.Syntax.Imports {
		obj := s.Info.Implicits[spec]
		if spec.Name != nil {
			obj = s.Info.Defs[spec.Name]
		}
		if obj == nil || used[obj] || spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == ".") {
			continue
		}
		out = append(out, s.Swap(spec, "_ "+spec.Path.Value))
	}
	return out
}

// Call returns the arguments of a call of a package's function, nil where the node is not one.
func (s *File) Call(n ast.Node, pkg, name string) []ast.Expr {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := s.Callee(c)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != pkg || f.Name() != name || f.Signature().Recv() != nil {
		return nil
	}
	return c.Args
}

// Callee is the function that a call names, nil where it is a value or a builtin.
func (s *File) Callee(c *ast.CallExpr) *types.Func {
	fun := ast.Unparen(c.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	f, _ := s.Info.Uses[id].(*types.Func)
	return f
}

// Method returns the receiver and the arguments of a call of a method of a type of the
// standard library, such as "sync.Pool".
func (s *File) Method(n ast.Node, typ, name string) (ast.Expr, []ast.Expr) {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	f := s.Callee(c)
	if !ok || f == nil || f.Name() != name || f.Signature().Recv() == nil {
		return nil, nil
	}
	t := f.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if types.TypeString(t, nil) != typ {
		return nil, nil
	}
	return sel.X, c.Args
}

// Builtin returns the arguments of a call of a builtin function.
func (s *File) Builtin(n ast.Node, name string) []ast.Expr {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return nil
	}
	if _, ok := s.Info.Uses[id].(*types.Builtin); !ok {
		return nil
	}
	return c.Args
}

// TypeOf is the type of an expression; invalid where it has none.
func (s *File) TypeOf(e ast.Expr) types.Type {
	if t := s.Info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// IsString reports whether an expression is a string and no constant.
func (s *File) IsString(e ast.Expr) bool {
	tv := s.Info.Types[e]
	return tv.Value == nil && tv.Type != nil && types.Identical(tv.Type, types.Typ[types.String])
}

// IsBytes reports whether an expression is a []byte.
func (s *File) IsBytes(e ast.Expr) bool {
	t, ok := s.TypeOf(e).(*types.Slice)
	return ok && types.Identical(t.Elem(), types.Typ[types.Byte])
}

// Plain reports whether an expression is a name, or a field of one.
func Plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "nil" && e.Name != "_"
	case *ast.SelectorExpr:
		return Plain(e.X)
	}
	return false
}
