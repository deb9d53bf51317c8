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
	return []code.Edit{{Text: fmt.Sprintf("hash the bytes of `%s` without a copy, by unsafe.StringData", code.Brief(s.Source(text))), Imports: imports,
		Open:    fmt.Sprintf("Write of `%s` must not change or keep the bytes; it must have no WriteString; unsafe must be allowed", code.Brief(s.Source(h))),
		Changes: []code.Change{s.Replace(at, view)}}}
}

// hashed returns the writer h, the string that the site writes to it by Write of a copy or by io.WriteString, and the node to
// replace: the copy, or the call. All are nil if the site is no such write.
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
