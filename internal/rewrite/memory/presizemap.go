package memory

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// PresizeMap makes a map with the number of entries that loops put into it, or, where none is counted, that the recording
// needed.
func PresizeMap(on *code.Site) []code.Edit {
	s := &site{on}
	fn, body := code.Function(s.Cur)
	if body == nil {
		return nil
	}
	if e, ok := s.Cur.Node().(ast.Expr); ok && s.emptyMap(e) != "" {
		if dst := s.assignedTo(s.Cur); dst.root != nil {
			return s.sizedOrUsual(s.Cur, dst, fn)
		}
		return nil
	}
	index, ok := s.Cur.Node().(*ast.IndexExpr)
	if !ok || !s.inserts(s.Cur) || !s.Pure(index.X) {
		return nil
	}
	dst := target{s.Source(index.X), s.RootOf(index.X)}
	var maker inspector.Cursor
	found := false
	for c := range fn.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)) {
		if c.Node().Pos() < s.Cur.Node().Pos() && code.Within(c, fn) && s.emptyMap(c.Node().(ast.Expr)) != "" && s.assignedTo(c) == dst {
			maker, found = c, true
		}
	}
	if !found || dst.root == nil {
		return nil
	}
	return s.sizedOrUsual(maker, dst, fn)
}

// inserts reports whether an index of a map puts something in.
func (s *site) inserts(c inspector.Cursor) bool {
	index := c.Node().(*ast.IndexExpr)
	if _, ok := s.Info().TypeOf(index.X).Underlying().(*types.Map); !ok {
		return false
	}
	return c.ParentEdgeKind() == edge.AssignStmt_Lhs || c.ParentEdgeKind() == edge.IncDecStmt_X
}

// target is what an expression becomes the value of.
type target struct {
	text string
	root types.Object // the variable that it begins with
}

// assignedTo is the variable or field that an expression becomes the value of; zero for others.
func (s *site) assignedTo(c inspector.Cursor) target {
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Rhs:
		assign := c.Parent().Node().(*ast.AssignStmt)
		if len(assign.Lhs) == 1 && s.Pure(assign.Lhs[0]) {
			return target{s.Source(assign.Lhs[0]), s.RootOf(assign.Lhs[0])}
		}
	case edge.ValueSpec_Values:
		if spec := c.Parent().Node().(*ast.ValueSpec); len(spec.Names) == 1 && len(spec.Values) == 1 {
			return target{spec.Names[0].Name, s.Info().Defs[spec.Names[0]]}
		}
	case edge.KeyValueExpr_Value:
		kv, lit := c.Parent().Node().(*ast.KeyValueExpr), c.Parent().Parent()
		if _, isStruct := s.Info().TypeOf(lit.Node().(ast.Expr)).Underlying().(*types.Struct); !isStruct {
			return target{}
		}
		if lit.ParentEdgeKind() == edge.UnaryExpr_X {
			lit = lit.Parent()
		}
		if owner := s.assignedTo(lit); owner.text != "" {
			return target{owner.text + "." + s.Source(kv.Key), owner.root}
		}
	}
	return target{}
}

// sizedOrUsual gives a map the number of entries that is counted, or else the usual one.
func (s *site) sizedOrUsual(maker inspector.Cursor, dst target, fn inspector.Cursor) []code.Edit {
	if counted := s.sizeMap(maker, dst, fn); counted != nil {
		return counted
	}
	return s.usualMap(maker, dst)
}

// sizeMap gives a map that is made empty the number of entries that the function puts in after that.
func (s *site) sizeMap(maker inspector.Cursor, dst target, fn inspector.Cursor) []code.Edit {
	stmt, ok := code.Statement(maker)
	if !ok {
		return nil
	}
	grown := s.insertsInto(dst, maker, fn)
	// The list that has the insertions: that of the maker, or one around it.
	for at := stmt; len(grown) > 0; {
		if a := s.Total(grown, at); a.Text != "" && (len(a.Lines) == 0 || at == stmt) {
			open := a.Open
			if !a.Full && open == "" {
				open = "the map is larger than it must be where few of the elements are put into it"
			}
			e := maker.Node().(ast.Expr)
			changes := []code.Change{s.Replace(e, fmt.Sprintf("make(%s, %s)", s.emptyMap(e), a.Text))}
			if len(a.Lines) > 0 {
				changes = append(changes, s.Before(stmt.Node(), a.Lines...))
			}
			return []code.Edit{{Open: open, Text: fmt.Sprintf("make `%s` with room for %s entries", dst.text, a.Text), Changes: changes}}
		}
		switch at.Parent().Parent().Node().(type) {
		case *ast.IfStmt, *ast.BlockStmt, *ast.SwitchStmt:
		default:
			return nil
		}
		if at, ok = code.Statement(at.Parent()); !ok {
			return nil
		}
	}
	return nil
}

