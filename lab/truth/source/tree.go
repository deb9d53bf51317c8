package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// Parent is the node that a node of the file is part of.
func (s *File) Parent(n ast.Node) ast.Node {
	if s.parents == nil {
		s.parents = map[ast.Node]ast.Node{}
		var stack []ast.Node
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return false
			}
			if len(stack) > 0 {
				s.parents[n] = stack[len(stack)-1]
			}
			stack = append(stack, n)
			return true
		})
	}
	return s.parents[n]
}

// Tail puts declarations at the end of the file.
func (s *File) Tail(text string) corpus.Edit {
	return corpus.Edit{File: s.Name, Start: len(s.Text), End: len(s.Text), Text: "\n" + text + "\n"}
}

// Gone takes a statement away and leaves its lines; what it names counts as used.
func (s *File) Gone(n ast.Node, used string) corpus.Edit {
	if used != "" {
		used = "_ = " + used
	}
	return s.Swap(n, used+strings.Repeat("\n", strings.Count(s.Of(n), "\n")))
}

// TypeText spells a type as the file may, "" where it names a package that is not imported.
func (s *File) TypeText(t types.Type) string {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == s.Pkg {
			return ""
		}
		for _, spec := range s.Syntax.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err != nil || name != p.Path() {
				continue
			}
			if spec.Name == nil {
				return p.Name()
			}
			if spec.Name.Name != "_" && spec.Name.Name != "." {
				return spec.Name.Name
			}
		}
		ok = false
		return path.Base(p.Path())
	})
	if !ok {
		return ""
	}
	return text
}

// Object is what a name, or a field's selector, stands for.
func (s *File) Object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := s.Info.Defs[e]; o != nil {
			return o
		}
		return s.Info.Uses[e]
	case *ast.SelectorExpr:
		return s.Info.Uses[e.Sel]
	}
	return nil
}

// Uses are the expressions of the package that stand for a variable or field.
func (s *File) Uses(o types.Object) []Place {
	var out []Place
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || s.Info.Uses[id] != o && s.Info.Defs[id] != o {
				return true
			}
			var e ast.Node = id
			if sel, ok := f.Parent(id).(*ast.SelectorExpr); ok && sel.Sel == id {
				e = sel
			}
			out = append(out, Place{f, e})
			return true
		})
	}
	return out
}

// Local reports whether an object is a variable of a function, no parameter or result of one.
func (s *File) Local(o types.Object) bool {
	v, ok := o.(*types.Var)
	if !ok || v.IsField() || v.Parent() == s.Pkg.Scope() || v.Parent() == nil {
		return false
	}
	return !s.Parameter(v)
}

// Parameter reports whether a variable is a parameter, result or receiver.
func (s *File) Parameter(v types.Object) bool {
	found := false
	for _, f := range s.Files {
		if v.Pos() < f.Syntax.FileStart || v.Pos() >= f.Syntax.FileEnd {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				found = found || slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return s.Info.Defs[id] == v })
			}
			return !found
		})
	}
	return found
}

// Zero reports whether an expression is the constant 0.
func (s *File) Zero(e ast.Expr) bool {
	v := s.Info.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// Simple reports whether an expression has no effect, cannot fail and names only what is there
// before a position.
func (s *File) Simple(e ast.Expr, before token.Pos) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		o := s.Info.Uses[e]
		if o == nil {
			return false
		}
		return o.Parent() == types.Universe || o.Parent() == s.Pkg.Scope() || o.Pos() < before
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			if _, ok := s.Info.Uses[id].(*types.PkgName); ok {
				return true
			}
			if v, ok := s.Object(e).(*types.Var); ok && v.IsField() {
				return s.Simple(id, before)
			}
		}
	case *ast.CallExpr:
		if args := s.Builtin(e, "len"); len(args) == 1 {
			return s.Simple(args[0], before)
		}
		if tv := s.Info.Types[e.Fun]; tv.IsType() && len(e.Args) == 1 {
			return s.Simple(e.Args[0], before)
		}
	case *ast.BinaryExpr:
		return e.Op != token.QUO && e.Op != token.REM && e.Op != token.SHL && e.Op != token.SHR &&
			s.Simple(e.X, before) && s.Simple(e.Y, before)
	}
	return false
}

// Assigns reports whether a node assigns to a variable or takes its address.
func (s *File) Assigns(n ast.Node, o types.Object) bool {
	found := false
	is := func(e ast.Expr) bool {
		for {
			switch x := ast.Unparen(e).(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.SliceExpr:
				e = x.X
				continue
			}
			return s.Object(e) == o
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				id, plain := l.(*ast.Ident)
				found = found || is(l) && !(plain && s.Info.Defs[id] == o)
			}
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(n.X)
		case *ast.RangeStmt:
			found = found || n.Tok == token.ASSIGN && (n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value))
		}
		return !found
	})
	return found
}

// Free reports whether names are not yet in use in the package.
func (s *File) Free(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return s.Pkg.Scope().Lookup(n) != nil })
}

// Params are the named parameters of a function with a type that a test likes.
func (s *File) Params(fn *ast.FuncDecl, like func(t types.Type) bool) []*ast.Ident {
	var out []*ast.Ident
	for _, f := range fn.Type.Params.List {
		if _, variadic := f.Type.(*ast.Ellipsis); variadic {
			continue
		}
		for _, id := range f.Names {
			if o := s.Info.Defs[id]; o != nil && id.Name != "_" && like(o.Type()) {
				out = append(out, id)
			}
		}
	}
	return out
}

// IsByteSlice reports whether a type is []byte.
func IsByteSlice(t types.Type) bool {
	x, ok := t.(*types.Slice)
	return ok && types.Identical(x.Elem(), types.Typ[types.Byte])
}

// Writes is a name of a function that writes to what it is handed.
var Writes = regexp.MustCompile(`(?i)^(put|read|copy|append|encode|fill|seal|xor|sum|decode|marshalto|open|reset|reverse|sort|swap|set)`)
