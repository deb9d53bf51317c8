package sum

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// WriteInTurn writes the parts of a concatenation one after the other to a buffer or a bufio.Writer. These report an
// error at each write after the one that failed, so only the last result is looked at.
func WriteInTurn(on *code.Site) []code.Edit {
	s := &site{on}
	sum, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || s.Info().Types[sum].Value != nil || s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "WriteString" || s.Info().Selections[sel] == nil || !s.Pure(sel.X) || !collects(s.Info().TypeOf(sel.X)) {
		return nil
	}
	stmt, ok := s.aloneIn(s.Cur.Parent())
	parts := s.joined(concatenated(sum))
	if !ok || len(parts) < 2 {
		return nil
	}
	for _, p := range parts[1:] {
		if !s.unaware(p) {
			return nil
		}
	}
	var lines []string
	for _, p := range parts[:len(parts)-1] {
		lines = append(lines, fmt.Sprintf("%s(%s)", s.Source(call.Fun), p.text))
	}
	return []code.Edit{{Text: fmt.Sprintf("write the parts of `%s` one after the other", code.Brief(s.Source(sum))),
		Changes: []code.Change{s.Before(stmt, lines...), s.Replace(sum, parts[len(parts)-1].text)}}}
}

// collects reports whether a type is a buffer, or a writer with one, whose WriteString fails where an earlier write failed.
func collects(t types.Type) bool {
	return code.Named(t, "strings.Builder") || code.Named(t, "bytes.Buffer") || code.Named(t, "bufio.Writer")
}

// aloneIn is the statement that is for a call alone, which looks at its error at most: the call itself, an assignment, or
// an if with one.
func (s *site) aloneIn(call inspector.Cursor) (ast.Stmt, bool) {
	list, ok := code.Statement(call)
	if !ok {
		return nil, false
	}
	at := call.Parent()
	switch n := at.Node().(type) {
	case *ast.ExprStmt:
	case *ast.AssignStmt:
		if count, blank := n.Lhs[0].(*ast.Ident); !blank || count.Name != "_" {
			return nil, false
		}
	default:
		return nil, false
	}
	if at.ParentEdgeKind() == edge.IfStmt_Init {
		at = at.Parent()
	}
	return list.Node().(ast.Stmt), at == list
}

// part is one of the texts that are written.
type part struct {
	exprs []ast.Expr
	text  string // as Go source
}

// joined puts constants that follow each other into one part.
func (s *site) joined(exprs []ast.Expr) []part {
	var out []part
	constant := false
	for _, e := range exprs {
		is := s.Info().Types[e].Value != nil
		if last := len(out) - 1; is && constant {
			out[last].exprs, out[last].text = append(out[last].exprs, e), out[last].text+" + "+s.Source(e)
		} else {
			out = append(out, part{[]ast.Expr{e}, s.Source(e)})
		}
		constant = is
	}
	return out
}

// unaware reports whether a part is the same before and after something is written: it has only variables, fields,
// constants, and calls of strings and strconv with these.
func (s *site) unaware(p part) bool {
	same := true
	for _, e := range p.exprs {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				fn, _ := typeutil.Callee(s.Info(), n).(*types.Func)
				known := fn != nil && fn.Pkg() != nil && slices.Contains([]string{"strings", "strconv"}, fn.Pkg().Path()) && fn.Signature().Recv() == nil
				same = same && (known || s.Builtin(n, "len") != nil || s.converts(n))
			case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.FuncLit, *ast.TypeAssertExpr, *ast.UnaryExpr:
				same = false // may panic, or read memory of the writer
			}
			return same
		})
	}
	return same
}

// converts reports whether a call makes a string of a number or of another string.
func (s *site) converts(call *ast.CallExpr) bool {
	if !s.Info().Types[call.Fun].IsType() || len(call.Args) != 1 {
		return false
	}
	b := code.Basic(s.Info().TypeOf(call.Args[0]))
	return b != nil && !strings.HasPrefix(b.Name(), "unsafe")
}
