package text

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// WriteView writes the memory of a text itself to a hash that takes bytes only: by the contract of io.Writer, Write neither
// changes nor keeps the bytes.
func WriteView(on *code.Site) []code.Edit {
	s := &site{on}
	h, text, at := s.hashed()
	switch s.Cur.Parent().Node().(type) {
	case *ast.DeferStmt, *ast.GoStmt:
		return nil
	}
	if text == nil || !s.Since("go1.20") || !isHash(s.Info().TypeOf(h)) || !s.Pure(text) {
		return nil
	}
	pkg, imports, free := s.Use("unsafe", at.Pos())
	if _, constant := s.ConstString(text); !free || constant {
		return nil
	}
	view := fmt.Sprintf("%s.Slice(%[1]s.StringData(%[2]s), len(%[2]s))", pkg, s.Source(text))
	if s.ofText(at) == nil { // the whole call
		view = fmt.Sprintf("%s.Write(%s)", s.Source(h), view)
	}
	return []code.Edit{{Text: fmt.Sprintf("write the memory of `%s` itself", code.Brief(s.Source(text))), Imports: imports,
		Open:    fmt.Sprintf("`%s` must neither change nor keep the bytes, nor have a WriteString, and unsafe must be allowed here", code.Brief(s.Source(h))),
		Changes: []code.Change{s.Replace(at, view)}}}
}

// hashed is the text that the site writes to what h says, by Write of its bytes or by io.WriteString, and the expression
// that can be replaced for that: the bytes, or the call.
func (s *site) hashed() (h, text, at ast.Expr) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil, nil, nil
	}
	if s.Callee(call) == "io.WriteString" {
		switch ast.Unparen(call.Args[0]).(type) {
		case *ast.Ident, *ast.SelectorExpr:
			return call.Args[0], call.Args[1], call
		}
		return nil, nil, nil
	}
	if s.Cur.ParentEdgeKind() != edge.CallExpr_Args || s.ofText(call) == nil {
		return nil, nil, nil
	}
	write := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, ok := ast.Unparen(write.Fun).(*ast.SelectorExpr)
	if !ok || len(write.Args) != 1 || sel.Sel.Name != "Write" {
		return nil, nil, nil
	}
	return sel.X, call.Args[0], call
}

// isHash reports whether a type is one of the interfaces of package hash.
func isHash(t types.Type) bool {
	return code.Named(t, "hash.Hash") || code.Named(t, "hash.Hash32") || code.Named(t, "hash.Hash64")
}