// usualMap gives a map that is made empty the capacity that holds nine of ten maps of the recording.
func (s *site) usualMap(maker inspector.Cursor, dst target) []code.Edit {
	size := s.Seen(code.MostReserved)
	e := maker.Node().(ast.Expr)
	t, ok := s.Info().TypeOf(e).Underlying().(*types.Map)
	if !s.Place.Table || !ok || size == 0 {
		return nil
	}
	// Since Go 1.24, a group of internal/runtime/maps has a word of control bytes and eight slots. A table has a power of two
	// of groups and is filled to seven eighths.
	const slots, word = 8, 8
	slot := s.SizeOf(types.NewStruct([]*types.Var{types.NewField(0, nil, "key", t.Key(), false), types.NewField(0, nil, "elem", t.Elem(), false)}, nil))
	groups := int64(1)
	for slot > 0 && groups*2*(word+slots*slot) <= size {
		groups *= 2
	}
	if groups < 2 {
		return nil // the size of a small map, or one that type parameters decide
	}
	entries := groups * slots * 7 / 8
	return []code.Edit{{Open: fmt.Sprintf("the recording needed room for %d entries; smaller maps allocate as much", entries),
		Text:    fmt.Sprintf("make `%s` with room for %d entries", dst.text, entries),
		Changes: []code.Change{s.Replace(e, fmt.Sprintf("make(%s, %d)", s.emptyMap(e), entries))}}}
}

// insertsInto are the places behind a maker that put something into a map.
func (s *site) insertsInto(dst target, maker, fn inspector.Cursor) []code.Growth {
	var out []code.Growth
	for c := range fn.Preorder((*ast.IndexExpr)(nil), (*ast.CallExpr)(nil)) {
		if c.Node().Pos() < maker.Node().End() || !code.Within(c, fn) {
			continue
		}
		switch n := c.Node().(type) {
		case *ast.IndexExpr:
			if s.inserts(c) && dst == (target{s.Source(n.X), s.RootOf(n.X)}) {
				out = append(out, code.Growth{At: c, Fixed: 1})
			}
		case *ast.CallExpr:
			if s.Callee(n) == "maps.Copy" && len(n.Args) == 2 && dst == (target{s.Source(n.Args[0]), s.RootOf(n.Args[0])}) {
				out = append(out, code.Growth{At: c, Lens: n.Args[1:]})
			} else if sel, ok := n.Fun.(*ast.SelectorExpr); ok && dst == (target{s.Source(sel.X), s.RootOf(sel.X)}) && s.insertsOne(n) {
				out = append(out, code.Growth{At: c, Fixed: 1})
			}
		}
	}
	return out
}

// insertsOne reports whether a call of a method of the package puts one entry into its receiver, a map or a pointer to one.
func (s *site) insertsOne(call *ast.CallExpr) bool {
	fn, _ := typeutil.Callee(s.Info(), call).(*types.Func)
	if fn == nil {
		return false
	}
	in, decl := s.FuncOf(fn.Origin())
	if decl == nil || decl.Body == nil || decl.Recv == nil || len(decl.Recv.List[0].Names) == 0 {
		return false
	}
	there, receiver, n := &site{&code.Site{File: in}}, in.Info().Defs[decl.Recv.List[0].Names[0]], 0
	body, _ := in.Root.FindNode(decl.Body)
	for c := range body.Preorder((*ast.IndexExpr)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		index, ok := c.Node().(*ast.IndexExpr)
		if !ok {
			return false
		}
		whole := ast.Unparen(index.X)
		if star, ok := whole.(*ast.StarExpr); ok {
			whole = star.X
		}
		if there.inserts(c) && receiver != nil && in.NamedBy(whole) == receiver {
			n++
		}
	}
	return n == 1
}

// emptyMap is the type of an expression that makes a map without a size; "" for others.
func (s *site) emptyMap(e ast.Expr) string {
	t := s.Info().TypeOf(e)
	if t == nil {
		return ""
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return ""
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) == 0 && e.Type != nil {
			return s.Source(e.Type)
		}
	case *ast.CallExpr:
		if s.Builtin(e, "make") != nil && len(e.Args) == 1 {
			return s.Source(e.Args[0])
		}
	}
	return ""
}
