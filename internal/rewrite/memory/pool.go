package memory

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

// leastPooled is the size of a block from which a pool pays: below, a Get and a Put cost about what
// an allocation does.
const leastPooled = 1 << 10

// pool is a sync.Pool that an edit declares before a function.
type pool struct {
	name    string
	sync    string // name of the package
	at      int    // where its declaration goes
	imports []string
}

// poolFor names a pool for the function around a statement, if the statement runs once a call: a
// deferred Put waits for the function.
func (s *site) poolFor(stmt inspector.Cursor, what string) (p pool, ok bool) {
	fn := code.Declaration(s.Cur)
	_, body := code.Function(s.Cur)
	if fn == nil || body == nil || code.HasTypeParams(fn) || stmt.Parent().Node() != ast.Node(body) {
		return pool{}, false
	}
	if p.sync, p.imports, ok = s.Use("sync", stmt.Node().Pos()); !ok {
		return pool{}, false
	}
	first, n := utf8.DecodeRuneInString(fn.Name.Name)
	p.name = s.FreshDeclared(string(unicode.ToLower(first))+fn.Name.Name[n:]+what, fmt.Sprint(stmt.Node().Pos()))
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	p.at = s.Offset(start)
	return p, true
}

// declare is the edit of the declaration, with what makes a new object.
func (s *site) declare(p pool, made string) code.Change {
	nothing := "any"
	if !s.Since("go1.18") {
		nothing = "interface{}"
	}
	return s.Insert(p.at, fmt.Sprintf("var %s = %s.Pool{New: func() %s { return %s }}\n\n", p.name, p.sync, nothing, made))
}

// large reports whether most blocks of the place are worth a pool.
func (s *site) large() bool {
	n := len(s.Place.Sizes)
	return n > 0 && s.Place.Sizes[n/2] >= leastPooled
}

// PoolSlice takes the array of a slice that dies with its function from a pool of the package.
func PoolSlice(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || !s.Place.Dies || !s.large() || s.Builtin(call, "make") == nil || len(call.Args) < 2 || !s.Since("go1.21") {
		return nil
	}
	v, stmt := s.Defined()
	typ, isArray := call.Args[0].(*ast.ArrayType)
	if v == nil || !isArray || s.NamesLocals(typ) || len(call.Args) > 2 && !s.PureSize(call.Args[1]) {
		return nil
	}
	p, ok := s.poolFor(stmt, "Slices")
	if !ok {
		return nil
	}
	elem := s.Source(typ)
	first, room := s.sizeOnce(call.Args[len(call.Args)-1])
	length := room
	if len(call.Args) > 2 {
		length = s.Source(call.Args[1])
	}
	kept := s.Fresh(v.Name()+"Pooled", v.Pos())
	lines := []string{
		first + fmt.Sprintf("%s := %s.Get().(*%s)", kept, p.name, elem),
		fmt.Sprintf("if cap(*%s) < %s {\n*%[1]s = make(%[3]s, %[2]s)\n}", kept, room, elem),
		fmt.Sprintf("%s := (*%s)[:%s]", v.Name(), kept, length),
	}
	if !s.IsZero(call.Args[1]) {
		lines = append(lines, fmt.Sprintf("clear(%s)", v.Name()))
	}
	lines = append(lines, s.put(p, kept, v))
	return []code.Edit{{Text: fmt.Sprintf("take the array of `%s` from a sync.Pool", v.Name()), Imports: p.imports,
		Changes: []code.Change{s.declare(p, fmt.Sprintf("new(%s)", elem)), s.Replace(stmt.Node(), strings.Join(lines, "\n"))}}}
}

// put is the statement that gives an array back when the function ends: without references, and
// with what it has grown to where nothing but append changes the variable.
func (s *site) put(p pool, kept string, v *types.Var) string {
	grows, own := s.growsOnly(v)
	pointers := !code.PointerFree(v.Type().Underlying().(*types.Slice).Elem())
	switch {
	case grows && own && pointers:
		return fmt.Sprintf("defer func() {\nclear(%s)\n*%s = %[1]s[:0]\n%[3]s.Put(%[2]s)\n}()", v.Name(), kept, p.name)
	case grows && own:
		return fmt.Sprintf("defer func() {\n*%s = %s[:0]\n%s.Put(%[1]s)\n}()", kept, v.Name(), p.name)
	case pointers:
		return fmt.Sprintf("defer func() {\nclear((*%s)[:cap(*%[1]s)])\n%[2]s.Put(%[1]s)\n}()", kept, p.name)
	}
	return fmt.Sprintf("defer %s.Put(%s)", p.name, kept)
}

