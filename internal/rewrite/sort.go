package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
)

// sortFunc sorts a slice by a typed comparison: sort.Slice swaps by reflection and puts the
// slice and the function into interfaces. Both sort by the same algorithm.
func sortFunc(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || s.cur.ParentEdgeKind() != edge.ExprStmt_X || !s.since("go1.21") || len(call.Args) != 2 {
		return nil
	}
	to := map[string]string{"sort.Slice": "SortFunc", "sort.SliceStable": "SortStableFunc"}[s.callee(call)]
	less, ok := call.Args[1].(*ast.FuncLit)
	if to == "" || !ok || !s.pure(call.Args[0]) {
		return nil
	}
	slice, ok := s.info().TypeOf(call.Args[0]).Underlying().(*types.Slice)
	if !ok {
		return nil
	}
	elem := s.typeText(slice.Elem())
	body, needsCmp := s.comparison(call.Args[0], less)
	if body == "" || elem == "" {
		return nil
	}
	slicesName, imports, ok := s.use("slices", call.Pos())
	if !ok {
		return nil
	}
	if needsCmp {
		_, more, ok := s.use("cmp", call.Pos())
		if !ok {
			return nil
		}
		imports = append(imports, more...)
	}
	text := fmt.Sprintf("%s.%s(%s, func(%s, %s %s) int {\n%s\n})", slicesName, to, s.source(call.Args[0]),
		s.paramOf(less, 0), s.paramOf(less, 1), elem, body)
	return []Edit{{Text: fmt.Sprintf("sort `%s` by slices.%s", s.source(call.Args[0]), to), Imports: imports,
		Changes: []Change{s.replace(call, text)}}}
}

// paramOf is the name of a parameter of a less function.
func (s *site) paramOf(less *ast.FuncLit, i int) string {
	var names []string
	for _, f := range less.Type.Params.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	if i >= len(names) {
		return "_"
	}
	return names[i]
}

// comparison is the body of a comparison that orders as a less function does: of statements
// `if x[i].A != x[j].A { return x[i].A < x[j].A }` and a last return. "" for others.
func (s *site) comparison(slice ast.Expr, less *ast.FuncLit) (body string, needsCmp bool) {
	var lines []string
	for i, stmt := range less.Body.List {
		last := i == len(less.Body.List)-1
		switch stmt := stmt.(type) {
		case *ast.ReturnStmt:
			c := s.compare(slice, less, stmt)
			if c == "" || !last {
				return "", false
			}
			lines = append(lines, "return "+c)
		case *ast.IfStmt:
			cond, ok := stmt.Cond.(*ast.BinaryExpr)
			if !ok || cond.Op != token.NEQ || stmt.Init != nil || stmt.Else != nil || len(stmt.Body.List) != 1 || last {
				return "", false
			}
			ret, ok := stmt.Body.List[0].(*ast.ReturnStmt)
			if !ok {
				return "", false
			}
			c := s.compare(slice, less, ret)
			cmp, isCmp := ret.Results[0].(*ast.BinaryExpr)
			if c == "" || !isCmp || !s.samePair(cond, cmp) {
				return "", false
			}
			lines = append(lines, fmt.Sprintf("if c := %s; c != 0 {\nreturn c\n}", c))
		default:
			return "", false
		}
	}
	return strings.Join(lines, "\n"), true
}

func (s *site) samePair(a, b *ast.BinaryExpr) bool {
	ax, ay, bx, by := s.source(a.X), s.source(a.Y), s.source(b.X), s.source(b.Y)
	return ax == bx && ay == by || ax == by && ay == bx
}

// compare is the three-way comparison that `return a < b` or `return a > b` stands for; "" for
// others. Floats are left out: they are not ordered where one is NaN.
func (s *site) compare(slice ast.Expr, less *ast.FuncLit, ret *ast.ReturnStmt) string {
	if len(ret.Results) != 1 {
		return ""
	}
	b, ok := ret.Results[0].(*ast.BinaryExpr)
	if !ok || b.Op != token.LSS && b.Op != token.GTR {
		return ""
	}
	t := basic(s.info().TypeOf(b.X))
	if t == nil || t.Info()&(types.IsInteger|types.IsString) == 0 || !types.Identical(s.info().TypeOf(b.X), s.info().TypeOf(b.Y)) {
		return ""
	}
	x, y := s.elements(slice, less, b.X), s.elements(slice, less, b.Y)
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
func (s *site) elements(slice ast.Expr, less *ast.FuncLit, e ast.Expr) string {
	want := s.source(slice)
	params := map[types.Object]bool{}
	for _, f := range less.Type.Params.List {
		for _, n := range f.Names {
			params[s.info().ObjectOf(n)] = true
		}
	}
	text, start, at := "", s.offset(e.Pos()), s.offset(e.Pos())
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			id, isName := n.Index.(*ast.Ident)
			if s.source(n.X) == want && isName && params[s.info().ObjectOf(id)] {
				text += string(s.text[at:s.offset(n.Pos())]) + id.Name
				at = s.offset(n.End())
				return false
			}
		case *ast.Ident:
			ok = ok && !params[s.info().ObjectOf(n)]
		case *ast.FuncLit:
			ok = false
		}
		return ok
	})
	if !ok || at == start {
		return ""
	}
	return text + string(s.text[at:s.offset(e.End())])
}
