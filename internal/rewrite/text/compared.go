package text

import (
	"fmt"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CompareParts compares two parts one after the other that were put together to be compared.
func CompareParts(on *code.Site) []code.Edit {
	s := &site{on}
	sum, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || !code.IsString(s.Info().TypeOf(sum)) || !s.Pure(sum.X) || !s.Pure(sum.Y) {
		return nil
	}
	around := s.Cur.Parent()
	a, b := s.Source(sum.X), s.Source(sum.Y)
	var text string
	switch n := around.Node().(type) {
	case *ast.BinaryExpr:
		other := n.X
		if other == ast.Expr(sum) {
			other = n.Y
		}
		if n.Op != token.EQL && n.Op != token.NEQ || !s.Pure(other) || !code.IsString(s.Info().TypeOf(other)) {
			return nil
		}
		x := s.Source(other)
		text = fmt.Sprintf("len(%s) == len(%s)+len(%s) && %[1]s[:len(%[2]s)] == %[2]s && %[1]s[len(%[2]s):] == %[3]s", x, a, b)
		if n.Op == token.NEQ {
			text = "!(" + text + ")"
		}
	case *ast.CallExpr:
		if len(n.Args) != 2 || n.Args[1] != ast.Expr(sum) || !s.Pure(n.Args[0]) {
			return nil
		}
		x, pkg := s.Source(n.Args[0]), s.Source(n.Fun)
		switch s.Callee(n) {
		case "strings.HasPrefix":
			text = fmt.Sprintf("%s(%s, %s) && %[1]s(%[2]s[len(%[3]s):], %s)", pkg, x, a, b)
		case "strings.HasSuffix":
			text = fmt.Sprintf("%s(%s, %s) && %[1]s(%[2]s[:len(%[2]s)-len(%[3]s)], %s)", pkg, x, b, a)
		default:
			return nil
		}
	default:
		return nil
	}
	if k := around.ParentEdgeKind(); k != edge.IfStmt_Cond && k != edge.AssignStmt_Rhs && k != edge.ReturnStmt_Results {
		text = "(" + text + ")"
	}
	return []code.Edit{{Text: "compare the parts one after the other", Gone: true, Changes: []code.Change{s.Replace(around.Node(), text)}}}
}