// growsOnly reports whether a slice is appended to, and whether nothing else is assigned to it.
func (s *site) growsOnly(v *types.Var) (grows, own bool) {
	fn, _ := code.Function(s.Cur)
	own = true
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs || u.Node().Pos() == v.Pos() {
			continue
		}
		if s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v) {
			grows = true
		} else {
			own = false
		}
	}
	return grows, own
}

// PoolStruct takes a large value that dies with its function from a pool of the package: one made by
// &T{…} or new(T), or a variable whose address is taken.
func PoolStruct(on *code.Site) []code.Edit {
	s := &site{on}
	if !s.Place.Dies || !s.large() {
		return nil
	}
	o := s.object()
	if o == nil || s.NamesLocals(o.typ) {
		return nil
	}
	p, ok := s.poolFor(o.stmt, "Pool")
	if !ok {
		return nil
	}
	fn, _ := code.Function(s.Cur)
	typ, name := s.Source(o.typ), o.v.Name()
	changes := []code.Change{s.declare(p, fmt.Sprintf("new(%s)", typ))}
	for _, u := range s.Uses(o.v, fn) {
		switch kind := u.ParentEdgeKind(); {
		case u.Node().Pos() == o.v.Pos():
		case kind == edge.AssignStmt_Lhs:
			return nil // another value, or a copy over all of it
		case !o.value:
		case kind == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND:
			changes = append(changes, s.Replace(u.Parent().Node(), name))
		case kind != edge.SelectorExpr_X && !(o.array && (kind == edge.IndexExpr_X || kind == edge.SliceExpr_X)):
			return nil // the value itself
		}
	}
	lines := fmt.Sprintf("%s := %s.Get().(*%s)\ndefer func() {\n*%[1]s = %[3]s{}\n%[2]s.Put(%[1]s)\n}()", name, p.name, typ)
	if o.literal != "" {
		lines += fmt.Sprintf("\n*%s = %s", name, o.literal)
	}
	return []code.Edit{{Text: fmt.Sprintf("take `%s` from a sync.Pool", name), Imports: p.imports,
		Changes: append(changes, s.Replace(o.stmt.Node(), lines))}}
}

// object is a local variable of a struct or array, or of a pointer to a new one.
type object struct {
	v       *types.Var
	stmt    inspector.Cursor
	typ     ast.Expr
	value   bool // the variable is the object, not a pointer to it
	array   bool
	literal string // its first content; empty for the zero value
}

// object is what the site makes or declares; nil for nothing of the kind.
func (s *site) object() *object {
	o := &object{}
	switch n := s.Cur.Node().(type) {
	case *ast.UnaryExpr:
		lit, ok := n.X.(*ast.CompositeLit)
		if !ok || n.Op != token.AND || lit.Type == nil {
			return nil
		}
		o.typ = lit.Type
		if len(lit.Elts) > 0 {
			o.literal = s.Source(lit)
		}
		o.v, o.stmt = s.Defined()
	case *ast.CallExpr:
		if s.Builtin(n, "new") == nil {
			return nil
		}
		o.typ = n.Args[0]
		o.v, o.stmt = s.Defined()
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		if spec == nil || spec.Type == nil || len(spec.Values) > 0 {
			return nil
		}
		o.typ, o.stmt, o.value = spec.Type, s.Cur, true
		o.v, _ = s.Info().Defs[spec.Names[0]].(*types.Var)
	}
	if o.v == nil || o.typ == nil {
		return nil
	}
	switch s.Info().TypeOf(o.typ).Underlying().(type) {
	case *types.Array:
		o.array = true
		return o
	case *types.Struct:
		return o
	}
	return nil
}
