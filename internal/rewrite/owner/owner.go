// Package owner has the edits that let what outlives a call keep memory for the next one: fields of
// receivers and arguments that are emptied instead of dropped, or added for what a call makes anew.
package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }

// holder is a receiver, or a parameter, that points to a struct of the package.
type holder struct {
	v    *types.Var
	typ  *types.Named
	fn   *ast.FuncDecl
	file *code.File // that declares the struct
	decl *ast.StructType
}

// receiver is the receiver of the method around the site, if it points to a struct whose declaration may be
// edited, and the site is not in a literal, which may run at another time; nil for others.
func (s *site) receiver() *holder {
	fn := code.Declaration(s.Cur)
	in, _ := code.Function(s.Cur)
	if fn == nil || fn.Recv == nil || in.Node() != ast.Node(fn) || code.HasTypeParams(fn) || len(fn.Recv.List[0].Names) != 1 {
		return nil
	}
	return s.holder(fn, fn.Recv.List[0].Names[0])
}

func (s *site) holder(fn *ast.FuncDecl, name *ast.Ident) *holder {
	v, ok := s.Info().Defs[name].(*types.Var)
	if !ok || name.Name == "_" || s.Lookup(name.Name, s.Cur.Node().Pos()) != types.Object(v) || s.assigned(v, fn) {
		return nil
	}
	p, ok := types.Unalias(v.Type()).(*types.Pointer)
	if !ok {
		return nil
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || n.Obj().Pkg() != s.Pkg.Types || n.TypeArgs().Len() > 0 {
		return nil
	}
	h := &holder{v: v, typ: n, fn: fn}
	h.file, h.decl = s.StructOf(n)
	if h.decl == nil || h.file.Name != s.Name && h.file.Constrained() || s.unkeyed(n) || s.measured(n) {
		return nil
	}
	return h
}

// assigned reports whether a function puts another value into a parameter.
func (s *site) assigned(v *types.Var, fn *ast.FuncDecl) bool {
	c, ok := s.Root.FindNode(fn)
	if !ok {
		return true
	}
	for _, u := range s.Uses(v, c) {
		kind := u.ParentEdgeKind()
		if kind == edge.AssignStmt_Lhs || kind == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			return true
		}
	}
	return false
}

// unkeyed reports whether a literal lists the fields of a struct by their order.
func (s *site) unkeyed(n *types.Named) bool {
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CompositeLit)(nil)) {
			lit := c.Node().(*ast.CompositeLit)
			if len(lit.Elts) == 0 || f.Info().TypeOf(lit) != n {
				continue
			}
			if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
				return true
			}
		}
	}
	return false
}

// measured reports whether the package may look at the layout of a struct: by unsafe, or by converting it to
// another struct type.
func (s *site) measured(n *types.Named) bool {
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CallExpr)(nil)) {
			call := c.Node().(*ast.CallExpr)
			if len(call.Args) != 1 || f.Info().TypeOf(call.Args[0]) == nil {
				continue
			}
			fun := f.Info().Types[call.Fun]
			from := pointed(f.Info().TypeOf(call.Args[0]))
			unsafely := strings.HasPrefix(f.Source(call.Fun), "unsafe.")
			if (fun.IsType() && !types.IsInterface(fun.Type) || unsafely) && from == types.Type(n) && pointed(f.Info().TypeOf(call)) != types.Type(n) {
				return true
			}
		}
	}
	return false
}

// pointed is the type that a pointer points to; other types as they are.
func pointed(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// add makes an edit add a field to the struct of a holder, and returns its name; "" where its type cannot be
// spelled there.
func (h *holder) add(s *site, e *code.Edit, base string, typ types.Type) string {
	text, imports, ok := h.file.Spell(typ, h.decl.Pos())
	if !ok {
		return ""
	}
	first, n := utf8.DecodeRuneInString(base)
	base = string(unicode.ToLower(first)) + base[n:]
	owner := fmt.Sprint(s.Cur.Node().Pos())
	name := s.FreshDeclared(base, owner)
	for i := 2; ; i++ {
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(h.typ), true, s.Pkg.Types, name)
		if obj == nil {
			break
		}
		name = s.FreshDeclared(fmt.Sprintf("%s%d", base, i), owner)
	}
	at := h.file.Offset(h.decl.Fields.Closing)
	line := fmt.Sprintf("%s %s // kept from call to call\n", name, text)
	if before := strings.TrimRight(string(h.file.Text[:at]), " \t"); !strings.HasSuffix(before, "\n") {
		line = "\n" + line
	}
	c := h.file.Insert(at, line)
	if h.file.Name == s.Name {
		e.Changes, e.Imports = append(e.Changes, c), append(e.Imports, imports...)
	} else {
		e.Also = append(e.Also, code.Part{File: h.file.Name, Changes: []code.Change{c}, Imports: imports})
	}
	return name
}

// open asks what the use of a field from call to call rests on: nothing, where calls on one struct cannot
// overlap and the struct is not copied.
func (h *holder) open(s *site, at inspector.Cursor) string {
	var out []string
	name := h.typ.Obj().Name()
	if !h.exclusive(s, at) {
		out = append(out, fmt.Sprintf("one %s must not be used by two goroutines at a time", name))
	}
	if s.copies(h.typ) {
		out = append(out, fmt.Sprintf("a copy of a %s must not be used beside the original", name))
	}
	if h.typ.Obj().Exported() {
		out = append(out, fmt.Sprintf("nothing must compare or print a %s by reflection", name))
	}
	return strings.Join(out, "; ")
}

// copies reports whether the package copies values of a struct.
func (s *site) copies(n *types.Named) bool {
	for m := range n.Methods() {
		if _, pointer := m.Signature().Recv().Type().(*types.Pointer); !pointer {
			return true
		}
	}
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.FuncType)(nil)) {
			for _, p := range c.Node().(*ast.FuncType).Params.List {
				if t := f.Info().TypeOf(p.Type); t != nil && types.Unalias(t) == types.Type(n) {
					return true
				}
			}
		}
		for c := range f.Root.Preorder((*ast.Ident)(nil), (*ast.SelectorExpr)(nil), (*ast.StarExpr)(nil), (*ast.IndexExpr)(nil)) {
			e := c.Node().(ast.Expr)
			if tv := f.Info().Types[e]; !tv.IsValue() || types.Unalias(tv.Type) != types.Type(n) {
				continue
			}
			switch c.ParentEdgeKind() {
			case edge.SelectorExpr_X, edge.SelectorExpr_Sel, edge.AssignStmt_Lhs, edge.ParenExpr_X, edge.ValueSpec_Names, edge.KeyValueExpr_Key:
			case edge.UnaryExpr_X:
				if c.Parent().Node().(*ast.UnaryExpr).Op != token.AND {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}
