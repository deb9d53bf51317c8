package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// SortFunc sorts a slice by a typed comparison: sort.Slice swaps by reflection and puts the
// slice and the function into interfaces. Both sort by the same algorithm.
func SortFunc(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.ExprStmt_X || len(call.Args) == 0 || len(call.Args) > 2 {
		return nil
	}
	if edits := s.sortPlain(call); edits != nil || !s.Since("go1.21") {
		return edits
	}
	if len(call.Args) == 1 {
		return s.sortByMethods(call)
	}
	to := map[string]string{"sort.Slice": "SortFunc", "sort.SliceStable": "SortStableFunc"}[s.Callee(call)]
	less, ok := call.Args[1].(*ast.FuncLit)
	if to == "" || !ok || !s.Pure(call.Args[0]) {
		return nil
	}
	slice, ok := s.Info().TypeOf(call.Args[0]).Underlying().(*types.Slice)
	if !ok {
		return nil
	}
	elem := s.TypeText(slice.Elem())
	return s.sorted(call, to, s.comparisonOf(call.Args[0], less.Type, less.Body), elem)
}

// sortPlain sorts strings and numbers by the function of package sort for them, which takes them as they are.
func (s *site) sortPlain(call *ast.CallExpr) []code.Edit {
	conv, ok := call.Args[0].(*ast.CallExpr)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if isSel && len(call.Args) == 2 {
		return s.sortAscending(call, sel)
	}
	if !ok || !isSel || s.Callee(call) != "sort.Sort" || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() {
		return nil
	}
	t, from := s.Info().TypeOf(conv), s.Info().TypeOf(conv.Args[0])
	for _, plain := range [][3]string{{"sort.StringSlice", "Strings", "[]string"}, {"sort.IntSlice", "Ints", "[]int"}, {"sort.Float64Slice", "Float64s", "[]float64"}} {
		if code.Named(t, plain[0]) && from.String() == plain[2] {
			text := fmt.Sprintf("%s.%s(%s)", s.Source(sel.X), plain[1], s.Source(conv.Args[0]))
			return []code.Edit{{Text: "sort by sort." + plain[1], Changes: []code.Change{s.Replace(call, text)}}}
		}
	}
	return nil
}

// sortAscending sorts strings or integers, all of whose elements are compared as they are, by the function of package
// sort for them. Equal ones cannot be told apart, so that their order does not show.
func (s *site) sortAscending(call *ast.CallExpr, sel *ast.SelectorExpr) []code.Edit {
	less, ok := call.Args[1].(*ast.FuncLit)
	to := map[string]string{"[]string": "Strings", "[]int": "Ints"}[s.Info().TypeOf(call.Args[0]).String()]
	if name := s.Callee(call); !ok || to == "" || name != "sort.Slice" && name != "sort.SliceStable" || !s.Pure(call.Args[0]) || len(less.Body.List) != 1 {
		return nil
	}
	var params []types.Object
	for _, f := range less.Type.Params.List {
		for _, n := range f.Names {
			params = append(params, s.Info().Defs[n])
		}
	}
	ret, ok := less.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(params) != 2 || len(ret.Results) != 1 {
		return nil
	}
	cmp, ok := ast.Unparen(ret.Results[0]).(*ast.BinaryExpr)
	if !ok || !(cmp.Op == token.LSS && s.elementAt(cmp.X, call.Args[0], params[0]) && s.elementAt(cmp.Y, call.Args[0], params[1]) ||
		cmp.Op == token.GTR && s.elementAt(cmp.X, call.Args[0], params[1]) && s.elementAt(cmp.Y, call.Args[0], params[0])) {
		return nil
	}
	return []code.Edit{{Text: "sort by sort." + to, Changes: []code.Change{s.Replace(call, fmt.Sprintf("%s.%s(%s)", s.Source(sel.X), to, s.Source(call.Args[0])))}}}
}

// elementAt reports whether an expression is the element of a slice at an index, both as they are named elsewhere.
func (s *site) elementAt(e, slice ast.Expr, index types.Object) bool {
	x, ok := e.(*ast.IndexExpr)
	return ok && index != nil && s.Source(x.X) == s.Source(slice) && s.RootOf(x.X) == s.RootOf(slice) && s.Local(x.Index) == index
}

