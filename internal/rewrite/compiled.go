package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// compiledOnce moves what is made of constants on every call into a variable of the package.
func compiledOnce(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return nil
	}
	base := ""
	switch s.callee(call) {
	case "regexp.MustCompile", "regexp.MustCompilePOSIX":
		pattern, ok := s.constString(call.Args[0])
		if !ok {
			return nil
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return nil // the panic must stay where it is
		}
		base = "pattern"
	case "strings.NewReplacer":
		if len(call.Args)%2 != 0 {
			return nil
		}
		base = "replacer"
	default:
		return nil
	}
	for _, a := range call.Args {
		if s.info().Types[a].Value == nil || s.namesLocals(a) {
			return nil
		}
	}
	fn := declaration(s.cur)
	if fn == nil || fn.Recv == nil && fn.Name.Name == "init" || !s.onlyCalled() {
		return nil
	}
	name := s.fresh(fn.Name.Name+strings.ToUpper(base[:1])+base[1:], s.cur.Node().Pos())
	if ast.IsExported(name) {
		name = s.fresh(strings.ToLower(name[:1])+name[1:], s.cur.Node().Pos())
	}
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	at := s.offset(start)
	decl := fmt.Sprintf("var %s = %s\n\n", name, s.source(call))
	return []Edit{{Text: fmt.Sprintf("make `%s` once, as `%s` of the package", brief(s.source(call)), name),
		Changes: []Change{{at, at, decl}, s.replace(call, name)}}}
}

// onlyCalled reports whether the value of the site is only used to call methods on it, or by a
// variable that is: nothing compares or changes what all calls would share.
func (s *site) onlyCalled() bool {
	switch s.cur.ParentEdgeKind() {
	case edge.SelectorExpr_X:
		return true
	case edge.AssignStmt_Rhs:
		assign := s.cur.Parent().Node().(*ast.AssignStmt)
		if len(assign.Lhs) != 1 {
			return false
		}
		v := s.local(assign.Lhs[0])
		fn, body := function(s.cur)
		if v == nil || body == nil {
			return false
		}
		for _, u := range s.uses(v, fn) {
			if u.Node() != assign.Lhs[0] && !s.isMethodCall(u) {
				return false
			}
		}
		return true
	}
	return false
}

// isMethodCall reports whether a name is the receiver of a call that does not change it: of a
// regexp all but Longest are.
func (s *site) isMethodCall(u inspector.Cursor) bool {
	if u.ParentEdgeKind() != edge.SelectorExpr_X {
		return false
	}
	sel := u.Parent().Node().(*ast.SelectorExpr)
	return u.Parent().ParentEdgeKind() == edge.CallExpr_Fun && sel.Sel.Name != "Longest"
}

// namesLocals reports whether e names something that is declared inside a function.
func (s *site) namesLocals(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			obj := s.info().ObjectOf(id)
			if obj == nil || obj.Parent() != types.Universe && obj.Parent() != s.pkg.Types.Scope() {
				_, pkg := obj.(*types.PkgName)
				found = found || !pkg && obj != nil && obj.Pkg() == s.pkg.Types
			}
		}
		return !found
	})
	return found
}
