package equal

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// mostStubs limits how many types are declared to stand for interfaces.
const mostStubs = 40

// stubs are types that stand for interfaces which functions of a package take.
type stubs struct {
	g        *graph
	seen     map[string]bool
	queue    []types.Type
	names    map[string]string // of imports, by path
	n        int
	types    strings.Builder
	register strings.Builder
}

// newStubs declares a type for each interface that a function which is called takes, and for those that
// the methods of these return.
func newStubs(g *graph) *stubs {
	s := &stubs{g: g, seen: map[string]bool{}, names: map[string]string{}}
	for _, f := range g.funcs {
		if f.bad != "" || !f.public {
			continue
		}
		for v := range f.obj.Signature().Params().Variables() {
			s.want(v.Type(), 0)
		}
	}
	for len(s.queue) > 0 && s.n < mostStubs {
		t := s.queue[0]
		s.queue = s.queue[1:]
		s.declare(t)
	}
	s.cases()
	return s
}

// mostCases limits how many types are taken from questions to interfaces.
const mostCases = 60

// cases registers the types of other packages, and those without a name, that the package asks values of
// interfaces for.
func (s *stubs) cases() {
	seen := map[string]bool{}
	add := func(e ast.Expr) {
		t := s.g.pkg.TypesInfo.Types[e].Type
		if t == nil || types.IsInterface(t) || !s.plain(t) || !s.nameable(t) {
			return
		}
		if len(seen) == mostCases {
			return
		}
		if text := s.text(t); !seen[text] {
			seen[text] = true
			fmt.Fprintf(&s.register, "\t%s.Case((*%s)(nil))\n", sessionName, text)
		}
	}
	for _, f := range s.g.pkg.Syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				if n.Type != nil {
					add(n.Type)
				}
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						add(e)
					}
				}
			}
			return true
		})
	}
}

// plain reports whether a type is made of basic types and of types that other packages declare.
func (s *stubs) plain(t types.Type) bool {
	switch x := types.Unalias(t).(type) {
	case *types.Basic:
		return x.Kind() != types.UntypedNil && x.Kind() != types.UnsafePointer
	case *types.Pointer:
		return s.plain(x.Elem())
	case *types.Slice:
		return s.plain(x.Elem())
	case *types.Array:
		return s.plain(x.Elem())
	case *types.Map:
		return s.plain(x.Key()) && s.plain(x.Elem())
	case *types.Interface:
		return x.Empty()
	case *types.Named:
		p := x.Obj().Pkg()
		return p != nil && p != s.g.pkg.Types && x.Obj().Parent() == p.Scope() && x.TypeParams().Len() == 0
	}
	return false
}

// want looks for interfaces in a type.
func (s *stubs) want(t types.Type, depth int) {
	if depth > 3 {
		return
	}
	switch x := types.Unalias(t).(type) {
	case *types.Pointer:
		s.want(x.Elem(), depth+1)
	case *types.Slice:
		s.want(x.Elem(), depth+1)
	case *types.Map:
		s.want(x.Elem(), depth+1)
	case *types.Signature:
		for v := range x.Results().Variables() {
			s.want(v.Type(), depth+1)
		}
	case *types.Named:
		s.named(x, depth)
	}
}

func (s *stubs) named(x *types.Named, depth int) {
	key := types.TypeString(x, nil)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	switch u := x.Underlying().(type) {
	case *types.Interface:
		if u.NumMethods() > 0 && u.IsMethodSet() && s.reaches(x) {
			s.queue = append(s.queue, x)
		}
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				s.want(f.Type(), depth+1)
			}
		}
	}
}

// reaches reports whether the package can name a type, and all that its methods take and return, without
// an import that it may not have.
func (s *stubs) reaches(t types.Type) bool {
	if !s.nameable(t) {
		return false
	}
	face, ok := t.Underlying().(*types.Interface)
	if !ok {
		return true
	}
	for m := range face.Methods() {
		if !m.Exported() && m.Pkg() != s.g.pkg.Types {
			return false
		}
		sig := m.Signature()
		for _, list := range []*types.Tuple{sig.Params(), sig.Results()} {
			for v := range list.Variables() {
				if !s.nameable(v.Type()) {
					return false
				}
			}
		}
	}
	return true
}

