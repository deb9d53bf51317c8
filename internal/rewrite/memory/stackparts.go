package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// StackParts gives the parts of a split text an array of the frame to begin with. The slice has no more capacity than
// parts, as that of strings.Split. If it outlives the function, the array is on the heap, and the trial shows it.
func StackParts(on *code.Site) []code.Edit {
	s := &site{on}
	call, v, stmt := s.definedByCall()
	if v == nil || len(call.Args) == 0 || s.givenBack(v) {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	n := s.elements64(types.Typ[types.String])
	if !ok || n == 0 {
		return nil
	}
	name, pkg, part := v.Name(), s.Source(sel.X), s.Fresh("part", call.Pos())
	text := s.Source(call.Args[0])
	var loop string
	switch name := s.Callee(call); {
	case name == "strings.Split" && s.cuts(call.Args[1]) && s.Since("go1.24"):
		loop = fmt.Sprintf("for %s := range %s.SplitSeq(%s, %s) {\n", part, pkg, text, s.Source(call.Args[1]))
	case name == "strings.Fields" && s.Since("go1.24"):
		loop = fmt.Sprintf("for %s := range %s.FieldsSeq(%s) {\n", part, pkg, text)
	case name == "strings.Split" && s.cuts(call.Args[1]) && s.Since("go1.18"):
		rest, more := s.Fresh("rest", call.Pos()), s.Fresh("more", call.Pos())
		loop = fmt.Sprintf("for %[1]s, %[2]s := %[3]s, true; %[2]s; {\nvar %[4]s string\n%[4]s, %[1]s, %[2]s = %[5]s.Cut(%[1]s, %[6]s)\n",
			rest, more, text, part, pkg, s.Source(call.Args[1]))
	default:
		return nil
	}
	array := s.Fresh(name+"Array", call.Pos())
	lines := fmt.Sprintf("var %s [%d]string\n%s %s %[1]s[:0]\n%[5]s%[3]s = append(%[3]s, %[6]s)\n}\n%[3]s = %[3]s[:len(%[3]s):len(%[3]s)]",
		array, n, name, stmt.Node().(*ast.AssignStmt).Tok, loop, part)
	return []code.Edit{{Text: fmt.Sprintf("keep the first %d parts of `%s` in an array on the stack", n, name),
		Changes: s.instead(stmt, lines)}}
}

// cuts reports whether a separator is a constant that is not empty.
func (s *site) cuts(sep ast.Expr) bool {
	text, ok := s.ConstString(sep)
	return ok && text != ""
}

// definedByCall is the call that the site is, the local variable that it alone is the value of, and their statement,
// which no comment stands in. An if or switch may begin with it.
func (s *site) definedByCall() (*ast.CallExpr, *types.Var, inspector.Cursor) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil, nil, s.Cur
	}
	stmt := s.Cur.Parent()
	within, listed := code.Statement(s.Cur)
	begins := within == stmt.Parent() && (stmt.ParentEdgeKind() == edge.IfStmt_Init || stmt.ParentEdgeKind() == edge.SwitchStmt_Init)
	if !listed || stmt != within && !begins || s.Commented(stmt.Node()) {
		return nil, nil, stmt
	}
	assign := stmt.Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || assign.Tok != token.DEFINE && assign.Tok != token.ASSIGN {
		return nil, nil, stmt
	}
	v := s.Local(assign.Lhs[0])
	if v == nil || !types.Identical(v.Type(), s.Info().TypeOf(call)) || begins && (assign.Tok == token.ASSIGN || s.Lookup(v.Name(), within.Node().Pos()) != nil) {
		return nil, nil, stmt
	}
	return call, v, stmt
}

// instead puts lines in place of a statement, before the if or switch that begins with it.
func (s *site) instead(stmt inspector.Cursor, lines string) []code.Change {
	var next token.Pos
	switch n := stmt.Parent().Node().(type) {
	case *ast.IfStmt:
		next = n.Cond.Pos()
	case *ast.SwitchStmt:
		if next = n.Body.Pos(); n.Tag != nil {
			next = n.Tag.Pos()
		}
	}
	if !next.IsValid() || stmt.ParentEdgeKind() != edge.IfStmt_Init && stmt.ParentEdgeKind() != edge.SwitchStmt_Init {
		return []code.Change{s.Replace(stmt.Node(), lines)}
	}
	return []code.Change{s.Before(stmt.Parent().Node(), lines), {From: s.Offset(stmt.Node().Pos()), To: s.Offset(next)}}
}

// StackCopy gives the copy of a text as bytes or runes an array of the frame, where the function only looks at it,
// writes elements, and makes strings of it.
func StackCopy(on *code.Site) []code.Edit {
	s := &site{on}
	call, v, stmt := s.definedByCall()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || stmt.Node().(*ast.AssignStmt).Tok != token.DEFINE || !s.Info().Types[call.Fun].IsType() || len(call.Args) != 1 {
		return nil
	}
	slice, ok := v.Type().(*types.Slice)
	if !ok || !code.IsString(s.Info().TypeOf(call.Args[0])) || s.Info().Types[call.Args[0]].Value != nil {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || u.Node().Pos() != v.Pos() && !s.looksAtPart(u, v) {
			return nil
		}
	}
	n, elem := s.elements64(slice.Elem()), s.TypeText(slice.Elem())
	if n == 0 || elem == "" {
		return nil
	}
	name, array := v.Name(), s.Fresh(v.Name()+"Array", call.Pos())
	lines := fmt.Sprintf("var %s [%d]%s\n", array, n, elem)
	if code.IsBytes(v.Type()) {
		lines += fmt.Sprintf("%s := append(%s[:0], %s...)", name, array, s.Source(call.Args[0]))
	} else {
		r := s.Fresh("r", call.Pos())
		lines += fmt.Sprintf("%s := %s[:0]\nfor _, %s := range %s {\n%[1]s = append(%[1]s, %[3]s)\n}", name, array, r, s.Source(call.Args[0]))
	}
	return []code.Edit{{Text: fmt.Sprintf("copy up to %d elements of `%s` into an array on the stack", n, name),
		Changes: s.instead(stmt, lines)}}
}

// looksAtPart reports whether a use of a slice only looks at it or at a part of it, or writes elements: nothing is
// appended to it.
func (s *site) looksAtPart(u inspector.Cursor, v *types.Var) bool {
	for u.ParentEdgeKind() == edge.SliceExpr_X || u.ParentEdgeKind() == edge.ParenExpr_X {
		u = u.Parent()
	}
	if u.ParentEdgeKind() == edge.AssignStmt_Lhs {
		return false
	}
	if u.ParentEdgeKind() == edge.CallExpr_Args {
		call := u.Parent().Node().(*ast.CallExpr)
		if s.Builtin(call, "append") != nil && call.Args[0] == u.Node() {
			return false
		}
	}
	return s.looksAt(u, v)
}
