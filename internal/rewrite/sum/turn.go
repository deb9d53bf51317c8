package sum

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

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
	if !ok || sel.Sel.Name != "WriteString" {
		return nil
	}
	if method := s.Info().Selections[sel]; method == nil || method.Kind() != types.MethodVal || !s.Pure(sel.X) || !collects(s.Info().TypeOf(sel.X)) || s.Commented(sum) {
		return nil
	}
	stmt, ok := s.aloneIn(s.Cur.Parent())
	exprs := concatenated(sum)
	parts := s.joined(exprs)
	if !ok || len(parts) < 2 {
		return nil
	}
	own := ""
	for _, e := range exprs[1:] {
		if s.unaware(e, s.RootOf(sel.X)) {
			continue
		}
		if own = s.ownCall(e, s.Local(sel.X)); own == "" {
			return nil
		}
	}
	var lines []string
	for _, p := range parts[:len(parts)-1] {
		lines = append(lines, fmt.Sprintf("%s(%s)", s.Source(call.Fun), p))
	}
	e := code.Edit{Text: fmt.Sprintf("write the parts of `%s` one after the other", code.Brief(s.Source(sum))),
		Changes: []code.Change{s.Before(stmt, lines...), s.Replace(sum, parts[len(parts)-1])}}
	if own != "" {
		e.Open = fmt.Sprintf("`%s` must not write to what `%s` writes to, and if it panics, nobody may read that", own, s.Source(sel.X))
	}
	if code.Named(s.Info().TypeOf(sel.X), "bufio.Writer") {
		e.Open = fmt.Sprintf("the writer behind `%s` must change none of the parts, nor count how often it is called", s.Source(sel.X))
	}
	return []code.Edit{e}
}

// collects reports whether a type is a buffer, or a writer with one, whose WriteString fails where an earlier write failed.
func collects(t types.Type) bool {
	return code.Named(t, "strings.Builder") || code.Named(t, "bytes.Buffer") || code.Named(t, "bufio.Writer")
}

// aloneIn returns the statement that only makes the call, and at most stores or tests its error.
func (s *site) aloneIn(call inspector.Cursor) (ast.Stmt, bool) {
	list, ok := code.Statement(call)
	if !ok {
		return nil, false
	}
	at := call.Parent()
	switch n := at.Node().(type) {
	case *ast.ExprStmt:
	case *ast.AssignStmt:
		count, blank := n.Lhs[0].(*ast.Ident)
		_, plain := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if !blank || count.Name != "_" || !plain {
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

// joined puts constants that follow each other into one part. Parts are Go source.
func (s *site) joined(exprs []ast.Expr) []string {
	var out []string
	constant := false
	for _, e := range exprs {
		is := s.Info().Types[e].Value != nil
		if last := len(out) - 1; is && constant {
			out[last] += " + " + s.Source(e)
		} else {
			out = append(out, s.Source(e))
		}
		constant = is
	}
	return out
}

// asked are pure functions of texts and numbers that never panic.
var asked = []string{"strconv.Itoa", "strconv.Quote", "strconv.FormatBool", "strings.ToLower", "strings.ToUpper", "strings.TrimSpace",
	"strings.TrimPrefix", "strings.TrimSuffix", "strings.ReplaceAll"}

// unaware reports whether an expression can be evaluated after the earlier writes: it reads nothing that they change, and it
// cannot panic. The writer's own struct is not nil, as it was written to; fields behind other pointers are refused.
func (s *site) unaware(e ast.Expr, writer types.Object) bool {
	if s.Info().Types[e].Value != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		_, field := s.Info().Uses[e.Sel].(*types.Var)
		return field && (!s.ThroughPointer(e) || s.direct(e, writer))
	case *ast.BinaryExpr:
		return slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL}, e.Op) && s.unaware(e.X, writer) && s.unaware(e.Y, writer)
	case *ast.CallExpr:
		known := slices.Contains(asked, s.Callee(e)) || s.Builtin(e, "len") != nil || s.converts(e)
		return known && !slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return !s.unaware(a, writer) })
	}
	return false
}

// ownCall names the function of the package that an expression calls with texts and numbers for one of these, where the writer
// is a variable of this function and no parameter; "" for another expression.
func (s *site) ownCall(e ast.Expr, writer *types.Var) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	_, body := code.Function(s.Cur)
	if !ok || writer == nil || writer.Pos() < body.Pos() {
		return ""
	}
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || fn.Pkg() != s.Pkg.Types || fn.Signature().Recv() != nil || code.Basic(s.Info().TypeOf(call)) == nil {
		return ""
	}
	for _, a := range call.Args {
		if code.Basic(s.Info().TypeOf(a)) == nil || !s.unaware(a, writer) {
			return ""
		}
	}
	return s.Source(call.Fun)
}

// direct reports whether a selector is a field of the struct that a variable points to.
func (s *site) direct(e *ast.SelectorExpr, v types.Object) bool {
	id, ok := ast.Unparen(e.X).(*ast.Ident)
	selection := s.Info().Selections[e]
	return ok && s.Info().Uses[id] == v && selection != nil && len(selection.Index()) == 1
}

// converts reports whether a call makes a number of a number, or a string of a number or of another string.
func (s *site) converts(call *ast.CallExpr) bool {
	if !s.Info().Types[call.Fun].IsType() || len(call.Args) != 1 {
		return false
	}
	from, to := code.Basic(s.Info().TypeOf(call.Args[0])), code.Basic(s.Info().TypeOf(call))
	return from != nil && to != nil && from.Kind() != types.UnsafePointer && to.Kind() != types.UnsafePointer
}
