package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// largestArray is the size of an array that is worth a place on every stack of the function.
const largestArray = 1024

// stackArray gives a slice of variable length an array of the function's frame for the sizes
// that were seen, and the heap for larger ones. If the slice outlives the function, the array
// is on the heap as well, and the trial shows it.
func stackArray(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || s.builtin(call, "make") == nil || s.cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	assign := s.cur.Parent().Node().(*ast.AssignStmt)
	slice, ok := s.info().TypeOf(call).Underlying().(*types.Slice)
	stmt, listed := statement(s.cur)
	if !ok || !listed || stmt.Node() != ast.Node(assign) || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 ||
		len(call.Args) < 2 || s.local(assign.Lhs[0]) == nil {
		return nil
	}
	size := call.Args[len(call.Args)-1]
	if s.info().Types[size].Value != nil || !s.pure(size) || len(call.Args) == 3 && !s.isZero(call.Args[1]) {
		return nil
	}
	if _, ok := call.Args[0].(*ast.ArrayType); !ok {
		return nil
	}
	n := s.elements64(slice.Elem())
	elem := s.typeText(slice.Elem())
	if n == 0 || elem == "" {
		return nil
	}
	name := s.source(assign.Lhs[0])
	array := s.fresh(name+"Array", s.cur.Node().Pos())
	from := ":" + s.source(size)
	if len(call.Args) == 3 {
		from = ":0"
	}
	text := fmt.Sprintf("var %s [%d]%s\nvar %s %s\nif %s <= len(%s) {\n%s = %s[%s]\n} else {\n%s = %s\n}",
		array, n, elem, name, s.source(call.Args[0]), s.source(size), array, name, array, from, name, s.source(call))
	return []Edit{{Text: fmt.Sprintf("keep up to %d elements of `%s` in an array on the stack", n, name),
		Changes: []Change{s.replace(assign, text)}}}
}

// elements64 is the number of elements, a power of two, that holds most of the blocks that were
// seen; 0 if these are too large.
func (s *site) elements64(elem types.Type) int64 {
	size := s.pkg.TypesSizes.Sizeof(elem)
	if size <= 0 || len(s.place.Sizes) == 0 {
		return 0
	}
	want := s.place.Sizes[(len(s.place.Sizes)*9)/10]
	n := int64(8)
	for n*size < want {
		n *= 2
	}
	if n*size > largestArray {
		return 0
	}
	return n
}

// poolBuffer takes a bytes.Buffer from a pool of the package, where nothing of it outlives the
// function.
func poolBuffer(s *site) []Edit {
	c := s.collectorOf("bytes.Buffer")
	if c == nil || !c.methods("Write", "WriteString", "WriteByte", "WriteRune", "Len", "Cap", "Grow", "Reset", "String",
		"Truncate", "ReadFrom", "WriteTo", "Bytes") {
		return nil
	}
	fn := declaration(s.cur)
	if fn == nil || c.fn.Node() != ast.Node(fn) || hasTypeParams(fn) {
		return nil
	}
	for _, u := range append(slices.Clone(c.calls), c.other...) {
		if !within(u, c.fn) {
			return nil // a literal may run after the function has ended
		}
	}
	list, ok := statement(c.decl)
	if !ok || list.Parent().Node() != ast.Node(fn.Body) {
		return nil // in a loop or branch: defer would wait for the function
	}
	open := s.retains(c)
	if open == "no" {
		return nil
	}
	sync, imports, ok := s.use("sync", c.decl.Node().Pos())
	bytesName, _, hasBytes := s.use("bytes", c.decl.Node().Pos())
	if !ok || !hasBytes {
		return nil
	}
	pool := s.fresh(fn.Name.Name+"Buffers", c.v.Pos())
	if ast.IsExported(pool) {
		pool = s.fresh("pooled"+fn.Name.Name, c.v.Pos())
	}
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	at := s.offset(start)
	name := c.v.Name()
	decl := fmt.Sprintf("var %s = %s.Pool{New: func() any { return new(%s.Buffer) }}\n\n", pool, sync, bytesName)
	get := fmt.Sprintf("%s := %s.Get().(*%s.Buffer)\n%[1]s.Reset()\ndefer %[2]s.Put(%[1]s)", name, pool, bytesName)
	changes := []Change{{at, at, decl}, s.replace(c.decl.Node(), get)}
	if c.form != "pointer" {
		for _, u := range c.other {
			if u.ParentEdgeKind() != edge.UnaryExpr_X {
				return nil
			}
			changes = append(changes, s.replace(u.Parent().Node(), name))
		}
	}
	return []Edit{{Text: fmt.Sprintf("take `%s` from a sync.Pool", name), Imports: imports, Open: open, Changes: changes}}
}

