package memory

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AskedBefore asks the condition of a call that does nothing unless it holds, such as that of an
// assertion, before the call: its other arguments then cost nothing.
func AskedBefore(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.ExprStmt_X || len(call.Args) < 2 || call.Ellipsis.IsValid() {
		return nil
	}
	stmt, listed := code.Statement(s.Cur)
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || !listed || stmt != s.Cur.Parent() || !s.sideless(call.Args) {
		return nil
	}
	at, when := s.onlyIf(fn)
	if at < 0 || at >= len(call.Args) {
		return nil
	}
	cond := s.Source(call.Args[at])
	if !when {
		cond = "!(" + cond + ")"
	}
	text := fmt.Sprintf("if %s {\n%s\n}", cond, s.Source(call))
	return []code.Edit{{Open: s.pointers(call, call.Args[at]), Text: fmt.Sprintf("ask `%s` before the call of %s, which does nothing else", code.Brief(cond), fn.Name()),
		Changes: []code.Change{s.Replace(call, text)}}}
}

// pointers names a pointer that the arguments of a call follow and the condition does not: if it is
// nil, the call panics today.
func (s *site) pointers(call *ast.CallExpr, cond ast.Expr) (open string) {
	asked := map[string]bool{}
	ast.Inspect(cond, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			asked[s.Source(sel.X)] = true
		}
		return true
	})
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
// variables and fields, compare and compute, and neither call, divide, nor follow an index that may
// be out of range.
func (s *site) sideless(args []ast.Expr) bool {
	ok := true
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				ok = ok && (s.Builtin(n, "len") != nil || s.Info().Types[n.Fun].IsType())
			case *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.StarExpr, *ast.FuncLit:
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

// onlyIf is the parameter that a function asks before it does anything, and the answer for which it
// does; -1 if it does something in any case.
func (s *site) onlyIf(fn *types.Func) (param int, when bool) {
	if fn.Signature().Recv() != nil || fn.Signature().Results().Len() > 0 {
		return -1, false
	}
	decl := s.bodyOf(fn)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return -1, false
	}
	guard, ok := decl.Body.List[0].(*ast.IfStmt)
	if !ok || guard.Init != nil || guard.Else != nil {
		return -1, false
	}
	cond, when := ast.Unparen(guard.Cond), true
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond, when = ast.Unparen(not.X), false
	}
	id, ok := cond.(*ast.Ident)
	if !ok {
		return -1, false
	}
	i := 0
	for _, f := range decl.Type.Params.List {
		for _, n := range f.Names {
			if n.Name == id.Name {
				return i, when
			}
			i++
		}
	}
	return -1, false
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
		if decl, ok := d.(*ast.FuncDecl); ok && decl.Recv == nil && decl.Name.Name == fn.Name() &&
			fset.PositionFor(decl.Name.Pos(), false).Line == at.Line {
			return decl
		}
	}
	return nil
}
