package equal

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// fn is a function of the package as it is.
type fn struct {
	name   string
	decl   *ast.FuncDecl
	obj    *types.Func
	calls  []string // expressions that stand for it, one for each set of type arguments; none if it cannot be named
	uses   []*fn    // functions of the package that it mentions, through variables and interfaces, too
	users  []*fn
	others []outside // functions of other packages that it mentions
	bad    string    // what it does that is not to be done with any arguments; empty if nothing
	public bool      // callers of other packages can call it
}

// outside is a function or method of another package.
type outside struct{ path, name string }

// graph is which function of a package mentions which.
type graph struct {
	pkg   *packages.Package
	funcs []*fn
	by    map[string]*fn
	obj   map[types.Object]*fn
	named []*types.Named
}

// relate makes the graph of a package.
func relate(pkg *packages.Package) *graph {
	g := &graph{pkg: pkg, by: map[string]*fn{}, obj: map[types.Object]*fn{}}
	scope := pkg.Types.Scope()
	for _, name := range scope.Names() {
		if t, ok := scope.Lookup(name).(*types.TypeName); ok && !t.IsAlias() {
			if n, ok := t.Type().(*types.Named); ok {
				g.named = append(g.named, n)
			}
		}
	}
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				g.add(d)
			}
		}
	}
	vars := g.variables()
	for _, f := range g.funcs {
		if f.decl.Body != nil {
			g.mention(f, f.decl.Body, vars)
		}
	}
	for _, f := range g.funcs {
		for _, u := range f.uses {
			u.users = append(u.users, f)
		}
	}
	return g
}

func (g *graph) add(d *ast.FuncDecl) {
	obj, ok := g.pkg.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok || d.Name.Name == "_" || d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main" && g.pkg.Name == "main") {
		return
	}
	f := &fn{name: nameOf(d), decl: d, obj: obj}
	f.public = obj.Exported() && g.pkg.Name != "main"
	if d.Body == nil {
		f.bad = "has no body in Go"
	}
	f.calls = instances(obj)
	g.funcs = append(g.funcs, f)
	g.by[f.name] = f
	g.obj[obj] = f
}

// variables are the package's variables whose values are made by expressions.
func (g *graph) variables() map[types.Object]ast.Expr {
	out := map[types.Object]ast.Expr{}
	for _, f := range g.pkg.Syntax {
		for _, d := range f.Decls {
			if gen, ok := d.(*ast.GenDecl); ok {
				g.values(gen, out)
			}
		}
	}
	return out
}

func (g *graph) values(gen *ast.GenDecl, out map[types.Object]ast.Expr) {
	for _, s := range gen.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || len(v.Values) != len(v.Names) {
			continue
		}
		for i, n := range v.Names {
			out[g.pkg.TypesInfo.Defs[n]] = v.Values[i]
		}
	}
}

// mention notes what a body, or the value of a variable that it names, mentions.
func (g *graph) mention(f *fn, n ast.Node, vars map[types.Object]ast.Expr) {
	seen := map[types.Object]bool{}
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			switch o := g.pkg.TypesInfo.Uses[id].(type) {
			case *types.Func:
				g.use(f, o.Origin())
			case *types.Var:
				if value, ok := vars[o]; ok && !seen[o] {
					seen[o] = true
					walk(value)
				}
				if o.Pkg() != nil && o.Pkg() != g.pkg.Types && o.Parent() == o.Pkg().Scope() {
					f.others = append(f.others, outside{o.Pkg().Path(), o.Name()})
				}
			case *types.TypeName:
				if o.Pkg() != nil && o.Pkg() != g.pkg.Types {
					f.others = append(f.others, outside{o.Pkg().Path(), o.Name()})
				}
			}
			return true
		})
	}
	walk(n)
}

// use notes that f mentions a function, or through a method of an interface any that may be meant.
func (g *graph) use(f *fn, o *types.Func) {
	add := func(u *fn) {
		if u != nil && !slices.Contains(f.uses, u) {
			f.uses = append(f.uses, u)
		}
	}
	if u, ok := g.obj[o]; ok {
		add(u)
		return
	}
	recv := o.Signature().Recv()
	if recv != nil && types.IsInterface(recv.Type()) {
		for _, u := range g.funcs {
			if u.obj.Name() == o.Name() && u.obj.Signature().Recv() != nil {
				add(u)
			}
		}
		return
	}
	if o.Pkg() == nil {
		return
	}
	name := o.Name()
	if recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			name = n.Obj().Name() + "." + name
		}
	}
	f.others = append(f.others, outside{o.Pkg().Path(), name})
}

// instances are the expressions that stand for a function with type arguments, two at most.
func instances(f *types.Func) []string {
	sig := f.Signature()
	recv := sig.Recv()
	if recv == nil {
		if sig.TypeParams().Len() == 0 {
			return []string{f.Name()}
		}
		var out []string
		for _, args := range arguments(sig, sig.TypeParams()) {
			out = append(out, f.Name()+args)
		}
		return out
	}
	t, star := recv.Type(), false
	if p, ok := t.(*types.Pointer); ok {
		t, star = p.Elem(), true
	}
	n, ok := t.(*types.Named)
	if !ok {
		return nil
	}
	list := []string{""}
	if n.TypeParams().Len() > 0 {
		list = arguments(n.Origin(), n.Origin().TypeParams())
	}
	var out []string
	for _, args := range list {
		name := n.Obj().Name() + args
		if star {
			name = "(*" + name + ")"
		}
		out = append(out, name+"."+f.Name())
	}
	return out
}

// arguments are lists of type arguments that a generic function or type takes, as Go writes them.
func arguments(generic types.Type, params *types.TypeParamList) []string {
	slice := func(t types.Type) types.Type { return types.NewSlice(t) }
	str, num := types.Typ[types.String], types.Typ[types.Int]
	some := []types.Type{str, num, types.Typ[types.Float64], slice(types.Typ[types.Byte]), slice(str), slice(num), types.NewMap(str, num)}
	const most = 3 // parameters
	if params.Len() > most {
		return nil
	}
	var out []string
	args := make([]types.Type, params.Len())
	var try func(at int)
	try = func(at int) {
		if len(out) == 2 {
			return
		}
		if at == len(args) {
			if _, err := types.Instantiate(types.NewContext(), generic, args, true); err == nil {
				var words []string
				for _, a := range args {
					words = append(words, a.String())
				}
				out = append(out, "["+strings.Join(words, ", ")+"]")
			}
			return
		}
		for _, t := range some {
			args[at] = t
			try(at + 1)
		}
	}
	try(0)
	return out
}

// roots are the functions through which callers reach those that changed: the changed ones that
// callers can call, then those nearest to the others.
func (g *graph) roots(changed []string) []*fn {
	var queue, out []*fn
	seen := map[*fn]bool{}
	for _, name := range changed {
		if f := g.by[name]; f != nil && !seen[f] {
			seen[f] = true
			queue = append(queue, f)
		}
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		if f.public {
			out = append(out, f)
		}
		for _, u := range f.users {
			if !seen[u] {
				seen[u] = true
				queue = append(queue, u)
			}
		}
	}
	return out
}
