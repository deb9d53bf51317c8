package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// PoolHeaders puts slices into a sync.Pool by pointers, and keeps these for the next Put while a slice is in
// use: a slice by itself is copied to the heap by each Put.
func PoolHeaders(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "(*sync.Pool).Put" || len(call.Args) != 1 {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	p := &headers{in: s, changes: map[*code.File][]code.Change{}, typ: s.Info().TypeOf(call.Args[0])}
	p.pool, _ = s.NamedBy(sel.X).(*types.Var)
	slice, isSlice := p.typ.(*types.Slice)
	if !isSlice || p.pool == nil || p.pool.Exported() || p.pool.Pkg() != s.Pkg.Types || !p.pool.IsField() && p.pool.Parent() != s.Pkg.Types.Scope() {
		return nil
	}
	var imports, more []string
	name := p.pool.Name()
	p.text, imports, ok = s.Spell(slice, s.Syntax.FileEnd)
	if p.sync, more, _ = s.Use("sync", s.Syntax.FileEnd); !ok || len(imports)+len(more) > 0 {
		return nil
	}
	owner := fmt.Sprint(p.pool.Pos())
	p.put, p.get, p.asked, p.free = s.FreshDeclared(name+"Header", owner), s.FreshDeclared(name+"Slice", owner), s.FreshDeclared(name+"SliceIfAny", owner),
		s.FreshDeclared(name+"Headers", owner)
	if !p.all() {
		return nil
	}
	p.change(s.File, s.Insert(len(s.Text), p.source()))
	e := code.Edit{Text: fmt.Sprintf("put slices into `%s` by pointers that are kept for that", name), Changes: p.changes[s.File]}
	for _, f := range s.Package {
		if f != s.File && len(p.changes[f]) > 0 {
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: p.changes[f]})
		}
	}
	return []code.Edit{e}
}

// headers is a pool of slices on the way to one of pointers to them.
type headers struct {
	in   *site
	pool *types.Var
	typ  types.Type
	text string // the type as Go source
	sync string // name of the package

	put, get, asked, free string // names of the variables and functions that the edit declares

	ifAny   bool // a Get asks whether there is a slice
	must    bool // a Get does not
	changes map[*code.File][]code.Change
}

func (p *headers) change(f *code.File, c code.Change) { p.changes[f] = append(p.changes[f], c) }

// all takes all uses of the pool in the package; false if there is another one than Get, Put and how it is made.
func (p *headers) all() bool {
	uses := 0
	for _, obj := range p.in.Info().Uses {
		if obj == types.Object(p.pool) {
			uses++
		}
	}
	for _, f := range p.in.Package {
		for c := range f.Root.Preorder((*ast.Ident)(nil)) {
			id := c.Node().(*ast.Ident)
			switch {
			case f.Info().Uses[id] == types.Object(p.pool):
				uses--
				if !p.use(f, c) {
					return false
				}
			case f.Info().Defs[id] == types.Object(p.pool) && !p.declared(f, c):
				return false
			}
		}
	}
	return uses == 0 && !p.unnamed() // others are in files that are not to be edited
}

// unnamed reports whether a literal of a struct may set the pool without naming it.
func (p *headers) unnamed() bool {
	for e, tv := range p.in.Info().Types {
		lit, ok := e.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			continue
		}
		st, isStruct := tv.Type.Underlying().(*types.Struct)
		if _, named := lit.Elts[0].(*ast.KeyValueExpr); named || !isStruct {
			continue
		}
		for f := range st.Fields() {
			if f == p.pool {
				return true
			}
		}
	}
	return false
}

// declared takes the declaration of the pool.
func (p *headers) declared(f *code.File, c inspector.Cursor) bool {
	spec, ok := c.Parent().Node().(*ast.ValueSpec)
	if !ok {
		return p.pool.IsField()
	}
	if len(spec.Names) != 1 || len(spec.Values) > 1 {
		return false
	}
	return len(spec.Values) == 0 || p.made(f, spec.Values[0])
}

