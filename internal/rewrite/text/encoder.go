package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// EncodeAtOnce writes encoded bytes without an encoder, which takes a kilobyte, where it is made for one Write to a buffer.
func EncodeAtOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	name := s.Callee(call)
	if name != "encoding/base64.NewEncoder" && name != "encoding/base32.NewEncoder" || !s.Pure(call.Args[0]) {
		return nil
	}
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	first, follows := stmt.NextSibling()
	if !follows || len(s.Uses(v, fn)) != 3 {
		return nil
	}
	second, follows := first.NextSibling()
	if !follows {
		return nil
	}
	write := s.droppedCall(first.Node(), v, "Write")
	if write == nil || s.droppedCall(second.Node(), v, "Close") == nil {
		return nil
	}
	w := call.Args[1]
	if u, ok := ast.Unparen(w).(*ast.UnaryExpr); ok && u.Op == token.AND {
		w = u.X
	}
	line := s.encoded(w, call.Args[0], write.Args[0])
	if line == "" {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("encode to `%s` at once, without an encoder", code.Brief(s.Source(w))),
		Changes: []code.Change{{From: s.Offset(stmt.Node().Pos()), To: s.Offset(second.Node().End()), Text: line}}}}
}

// encoded are the statements that write bytes to a buffer, encoded; "" for other writers.
func (s *site) encoded(w, encoding, bytes ast.Expr) string {
	to, enc, from := s.Source(w), s.Source(encoding), s.Source(bytes)
	typ := s.Info().TypeOf(w)
	switch {
	case code.Named(typ, "strings.Builder"):
		return fmt.Sprintf("%s.WriteString(%s.EncodeToString(%s))", to, enc, from)
	case !code.Named(typ, "bytes.Buffer") && !code.Named(typ, "bufio.Writer"):
		return ""
	case !s.Since("go1.22"):
		if !s.Pure(bytes) {
			return ""
		}
		encoded := s.Fresh("encoded", w.Pos())
		return fmt.Sprintf("%s := make([]byte, %s.EncodedLen(len(%s)))\n%[2]s.Encode(%[1]s, %[3]s)\n%[4]s.Write(%[1]s)", encoded, enc, from, to)
	}
	line := fmt.Sprintf("%s.Write(%s.AppendEncode(%[1]s.AvailableBuffer(), %[3]s))", to, enc, from)
	if code.Named(typ, "bytes.Buffer") && s.Pure(bytes) {
		line = fmt.Sprintf("%s.Grow(%s.EncodedLen(len(%s)))\n%s", to, enc, from, line)
	}
	return line
}

// droppedCall is the call of a variable's method that a statement is, where nothing gets its results; nil for others.
func (s *site) droppedCall(stmt ast.Node, v *types.Var, method string) *ast.CallExpr {
	var e ast.Expr
	switch n := stmt.(type) {
	case *ast.ExprStmt:
		e = n.X
	case *ast.AssignStmt:
		blank := !slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { id, ok := to.(*ast.Ident); return !ok || id.Name != "_" })
		if len(n.Rhs) == 1 && blank {
			e = n.Rhs[0]
		}
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != method || s.Local(sel.X) != v {
		return nil
	}
	return call
}