// sorted is the edit that sorts the slice of a call by a comparison of two elements.
func (s *site) sorted(call *ast.CallExpr, to string, c comparison, elem string) []code.Edit {
	if c.body == "" || elem == "" {
		return nil
	}
	slicesName, imports, ok := s.Use("slices", call.Pos())
	if !ok {
		return nil
	}
	_, more, ok := s.Use("cmp", call.Pos())
	if !ok {
		return nil
	}
	text := fmt.Sprintf("%s.%s(%s, func(%s, %s %s) int {\n%s\n})", slicesName, to, c.slice, c.params[0], c.params[1], elem, c.body)
	return []code.Edit{{Text: fmt.Sprintf("sort `%s` by slices.%s", c.slice, to), Imports: append(imports, more...),
		Changes: []code.Change{s.Replace(call, text)}}}
}

// sortByMethods is sortFunc for sort.Sort(T(x)), T being a slice type of the package with the usual
// methods: Less compares two elements, Swap exchanges them, Len is the length.
func (s *site) sortByMethods(call *ast.CallExpr) []code.Edit {
	to := map[string]string{"sort.Sort": "SortFunc", "sort.Stable": "SortStableFunc"}[s.Callee(call)]
	conv, ok := call.Args[0].(*ast.CallExpr)
	if to == "" || !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !s.Pure(conv.Args[0]) {
		return nil
	}
	n, ok := types.Unalias(s.Info().TypeOf(conv.Fun)).(*types.Named)
	if !ok || n.Obj().Pkg() != s.Pkg.Types || n.TypeArgs().Len() > 0 {
		return nil
	}
	slice, ok := n.Underlying().(*types.Slice)
	less, swap, length := s.method(n, "Less"), s.method(n, "Swap"), s.method(n, "Len")
	if !ok || less == nil || swap == nil || length == nil || !s.plainSwap(swap) || !s.plainLen(length) {
		return nil
	}
	c := s.comparisonOf(less.Recv.List[0].Names[0], less.Type, less.Body)
	c.slice = s.Source(conv.Args[0])
	return s.sorted(call, to, c, s.TypeText(slice.Elem()))
}

// method is the declaration of a method with a named receiver by value, in this file; nil for none.
func (s *site) method(n *types.Named, name string) *ast.FuncDecl {
	for _, d := range s.Syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || fn.Name.Name != name || len(fn.Recv.List[0].Names) != 1 || fn.Body == nil {
			continue
		}
		if s.Info().TypeOf(fn.Recv.List[0].Type) == n {
			return fn
		}
	}
	return nil
}

// plainSwap reports whether a method is x[i], x[j] = x[j], x[i].
func (s *site) plainSwap(fn *ast.FuncDecl) bool {
	if len(fn.Body.List) != 1 {
		return false
	}
	n, ok := fn.Body.List[0].(*ast.AssignStmt)
	return ok && len(n.Lhs) == 2 && len(n.Rhs) == 2 && s.Source(n.Lhs[0]) == s.Source(n.Rhs[1]) &&
		s.Source(n.Lhs[1]) == s.Source(n.Rhs[0]) && s.isElement(n.Lhs[0], fn) && s.isElement(n.Lhs[1], fn)
}

func (s *site) isElement(e ast.Expr, fn *ast.FuncDecl) bool {
	index, ok := e.(*ast.IndexExpr)
	return ok && s.Source(index.X) == fn.Recv.List[0].Names[0].Name
}