// use takes one use of the pool.
func (p *headers) use(f *code.File, c inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.KeyValueExpr_Key {
		return p.made(f, c.Parent().Node().(*ast.KeyValueExpr).Value)
	}
	if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
		c = c.Parent()
	}
	if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok && c.ParentEdgeKind() == edge.AssignStmt_Lhs {
		return len(assign.Lhs) == 1 && assign.Tok == token.ASSIGN && p.made(f, assign.Rhs[0])
	}
	if c.ParentEdgeKind() != edge.SelectorExpr_X {
		return false
	}
	method := c.Parent()
	switch method.Node().(*ast.SelectorExpr).Sel.Name {
	case "New":
		assign, ok := method.Parent().Node().(*ast.AssignStmt)
		return ok && method.ParentEdgeKind() == edge.AssignStmt_Lhs && len(assign.Lhs) == 1 && p.makes(f, assign.Rhs[0])
	case "Put":
		if method.ParentEdgeKind() != edge.CallExpr_Fun {
			return false
		}
		arg := method.Parent().Node().(*ast.CallExpr).Args[0]
		if !types.Identical(f.Info().TypeOf(arg), p.typ) {
			return false
		}
		p.change(f, f.Replace(arg, p.put+"("+f.Source(arg)+")"))
		return true
	case "Get":
		return method.ParentEdgeKind() == edge.CallExpr_Fun && p.taken(f, method.Parent())
	}
	return false
}

// taken takes a Get whose result is said to be a slice.
func (p *headers) taken(f *code.File, call inspector.Cursor) bool {
	if call.ParentEdgeKind() != edge.TypeAssertExpr_X {
		return false
	}
	at := call.Parent()
	assert := at.Node().(*ast.TypeAssertExpr)
	if assert.Type == nil || !types.Identical(f.Info().TypeOf(assert.Type), p.typ) {
		return false
	}
	name := p.get
	if _, two := f.Info().TypeOf(assert).(*types.Tuple); two {
		name, p.ifAny = p.asked, true
	} else {
		p.must = true
	}
	p.change(f, f.Replace(assert, name+"("+f.Source(call.Node())+")"))
	return true
}

// made takes a literal of a pool.
func (p *headers) made(f *code.File, e ast.Expr) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || !code.Named(f.Info().TypeOf(lit), "sync.Pool") {
		return false
	}
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok || !p.makes(f, kv.Value) {
			return false
		}
	}
	return true
}

// makes takes the function that makes a slice for an empty pool.
func (p *headers) makes(f *code.File, e ast.Expr) bool {
	fn, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return false
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) != 1 || !types.Identical(f.Info().TypeOf(n.Results[0]), p.typ) {
				ok = false
				return false
			}
			p.change(f, f.Replace(n.Results[0], p.put+"("+f.Source(n.Results[0])+")"))
		}
		return ok
	})
	return ok
}

// source declares the pool of pointers, and what moves slices in and out of them.
func (p *headers) source() string {
	nothing := "any"
	if !p.in.Since("go1.18") {
		nothing = "interface{}"
	}
	text := fmt.Sprintf(`
// %[1]s are the pointers of the slices that are in use.
var %[1]s %[2]s.Pool

// %[3]s is a pointer to a slice, for a pool: a slice by itself would be copied to the heap.
func %[3]s(b %[4]s) *%[4]s {
	h, _ := %[1]s.Get().(*%[4]s)
	if h == nil {
		h = new(%[4]s)
	}
	*h = b
	return h
}
`, p.free, p.sync, p.put, p.text)
	body := "b := *h\n*h = nil\n" + p.free + ".Put(h)\n"
	if p.must {
		text += fmt.Sprintf("\n// %[1]s is the slice that a pool gave.\nfunc %[1]s(v %[2]s) %[3]s {\nh := v.(*%[3]s)\n%[4]sreturn b\n}\n", p.get, nothing, p.text, body)
	}
	if p.ifAny {
		text += fmt.Sprintf("\n// %[1]s is the slice that a pool gave, if it had one.\nfunc %[1]s(v %[2]s) (%[3]s, bool) {\nh, ok := v.(*%[3]s)\nif !ok {\nreturn nil, false\n}\n%[4]sreturn b, true\n}\n",
			p.asked, nothing, p.text, body)
	}
	return strings.TrimSuffix(text, "\n") + "\n"
}
