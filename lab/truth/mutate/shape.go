package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// heapForArray makes a slice of a length that is not constant in place of an array.
func heapForArray(s *source.File, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.ValueSpec)
	if !ok || d.Type == nil || len(d.Names) != 1 || len(d.Values) > 0 {
		return nil
	}
	g, ok := s.Parent(d).(*ast.GenDecl)
	t, is := s.TypeOf(d.Type).(*types.Array)
	fn := s.Around(n)
	if !ok || !is || fn == nil || len(g.Specs) != 1 || t.Len() < 8 {
		return nil
	}
	params := s.Params(fn, func(t types.Type) bool {
		_, is := t.Underlying().(*types.Slice)
		return is || types.Identical(t.Underlying(), types.Typ[types.String])
	})
	elem := s.TypeText(t.Elem())
	if len(params) == 0 || elem == "" {
		return nil
	}
	name, size := d.Names[0].Name, strconv.FormatInt(t.Len(), 10)
	out := []corpus.Edit{s.Swap(g, name+" := make([]"+elem+", "+size+"+len("+params[0].Name+"))")}
	for _, u := range s.Uses(s.Info.Defs[d.Names[0]]) {
		if u.N == d.Names[0] {
			continue
		}
		switch p := s.Parent(u.N).(type) {
		case *ast.SliceExpr:
			if p.X != u.N || p.Max != nil {
				return nil
			}
			if p.High == nil {
				out = append(out, s.Insert(p.Rbrack, size))
			}
		case *ast.IndexExpr:
			if p.X != u.N {
				return nil
			}
		case *ast.CallExpr:
			if s.Builtin(p, "len") == nil {
				return nil
			}
			out = append(out, s.Swap(p, size))
		default:
			return nil
		}
	}
	return out
}

// elements are the edits that give the elements of a slice another type. The slice is a variable
// Of a function, or a field, that nothing else gets hold of.
type elements struct {
	put   func(s *source.File, e ast.Expr) []corpus.Edit // appended
	get   func(s *source.File, e ast.Expr) []corpus.Edit // an index expression that is read
	each  func(name string) string                       // before the statements of a loop
	taken func(s *source.File, e ast.Expr) bool          // an index expression that needs no edit
}

// change makes the edits, nil where one use of the slice is of another kind.
func (k elements) change(s *source.File, o types.Object) []corpus.Edit {
	var out []corpus.Edit
	appended := false
	for _, u := range s.Uses(o) {
		var edits []corpus.Edit
		ok := true
		switch p := u.S.Parent(u.N).(type) {
		case *ast.Field, *ast.ValueSpec:
		case *ast.AssignStmt:
			ok = len(p.Lhs) == 1 && p.Lhs[0] == u.N && k.keeps(u.S, p.Rhs[0], o)
		case *ast.SliceExpr:
			_, ok = u.S.Parent(p).(*ast.AssignStmt)
			ok = ok && p.X == u.N
		case *ast.RangeStmt:
			if ok = p.X == u.N; ok && p.Value != nil && u.S.Of(p.Value) != "_" {
				edits = []corpus.Edit{u.S.Insert(p.Body.Lbrace+1, " "+k.each(u.S.Of(p.Value)))}
			}
		case *ast.CallExpr:
			if u.S.Builtin(p, "len") != nil || u.S.Builtin(p, "cap") != nil {
				break
			}
			args := u.S.Builtin(p, "append")
			_, assigned := u.S.Parent(p).(*ast.AssignStmt)
			ok = len(args) > 1 && args[0] == u.N && !p.Ellipsis.IsValid() && assigned
			if ok {
				appended = true
				for _, a := range args[1:] {
					edits = append(edits, k.put(u.S, a)...)
				}
			}
		case *ast.IndexExpr:
			if ok = p.X == u.N && !written(u.S, p); ok && !k.taken(u.S, p) {
				edits = k.get(u.S, p)
			}
		case *ast.BinaryExpr:
		default:
			ok = false
		}
		if !ok {
			return nil
		}
		out = append(out, edits...)
	}
	if !appended {
		return nil
	}
	return out
}