// plainLen reports whether a method returns len(x).
func (s *site) plainLen(fn *ast.FuncDecl) bool {
	if len(fn.Body.List) != 1 {
		return false
	}
	ret, ok := fn.Body.List[0].(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1 && s.Builtin(ret.Results[0], "len") != nil &&
		s.Source(ret.Results[0].(*ast.CallExpr).Args[0]) == fn.Recv.List[0].Names[0].Name
}

// comparison is how two elements of a slice are compared.
type comparison struct {
	slice  string    // what is sorted
	params [2]string // names of the two elements
	body   string    // "" if the order cannot be said by comparisons of elements
}

// lessFunc is a function that says which of two elements of a slice comes first, by their indices.
type lessFunc struct {
	slice ast.Expr
	typ   *ast.FuncType
}

func (s *site) comparisonOf(slice ast.Expr, typ *ast.FuncType, body *ast.BlockStmt) comparison {
	c := comparison{slice: s.Source(slice), params: [2]string{"_", "_"}}
	i := 0
	for _, f := range typ.Params.List {
		for _, n := range f.Names {
			if i < len(c.params) {
				c.params[i] = n.Name
			}
			i++
		}
	}
	c.body = s.comparison(lessFunc{slice, typ}, body)
	return c
}

// comparison is the body of a comparison that orders as a less function does: of statements
// `if x[i].A != x[j].A { return x[i].A < x[j].A }` and a last return. "" for others.
func (s *site) comparison(less lessFunc, body *ast.BlockStmt) string {
	var lines []string
	for i, stmt := range body.List {
		last := i == len(body.List)-1
		switch stmt := stmt.(type) {
		case *ast.ReturnStmt:
			c := s.compare(less, stmt)
			if c == "" || !last {
				return ""
			}
			lines = append(lines, "return "+c)
		case *ast.IfStmt:
			cond, ok := stmt.Cond.(*ast.BinaryExpr)
			if !ok || cond.Op != token.NEQ || stmt.Init != nil || stmt.Else != nil || len(stmt.Body.List) != 1 || last {
				return ""
			}
			ret, ok := stmt.Body.List[0].(*ast.ReturnStmt)
			if !ok {
				return ""
			}
			c := s.compare(less, ret)
			cmp, isCmp := ret.Results[0].(*ast.BinaryExpr)
			if c == "" || !isCmp || !s.samePair(cond, cmp) {
				return ""
			}
			lines = append(lines, fmt.Sprintf("if c := %s; c != 0 {\nreturn c\n}", c))
		default:
			return ""
		}
	}
	return strings.Join(lines, "\n")
}

func (s *site) samePair(a, b *ast.BinaryExpr) bool {
	ax, ay, bx, by := s.Source(a.X), s.Source(a.Y), s.Source(b.X), s.Source(b.Y)
	return ax == bx && ay == by || ax == by && ay == bx
}

// compare is the three-way comparison that `return a < b` or `return a > b` stands for; "" for
// others. Floats are left out: they are not ordered where one is NaN.
func (s *site) compare(less lessFunc, ret *ast.ReturnStmt) string {
	if len(ret.Results) != 1 {
		return ""
	}
	b, ok := ret.Results[0].(*ast.BinaryExpr)
	if !ok || b.Op != token.LSS && b.Op != token.GTR {
		return ""
	}
	t := code.Basic(s.Info().TypeOf(b.X))
	if t == nil || t.Info()&(types.IsInteger|types.IsString) == 0 || !types.Identical(s.Info().TypeOf(b.X), s.Info().TypeOf(b.Y)) {
		return ""
	}
	x, y := s.elements(less, b.X), s.elements(less, b.Y)
	if x == "" || y == "" {
		return ""
	}
	if b.Op == token.GTR {
		x, y = y, x
	}
	return fmt.Sprintf("cmp.Compare(%s, %s)", x, y)
}

// elements is an expression of a less function with x[i] and x[j] replaced by i and j, which are
// the elements then; "" if the indices or the slice are used in another way.
func (s *site) elements(less lessFunc, e ast.Expr) string {
	want := s.Source(less.slice)
	params := map[types.Object]bool{}
	for _, f := range less.typ.Params.List {
		for _, n := range f.Names {
			params[s.Info().ObjectOf(n)] = true
		}
	}
	text, start, at := "", s.Offset(e.Pos()), s.Offset(e.Pos())
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			id, isName := n.Index.(*ast.Ident)
			if s.Source(n.X) == want && isName && params[s.Info().ObjectOf(id)] {
				text += string(s.Text[at:s.Offset(n.Pos())]) + id.Name
				at = s.Offset(n.End())
				return false
			}
		case *ast.Ident:
			ok = ok && !params[s.Info().ObjectOf(n)]
		case *ast.FuncLit:
			ok = false
		}
		return ok
	})
	if !ok || at == start {
		return ""
	}
	return text + string(s.Text[at:s.Offset(e.End())])
}