func (s *stubs) nameable(t types.Type) bool {
	ok := true
	types.TypeString(t, func(p *types.Package) string {
		ok = ok && (p == s.g.pkg.Types || s.importable(p.Path()))
		return p.Name()
	})
	var walk func(t types.Type, depth int)
	walk = func(t types.Type, depth int) {
		switch x := types.Unalias(t).(type) {
		case *types.Named:
			ok = ok && (x.Obj().Pkg() == nil || x.Obj().Exported() || x.Obj().Pkg() == s.g.pkg.Types) && x.TypeParams().Len() == x.TypeArgs().Len()
		case *types.TypeParam:
			ok = false
		case *types.Pointer:
			walk(x.Elem(), depth)
		case *types.Slice:
			walk(x.Elem(), depth)
		case *types.Array:
			walk(x.Elem(), depth)
		case *types.Map:
			walk(x.Key(), depth)
			walk(x.Elem(), depth)
		case *types.Chan:
			walk(x.Elem(), depth)
		case *types.Signature:
			if depth > 4 {
				return
			}
			for v := range x.Params().Variables() {
				walk(v.Type(), depth+1)
			}
			for v := range x.Results().Variables() {
				walk(v.Type(), depth+1)
			}
		}
	}
	walk(t, 0)
	return ok
}

// importable reports whether a path can be imported: it already is, or it is of the standard library.
func (s *stubs) importable(path string) bool {
	if _, ok := s.g.pkg.Imports[path]; ok {
		return true
	}
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && !strings.Contains(path, "internal") && !strings.HasPrefix(path, "vendor/") && s.known(path)
}

// known reports whether a package is among those that are needed anyway.
func (s *stubs) known(path string) bool {
	for _, p := range s.g.pkg.Imports {
		if p.Types == nil {
			continue
		}
		for _, i := range p.Types.Imports() {
			if i.Path() == path {
				return true
			}
		}
	}
	return false
}

// text is a type as the file of the stubs writes it.
func (s *stubs) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == s.g.pkg.Types {
			return ""
		}
		return s.name(p.Path())
	})
}

// name is the name by which the file of the stubs imports a package.
func (s *stubs) name(path string) string {
	if s.names[path] == "" {
		s.names[path] = fmt.Sprintf("heaptrimI%d", len(s.names))
	}
	return s.names[path]
}

// declare writes a type for an interface.
func (s *stubs) declare(t types.Type) {
	face, ok := t.Underlying().(*types.Interface)
	if !ok {
		return
	}
	name := fmt.Sprintf("heaptrimStub%d", s.n)
	s.n++
	fmt.Fprintf(&s.types, "type %s struct{ heaptrimwatch.Stub }\n\n", name)
	for m := range face.Methods() {
		sig := m.Signature()
		var params, args, results, pointers []string
		for i := range sig.Params().Len() {
			typ := s.text(sig.Params().At(i).Type())
			if sig.Variadic() && i == sig.Params().Len()-1 {
				typ = "..." + strings.TrimPrefix(typ, "[]")
			}
			params = append(params, fmt.Sprintf("heaptrimP%d %s", i, typ))
			args = append(args, fmt.Sprintf("heaptrimP%d", i))
		}
		for i := range sig.Results().Len() {
			results = append(results, fmt.Sprintf("heaptrimR%d %s", i, s.text(sig.Results().At(i).Type())))
			pointers = append(pointers, fmt.Sprintf(", &heaptrimR%d", i))
			s.want(sig.Results().At(i).Type(), 0)
		}
		fmt.Fprintf(&s.types, "func (s *%s) %s(%s) (%s) {\n\ts.Stub.Call(%q, []interface{}{%s}%s)\n\treturn\n}\n\n", name, m.Name(),
			strings.Join(params, ", "), strings.Join(results, ", "), m.Name(), strings.Join(args, ", "), strings.Join(pointers, ""))
	}
	fmt.Fprintf(&s.register, "\t%s.Stubs((*%s)(nil), func() interface{} { return new(%s) })\n", sessionName, s.text(t), name)
}

// imports are the lines of imports that the types need.
func (s *stubs) imports() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.names)) {
		fmt.Fprintf(&b, "\t%s %q\n", s.names[path], path)
	}
	return b.String()
}
