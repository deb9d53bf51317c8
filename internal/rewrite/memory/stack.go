package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// largestArray is the size of an array that is worth a place on every stack of the function.
const largestArray = 1024

// StackArray gives a slice of variable length an array of the function's frame for the sizes
// that were seen, and the heap for larger ones. If the slice outlives the function, the array
// is on the heap as well, and the trial shows it.
func StackArray(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Builtin(call, "make") == nil || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	slice, ok := s.Info().TypeOf(call).Underlying().(*types.Slice)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || stmt.Node() != ast.Node(assign) || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 ||
		len(call.Args) < 2 || s.Local(assign.Lhs[0]) == nil || s.givenBack(s.Local(assign.Lhs[0])) {
		return nil
	}
	size := call.Args[len(call.Args)-1]
	if s.Info().Types[size].Value != nil || len(call.Args) == 3 && !s.IsZero(call.Args[1]) {
		return nil
	}
	if _, ok := call.Args[0].(*ast.ArrayType); !ok {
		return nil
	}
	n := s.elements64(slice.Elem())
	elem := s.TypeText(slice.Elem())
	if n == 0 || elem == "" {
		return nil
	}
	name := s.Source(assign.Lhs[0])
	array := s.Fresh(name+"Array", s.Cur.Node().Pos())
	first, sized := s.sizeOnce(size)
	from, again := ":"+sized+":"+sized, s.Source(call.Args[0])+", "+sized // with no more capacity than it had
	if len(call.Args) == 3 {
		from, again = ":0:"+sized, s.Source(call.Args[0])+", 0, "+sized
	}
	text := first + fmt.Sprintf("var %s [%d]%s\nvar %s %s\nif %s <= len(%s) {\n%s = %s[%s]\n} else {\n%s = make(%s)\n}",
		array, n, elem, name, s.Source(call.Args[0]), sized, array, name, array, from, name, again)
	return []code.Edit{{Text: fmt.Sprintf("keep up to %d elements of `%s` in an array on the stack", n, name),
		Changes: []code.Change{s.Replace(assign, text)}}}
}

// givenBack reports whether the function around the site returns a variable as it is, so that its memory is on the heap.
func (s *site) givenBack(v *types.Var) bool {
	fn, _ := code.Function(s.Cur)
	return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool { return u.ParentEdgeKind() == edge.ReturnStmt_Results })
}

// sizeOnce is the text of a size that an edit asks for several times, an int, and the statement that computes it first
// where it takes more than names and numbers.
func (s *site) sizeOnce(size ast.Expr) (first, text string) {
	text = s.Source(size)
	isInt := types.Identical(s.Info().TypeOf(size), types.Typ[types.Int])
	if isInt && s.PureSize(size) {
		return "", text
	}
	if !isInt {
		text = "int(" + text + ")"
	}
	name := s.Fresh("size", size.Pos())
	return fmt.Sprintf("%s := %s\n", name, text), name
}

// elements64 is the number of elements, a power of two, that holds most of the blocks that were
// seen; 0 if these are too large.
func (s *site) elements64(elem types.Type) int64 {
	size := s.SizeOf(elem)
	if size <= 0 || len(s.Place.Sizes) == 0 {
		return 0
	}
	want := s.Place.Sizes[(len(s.Place.Sizes)*9)/10]
	n := int64(8)
	for n*size < want {
		n *= 2
	}
	if n*size > largestArray {
		return 0
	}
	return n
}

// PoolBuffer takes a bytes.Buffer from a pool of the package, where nothing of it outlives the
// function.
func PoolBuffer(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("bytes.Buffer")
	if c == nil || s.copies(c) || !c.methods("Write", "WriteString", "WriteByte", "WriteRune", "Len", "Cap", "Grow", "Reset", "String",
		"Truncate", "ReadFrom", "WriteTo", "Bytes") {
		return nil
	}
	fn := code.Declaration(s.Cur)
	if fn == nil || c.fn.Node() != ast.Node(fn) {
		return nil
	}
	for _, u := range append(slices.Clone(c.calls), c.other...) {
		if !code.Within(u, c.fn) {
			return nil // a literal may run after the function has ended
		}
	}
	open := s.retains(c)
	if open == "no" {
		return nil
	}
	p, ok := s.poolFor(c.decl, "Buffers")
	bytesName, _, hasBytes := s.Use("bytes", c.decl.Node().Pos())
	if !ok || !hasBytes {
		return nil
	}
	name := c.v.Name()
	get := fmt.Sprintf("%s := %s.Get().(*%s.Buffer)\n%[1]s.Reset()\ndefer %[2]s.Put(%[1]s)", name, p.name, bytesName)
	changes := []code.Change{s.declare(p, "new("+bytesName+".Buffer)"), s.Replace(c.decl.Node(), get)}
	if c.form != "pointer" {
		for _, u := range c.other {
			if u.ParentEdgeKind() != edge.UnaryExpr_X {
				return nil
			}
			changes = append(changes, s.Replace(u.Parent().Node(), name))
		}
	}
	return []code.Edit{{Text: fmt.Sprintf("take `%s` from a sync.Pool", name), Imports: p.imports, Open: open, Changes: changes}}
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
		by := s.Callee(u.Parent().Node().(*ast.CallExpr))
		if knownWriter[by] {
			return "", true
		}
		return fmt.Sprintf("%s must not keep `%s`", by, v.Name()), by != ""
	case edge.KeyValueExpr_Value, edge.CompositeLit_Elts:
		return fmt.Sprintf("what `%s` becomes a part of must not outlive the function", v.Name()), true
	}
	return "", false
}

// retains says what may keep the memory of a collector beyond the function: "no" is a certain
// answer that something does, "" that nothing does, else what is not known.
func (s *site) retains(c *collector) string {
	for _, call := range c.calls {
		if called(call) != "Bytes" {
			continue
		}
		if call.ParentEdgeKind() == edge.CallExpr_Args {
			by := call.Parent().Node().(*ast.CallExpr)
			if s.Info().Types[by.Fun].IsType() && code.IsString(s.Info().TypeOf(by)) || s.Builtin(by, "len") != nil ||
				s.Builtin(by, "copy") != nil || s.Builtin(by, "append") != nil && by.Ellipsis.IsValid() {
				continue
			}
			if s.Callee(by) != "" {
				return fmt.Sprintf("%s must not keep the bytes of `%s`", s.Callee(by), c.v.Name())
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
		if by := s.Callee(at.Parent().Node().(*ast.CallExpr)); !knownWriter[by] {
			if by == "" {
				return "no"
			}
			return fmt.Sprintf("%s must not keep `%s`", by, c.v.Name())
		}
	}
	return ""
}