// keeps reports whether what is assigned to a slice is made of it, or nothing.
func (k elements) keeps(s *source.File, e ast.Expr, o types.Object) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.SliceExpr:
		return s.Object(e.X) == o
	case *ast.CallExpr:
		args := s.Builtin(e, "append")
		return len(args) > 0 && s.Object(args[0]) == o || len(s.Builtin(e, "make")) == 3
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return false
}

// written reports whether an index expression is assigned to, or its address taken.
func written(s *source.File, x *ast.IndexExpr) bool {
	switch p := s.Parent(x).(type) {
	case *ast.AssignStmt:
		return slices.Contains(p.Lhs, ast.Expr(x))
	case *ast.UnaryExpr:
		return p.Op == token.AND
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// listOf is a slice that a node declares: the variable or field, the text of its type.
func listOf(s *source.File, n ast.Node) (types.Object, *ast.ArrayType) {
	var id *ast.Ident
	var t ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			return nil, nil
		}
		id, _ = n.Lhs[0].(*ast.Ident)
		if args := s.Builtin(n.Rhs[0], "make"); len(args) > 0 {
			t = args[0]
		} else if l, ok := n.Rhs[0].(*ast.CompositeLit); ok && len(l.Elts) == 0 {
			t = l.Type
		}
	case *ast.ValueSpec:
		if len(n.Names) == 1 && len(n.Values) == 0 {
			id, t = n.Names[0], n.Type
		}
	}
	a, ok := t.(*ast.ArrayType)
	if id == nil || !ok || a.Len != nil || !s.Local(s.Info.Defs[id]) {
		return nil, nil
	}
	return s.Info.Defs[id], a
}

// boxedSlice keeps the values of a local slice in interfaces.
func boxedSlice(s *source.File, n ast.Node) []corpus.Edit {
	o, t := listOf(s, n)
	if o == nil || types.IsInterface(s.TypeOf(t.Elt)) {
		return nil
	}
	elem := s.Of(t.Elt)
	if elem == "byte" || elem == "bool" {
		return nil
	}
	as := ".(" + elem + ")"
	edits := elements{
		put: func(s *source.File, e ast.Expr) []corpus.Edit {
			return []corpus.Edit{s.Insert(e.Pos(), elem+"("), s.Insert(e.End(), ")")}
		},
		get:   func(s *source.File, e ast.Expr) []corpus.Edit { return []corpus.Edit{s.Insert(e.End(), as)} },
		each:  func(name string) string { return name + " := " + name + as + ";" },
		taken: func(*source.File, ast.Expr) bool { return false },
	}.change(s, o)
	if edits == nil {
		return nil
	}
	return append(edits, s.Swap(t.Elt, "interface{}"))
}

// pointerList keeps pointers to values in a local slice.
func pointerList(s *source.File, n ast.Node) []corpus.Edit {
	o, t := listOf(s, n)
	if o == nil || !s.Free("pointerTo") {
		return nil
	}
	if _, ok := s.TypeOf(t.Elt).Underlying().(*types.Struct); !ok {
		return nil
	}
	edits := elements{
		put: func(s *source.File, e ast.Expr) []corpus.Edit {
			if _, ok := e.(*ast.CompositeLit); ok {
				return []corpus.Edit{s.Insert(e.Pos(), "&")}
			}
			return []corpus.Edit{s.Insert(e.Pos(), "pointerTo("), s.Insert(e.End(), ")")}
		},
		get: func(s *source.File, e ast.Expr) []corpus.Edit {
			return []corpus.Edit{s.Insert(e.Pos(), "(*"), s.Insert(e.End(), ")")}
		},
		each:  func(name string) string { return name + " := *" + name + ";" },
		taken: func(s *source.File, e ast.Expr) bool { _, ok := s.Parent(e).(*ast.SelectorExpr); return ok },
	}.change(s, o)
	if edits == nil {
		return nil
	}
	return append(edits, s.Insert(t.Elt.Pos(), "*"), s.Tail("func pointerTo[T interface{}](x T) *T { return &x }"))
}

