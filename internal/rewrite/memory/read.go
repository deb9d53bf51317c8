package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// PoolRead reads a stream to a buffer from a pool, where a slice for its content would die with the function. The content is
// not valid after the function returns.
func PoolRead(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || !s.Place.Dies || len(s.Place.Held) > 0 || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs ||
		!slices.Contains([]string{"io.ReadAll", "io/ioutil.ReadAll"}, s.Callee(call)) {
		return nil
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	stmt, listed := code.Statement(s.Cur)
	content := s.Local(assign.Lhs[0])
	if !listed || stmt.Node() != ast.Node(assign) || content == nil || content.Name() == "_" || s.Commented(assign) {
		return nil
	}
	p, ok := s.poolFor(stmt, "Buffers")
	bytes, imports, free := s.Use("bytes", stmt.Node().Pos())
	if !ok || !free {
		return nil
	}
	buffer := s.Fresh("buffer", assign.Pos())
	lines := []string{
		fmt.Sprintf("%s := %s.Get().(*%s.Buffer)", buffer, p.name, bytes),
		buffer + ".Reset()",
		fmt.Sprintf("defer %s.Put(%s)", p.name, buffer),
		fmt.Sprintf("_, %s %s %s.ReadFrom(%s)", s.Source(assign.Lhs[1]), s.sets(assign, assign.Lhs[1]), buffer, s.Source(call.Args[0])),
		fmt.Sprintf("%s %s %s.Bytes()", content.Name(), s.sets(assign, assign.Lhs[0]), buffer),
	}
	return []code.Edit{{Text: fmt.Sprintf("read `%s` to a bytes.Buffer from a sync.Pool", content.Name()), Imports: append(p.imports, imports...),
		Open:    fmt.Sprintf("UnmarshalJSON, UnmarshalText and Write that get bytes of `%s` must copy them", content.Name()),
		Changes: []code.Change{s.declare(p, fmt.Sprintf("new(%s.Buffer)", bytes)), s.Replace(assign, strings.Join(lines, "\n"))}}}
}

// sets is the operator by which a statement gives a variable its value: := for one that it declares.
func (s *site) sets(assign *ast.AssignStmt, lhs ast.Expr) token.Token {
	if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" && s.Info().Defs[id] != nil {
		return token.DEFINE
	}
	return token.ASSIGN
}
