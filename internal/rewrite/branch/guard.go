package branch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AskedBefore asks the condition of a call that does nothing unless it holds, such as that of an
// assertion or of a log that is off, before the call: its arguments then cost nothing.
func AskedBefore(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.ExprStmt_X || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return nil
	}
	stmt, listed := code.Statement(s.Cur)
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || !listed || stmt != s.Cur.Parent() || !s.sideless(call.Args) {
		return nil
	}
	q := s.onlyIf(fn, call)
	if q.text == "" || s.askedAround(stmt, q.text) {
		return nil
	}
	open := s.pointers(call, q.args)
	if open == "" && q.asks != "" {
		open = fmt.Sprintf("`%s` is asked a second time, and must change nothing", q.asks)
	}
	edit := code.Edit{Open: open, Text: fmt.Sprintf("ask `%s` before the call of %s, which does nothing else", code.Brief(q.text), fn.Name()),
		Changes: []code.Change{s.Replace(call, fmt.Sprintf("if %s {\n%s\n}", q.text, s.Source(call)))}}
	declared, later := s.capturedCopies(s.Cur)
	if declared == "" {
		return []code.Edit{edit}
	}
	copied := edit
	copied.Text += ", and copy what its function literal reads"
	copied.Open = strings.Join(slices.DeleteFunc([]string{open, later}, func(q string) bool { return q == "" }), "; ")
	copied.Changes = []code.Change{s.Replace(call, fmt.Sprintf("if %s {\n%s%s\n}", q.text, declared, s.Source(call)))}
	return []code.Edit{copied, edit}
}

// askedAround reports whether a statement is the branch of a condition.
func (s *site) askedAround(stmt inspector.Cursor, cond string) bool {
	block := stmt.Parent()
	if block.ParentEdgeKind() != edge.IfStmt_Body {
		return false
	}
	return s.Source(block.Parent().Node().(*ast.IfStmt).Cond) == cond
}

// pointers names a pointer that the arguments of a call follow and the condition does not: if it is
// nil, the call panics today.
func (s *site) pointers(call *ast.CallExpr, asking []ast.Expr) (open string) {
	asked := map[string]bool{}
	for _, cond := range asking {
		ast.Inspect(cond, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				asked[s.Source(sel.X)] = true
			}
			return true
		})
	}
	for _, a := range call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && s.ThroughPointer(sel) && !asked[s.Source(sel.X)] {
				open = fmt.Sprintf("`%s` must not be nil", s.Source(sel.X))
			}
			return true
		})
	}
	return open
}

// sideless reports whether arguments can be evaluated or not without anybody noticing: they read
// variables and fields, compare and compute, make literals and closures, and neither call, divide, nor
// follow an index that may be out of range.
func (s *site) sideless(args []ast.Expr) bool {
	ok := true
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				ok = ok && (s.Builtin(n, "len") != nil || s.Info().Types[n.Fun].IsType())
			case *ast.FuncLit:
				return false
			case *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.StarExpr:
				ok = ok && s.Info().Types[n.(ast.Expr)].Value != nil
			case *ast.BinaryExpr:
				ok = ok && n.Op != token.QUO && n.Op != token.REM && n.Op != token.SHL && n.Op != token.SHR
			case *ast.UnaryExpr:
				ok = ok && n.Op != token.ARROW
			}
			return ok
		})
	}
	return ok
}

// bodyOf is the declaration of a function of any package, from its source; nil if that is not there.
func (s *site) bodyOf(fn *types.Func) *ast.FuncDecl {
	at := s.Fset.PositionFor(fn.Pos(), false)
	if at.Filename == "" {
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, at.Filename, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok && decl.Name.Name == fn.Name() &&
			fset.PositionFor(decl.Name.Pos(), false).Line == at.Line {
			return decl
		}
	}
	return nil
}
