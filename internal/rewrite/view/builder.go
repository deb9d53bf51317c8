package view

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

// CollectBytes lets a strings.Builder take bytes that a function only appends to and makes a text of: its String makes
// no copy.
func CollectBytes(on *code.Site) []code.Edit {
	s := &site{on}
	conv, v := s.converted()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || !s.Since("go1.10") || s.Local(conv.Args[0]) != v {
		return nil
	}
	pkg, imports, ok := s.Use("strings", v.Pos())
	if !ok {
		return nil
	}
	b := &building{site: s, v: v, pkg: pkg}
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || !b.use(u) {
			return nil
		}
	}
	if b.adds == 0 {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("collect `%s` in a strings.Builder, whose String makes no copy", v.Name()), Imports: imports, Changes: b.changes}}
}

// building is a slice of bytes on the way to a builder.
type building struct {
	*site
	v       *types.Var
	pkg     string // name of package strings
	adds    int
	changes []code.Change
}

// use changes a use of the slice; it is false where a builder cannot do the same.
func (b *building) use(u inspector.Cursor) bool {
	switch u.ParentEdgeKind() {
	case edge.ValueSpec_Names, edge.AssignStmt_Lhs:
		if u.Node().Pos() == b.v.Pos() {
			return b.declare(u)
		}
		return b.add(u)
	case edge.CallExpr_Args:
		call := u.Parent().Node().(*ast.CallExpr)
		switch {
		case b.Builtin(call, "append") != nil:
			_, into := b.appended(u.Parent().Parent().Node()) // which add changes
			return into && u.Node() == ast.Node(call.Args[0])
		case b.within(u):
			return false
		case b.Builtin(call, "len") != nil:
			b.changes = append(b.changes, b.Replace(call, b.v.Name()+".Len()"))
			return true
		case b.Info().Types[call.Fun].IsType() && code.IsString(b.Info().TypeOf(call)):
			text := b.v.Name() + ".String()"
			if !types.Identical(b.Info().TypeOf(call), types.Typ[types.String]) {
				text = fmt.Sprintf("%s(%s)", b.Source(call.Fun), text)
			}
			b.changes = append(b.changes, b.Replace(call, text))
			return true
		}
	}
	return false
}

// declare makes a builder of the declaration of an empty slice, with its capacity.
func (b *building) declare(u inspector.Cursor) bool {
	stmt, listed := code.Statement(u)
	if !listed || b.Commented(stmt.Node()) {
		return false
	}
	lines := []string{fmt.Sprintf("var %s %s.Builder", b.v.Name(), b.pkg)}
	var from ast.Expr
	switch n := stmt.Node().(type) {
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		if spec == nil {
			return false
		}
		if len(spec.Values) == 1 {
			from = spec.Values[0]
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 {
			return false
		}
		from = n.Rhs[0]
	default:
		return false
	}
	room, ok := b.empty(from)
	if !ok {
		return false
	}
	if room != "" {
		lines = append(lines, fmt.Sprintf("%s.Grow(%s)", b.v.Name(), room))
	}
	b.changes = append(b.changes, b.Replace(stmt.Node(), strings.Join(lines, "\n")))
	return true
}

// empty reports whether an expression, or none, is an empty slice, and returns its capacity; "" for none.
func (b *building) empty(e ast.Expr) (room string, ok bool) {
	if e == nil {
		return "", true
	}
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return "", len(lit.Elts) == 0
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return "", false
	}
	if b.Info().Types[call.Fun].IsType() {
		return "", b.Info().Types[call.Args[0]].IsNil()
	}
	if b.Builtin(call, "make") == nil || len(call.Args) < 2 || !b.IsZero(call.Args[1]) {
		return "", false
	}
	if len(call.Args) == 2 {
		return "", true
	}
	room = b.Source(call.Args[2])
	if !types.Identical(types.Default(b.Info().TypeOf(call.Args[2])), types.Typ[types.Int]) {
		room = "int(" + room + ")"
	}
	return room, true
}

// add writes to the builder what a statement appends to the slice.
func (b *building) add(u inspector.Cursor) bool {
	stmt, listed := code.Statement(u)
	call, ok := b.appended(u.Parent().Node())
	if !ok || !listed || stmt.Node() != u.Parent().Node() || b.Commented(stmt.Node()) {
		return false
	}
	var lines []string
	for _, e := range call.Args[1:] {
		method, what := "WriteByte", b.Source(e)
		switch t := b.Info().TypeOf(e); {
		case !call.Ellipsis.IsValid():
		case !code.IsString(t):
			method = "Write"
		case types.Identical(types.Default(t), types.Typ[types.String]):
			method = "WriteString"
		default:
			method, what = "WriteString", "string("+what+")"
		}
		lines = append(lines, fmt.Sprintf("%s.%s(%s)", b.v.Name(), method, what))
	}
	b.adds++
	b.changes = append(b.changes, b.Replace(stmt.Node(), strings.Join(lines, "\n")))
	return true
}

// appended is the call by which a statement appends something to the slice itself.
func (b *building) appended(n ast.Node) (*ast.CallExpr, bool) {
	assign, ok := n.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || b.Local(assign.Lhs[0]) != b.v {
		return nil, false
	}
	call := b.Builtin(assign.Rhs[0], "append")
	return call, call != nil && len(call.Args) > 1 && b.Local(call.Args[0]) == b.v
}

// within reports whether a use stands in a statement that appends to the slice.
func (b *building) within(u inspector.Cursor) bool {
	stmt, listed := code.Statement(u)
	if !listed {
		return false
	}
	_, into := b.appended(stmt.Node())
	return into
}