// resettable are the makers of values that can be used again after Reset, which takes the same
// argument.
var resettable = map[string]string{
	"compress/gzip.NewWriter": "*%s.Writer", "compress/zlib.NewWriter": "*%s.Writer", "bufio.NewWriter": "*%s.Writer",
	"bufio.NewReader": "*%s.Reader",
}

// poolWriter takes a compressor or a buffered reader or writer from a pool of the package.
func poolWriter(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || s.cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	typ, assign := resettable[s.callee(call)], s.cur.Parent().Node().(*ast.AssignStmt)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if typ == "" || !isSel || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(call.Args) != 1 {
		return nil
	}
	v := s.local(assign.Lhs[0])
	fn := declaration(s.cur)
	in, body := function(s.cur)
	stmt, listed := statement(s.cur)
	if v == nil || fn == nil || body == nil || hasTypeParams(fn) || !listed || stmt.Parent().Node() != ast.Node(body) {
		return nil
	}
	open := ""
	for _, u := range s.uses(v, in) {
		why, ok := s.staysIn(u, v)
		if !ok || !within(u, in) {
			return nil
		}
		if open == "" {
			open = why
		}
	}
	sync, imports, ok := s.use("sync", call.Pos())
	if !ok {
		return nil
	}
	name := s.fresh(strings.ToLower(fn.Name.Name[:1])+fn.Name.Name[1:]+"Pool", v.Pos())
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	at := s.offset(start)
	pkg := s.source(sel.X)
	decl := fmt.Sprintf("var %s = %s.Pool{New: func() any { return %s(nil) }}\n\n", name, sync, s.source(call.Fun))
	get := fmt.Sprintf("%s := %s.Get().(%s)\n%[1]s.Reset(%[4]s)\ndefer %[2]s.Put(%[1]s)", v.Name(), name, fmt.Sprintf(typ, pkg),
		s.source(call.Args[0]))
	return []Edit{{Text: fmt.Sprintf("take `%s` from a sync.Pool and Reset it", v.Name()), Imports: imports, Open: open,
		Changes: []Change{{at, at, decl}, s.replace(assign, get)}}}
}

// staysIn reports whether a use of a variable leaves it in the function, and what that rests on.
func (s *site) staysIn(u inspector.Cursor, v *types.Var) (open string, ok bool) {
	switch u.ParentEdgeKind() {
	case edge.AssignStmt_Lhs:
		return "", u.Node().Pos() == v.Pos()
	case edge.SelectorExpr_X:
		name := u.Parent().Node().(*ast.SelectorExpr).Sel.Name
		call := u.Parent().ParentEdgeKind() == edge.CallExpr_Fun
		return "", call && name != "Peek" && name != "ReadSlice" && name != "ReadLine" && name != "AvailableBuffer"
	case edge.CallExpr_Args:
		by := s.callee(u.Parent().Node().(*ast.CallExpr))
		if knownWriter[by] {
			return "", true
		}
		return fmt.Sprintf("%s must not keep `%s`", by, v.Name()), by != ""
	case edge.KeyValueExpr_Value, edge.CompositeLit_Elts:
		return fmt.Sprintf("what `%s` becomes a part of must not outlive the function", v.Name()), true
	}
	return "", false
}

func hasTypeParams(fn *ast.FuncDecl) bool {
	return fn.Type.TypeParams != nil || fn.Recv != nil && len(fn.Recv.List) == 1 && isIndexed(fn.Recv.List[0].Type)
}

func isIndexed(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	switch e.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// retains says what may keep the memory of a collector beyond the function: "no" is a certain
// answer that something does, "" that nothing does, else what is not known.
func (s *site) retains(c *collector) string {
	for _, call := range c.calls {
		if call.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr).Sel.Name != "Bytes" {
			continue
		}
		if call.ParentEdgeKind() == edge.CallExpr_Args {
			by := call.Parent().Node().(*ast.CallExpr)
			if s.info().Types[by.Fun].IsType() && isString(s.info().TypeOf(by)) || s.builtin(by, "len") != nil ||
				s.builtin(by, "copy") != nil || s.builtin(by, "append") != nil && by.Ellipsis.IsValid() {
				continue
			}
			if s.callee(by) != "" {
				return fmt.Sprintf("%s must not keep the bytes of `%s`", s.callee(by), c.v.Name())
			}
		}
		return "no"
	}
	for _, u := range c.other {
		at := u
		if at.ParentEdgeKind() == edge.UnaryExpr_X {
			at = at.Parent()
		}
		if at.ParentEdgeKind() != edge.CallExpr_Args {
			return "no"
		}
		if by := s.callee(at.Parent().Node().(*ast.CallExpr)); !knownWriter[by] {
			if by == "" {
				return "no"
			}
			return fmt.Sprintf("%s must not keep `%s`", by, c.v.Name())
		}
	}
	return ""
}
