package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// EncodeOnStack encodes bytes to an array of the function's frame, and makes the string of that: without it,
// there is a slice between the two.
func EncodeOnStack(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || len(s.Place.Sizes) == 0 {
		return nil
	}
	switch s.Callee(call) {
	case "encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString", "(*encoding/base32.Encoding).EncodeToString":
	default:
		return nil
	}
	const most = 1024
	want, n := s.Place.Sizes[len(s.Place.Sizes)*9/10], int64(32)
	for n < want {
		n *= 2
	}
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	stmt, listed := code.Statement(s.Cur)
	if !isSel || !listed || n > most {
		return nil
	}
	if !s.Since("go1.22") {
		return s.encodeBefore(call, stmt.Node(), n)
	}
	array := s.Fresh("encoded", call.Pos())
	text := fmt.Sprintf("string(%s.AppendEncode(%s[:0], %s))", s.Source(sel.X), array, s.Source(call.Args[0]))
	return []code.Edit{{Text: fmt.Sprintf("encode up to %d bytes to an array on the stack", n), Changes: []code.Change{
		s.Before(stmt.Node(), fmt.Sprintf("var %s [%d]byte", array, n)), s.Replace(call, text)}}}
}

// encodeBefore encodes to an array before the statement, where there is no function that appends.
func (s *site) encodeBefore(call *ast.CallExpr, stmt ast.Node, n int64) []code.Edit {
	switch stmt.(type) {
	case *ast.ReturnStmt, *ast.AssignStmt, *ast.ExprStmt:
	default:
		return nil
	}
	if !s.Pure(call.Args[0]) || s.callsBefore(call, stmt) || s.guarded(stmt) {
		return nil
	}
	name, pkg, x := s.Fresh("encoded", call.Pos()), s.Source(call.Fun.(*ast.SelectorExpr).X), s.Source(call.Args[0])
	size, array := s.Fresh("size", call.Pos()), s.Fresh(name+"Array", call.Pos())
	lines := fmt.Sprintf("%[1]s := %[2]s.EncodedLen(len(%[3]s))\nvar %[4]s [%[5]d]byte\nvar %[6]s []byte\nif %[1]s <= len(%[4]s) {\n%[6]s = %[4]s[:%[1]s]\n} else {\n%[6]s = make([]byte, %[1]s)\n}\n%[2]s.Encode(%[6]s, %[3]s)",
		size, pkg, x, array, n, name)
	return []code.Edit{{Text: fmt.Sprintf("encode up to %d bytes to an array on the stack", n), Changes: []code.Change{
		s.Before(stmt, lines), s.Replace(call, fmt.Sprintf("string(%s)", name))}}}
}

// guarded reports whether an operand of && or || in a statement decides whether the site is evaluated.
func (s *site) guarded(stmt ast.Node) bool {
	for c := s.Cur; c.Node() != stmt; c = c.Parent() {
		if b, ok := c.Parent().Node().(*ast.BinaryExpr); ok && c.ParentEdgeKind() == edge.BinaryExpr_Y && (b.Op == token.LAND || b.Op == token.LOR) {
			return true
		}
	}
	return false
}

// callsBefore reports whether a statement calls something before a call of it, and not only around it.
func (s *site) callsBefore(call *ast.CallExpr, stmt ast.Node) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c.End() <= call.Pos() && !s.Info().Types[c.Fun].IsType() {
			found = true
		}
		return !found
	})
	return found
}

// sums are the functions that make a hash, and those that sum bytes up at once.
var sums = map[string]string{
	"crypto/md5.New": "Sum", "crypto/sha1.New": "Sum", "crypto/sha256.New": "Sum256", "crypto/sha256.New224": "Sum224",
	"crypto/sha512.New": "Sum512", "crypto/sha512.New384": "Sum384",
}

// SumAtOnce sums bytes up by a function, where a hash is made for one piece of them.
func SumAtOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	v := s.hashOf(call)
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	uses := s.Uses(v, fn)
	if len(uses) != 3 || uses[0].ParentEdgeKind() != edge.AssignStmt_Lhs {
		return nil
	}
	decl, listed := code.Statement(uses[0])
	assign, ok := decl.Node().(*ast.AssignStmt)
	if !listed || !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil
	}
	maker, ok := assign.Rhs[0].(*ast.CallExpr)
	write, x := s.fed(uses[1])
	sum := uses[2].Parent().Parent()
	if !ok || x == "" || write.Parent() != decl.Parent() || sums[s.Callee(maker)] == "" || !code.Within(uses[2], fn) || !s.sumsUp(uses[2]) {
		return nil
	}
	at, listed := code.Statement(uses[2])
	sel, isSel := maker.Fun.(*ast.SelectorExpr)
	if !isSel || !listed || at.Parent() != decl.Parent() {
		return nil
	}
	name := s.Fresh("sum", maker.Pos())
	return []code.Edit{{Text: fmt.Sprintf("sum `%s` up by %s", code.Brief(x), sums[s.Callee(maker)]), Changes: []code.Change{
		s.Replace(assign, ""), s.Replace(write.Node(), fmt.Sprintf("%s := %s.%s(%s)", name, s.Source(sel.X), sums[s.Callee(maker)], x)),
		s.Replace(sum.Node(), name+"[:]")}}}
}

// hashOf is the variable that the call of the site makes a hash for, or asks for its sum.
func (s *site) hashOf(call *ast.CallExpr) *types.Var {
	if sums[s.Callee(call)] != "" {
		v, _ := s.Defined()
		return v
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Callee(call), "(hash.Hash).") {
		return s.Local(sel.X)
	}
	return nil
}

// fed is the statement that writes bytes to a hash, alone, and these.
func (s *site) fed(u inspector.Cursor) (stmt inspector.Cursor, x string) {
	stmt, listed := code.Statement(u)
	alone, ok := stmt.Node().(*ast.ExprStmt)
	if !listed || !ok {
		return stmt, ""
	}
	call, ok := alone.X.(*ast.CallExpr)
	if !ok {
		return stmt, ""
	}
	switch {
	case s.Callee(call) == "io.WriteString" && len(call.Args) == 2 && ast.Node(call.Args[0]) == u.Node():
		return stmt, "[]byte(" + s.Source(call.Args[1]) + ")"
	case u.ParentEdgeKind() == edge.SelectorExpr_X && u.Parent().Node() == ast.Node(call.Fun) && u.Parent().Node().(*ast.SelectorExpr).Sel.Name == "Write":
		return stmt, s.Source(call.Args[0])
	}
	return stmt, ""
}

// sumsUp reports whether a use of a hash is its Sum(nil).
func (s *site) sumsUp(u inspector.Cursor) bool {
	if u.ParentEdgeKind() != edge.SelectorExpr_X || u.Parent().ParentEdgeKind() != edge.CallExpr_Fun {
		return false
	}
	call := u.Parent().Parent().Node().(*ast.CallExpr)
	return u.Parent().Node().(*ast.SelectorExpr).Sel.Name == "Sum" && len(call.Args) == 1 && s.Info().Types[call.Args[0]].IsNil()
}
