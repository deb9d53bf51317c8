package text

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// Unmarshal decodes JSON that is at hand without a decoder, which would copy it to a buffer of its own.
func Unmarshal(on *code.Site) []code.Edit {
	s := &site{on}
	made, source := s.decoder()
	if source == "" {
		return nil
	}
	sel := made.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr)
	decode, drop := s.decodes(made)
	if decode == nil {
		return nil
	}
	changes := []code.Change{s.Replace(decode, fmt.Sprintf("%s.Unmarshal(%s, %s)", s.Source(sel.X), source, s.Source(decode.Args[0])))}
	if drop != nil {
		changes = append(changes, s.Replace(drop, ""))
	}
	return []code.Edit{{Text: fmt.Sprintf("decode `%s` by json.Unmarshal", code.Brief(source)), Changes: changes,
		Open: "text behind the value is an error then, and so is no text at all, but another one"}}
}

// decoder is the call that makes a decoder of bytes or a string around or below the site, and these as bytes.
func (s *site) decoder() (made inspector.Cursor, source string) {
	for c := range s.Cur.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if s.Callee(call) != "encoding/json.NewDecoder" || s.Line(call.Pos()) != s.Place.Line {
			continue
		}
		inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
		if _, isSel := call.Fun.(*ast.SelectorExpr); !ok || !isSel || len(inner.Args) != 1 {
			return made, ""
		}
		switch s.Callee(inner) {
		case "bytes.NewReader", "bytes.NewBuffer":
			return c, s.Source(inner.Args[0])
		case "strings.NewReader", "bytes.NewBufferString":
			return c, "[]byte(" + s.Source(inner.Args[0]) + ")"
		}
	}
	return made, ""
}

// decodes is the only call of a decoder's Decode, and the statement that keeps the decoder in a variable, if one
// does; nil where the decoder is used in another way.
func (s *site) decodes(made inspector.Cursor) (call *ast.CallExpr, drop ast.Node) {
	at := made
	if made.ParentEdgeKind() == edge.AssignStmt_Rhs {
		v, stmt := (&code.Site{File: s.File, Cur: made, Place: s.Place}).Defined()
		fn, body := code.Function(made)
		if v == nil || body == nil {
			return nil, nil
		}
		uses := s.Uses(v, fn)[1:]
		if len(uses) != 1 || !code.Within(uses[0], fn) || s.changedBetween(made, uses[0], body) {
			return nil, nil
		}
		for range uses[0].Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
			return nil, nil
		}
		at, drop = uses[0], stmt.Node()
	}
	if at.ParentEdgeKind() != edge.SelectorExpr_X || at.Parent().ParentEdgeKind() != edge.CallExpr_Fun {
		return nil, nil
	}
	call = at.Parent().Parent().Node().(*ast.CallExpr)
	if s.Callee(call) != "(*encoding/json.Decoder).Decode" {
		return nil, nil
	}
	return call, drop
}

// changedBetween reports whether what a decoder is made of may be something else where it is used.
func (s *site) changedBetween(made, use inspector.Cursor, body *ast.BlockStmt) bool {
	inner := ast.Unparen(made.Node().(*ast.CallExpr).Args[0]).(*ast.CallExpr)
	x := inner.Args[0]
	if !s.Pure(x) || s.Changed(x, body, made.Node().End(), use.Node().Pos()) {
		return true
	}
	v, ok := s.RootOf(x).(*types.Var)
	return !ok || s.Lookup(v.Name(), use.Node().Pos()) != types.Object(v)
}
