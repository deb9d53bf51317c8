package sum

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// WrittenFromOne writes the texts of all turns of a loop from one slice, which is never nil. The contract of io.Writer
// forbids Write to keep it.
func WrittenFromOne(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsBytes(s.Info().TypeOf(conv.Fun)) ||
		!code.IsString(s.Info().TypeOf(conv.Args[0])) || s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	pieces := concatenated(conv.Args[0])
	for _, p := range pieces {
		if _, constant := s.ConstString(p); !constant && !s.Pure(p) {
			return nil
		}
	}
	write := s.Cur.Parent()
	loop, inLoop := s.LoopAround()
	stmt, listed := code.Statement(write)
	if !s.isWrite(write.Node().(*ast.CallExpr)) || !inLoop || !listed || !onlyCall(stmt.Node(), write) {
		return nil
	}
	if at, own := code.Statement(loop); !own || at != loop {
		return nil // it has a label
	}
	name := s.Fresh("text", conv.Pos())
	text := name + "[:0]"
	for _, p := range pieces {
		text = fmt.Sprintf("append(%s, %s...)", text, s.Source(p))
	}
	return []code.Edit{{Open: s.mayKeep(write.Node().(*ast.CallExpr)), Text: fmt.Sprintf("append `%s` to one slice for all turns of the loop", code.Brief(s.Source(conv.Args[0]))),
		Changes: []code.Change{s.Before(loop.Node(), name+" := []byte{}"), s.Before(stmt.Node(), name+" = "+text), s.Replace(conv, name)}}}
}

// mayKeep is the question that a Write leaves which is not the standard library's; "" for that.
func (s *site) mayKeep(write *ast.CallExpr) string {
	sel := ast.Unparen(write.Fun).(*ast.SelectorExpr)
	if pkg := s.Info().Selections[sel].Obj().Pkg(); pkg != nil && slices.Contains([]string{"io", "net", "net/http", "hash"}, pkg.Path()) {
		return ""
	}
	return fmt.Sprintf("Write of %s must not keep what it gets", types.TypeString(s.Info().TypeOf(sel.X), types.RelativeTo(s.Pkg.Types)))
}

// isWrite reports whether a call is of io.Writer's method, by a name that nothing has to be called for. Writers that
// also take strings are not meant.
func (s *site) isWrite(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Write" || len(call.Args) != 1 || s.Info().Selections[sel] == nil || !s.Pure(sel.X) {
		return false
	}
	sig := s.Info().Selections[sel].Type().(*types.Signature)
	takes, gives := sig.Params(), sig.Results()
	return takes.Len() == 1 && code.IsBytes(takes.At(0).Type()) && gives.Len() == 2 && gives.At(0).Type() == types.Typ[types.Int] &&
		types.Identical(gives.At(1).Type(), types.Universe.Lookup("error").Type()) && !code.HasMethod(s.Info().TypeOf(sel.X), "WriteString")
}

// onlyCall reports whether a statement evaluates a call before all else, and not in a goroutine or at the end.
func onlyCall(stmt ast.Node, call inspector.Cursor) bool {
	switch n := stmt.(type) {
	case *ast.ExprStmt:
		return n.X == call.Node()
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			if _, name := l.(*ast.Ident); !name {
				return false
			}
		}
		return len(n.Rhs) == 1 && n.Rhs[0] == call.Node()
	case *ast.IfStmt:
		return n.Init != nil && onlyCall(n.Init, call)
	}
	return false
}