// sizeClasses are the sizes of small objects.
var sizeClasses = []int64{8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416,
	448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048}

func classOf(size int64) int64 {
	i, _ := slices.BinarySearch(sizeClasses, size)
	if i == len(sizeClasses) {
		return size
	}
	return sizeClasses[i]
}

// fieldOrder gives a struct that is made here an order of fields that takes more.
func fieldOrder(s *source.File, n ast.Node) []corpus.Edit {
	t := ast.Expr(nil)
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
		if l, ok := u.X.(*ast.CompositeLit); ok {
			t = l.Type
		}
	}
	if args := s.Builtin(n, "new"); len(args) == 1 {
		t = args[0]
	}
	id, ok := t.(*ast.Ident)
	if !ok {
		return nil
	}
	f, st := declaredAs(s, id)
	if st == nil || unkeyed(s, s.TypeOf(id)) {
		return nil
	}
	sizes := types.SizesFor("gc", "amd64")
	list := st.Fields.List
	order := make([]int, len(list))
	small, large := []int{}, []int{}
	for i, field := range list {
		if len(field.Names) != 1 {
			return nil
		}
		if sizes.Alignof(s.TypeOf(field.Type)) == 8 {
			large = append(large, i)
		} else {
			small = append(small, i)
		}
	}
	mixed := order[:0]
	for len(small)+len(large) > 0 {
		if len(small) > 0 {
			mixed, small = append(mixed, small[0]), small[1:]
		}
		if len(large) > 0 {
			mixed, large = append(mixed, large[0]), large[1:]
		}
	}
	var fields []*types.Var
	var out []corpus.Edit
	for i, k := range order {
		fields = append(fields, types.NewVar(token.NoPos, nil, "f"+strconv.Itoa(i), s.TypeOf(list[k].Type)))
		if i != k {
			out = append(out, f.Swap(list[i], f.Of(list[k])))
		}
	}
	before := sizes.Sizeof(s.TypeOf(id).Underlying())
	if classOf(sizes.Sizeof(types.NewStruct(fields, nil))) <= classOf(before) {
		return nil
	}
	return out
}

// declaredAs is the struct type that a name stands for, in its file.
func declaredAs(s *source.File, id *ast.Ident) (*source.File, *ast.StructType) {
	o := s.Info.Uses[id]
	for _, f := range s.Files {
		for _, d := range f.Syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && o != nil && s.Info.Defs[ts.Name] == o && ts.TypeParams == nil {
					st, _ := ts.Type.(*ast.StructType)
					return f, st
				}
			}
		}
	}
	return nil, nil
}

// unkeyed reports whether the package has a literal of a struct without names of fields.
func unkeyed(s *source.File, t types.Type) bool {
	found := false
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if l, ok := n.(*ast.CompositeLit); ok && len(l.Elts) > 0 && types.Identical(s.TypeOf(l), t) {
				_, keyed := l.Elts[0].(*ast.KeyValueExpr)
				found = found || !keyed
			}
			return true
		})
	}
	return found
}

// makers are the struct's declaration and the other places that make one.
func makers(s *source.File, n ast.Node) []source.Place {
	var out []source.Place
	t := s.TypeOf(n.(ast.Expr))
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(m ast.Node) bool {
			e, ok := m.(ast.Expr)
			if !ok || !types.Identical(s.TypeOf(e), t) || len(out) > 6 {
				return true
			}
			switch e := e.(type) {
			case *ast.UnaryExpr:
				out = append(out, source.Place{S: f, N: e})
			case *ast.CallExpr:
				if s.Builtin(e, "new") != nil {
					out = append(out, source.Place{S: f, N: e})
				}
			}
			return true
		})
	}
	if p, ok := t.(*types.Pointer); ok {
		if named, ok := p.Elem().(*types.Named); ok {
			for _, f := range s.Files {
				ast.Inspect(f.Syntax, func(m ast.Node) bool {
					if ts, ok := m.(*ast.TypeSpec); ok && s.Info.Defs[ts.Name] == named.Obj() {
						out = append(out, source.Place{S: f, N: ts})
					}
					return true
				})
			}
		}
	}
	return out
}
