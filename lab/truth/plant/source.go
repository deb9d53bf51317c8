package main

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

// source is one file of a package with what its identifiers mean.
type source struct {
	name  string // relative to the module
	text  []byte
	file  *ast.File
	fset  *token.FileSet
	info  *types.Info
	pkg   *types.Package
	files []*source // of the package
}

// mutator finds places where one kind of waste can be planted.
type mutator struct {
	name  string
	cure  string   // the kind that undoes it, of lab/corpus
	ok    []string // other kinds that undo it
	apart bool
	find  func(s *source, n ast.Node) []corpus.Edit
}

// mutant is one waste that may be planted.
type mutant struct {
	mutator
	function string // as pprof spells it
	site     corpus.Site
	edits    []corpus.Edit
}

// mutants are all that the mutators find in the functions of a file.
func (s *source) mutants() []mutant {
	var out []mutant
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			for _, m := range mutators {
				edits := m.find(s, n)
				if len(edits) == 0 {
					continue
				}
				edits = append(edits, s.blank(edits)...)
				at := n.Pos()
				if n == fn {
					at = fn.Body.Lbrace
				}
				site := corpus.Site{File: s.name, Line: s.fset.Position(at).Line}
				out = append(out, mutant{m, s.spell(fn), site, edits})
			}
			return true
		})
	}
	return out
}

// spell is the name of a function in a profile.
func (s *source) spell(fn *ast.FuncDecl) string {
	name := fn.Name.Name
	if fn.Type.TypeParams != nil {
		name += "[...]"
	}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return s.pkg.Path() + "." + name
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
		recv = s.of(t.X) + "[...]"
	case *ast.IndexListExpr:
		recv = s.of(t.X) + "[...]"
	}
	if pointer {
		recv = "(*" + recv + ")"
	}
	return s.pkg.Path() + "." + recv + "." + name
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// of is the text of a node.
func (s *source) of(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// swap puts a text in a node's place.
func (s *source) swap(n ast.Node, text string) corpus.Edit {
	return corpus.Edit{File: s.name, Start: s.offset(n.Pos()), End: s.offset(n.End()), Text: text}
}

// insert puts a text before a position.
func (s *source) insert(p token.Pos, text string) corpus.Edit {
	return corpus.Edit{File: s.name, Start: s.offset(p), End: s.offset(p), Text: text}
}

// named is the name of an imported package in the file, and the edit that imports it where
// it is not. The edit adds no line.
func (s *source) named(pkg string) (string, []corpus.Edit) {
	for _, spec := range s.file.Imports {
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
	return path.Base(pkg), []corpus.Edit{s.insert(s.file.Name.End(), "; import "+strconv.Quote(pkg))}
}

// blank makes the imports blank that the edits leave without a use.
func (s *source) blank(edits []corpus.Edit) []corpus.Edit {
	edited := func(at int) bool {
		return slices.ContainsFunc(edits, func(e corpus.Edit) bool {
			return e.File == s.name && e.Start <= at && at < e.End
		})
	}
	used := map[types.Object]bool{}
	for id, obj := range s.info.Uses {
		if _, ok := obj.(*types.PkgName); !ok || id.Pos() < s.file.FileStart || id.Pos() >= s.file.FileEnd {
			continue
		}
		again := slices.ContainsFunc(edits, func(e corpus.Edit) bool { return strings.Contains(e.Text, id.Name+".") })
		if again || !edited(s.offset(id.Pos())) {
			used[obj] = true
		}
	}
	var out []corpus.Edit
	for _, spec := range s.file.Imports {
		obj := s.info.Implicits[spec]
		if spec.Name != nil {
			obj = s.info.Defs[spec.Name]
		}
		if obj == nil || used[obj] || spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == ".") {
			continue
		}
		out = append(out, s.swap(spec, "_ "+spec.Path.Value))
	}
	return out
}

// call returns the arguments of a call of a package's function, nil where the node is not one.
func (s *source) call(n ast.Node, pkg, name string) []ast.Expr {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := s.callee(c)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != pkg || f.Name() != name || f.Signature().Recv() != nil {
		return nil
	}
	return c.Args
}

// callee is the function that a call names, nil where it is a value or a builtin.
func (s *source) callee(c *ast.CallExpr) *types.Func {
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
	f, _ := s.info.Uses[id].(*types.Func)
	return f
}

// method returns the receiver and the arguments of a call of a method of a type of the
// standard library, such as "sync.Pool".
func (s *source) method(n ast.Node, typ, name string) (ast.Expr, []ast.Expr) {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	f := s.callee(c)
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

// builtin returns the arguments of a call of a builtin function.
func (s *source) builtin(n ast.Node, name string) []ast.Expr {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return nil
	}
	if _, ok := s.info.Uses[id].(*types.Builtin); !ok {
		return nil
	}
	return c.Args
}

func (s *source) typeOf(e ast.Expr) types.Type {
	if t := s.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

func (s *source) isString(e ast.Expr) bool {
	tv := s.info.Types[e]
	return tv.Value == nil && tv.Type != nil && types.Identical(tv.Type, types.Typ[types.String])
}

func (s *source) isBytes(e ast.Expr) bool {
	t, ok := s.typeOf(e).(*types.Slice)
	return ok && types.Identical(t.Elem(), types.Typ[types.Byte])
}

// plain reports whether an expression is a name, or a field of one.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "nil" && e.Name != "_"
	case *ast.SelectorExpr:
		return plain(e.X)
	}
	return false
}
